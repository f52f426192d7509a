/** Reads a script without running it: what main takes, and which packages it needs. Parsers are loaded when first used. */
import { BadRequest } from "../errors.ts";
import type { Language, ScriptAnalysis } from "./types.ts";

/**
 * @param entrypoint the function whose parameters are the script's; bash has none
 * @throws SyntaxFault with line and column; BadRequest when an interpreter is needed and missing, or an import cannot
 * be served
 */
export async function analyseScript(
  language: Language,
  content: string,
  entrypoint = "main",
): Promise<ScriptAnalysis> {
  switch (language) {
    case "bun":
    case "nativets":
      return (await import("./typescript/analyse.ts")).analyseTypeScript(content, entrypoint);
    case "python3":
      return (await import("./python/analyse.ts")).analysePython(content, entrypoint);
    case "bash":
      if (entrypoint !== "main")
        throw new BadRequest("a bash script has no functions that can be run by name");
      return (await import("./bash/analyse.ts")).analyseBash(content);
    case "postgresql":
    case "mysql":
    case "sqlite":
      refuseFunctions(entrypoint);
      return (await import("./sql/analyse.ts")).analyseSql(content, language);
    case "graphql":
      refuseFunctions(entrypoint);
      return (await import("./graphql/analyse.ts")).analyseGraphql(content);
  }
}

function refuseFunctions(entrypoint: string): void {
  if (entrypoint !== "main") throw new BadRequest("a query has no functions that can be run by name");
}

/**
 * A lock that a client sent, if packages may be installed from it. One that is of another form, or asks for packages
 * from elsewhere than the registry, is left out: the script's packages are then resolved anew.
 */
export async function usableLock(
  language: Language,
  lock: string | null | undefined,
): Promise<string | undefined> {
  if (!lock?.trim()) return undefined;
  if (language === "python3") return lock.trimStart().startsWith("{") ? undefined : lock;
  if (language !== "bun" && language !== "nativets") return lock;
  try {
    (await import("./typescript/lock-text.ts")).parseLock(lock);
    return lock;
  } catch (error) {
    if (error instanceof BadRequest) return undefined;
    throw error;
  }
}

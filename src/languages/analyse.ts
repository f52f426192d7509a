/** Reads a script without running it: what main takes, and which packages it needs. Parsers are loaded when first used. */
import { BadRequest } from "../errors.ts";
import { type Language, runtimeOf } from "./languages.ts";
import { type ScriptAnalysis, toArgumentsSchema } from "./types.ts";

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
  switch (runtimeOf(language)) {
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
      return (await import("./sql/analyse.ts")).analyseSql(content, language as QueryLanguage);
    case "graphql":
      refuseFunctions(entrypoint);
      return (await import("./graphql/analyse.ts")).analyseGraphql(content);
    case undefined:
      return unread();
  }
}

type QueryLanguage = "postgresql" | "mysql" | "sqlite";

/** Of a language that nobody reads here: the schema that a client sends with the script is all that is known. */
function unread(): ScriptAnalysis {
  return {
    signature: { parameters: [], has_main: true, preprocessor: undefined },
    schema: toArgumentsSchema([]),
    packages: undefined,
    imports: [],
  };
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
  const runtime = runtimeOf(language);
  if (runtime === "python3") return lock.trimStart().startsWith("{") ? undefined : lock;
  if (runtime !== "bun" && runtime !== "nativets") return lock;
  try {
    (await import("./typescript/lock-text.ts")).parseLock(lock);
    return lock;
  } catch (error) {
    if (error instanceof BadRequest) return undefined;
    throw error;
  }
}

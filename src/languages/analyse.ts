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

/** @throws BadRequest for a lock that a client sent and that may not be installed */
export async function checkLock(language: Language, lock: string): Promise<void> {
  if (language === "bun" || language === "nativets")
    (await import("./typescript/lock-text.ts")).parseLock(lock);
}

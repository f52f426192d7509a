/** Analyses a script on the calling thread. Parsers are loaded on first use. */
import { BadRequest } from "../../../lib/errors.ts";
import type { AnalysisOwner } from "../analysis-slots.ts";
import { findRuntime, type Language, type ProgramLanguage } from "../languages.ts";
import { type ScriptAnalysis, toArgumentsSchema } from "../types.ts";

export interface AnalysisRequest {
  language: Language;
  content: string;
  /** Function whose parameters are the script's. */
  entrypoint: string;
  owner: AnalysisOwner;
}

/**
 * Analyses a script with the parser of its language. Only parsers in processes of their own take turns.
 * @throws SyntaxFault with line and column; BadRequest; TooManyRequests
 */
export async function analyseInThread(request: AnalysisRequest): Promise<ScriptAnalysis> {
  const { language, content, entrypoint, owner } = request;
  switch (findRuntime(language)) {
    case "bun":
    case "nativets":
    case "deno":
      return (await import("../typescript/analyse.ts")).analyseTypeScript(content, entrypoint);
    case "python3":
      return (await import("../python/analyse.ts")).analysePython(content, owner, entrypoint);
    case "bash":
      if (entrypoint !== "main")
        throw new BadRequest("a bash script has no functions that can be run by name");
      return (await import("../bash/analyse.ts")).analyseBash(content, owner);
    case "postgresql":
    case "mysql":
    case "sqlite":
      requireMainEntrypoint(entrypoint);
      return (await import("../sql/analyse.ts")).analyseSql(content, language as QueryLanguage);
    case "graphql":
      requireMainEntrypoint(entrypoint);
      return (await import("../graphql/analyse.ts")).analyseGraphql(content);
    case "go":
    case "php":
    case "ruby":
    case "rust":
    case "powershell":
      if (entrypoint !== "main") {
        throw new BadRequest(`${language} scripts have no functions that can be run by name`);
      }
      return (await import("../programs/table.ts")).analyseProgram(
        language as ProgramLanguage,
        content,
        owner,
      );
    case undefined:
      return createUnknownAnalysis();
  }
}

type QueryLanguage = "postgresql" | "mysql" | "sqlite";

/** Returns the analysis of a language without a parser: only the schema that a client sends is known. */
function createUnknownAnalysis(): ScriptAnalysis {
  return {
    signature: { parameters: [], has_main: true, preprocessor: undefined },
    schema: toArgumentsSchema([]),
    packages: undefined,
    imports: [],
  };
}

function requireMainEntrypoint(entrypoint: string): void {
  if (entrypoint !== "main") throw new BadRequest("a query has no functions that can be run by name");
}

/** Languages run by a program of the machine. To add one, add a row here and an adapter. */
import type { ProgramLanguage } from "../languages.ts";
import { type ScriptAnalysis, toArgumentsSchema } from "../types.ts";
import { go } from "./go.ts";
import { php } from "./php.ts";
import { powershell } from "./powershell.ts";
import { ruby } from "./ruby.ts";
import { rust } from "./rust.ts";
import type { Compilation, ProgramAdapter } from "./types.ts";

export const PROGRAMS: Record<ProgramLanguage, ProgramAdapter> = { go, php, ruby, rust, powershell };

/** Returns the adapter of a language; undefined for other languages. */
export function programOf(language: string): ProgramAdapter | undefined {
  return Object.hasOwn(PROGRAMS, language) ? PROGRAMS[language as ProgramLanguage] : undefined;
}

/** Returns how scripts of a language are compiled; undefined if they are not compiled. */
export function compilationOf(language: string): Compilation | undefined {
  const run = programOf(language)?.run;
  return run && "wrappers" in run ? run : undefined;
}

/**
 * Parses the parameters of `main`. This needs no compiler; the compiler reports syntax errors when the script runs.
 */
export function analyseProgram(language: ProgramLanguage, content: string): ScriptAnalysis {
  const parameters = PROGRAMS[language].parse(content);
  return {
    signature: { parameters: parameters ?? [], has_main: parameters !== undefined, preprocessor: undefined },
    schema: toArgumentsSchema(parameters ?? []),
    packages: undefined,
    imports: [],
  };
}

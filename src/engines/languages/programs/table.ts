/** Languages run by a program of the machine. To add one, add a row here and an adapter. */
import type { AnalysisOwner } from "../analysis-slots.ts";
import { findRuntime, type ProgramLanguage, type RunnableLanguage } from "../languages.ts";
import { type ScriptAnalysis, toArgumentsSchema } from "../types.ts";
import { requireValidSyntax } from "./check-syntax.ts";
import { denoAdapter, usesDeno } from "./deno.ts";
import { goAdapter } from "./go.ts";
import { phpAdapter } from "./php.ts";
import { powershellAdapter } from "./powershell.ts";
import { rubyAdapter } from "./ruby.ts";
import { rustAdapter } from "./rust.ts";
import type { Compilation, PackageBuild, PackageFolder, ProgramAdapter } from "./types.ts";

export const PROGRAMS: Record<ProgramLanguage, ProgramAdapter> = {
  go: goAdapter,
  php: phpAdapter,
  ruby: rubyAdapter,
  rust: rustAdapter,
  powershell: powershellAdapter,
  deno: denoAdapter,
};

/** Returns the adapter of a language; undefined for other languages. */
export function findAdapter(language: string): ProgramAdapter | undefined {
  return Object.hasOwn(PROGRAMS, language) ? PROGRAMS[language as ProgramLanguage] : undefined;
}

/**
 * Returns the runtime of code and its imports: Deno only if they use the global `Deno`. Undefined if the code is only
 * stored.
 */
export function findRuntimeOfCode(
  language: string,
  content: string,
  imports: readonly { content: string }[] = [],
): RunnableLanguage | undefined {
  const needsDeno = () => usesDeno(content) || imports.some((each) => usesDeno(each.content));
  return language === "deno" && needsDeno() ? "deno" : findRuntime(language);
}

/** Returns how scripts of a language are compiled; undefined if they are not compiled. */
export function findCompilation(language: string): Compilation | undefined {
  const run = findAdapter(language)?.run;
  return run && "wrappers" in run ? run : undefined;
}

/** Returns how a script is compiled with packages; undefined for one that requires none, or cannot have any. */
export function findPackageBuild(language: string, content: string): PackageBuild | undefined {
  const packages = packagesOf(language, content);
  return packages && "wrappers" in packages ? packages : undefined;
}

/** Returns how the folder of a script's packages is made; undefined for one that has no such folder. */
export function findPackageFolder(language: string, content: string): PackageFolder | undefined {
  const packages = packagesOf(language, content);
  return packages && "folder" in packages ? packages : undefined;
}

function packagesOf(language: string, content: string): ProgramAdapter["packages"] {
  const program = findAdapter(language);
  return program?.packages && program.findPackages(content).length > 0 ? program.packages : undefined;
}

/**
 * Parses the parameters of `main`. This needs no compiler, which reports further errors when the script runs.
 * @throws SyntaxFault where the language's tool can check the syntax alone
 */
export async function analyseProgram(
  language: ProgramLanguage,
  content: string,
  owner: AnalysisOwner,
): Promise<ScriptAnalysis> {
  const { syntax_check } = PROGRAMS[language];
  if (syntax_check) await requireValidSyntax(syntax_check, content, owner);
  const parameters = PROGRAMS[language].parse(content);
  const manifest = packagesOf(language, content)?.toManifest(content);
  return {
    signature: { parameters: parameters ?? [], has_main: parameters !== undefined, preprocessor: undefined },
    schema: toArgumentsSchema(parameters ?? []),
    packages: manifest === undefined ? undefined : { client: "program", language, manifest },
    imports: [],
  };
}

/** Source files of a version: its own, and those of the scripts it imports, each at its path. */

import { toUnixLines } from "../../languages/bash/analyse.ts";
import type { RunnableLanguage } from "../../languages/languages.ts";
import { resolveLocalImport, toRelativeSpecifier } from "../../languages/local-imports.ts";
import { findCompilation, PROGRAMS } from "../../languages/programs/table.ts";
import type { ImportedScript, RunnableVersion } from "../types.ts";

const EXTENSIONS: Record<RunnableLanguage, string> = {
  go: PROGRAMS.go.extension,
  php: PROGRAMS.php.extension,
  ruby: PROGRAMS.ruby.extension,
  rust: PROGRAMS.rust.extension,
  powershell: PROGRAMS.powershell.extension,
  deno: PROGRAMS.deno.extension,
  bun: "ts",
  nativets: "ts",
  bash: "sh",
  python3: "py",
  postgresql: "sql",
  mysql: "sql",
  sqlite: "sql",
  graphql: "graphql",
};

/** All runnable languages. */
export const RUNNABLE_LANGUAGES = Object.keys(EXTENSIONS) as RunnableLanguage[];

/** Path of a script that has no path but imports others. */
const UNNAMED_PATH = "u/nobody/script";

/** File name of the compiled program of a version. */
export const PROGRAM_FILE = "program";

/** Returns the path of the version's own source file, or of its program, relative to its sources folder. */
export function getMainFileName({ language, path, imports }: RunnableVersion): string {
  if (findCompilation(language)) return PROGRAM_FILE;
  const extension = EXTENSIONS[language];
  return imports?.length ? `${path ?? UNNAMED_PATH}.${extension}` : `main.${extension}`;
}

/** Lists all source files of the version. */
export function listSourceFileNames(version: RunnableVersion): string[] {
  const imported = (version.imports ?? []).map((each) => `${each.path}.${EXTENSIONS[each.language]}`);
  return [getMainFileName(version), ...imported, ...Object.keys(getSettingsFiles(version))];
}

/** Returns the settings files for Deno, text by name. Deno reads the nearest ones; those above are hidden from scripts. */
const getSettingsFiles = ({ language }: RunnableVersion): Record<string, string> =>
  language === "deno" ? { "package.json": "{}\n" } : {};

/** Returns the script's module name in Python, which decides what `from .x` means. */
export function getPythonModuleName({ path, imports }: RunnableVersion): string {
  return imports?.length ? (path ?? UNNAMED_PATH).replaceAll("/", ".") : "script";
}

/** Returns the sources to write, by file. @param hasPackages removes version suffixes from npm imports */
export async function buildSourceFiles(
  version: RunnableVersion,
  hasPackages: boolean,
): Promise<Map<string, string>> {
  const { language, content, imports = [], path = UNNAMED_PATH } = version;
  const files = new Map<string, string>();
  if (language !== "bun" && language !== "nativets" && language !== "deno") {
    files.set(getMainFileName(version), language === "bash" ? toUnixLines(content) : content);
    for (const each of imports) files.set(`${each.path}.${EXTENSIONS[each.language]}`, each.content);
    return files;
  }
  for (const [name, text] of Object.entries(getSettingsFiles(version))) files.set(name, text);
  if (!hasPackages && imports.length === 0) return files.set(getMainFileName(version), content);
  const { rewriteImports } = await import("../../languages/typescript/imports.ts");
  const known = new Set([path, ...imports.map((each) => each.path)]);
  const rewrite = (source: Pick<ImportedScript, "content" | "path">) =>
    rewriteImports(source.content, (specifier) => {
      const target = resolveLocalImport(language, specifier, source.path).find((each) => known.has(each));
      return target === undefined ? undefined : toRelativeSpecifier(source.path, target);
    });
  files.set(getMainFileName(version), rewrite({ content, path }));
  for (const each of imports) files.set(`${each.path}.${EXTENSIONS[each.language]}`, rewrite(each));
  return files;
}

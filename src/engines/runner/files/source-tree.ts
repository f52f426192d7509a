/** The sources of a version as files: its own, and those of the scripts that it imports, each at its path. */

import type { RunnableLanguage } from "../../languages/languages.ts";
import { importedPaths, relativeSpecifier } from "../../languages/local-imports.ts";
import type { ImportedScript, RunnableVersion } from "../types.ts";

const EXTENSION: Record<RunnableLanguage, string> = {
  bun: "ts",
  nativets: "ts",
  bash: "sh",
  python3: "py",
  postgresql: "sql",
  mysql: "sql",
  sqlite: "sql",
  graphql: "graphql",
};

/** All languages that are run. */
export const LANGUAGES = Object.keys(EXTENSION) as RunnableLanguage[];

/** Where a script stands that has no path and imports others. */
const NAMELESS = "u/nobody/script";

/** The file of the version's own source, relative to the folder of all its sources. */
export function mainFile({ language, path, imports }: RunnableVersion): string {
  const extension = EXTENSION[language];
  return imports?.length ? `${path ?? NAMELESS}.${extension}` : `main.${extension}`;
}

/** The files of all its sources. */
export function fileNames(version: RunnableVersion): string[] {
  const imported = (version.imports ?? []).map((each) => `${each.path}.${EXTENSION[each.language]}`);
  return [mainFile(version), ...imported];
}

/** The name that Python knows the script as: its place among those that it imports decides what `from .x` means. */
export function moduleName({ path, imports }: RunnableVersion): string {
  return imports?.length ? (path ?? NAMELESS).replaceAll("/", ".") : "script";
}

/** The sources to write, by file. @param hasPackages versions are taken out of the imports of npm packages */
export async function sourceFiles(
  version: RunnableVersion,
  hasPackages: boolean,
): Promise<Map<string, string>> {
  const { language, content, imports = [], path = NAMELESS } = version;
  const files = new Map<string, string>();
  if (language !== "bun" && language !== "nativets") {
    files.set(mainFile(version), content);
    for (const each of imports) files.set(`${each.path}.${EXTENSION[each.language]}`, each.content);
    return files;
  }
  if (!hasPackages && imports.length === 0) return files.set(mainFile(version), content);
  const { rewriteImports } = await import("../../languages/typescript/imports.ts");
  const known = new Set([path, ...imports.map((each) => each.path)]);
  const rewrite = (source: Pick<ImportedScript, "content" | "path">) =>
    rewriteImports(source.content, (specifier) => {
      const target = importedPaths(language, specifier, source.path).find((each) => known.has(each));
      return target === undefined ? undefined : relativeSpecifier(source.path, target);
    });
  files.set(mainFile(version), rewrite({ content, path }));
  for (const each of imports) files.set(`${each.path}.${EXTENSION[each.language]}`, rewrite(each));
  return files;
}

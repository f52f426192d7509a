/** File names of workspace dependencies, by language. */

export const DEPENDENCY_FILES = {
  bun: "package.json",
  python3: "requirements.in",
  php: "composer.json",
  go: "go.mod",
  powershell: "modules.json",
} as const;

export type DependencyLanguage = keyof typeof DEPENDENCY_FILES;

const LANGUAGES = Object.keys(DEPENDENCY_FILES) as DependencyLanguage[];

/** Parses the name of a file of workspace dependencies; undefined if it is none. The default list has the name "". */
export function parseDependencyFileName(
  file: string,
): { language: DependencyLanguage; name: string } | undefined {
  for (const language of LANGUAGES) {
    const [start, end] = ["dependencies/", DEPENDENCY_FILES[language]];
    if (!file.startsWith(start) || !file.endsWith(end)) continue;
    const called = file.slice(start.length, -end.length);
    if (/^(?:[\w-]{1,100}\.)?$/.test(called)) return { language, name: called.slice(0, -1) };
  }
  return undefined;
}

/** Returns `dependencies/requirements.in`, or with a name `dependencies/<name>.requirements.in`. */
export function getDependencyFileName(language: DependencyLanguage, name: string): string {
  const file = DEPENDENCY_FILES[language];
  return `dependencies/${name === "" ? file : `${name}.${file}`}`;
}

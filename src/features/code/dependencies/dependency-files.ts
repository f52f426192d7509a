/** File names of workspace dependencies, by language. */

export const DEPENDENCY_FILES = {
  bun: "package.json",
  python3: "requirements.in",
  php: "composer.json",
  go: "go.mod",
  powershell: "modules.json",
} as const;

export type DependencyLanguage = keyof typeof DEPENDENCY_FILES;

/** Returns `dependencies/requirements.in`, or with a name `dependencies/<name>.requirements.in`. */
export function dependencyFileName(language: DependencyLanguage, name: string): string {
  const file = DEPENDENCY_FILES[language];
  return `dependencies/${name === "" ? file : `${name}.${file}`}`;
}

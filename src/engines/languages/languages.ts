/** Script languages: those that run here, and those only stored for clients that know them. */
import { BadRequest } from "../../lib/errors.ts";

/** Languages that the runner can run. */
export type RunnableLanguage =
  | "bun"
  | "nativets"
  | "bash"
  | "python3"
  | "postgresql"
  | "mysql"
  | "sqlite"
  | "graphql"
  | ProgramLanguage;

/** Languages that a program installed on the machine runs or compiles (`programs/table.ts`). */
export type ProgramLanguage = "go" | "php" | "ruby" | "rust" | "powershell" | "deno";

/** Runtime of each language; Bun runs `deno`, if it uses nothing of Deno (`findRuntimeOfCode`), and `bunnative` as TypeScript. */
const RUNTIMES = {
  bun: "bun",
  deno: "bun",
  nativets: "nativets",
  bunnative: "nativets",
  bash: "bash",
  python3: "python3",
  postgresql: "postgresql",
  mysql: "mysql",
  sqlite: "sqlite",
  graphql: "graphql",
  go: "go",
  php: "php",
  ruby: "ruby",
  rust: "rust",
  powershell: "powershell",
} as const satisfies Record<string, RunnableLanguage>;

/** Languages that are only stored; runs fail with an explanation. */
const STORED_ONLY = [
  "csharp",
  "java",
  "nu",
  "ansible",
  "rlang",
  "mssql",
  "oracledb",
  "bigquery",
  "snowflake",
  "duckdb",
] as const;

export type Language = keyof typeof RUNTIMES | (typeof STORED_ONLY)[number];

const [first, ...others] = Object.keys(RUNTIMES) as Language[];

/** All languages, runnable ones first. */
export const LANGUAGES: [Language, ...Language[]] = [first!, ...others, ...STORED_ONLY];

/** File name suffixes by language, as existing clients use them. */
const FILE_ENDINGS: Record<Language, string> = {
  bun: "bun.ts",
  deno: "deno.ts",
  nativets: "fetch.ts",
  bunnative: "fetch.ts",
  bash: "sh",
  python3: "py",
  postgresql: "pg.sql",
  mysql: "my.sql",
  sqlite: "sqlite.sql",
  graphql: "gql",
  go: "go",
  php: "php",
  rust: "rs",
  powershell: "ps1",
  ruby: "rb",
  csharp: "cs",
  java: "java",
  nu: "nu",
  ansible: "playbook.yml",
  rlang: "r",
  mssql: "ms.sql",
  oracledb: "odb.sql",
  bigquery: "bq.sql",
  snowflake: "sf.sql",
  duckdb: "duckdb.sql",
};

/** Returns the suffix without a leading dot. */
export function getFileEnding(language: string): string {
  return Object.hasOwn(FILE_ENDINGS, language) ? FILE_ENDINGS[language as Language] : "bun.ts";
}

/** Suffixes with their languages, longest first: `.pg.sql` must match before `.sql`. */
export const LANGUAGES_BY_ENDING: readonly [ending: string, language: Language][] = LANGUAGES.filter(
  (language) => language !== "bunnative",
)
  .map((language): [string, Language] => [FILE_ENDINGS[language], language])
  .sort(([a], [b]) => b.length - a.length);

export function isLanguage(name: string): name is Language {
  return (LANGUAGES as readonly string[]).includes(name);
}

/** Returns the runtime of a language; undefined if it is only stored. */
export function findRuntime(language: string): RunnableLanguage | undefined {
  return Object.hasOwn(RUNTIMES, language) ? RUNTIMES[language as keyof typeof RUNTIMES] : undefined;
}

/** Returns the runtime that executes scripts of a language. @throws BadRequest for a language without a runtime */
export function requireRuntime(language: string): RunnableLanguage {
  const runtime = findRuntime(language);
  if (runtime) return runtime;
  const offered = Object.keys(RUNTIMES).join(", ");
  throw new BadRequest(`${language} scripts are stored but cannot be run here: use one of ${offered}`);
}

/** The languages that scripts may be in: those that run here, and those that are kept for clients that know them. */
import { BadRequest } from "../../lib/errors.ts";

/** The languages that the runner has a way to run. */
export type RunnableLanguage =
  | "bun"
  | "nativets"
  | "bash"
  | "python3"
  | "postgresql"
  | "mysql"
  | "sqlite"
  | "graphql";

/** How each language is run. `deno` and `bunnative` are TypeScript that Bun runs. */
const RUN_AS = {
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
} as const satisfies Record<string, RunnableLanguage>;

/** Stored and given back; a run fails and says so. */
const STORED_ONLY = [
  "go",
  "php",
  "rust",
  "powershell",
  "ruby",
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

export type Language = keyof typeof RUN_AS | (typeof STORED_ONLY)[number];

const [first, ...others] = Object.keys(RUN_AS) as Language[];

/** Those that run here come first. */
export const LANGUAGES: [Language, ...Language[]] = [first!, ...others, ...STORED_ONLY];

/** What the file of a script ends in, as existing clients name it. */
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

/** Without a dot before it. */
export function fileEndingOf(language: string): string {
  return Object.hasOwn(FILE_ENDINGS, language) ? FILE_ENDINGS[language as Language] : "bun.ts";
}

/** Endings with the languages they stand for, the longer ones first: `.pg.sql` is no `.sql`. */
export const LANGUAGES_BY_ENDING: readonly [ending: string, language: Language][] = LANGUAGES.filter(
  (language) => language !== "bunnative",
)
  .map((language): [string, Language] => [FILE_ENDINGS[language], language])
  .sort(([a], [b]) => b.length - a.length);

export function isLanguage(name: string): name is Language {
  return (LANGUAGES as readonly string[]).includes(name);
}

/** As what a language is run; undefined for one that is only stored. */
export function runtimeOf(language: string): RunnableLanguage | undefined {
  return Object.hasOwn(RUN_AS, language) ? RUN_AS[language as keyof typeof RUN_AS] : undefined;
}

/** @throws BadRequest for a language that does not run here */
export function requireRuntime(language: string): RunnableLanguage {
  const runtime = runtimeOf(language);
  if (runtime) return runtime;
  const offered = Object.keys(RUN_AS).join(", ");
  throw new BadRequest(`${language} scripts are stored but cannot be run here: use one of ${offered}`);
}

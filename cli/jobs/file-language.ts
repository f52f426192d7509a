/** Determines the language of a file from its name. */
import { basename, extname } from "node:path";
import type { RunnableLanguage } from "../../src/engines/languages/languages.ts";
import { PROGRAMS } from "../../src/engines/languages/programs/table.ts";
import { createUsageError } from "../terminal/text/failure.ts";

/** Files in TypeScript are run by Bun. */
export type FileLanguage = Exclude<RunnableLanguage, "nativets" | "deno">;

const LANGUAGE_BY_ENDING: Record<string, FileLanguage> = {
  ".ts": "bun",
  ".mts": "bun",
  ".js": "bun",
  ".mjs": "bun",
  ".sh": "bash",
  ".py": "python3",
  ".pg.sql": "postgresql",
  ".my.sql": "mysql",
  ".sqlite.sql": "sqlite",
  ".gql": "graphql",
  ...Object.fromEntries(
    Object.entries(PROGRAMS)
      .filter(([language]) => language !== "deno")
      .map(([language, { extension }]) => [`.${extension}`, language as FileLanguage]),
  ),
};

/** Returns the language of a file from its extension. @throws a usage error */
export function parseFileLanguage(file: string): FileLanguage {
  const language =
    LANGUAGE_BY_ENDING[extname(file)] ??
    LANGUAGE_BY_ENDING[extname(basename(file, extname(file))) + extname(file)];
  if (language) return language;
  throw createUsageError(
    `${basename(file)}: the language is chosen by the file's ending, which must be one of ${Object.keys(LANGUAGE_BY_ENDING).join(" ")}`,
  );
}

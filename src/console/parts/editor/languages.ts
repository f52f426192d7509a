/** Syntax highlighting. Each language is loaded when it is first shown. */
import { StreamLanguage } from "@codemirror/language";
import type { Extension } from "@codemirror/state";

/** Loaders by language name in the API; other languages are shown as plain text. */
const LOADERS: Record<string, () => Promise<Extension>> = {
  bun: typescript,
  deno: typescript,
  nativets: typescript,
  bunnative: typescript,
  javascript: typescript,
  python3: async () => (await import("@codemirror/lang-python")).python(),
  postgresql: () => sql("PostgreSQL"),
  mysql: () => sql("MySQL"),
  sqlite: () => sql("SQLite"),
  duckdb: () => sql("StandardSQL"),
  go: async () => (await import("@codemirror/lang-go")).go(),
  rust: async () => (await import("@codemirror/lang-rust")).rust(),
  php: async () => (await import("@codemirror/lang-php")).php(),
  bash: async () => StreamLanguage.define((await import("@codemirror/legacy-modes/mode/shell")).shell),
  ruby: async () => StreamLanguage.define((await import("@codemirror/legacy-modes/mode/ruby")).ruby),
  powershell: async () =>
    StreamLanguage.define((await import("@codemirror/legacy-modes/mode/powershell")).powerShell),
  json: async () => (await import("@codemirror/lang-json")).json(),
  yaml: async () => (await import("@codemirror/lang-yaml")).yaml(),
};

async function typescript(): Promise<Extension> {
  return (await import("@codemirror/lang-javascript")).javascript({ typescript: true, jsx: true });
}

async function sql(name: "PostgreSQL" | "MySQL" | "SQLite" | "StandardSQL"): Promise<Extension> {
  const found = await import("@codemirror/lang-sql");
  return found.sql({ dialect: found[name] });
}

export const loadLanguage = async (name: string): Promise<Extension> => (await LOADERS[name]?.()) ?? [];

/** Programs of the children, embedded in the executable and written to disk at start. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { sha256 } from "../../../lib/text/ids.ts";
import type { RunnableLanguage } from "../../languages/languages.ts";
import { sourceOf } from "./source-of.ts" with { type: "macro" };

export interface RuntimeFiles {
  directory: string;
  typescript: string;
  python: string;
  /** Folder of the wrappers that run scripts of other languages or are compiled with them. */
  wrappers: string;
  watchdog: string;
  /** Program that applies the sandbox to a child and then becomes it. */
  launcher: string;
  /** Query module by language; absent for languages whose scripts are loaded directly. */
  queries: Partial<Record<RunnableLanguage, string>>;
}

/** Writes the files below `directory`, in a folder named by their hash, so that several versions of svc can coexist. */
export function writeRuntimeFiles(directory: string): RuntimeFiles {
  const sources: [string, string][] = [
    ["runner/child/program.ts", sourceOf("runner/child/program.ts")],
    ["runner/child/become.ts", sourceOf("runner/child/become.ts")],
    ["runner/child/channel.ts", sourceOf("runner/child/channel.ts")],
    ["runner/child/error.ts", sourceOf("runner/child/error.ts")],
    ["runner/child/folder.ts", sourceOf("runner/child/folder.ts")],
    ["runner/child/host.ts", sourceOf("runner/child/host.ts")],
    ["runner/child/memory-file.ts", sourceOf("runner/child/memory-file.ts")],
    ["runner/child/result-file.ts", sourceOf("runner/child/result-file.ts")],
    ["runner/child/exact.ts", sourceOf("runner/child/exact.ts")],
    ["runner/child/output.ts", sourceOf("runner/child/output.ts")],
    ["runner/child/result.ts", sourceOf("runner/child/result.ts")],
    ["runner/child/wrappers/to-json.ts", sourceOf("runner/child/wrappers/to-json.ts")],
    ["runner/child/shell.ts", sourceOf("runner/child/shell.ts")],
    ["runner/child/system.ts", sourceOf("runner/child/system.ts")],
    ["runner/child/token.ts", sourceOf("runner/child/token.ts")],
    ["runner/child/program.py", sourceOf("runner/child/program.py")],
    ["runner/child/python-path/wmill.py", sourceOf("runner/child/python-path/wmill.py")],
    ["runner/child/wrappers/prelude.sh", sourceOf("runner/child/wrappers/prelude.sh")],
    ["runner/child/wrappers/run.php", sourceOf("runner/child/wrappers/run.php")],
    ["runner/child/wrappers/run.rb", sourceOf("runner/child/wrappers/run.rb")],
    ["runner/child/wrappers/run.ps1", sourceOf("runner/child/wrappers/run.ps1")],
    ["runner/child/wrappers/run_deno.ts", sourceOf("runner/child/wrappers/run_deno.ts")],
    ["runner/child/wrappers/main.go", sourceOf("runner/child/wrappers/main.go")],
    ["runner/child/wrappers/main.rs", sourceOf("runner/child/wrappers/main.rs")],
    ["runner/child/wrappers/main_crates.rs", sourceOf("runner/child/wrappers/main_crates.rs")],
    ["runner/child/wrappers/from_json.rs", sourceOf("runner/child/wrappers/from_json.rs")],
    ["runner/child/wrappers/json.rs", sourceOf("runner/child/wrappers/json.rs")],
    ["runner/process/watchdog.ts", sourceOf("runner/process/watchdog.ts")],
    ["runner/process/kill-tree.ts", sourceOf("runner/process/kill-tree.ts")],
    ["runner/sandbox/walls/launcher.ts", sourceOf("runner/sandbox/walls/launcher.ts")],
    ["runner/child/query/postgresql.ts", sourceOf("runner/child/query/postgresql.ts")],
    ["runner/child/query/postgresql-types.ts", sourceOf("runner/child/query/postgresql-types.ts")],
    ["runner/child/query/mysql.ts", sourceOf("runner/child/query/mysql.ts")],
    ["runner/child/query/sqlite.ts", sourceOf("runner/child/query/sqlite.ts")],
    ["runner/child/query/sqlite-files.ts", sourceOf("runner/child/query/sqlite-files.ts")],
    ["runner/child/query/graphql.ts", sourceOf("runner/child/query/graphql.ts")],
    ["runner/child/query/connections.ts", sourceOf("runner/child/query/connections.ts")],
    ["runner/child/query/query.ts", sourceOf("runner/child/query/query.ts")],
    ["runner/child/query/values.ts", sourceOf("runner/child/query/values.ts")],
    ["languages/sql/statements.ts", sourceOf("languages/sql/statements.ts")],
  ];
  const digest = sha256(sources.map(([, text]) => text).join("\0")).slice(0, 16);
  const folder = join(directory, "runtime", digest);
  for (const within of new Set(sources.map(([name]) => dirname(name)))) {
    mkdirSync(join(folder, within), { recursive: true, mode: 0o700 });
  }
  for (const [name, text] of sources) writeFileSync(join(folder, name), text, { mode: 0o600 });
  // Bun uses the nearest of these files at or above a module; those above the data directory must not affect scripts.
  for (const name of ["tsconfig.json", "package.json"]) {
    writeFileSync(join(directory, name), "{}\n", { mode: 0o600 });
  }
  const child = join(folder, "runner", "child");
  const query = (language: string) => join(child, "query", `${language}.ts`);
  return {
    directory: folder,
    typescript: join(child, "program.ts"),
    python: join(child, "program.py"),
    wrappers: join(child, "wrappers"),
    watchdog: join(folder, "runner", "process", "watchdog.ts"),
    launcher: join(folder, "runner", "sandbox", "walls", "launcher.ts"),
    queries: {
      postgresql: query("postgresql"),
      mysql: query("mysql"),
      sqlite: query("sqlite"),
      graphql: query("graphql"),
    },
  };
}

/** Programs of the children, embedded in the executable and written to disk at start. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { sha256 } from "../../../lib/text/ids.ts";
import type { RunnableLanguage } from "../../languages/languages.ts";
import { bundlePrograms, readSource } from "./source-of.ts" with { type: "macro" };

export interface RuntimeFiles {
  directory: string;
  typescript: string;
  python: string;
  /** Folder of the wrappers that run scripts of other languages or are compiled with them. */
  wrappers: string;
  watchdog: string;
  /** Program that carries out a launch plan where launch programs cannot be executed. */
  launcher: string;
  /** Query module by language; absent for languages whose scripts are loaded directly. */
  queries: Partial<Record<RunnableLanguage, string>>;
}

/** Writes the files below `directory`, in a folder named by their hash, so that several versions of svc can coexist. */
export function writeRuntimeFiles(directory: string): RuntimeFiles {
  const sources: [string, string][] = [
    ...Object.entries(
      bundlePrograms([
        "runner/child/program.ts",
        "runner/child/query/postgresql.ts",
        "runner/child/query/mysql.ts",
        "runner/child/query/sqlite.ts",
        "runner/child/query/graphql.ts",
        "runner/process/watchdog.ts",
        "runner/sandbox/isolation/launcher.ts",
      ]),
    ),
    ["runner/child/wrappers/to-json.ts", readSource("runner/child/wrappers/to-json.ts")],
    ["runner/child/program.py", readSource("runner/child/program.py")],
    ["runner/child/python-path/wmill.py", readSource("runner/child/python-path/wmill.py")],
    ["runner/child/wrappers/prelude.sh", readSource("runner/child/wrappers/prelude.sh")],
    ["runner/child/wrappers/run.php", readSource("runner/child/wrappers/run.php")],
    ["runner/child/wrappers/run.rb", readSource("runner/child/wrappers/run.rb")],
    ["runner/child/wrappers/run.ps1", readSource("runner/child/wrappers/run.ps1")],
    ["runner/child/wrappers/run_deno.ts", readSource("runner/child/wrappers/run_deno.ts")],
    ["runner/child/wrappers/main.go", readSource("runner/child/wrappers/main.go")],
    ["runner/child/wrappers/main.rs", readSource("runner/child/wrappers/main.rs")],
    ["runner/child/wrappers/main_crates.rs", readSource("runner/child/wrappers/main_crates.rs")],
    ["runner/child/wrappers/from_json.rs", readSource("runner/child/wrappers/from_json.rs")],
    ["runner/child/wrappers/json.rs", readSource("runner/child/wrappers/json.rs")],
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
  const query = (language: string) => join(child, "query", `${language}.js`);
  return {
    directory: folder,
    typescript: join(child, "program.js"),
    python: join(child, "program.py"),
    wrappers: join(child, "wrappers"),
    watchdog: join(folder, "runner", "process", "watchdog.js"),
    launcher: join(folder, "runner", "sandbox", "isolation", "launcher.js"),
    queries: {
      postgresql: query("postgresql"),
      mysql: query("mysql"),
      sqlite: query("sqlite"),
      graphql: query("graphql"),
    },
  };
}

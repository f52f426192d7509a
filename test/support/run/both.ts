/**
 * `bun run test:all [flags of bun test]`: the suites on SQLite and on PostgreSQL in parallel, which keeps the
 * processors busy while some files wait. Each line is prefixed with its suite.
 */
import { rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { buildExecutable } from "./suite.ts";

const PROCESSES = Math.ceil(availableParallelism() / 2) + 1;
/** The suite on SQLite has more tests, so it gets a process more. */
const SUITES = {
  sqlite: { file: "main.ts", processes: PROCESSES + 1 },
  postgres: { file: "../postgres.ts", processes: PROCESSES },
};

/** Copies lines to stdout, prefixed with the name of the suite. */
async function copyLines(name: string, stream: ReadableStream<Uint8Array>): Promise<void> {
  let rest = "";
  const decoder = new TextDecoder();
  const print = (line: string) => console.log(`${name.padEnd(8)} | ${line}`);
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop()!;
    for (const line of lines) print(line);
  }
  if (rest !== "") print(rest);
}

/** @returns the exit code of the suite */
async function runSuite(name: keyof typeof SUITES, executable: string): Promise<number> {
  const { file, processes } = SUITES[name];
  const child = Bun.spawn([process.execPath, join(import.meta.dir, file), ...process.argv.slice(2)], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      SVC_TEST_EXECUTABLE: executable,
      SVC_TEST_PROCESSES: process.env.SVC_TEST_PROCESSES ?? String(processes),
    },
  });
  const stop = (signal: NodeJS.Signals) => child.kill(signal);
  process.on("SIGINT", stop).on("SIGTERM", stop);
  await Promise.all([copyLines(name, child.stdout), copyLines(name, child.stderr)]);
  return child.exited;
}

const built = process.env.SVC_TEST_EXECUTABLE ? undefined : await buildExecutable();
const executable = built?.executable ?? process.env.SVC_TEST_EXECUTABLE!;
const codes = await Promise.all([runSuite("sqlite", executable), runSuite("postgres", executable)]);
if (built) rmSync(built.folder, { recursive: true, force: true });
process.exit(Math.max(...codes));

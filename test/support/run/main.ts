/**
 * `bun run test [bun test arguments]`: the tests on SQLite, of the command line, the documents and the clients. With
 * `--suite=<name>` another suite.
 */
import { copyFileSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findQuickFiles } from "./quick.ts";
import { runTests } from "./suite.ts";
import { removeAtExit, useMemoryForTemporaryFiles } from "./temporary-folder.ts";

const SUITES: Record<string, () => string[]> = {
  quick: findQuickFiles,
  // Tests of the executable measure times and memory, so their files run one after another, each in its own
  // process.
  executable: () => ["--parallel=1", "--isolate", "--path-ignore-patterns=none", "test/acceptance/e2e"],
  // The files of the console measure at most bytes, and wait half of the time.
  console: () => ["--parallel=2", "--isolate", "--path-ignore-patterns=none", "test/acceptance/console"],
};

/** Suites that test the output of `bun run build`. */
const OF_BUILT = ["executable", "console"];
const SUITE = "--suite=";
const given = process.argv.slice(2);
const name = given.find((argument) => argument.startsWith(SUITE))?.slice(SUITE.length);
const suite = name === undefined ? () => [] : SUITES[name];
if (!suite) throw new Error(`there is no suite ${name}, but ${Object.keys(SUITES).join(", ")}`);
useMemoryForTemporaryFiles();
if (name && OF_BUILT.includes(name) && !process.env.SVC_TEST_EXECUTABLE) copyBuilt();
if (name === "console") await unpackBrowser();
const code = await runTests(
  given.filter((argument) => !argument.startsWith(SUITE)),
  suite(),
);
process.exit(code);

/** Copies the executable to a folder from which tests can link it. */
function copyBuilt(): void {
  const folder = mkdtempSync(join(tmpdir(), "svc-built-"));
  removeAtExit(folder);
  process.env.SVC_TEST_EXECUTABLE = join(folder, "svc");
  copyFileSync(join(import.meta.dir, "../../../dist/svc"), process.env.SVC_TEST_EXECUTABLE);
}

/** Unpacks the browser of its package before two processes do so at the same time. */
async function unpackBrowser(): Promise<void> {
  const { default: chromium } = await import("@sparticuz/chromium");
  await chromium.executablePath();
}

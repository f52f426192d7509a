/**
 * Runs tests by `bun test`. A single named file runs as `bun test` runs it. Several, a whole suite or a folder
 * are distributed over processes, with a line of progress, and failures are printed last. Files in one process
 * share its modules, because loading the server again costs as much as the tests of many files. A file that
 * fails is run again alone: if it then passes, it is named; if it fails again, everything printed since the
 * previous test is shown.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createResultReader, type Results } from "./results.ts";

/** Tests wait for other processes a third of the time. */
const PROCESSES = Number(process.env.SVC_TEST_PROCESSES) || availableParallelism() + 1;
const TIMEOUT = "--timeout=60000";
/**
 * Durations of the files on SQLite, by which the longest start first; `--update-timings` measures them again.
 */
export const TIMINGS = join(import.meta.dir, "timings.json");
/** The same on PostgreSQL, where tests of several servers run as well. */
const POSTGRES_TIMINGS = join(import.meta.dir, "timings-postgres.json");
const PROGRESS_INTERVAL_MS = 10_000;
/** If more files fail, they have a common cause. */
const MAX_FILES_AGAIN = 12;

/** Characters of the line that names a failure while the others run. */
const MAX_NAME = 200;
/** Characters of a log that are printed if nothing else is known. */
const MAX_LOG = 20_000;
/** Whether the user has interrupted the run. */
let isStopped = false;
/** Flags of the first run only. */
const NOT_AGAIN = /^--(parallel|isolate|reporter|update-timings)/;
/** Flags whose value may be an argument of its own. */
const WITH_VALUE = /^(-t|--test-name-pattern|--timeout|--preload|--seed)$/;

/**
 * Settings of the runtime. Tests run too short for the last optimization to pay. Memory is not touched in advance, and
 * returned to the system after ten seconds, which saves a fifth of their processor time.
 */
const RUNTIME = {
  BUN_JSC_useFTLJIT: "0",
  BUN_JSC_useWarmUpMarkedBlocks: "0",
  MIMALLOC_PURGE_DELAY: "10000",
  MIMALLOC_PURGE_HOLES: "0",
};

/**
 * Returns the search path with the folder of Python itself first: a shim of pyenv or asdf in its place takes ten times
 * as long to start, and some hundred tests start one.
 */
function findPathWithPython(): string {
  const { PATH = "" } = process.env;
  const find = [Bun.which("python3") ?? "", "-c", "import sys; print(sys.executable)"];
  const found = find[0] ? Bun.spawnSync(find).stdout.toString().trim() : "";
  return found === "" ? PATH : `${dirname(found)}:${PATH}`;
}

const isFlag = (argument: string) => argument.startsWith("-");
const isFolder = (argument: string) =>
  !isFlag(argument) && (statSync(argument, { throwIfNoEntry: false })?.isDirectory() ?? false);

/**
 * @param args of `bun test`: flags and files
 * @param suite flags and folders; the folders run if no files are named, and everything if there are none either
 * @returns the exit code
 */
export async function runTests(args: string[], suite: string[] = []): Promise<number> {
  if (args.every(isFlag)) return runSuite([...suite, ...args]);
  const named = args.filter((argument) => !isFlag(argument));
  if (named.length > 1 || named.some(isFolder)) return runFiles(args);
  return runBunTest([...suite.filter(isFlag), ...args]);
}

/** Reads what one stream of `bun test` prints. */
interface StreamReader {
  read(text: string): void;
  end(): void;
}

/**
 * Runs `bun test` in its own process group, which ends with it.
 * @param openReader for each of its two streams
 */
async function runBunTest(args: string[], openReader?: () => StreamReader): Promise<number> {
  const output = openReader ? "pipe" : "inherit";
  const run = Bun.spawn([process.execPath, "test", TIMEOUT, ...args], {
    stdio: ["ignore", output, output],
    env: { ...RUNTIME, ...process.env, PATH: findPathWithPython() },
    detached: true,
  });
  const stop = (name: NodeJS.Signals) => {
    isStopped = true;
    signalGroup(name);
  };
  const signalGroup = (name: NodeJS.Signals) => {
    try {
      process.kill(-run.pid, name);
    } catch {
      // All of them have ended.
    }
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
  const read = async (stream: ReadableStream<Uint8Array> | undefined) => {
    if (!openReader || !stream) return;
    const decoder = new TextDecoder();
    const reader = openReader();
    for await (const chunk of stream) reader.read(decoder.decode(chunk, { stream: true }));
    reader.end();
  };
  const reading = Promise.all([read(run.stdout), read(run.stderr)]);
  const code = await run.exited;
  signalGroup("SIGKILL");
  await reading;
  process.off("SIGINT", stop).off("SIGTERM", stop);
  return code;
}

/**
 * Compiles the executable, which starts several times faster than the program's source: tests of the command line start
 * it about a thousand times. @returns its folder, which the caller deletes
 */
export async function buildExecutable(): Promise<{ folder: string; executable: string }> {
  const folder = mkdtempSync(join(tmpdir(), "svc-tests-"));
  const command = [process.execPath, join(import.meta.dir, "../../../cli/build.ts"), "--outdir", folder];
  const { exitCode, stderr, stdout } = Bun.spawnSync(command);
  if (exitCode === 0) return { folder, executable: join(folder, "svc") };
  rmSync(folder, { recursive: true, force: true });
  throw new Error(`the executable was not built:\n${stdout}${stderr}`);
}

/** Runs a whole suite, with a new executable unless the environment names one. */
async function runSuite(args: string[]): Promise<number> {
  if (process.env.SVC_TEST_EXECUTABLE) return runFiles(args);
  const { folder, executable } = await buildExecutable();
  process.env.SVC_TEST_EXECUTABLE = executable;
  try {
    return await runFiles(args);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runFiles(args: string[]): Promise<number> {
  const began = performance.now();
  const seconds = () => Math.round((performance.now() - began) / 1000);
  const { results, log, openReader } = createLoggedReader();
  let named = 0;
  const showProgress = () => {
    const { passed, failed, files, failures } = results;
    for (const failure of failures.slice(named)) console.log(nameFailure(failure));
    named = failures.length;
    console.log(
      `${seconds()} s: ${passed} tests of ${files.size} files passed${failed ? `, ${failed} failed` : ""}`,
    );
  };
  const progress = setInterval(showProgress, PROGRESS_INTERVAL_MS);
  const shared = args.includes("--isolate") ? [] : ["--no-isolate"];
  const timings = process.env.DATABASE_URL ? POSTGRES_TIMINGS : TIMINGS;
  const beside = [`--parallel=${PROCESSES}`, ...shared, `--timings=${timings}`];
  const code = await runBunTest([...beside, ...args], openReader);
  clearInterval(progress);
  // A run that ended early, or an error outside of the files that run again, remains a failure.
  const isWholeRun = results.is_complete && !results.has_stray_error;
  const files_again = isWholeRun ? results.failed_files : new Map<string, string[]>();
  const again = code === 0 && isWholeRun ? [] : await runAgain(files_again, args);
  const failures = again ?? results.failures;
  const { passed, skipped, files } = results;
  const total = passed + results.failed - failures.length;
  console.log(`\n ${total} pass\n ${skipped} skip\n ${failures.length} fail`);
  console.log(`Ran ${total + failures.length} tests across ${files.size} files. [${seconds()} s]`);
  for (const failure of failures) console.log(`\n${failure}`);
  if (again?.length === 0) return 0;
  if (failures.length === 0) console.log(`exit code ${code}\n${log.join("").slice(-MAX_LOG)}`);
  return 1;
}

/** Returns the file and the test of a failure, as one line. */
function nameFailure(failure: string): string {
  const [file, ...lines] = failure.split("\n");
  const name = lines.findLast((line) => line.startsWith("(fail)")) ?? "an error outside of its tests";
  return `${file} ${name}`.slice(0, MAX_NAME);
}

/** Parses results, and keeps all output. */
function createLoggedReader() {
  const log: string[] = [];
  const { results, createStreamReader } = createResultReader();
  const openReader = (): StreamReader => {
    const { read, end } = createStreamReader();
    return {
      read(text) {
        log.push(text);
        read(text);
      },
      end,
    };
  };
  return { results, log, openReader };
}

/**
 * Runs files that failed again, each alone.
 * @returns the repeated failures; undefined if too many files failed
 */
async function runAgain(files: Results["failed_files"], args: string[]): Promise<string[] | undefined> {
  if (files.size === 0 || files.size > MAX_FILES_AGAIN) return undefined;
  const flags = args.filter((argument, place) =>
    isFlag(argument) ? !NOT_AGAIN.test(argument) : WITH_VALUE.test(args[place - 1] ?? ""),
  );
  const failures: string[] = [];
  for (const [file, lines] of files) {
    if (isStopped) return undefined;
    console.log(`failed beside others, runs again alone: ${[file, ...lines].join("\n  ")}`);
    const { results, log, openReader } = createLoggedReader();
    const code = await runBunTest([...flags, file], openReader);
    if (code === 0 && results.is_complete) console.log(`passed alone: ${file}`);
    else if (results.failures.length > 0) failures.push(...results.failures);
    else failures.push(`${file}: exit code ${code}\n${log.join("").slice(-MAX_LOG)}`);
  }
  return failures;
}

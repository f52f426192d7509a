/**
 * Runs the real program in a temporary folder, without this process's environment: the executable if a run of
 * the whole suite built one, which starts several times faster, or else the program's source.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { createTemporaryFolder, startTestServer } from "../support/harness.ts";

const MAIN = join(import.meta.dir, "../../cli/main.ts");
/** The program's source, whose runtime takes flags. */
export const SOURCE_PROGRAM = [process.execPath, MAIN];
const BUILT = process.env.SVC_TEST_EXECUTABLE;

/**
 * Settings of the runtime for short commands, which take half of the processor time with them: no optimizing compiler,
 * large pages, no memory returned to the system or touched in advance.
 */
export const SHORT_RUN = {
  BUN_JSC_useDFGJIT: "0",
  BUN_JSC_useWarmUpMarkedBlocks: "0",
  MIMALLOC_ALLOW_THP: "1",
  MIMALLOC_PURGE_DELAY: "-1",
};

export interface CommandResult {
  code: number;
  out: string;
  err: string;
}

export interface RunOptions {
  stdin?: string;
  env?: Record<string, string>;
}

export interface CliEnvironment extends Disposable {
  folder: string;
  data_dir: string;
  environment: Record<string, string>;
  /** The command line of the program, without arguments. */
  program: string[];
  /** Writes a file into the folder. @returns its name */
  file: (name: string, content: string) => Promise<string>;
  /** Runs a command to its end; there is no terminal, and stdin is empty unless given. */
  svc: (args: string[], options?: RunOptions) => Promise<CommandResult>;
}

export function createCliEnvironment(): CliEnvironment {
  const folder = createTemporaryFolder("svc-cli-");
  const data_dir = join(folder, "data");
  mkdirSync(data_dir, { mode: 0o700 });
  const environment = { PATH: process.env.PATH ?? "", HOME: folder, SVC_DATA_DIR: data_dir, ...SHORT_RUN };
  const program = BUILT ? [BUILT] : SOURCE_PROGRAM;
  return {
    folder,
    data_dir,
    environment,
    program,
    async file(name, content) {
      await Bun.write(join(folder, name), content);
      return name;
    },
    async svc(args, { stdin, env } = {}) {
      const child = Bun.spawn([...program, ...args], {
        cwd: folder,
        env: { ...environment, ...env },
        stdin: stdin === undefined ? "ignore" : new TextEncoder().encode(stdin),
        stdout: "pipe",
        stderr: "pipe",
      });
      const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
      return { code, out, err };
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/**
 * Starts a server in this process for the commands of a test, which take a third of the time then: most commands give
 * the same output with and without one, as `ways.test.ts` shows.
 */
export async function createServedEnvironment(): Promise<CliEnvironment & AsyncDisposable> {
  const place = createCliEnvironment();
  const server = await startTestServer({ data_dir: place.data_dir });
  return {
    ...place,
    async [Symbol.asyncDispose]() {
      await server.stop();
      place[Symbol.dispose]();
    },
  };
}

/** A long-running command. */
export interface RunningCommand extends Disposable {
  child: Subprocess;
  /** Resolves once stdout or stderr contains the text. @returns that output so far */
  says: (text: string) => Promise<string>;
  ended: () => Promise<{ code: number; out: string; err: string }>;
}

/** Starts a command without a terminal, and does not wait for its end. */
export function start(
  place: CliEnvironment,
  args: string[],
  env: Record<string, string> = {},
): RunningCommand {
  const child = Bun.spawn([...place.program, ...args], {
    cwd: place.folder,
    env: { ...place.environment, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const said = { out: "", err: "" };
  let wake = () => {};
  const read = async (stream: ReadableStream<Uint8Array>, name: "out" | "err") => {
    const decoder = new TextDecoder();
    for await (const bytes of stream) {
      said[name] += decoder.decode(bytes, { stream: true });
      wake();
    }
  };
  const all = Promise.all([read(child.stdout, "out"), read(child.stderr, "err")]).then(() => wake());
  return {
    child,
    async says(text) {
      for (;;) {
        const found = [said.out, said.err].find((output) => output.includes(text));
        if (found !== undefined) return found;
        if (child.exitCode !== null) throw new Error(`ended without "${text}": ${said.out}${said.err}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    async ended() {
      await all;
      return { code: await child.exited, ...said };
    },
    [Symbol.dispose]: () => child.kill("SIGKILL"),
  };
}

/** Formats an error as the program prints it on a terminal. */
export function formatError(error: string, hint?: string): string {
  return `error: ${error}\n${hint ? `hint: ${hint}\n` : ""}`;
}

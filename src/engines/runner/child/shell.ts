/**
 * A bash process that is started before its job arrives, so that the job need not wait for its start. It blocks while
 * reading its prelude (`wrappers/prelude.sh`). Each process runs one job, which sees no difference from a process
 * started for it. A process that receives no job runs nothing.
 */
import type { HostedProgram } from "../protocol.ts";
import { nodeFs, openPipe, type Started, startProgram } from "./system.ts";

/** File descriptor from which bash reads the prelude. */
const PRELUDE_FD = 3;

/**
 * The server's own variables, which may differ from job to job. Bash sets them in the prelude; other programs get them
 * when they start.
 */
const OF_A_JOB = /^WM_\w*$/;

/** Variables that locate the prelude or prevent bash from reading it; the prelude sets them. */
const STARTUP_VARIABLES = ["BASH_ENV", "POSIXLY_CORRECT"];

const isSetByPrelude = (name: string) => OF_A_JOB.test(name) || STARTUP_VARIABLES.includes(name);

export interface Shell extends Started {
  /** Whether it can run a job with these variables. */
  isFitFor(variables: Record<string, string>): boolean;
  /** Passes the job to it. @throws if it has exited */
  run(variables: Record<string, string>, values: string[]): void;
  /** Ends it without running a job. */
  dismiss(): Promise<void>;
}

/**
 * Starts a bash process that waits for its job.
 * @param variables environment of the job, except for the server's variables that differ by job.
 * @throws if it cannot be started
 */
export function startShell({ path, argv, prelude }: HostedProgram, variables: Record<string, string>): Shell {
  const environment: Record<string, string> = {};
  for (const name in variables) if (!isSetByPrelude(name)) environment[name] = variables[name]!;
  const [readable, writable] = openPipe();
  let isOpen = true;
  const close = () => {
    if (isOpen) nodeFs().closeSync(writable);
    isOpen = false;
  };
  let started: Started;
  try {
    started = startProgram(path, argv, { ...environment, BASH_ENV: prelude! }, [
      "ignore",
      "inherit",
      "inherit",
      readable,
    ]);
  } catch (cause) {
    close();
    throw cause;
  } finally {
    nodeFs().closeSync(readable);
  }
  return {
    pid: started.pid,
    exited: started.exited,
    isFitFor(wanted) {
      const names = Object.keys(wanted).filter((name) => !isSetByPrelude(name));
      return (
        names.length === Object.keys(environment).length &&
        names.every((name) => wanted[name] === environment[name])
      );
    },
    run(wanted, values) {
      try {
        writeAll(writable, Buffer.from(createPrelude(wanted, values)));
      } finally {
        close();
      }
    },
    async dismiss() {
      close();
      await started.exited;
    },
  };
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += nodeFs().writeSync(fd, bytes, at);
}

/** Returns the commands that precede the script: they set variables and `$1`, `$2`, …, and close their pipe. */
function createPrelude(variables: Record<string, string>, values: string[]): string {
  const exports = Object.keys(variables)
    .filter(isSetByPrelude)
    .map((name) => `export ${name}=${quoteForBash(variables[name]!)}`);
  return [
    ...exports,
    `set -- ${values.map(quoteForBash).join(" ")}`,
    // `SECONDS` counts from the start of the process.
    "SECONDS=0",
    `exec ${PRELUDE_FD}<&-`,
    "return 7\n",
  ].join("\n");
}

/** Quotes a text as one bash word, which cannot contain NUL. */
function quoteForBash(text: string): string {
  return `'${text.replaceAll("\0", "").replaceAll("'", "'\\''")}'`;
}

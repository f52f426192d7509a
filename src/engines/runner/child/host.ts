/**
 * Runs a program of the machine, such as bash, once per job, as a subprocess of this process. A warm job therefore
 * needs no start of a runtime. Jobs are isolated from each other: each has its own process, environment, standard
 * input and emptied folder; this process's memory is unreadable to them; and it accepts no further job if it cannot
 * end all processes of the last one.
 */
import type { Done, HostedProgram, Load, Run } from "../protocol.ts";
import { replaceProcess } from "./become.ts";
import { parseVerbatim } from "./exact.ts";
import { createMemoryFile } from "./memory-file.ts";
import { makeOutputBlocking } from "./output.ts";
import { readErrorFile, readResultFile } from "./result-file.ts";
import { type Shell, startShell } from "./shell.ts";
import { hideMemory, libc, nodeFs, reapOrphans, type Started, startProgram } from "./system.ts";

export interface Host {
  run(message: Run): Promise<Partial<Done>>;
  /** Starts a process for the next job, unless one is ready. */
  prepare(): void;
}

/** Returns the functions that run jobs of this version. @throws on systems where such programs cannot run */
export function openHost(load: Load, program: HostedProgram): Host {
  if (!libc)
    throw Object.assign(new Error("only Linux runs this language"), { name: "ExecutionErr", stack: "" });
  hideMemory();
  const variables = { ...load.environment };
  /** Process that was started for the next job. */
  let waiting: Shell | undefined;
  /** The program of the current job, whose exit is awaited. */
  let attended: number | undefined;
  // Orphans of the job are adopted by this process, which must reap them so that no zombie remains.
  process.on("SIGCHLD", () => reapOrphans(attended));

  function attend<T extends Started>(start: () => T): T {
    let started: T;
    try {
      started = start();
    } catch {
      throw startFailure(program);
    }
    attended = started.pid;
    void started.exited.then(() => {
      if (attended === started.pid) attended = undefined;
    });
    return started;
  }

  const startBash = () => attend(() => startShell(program, { ...program.environment, ...variables }));

  /** Passes the job to the shell that was started ahead, or to a new one. */
  async function runInShell(args: Record<string, unknown>): Promise<Started> {
    const environment = { ...program.environment, ...variables };
    const values = load.parameters.map(({ name, default: initial }) => toText(args[name] ?? initial));
    const ahead = waiting;
    waiting = undefined;
    if (ahead?.isFitFor(environment) && gives(ahead, environment, values)) return ahead;
    if (ahead) await ahead.dismiss();
    const shell = startBash();
    gives(shell, environment, values);
    return shell;
  }

  return {
    prepare() {
      if (program.prelude === undefined || attended !== undefined) return;
      try {
        const shell = startBash();
        waiting = shell;
        void shell.exited.then(() => {
          if (waiting === shell) waiting = undefined;
        });
      } catch {
        // The next job will fail to start it too, and report the error.
      }
    },
    async run({ environment, args, max_result }) {
      Object.assign(variables, environment);
      makeOutputBlocking();
      const { path, argv, prelude, replaces_child } = program;
      const whole = { ...program.environment, ...variables };
      if (replaces_child) {
        libc!.dup2(createMemoryFile(args), 0);
        replaceProcess({ t: "exec", program: path, argv, environment: whole, keep_channel: false });
        throw startFailure(program);
      }
      const { exited } =
        prelude === undefined
          ? attend(() => startWithInput(program, whole, args))
          : await runInShell(parseVerbatim(args) as Record<string, unknown>);
      const exit = await exited;
      reapOrphans(undefined);
      if (exit.code === 0) return { exit, ...readResultFile(max_result) };
      const error = prelude === undefined ? readErrorFile(load) : undefined;
      return error ? { error } : { exit };
    },
  };
}

function startWithInput(program: HostedProgram, environment: Record<string, string>, args: string): Started {
  const input = createMemoryFile(args);
  try {
    return startProgram(program.path, program.argv, environment, [input, "inherit", "inherit"]);
  } finally {
    nodeFs().closeSync(input);
  }
}

/** Passes the job to the shell that was started in advance. @returns false if the shell has exited in the meantime */
function gives(shell: Shell, environment: Record<string, string>, values: string[]): boolean {
  try {
    shell.run(environment, values);
    return true;
  } catch {
    return false;
  }
}

function toText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function startFailure({ path }: HostedProgram): Error {
  return Object.assign(new Error(`${path} could not be started`), { name: "ExecutionErr", stack: "" });
}

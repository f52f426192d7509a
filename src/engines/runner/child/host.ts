/**
 * Runs a program of the machine, such as bash, once per job, as a subprocess of this process. A warm job therefore
 * needs no start of a runtime. Jobs are isolated from each other: each has its own process, environment, standard
 * input and emptied folder; this process's memory is unreadable to them; and it accepts no further job if it cannot
 * end all processes of the last one.
 */
import { closeSync } from "node:fs";
import type { Done, HostedProgram, Load, Run } from "../protocol.ts";
import { replaceProcess } from "./become.ts";
import { parseVerbatim } from "./exact.ts";
import { createMemoryFile } from "./memory-file.ts";
import { makeOutputBlocking } from "./output.ts";
import { readErrorFile, readResultFile } from "./result-file.ts";
import { hideMemory, libc, reapOrphans } from "./system.ts";

/** Descriptor of a shell's prelude. */
const PRELUDE_FD = 3;

type Hosted = (message: Run) => Promise<Partial<Done>>;

/** Returns the function that runs one job of this version. @throws on systems where such programs cannot run */
export function openHost(load: Load, program: HostedProgram): Hosted {
  if (!libc)
    throw Object.assign(new Error("only Linux runs this language"), { name: "ExecutionErr", stack: "" });
  hideMemory();
  // Orphans of the job are adopted by this process, which must reap them so that no zombie remains.
  let running: number | undefined;
  process.on("SIGCHLD", () => reapOrphans(running));
  const variables = { ...load.environment };

  return async (message) => {
    Object.assign(variables, message.environment);
    makeOutputBlocking();
    if (program.replaces_child) {
      libc!.dup2(createMemoryFile(message.args), 0);
      const { path, argv } = program;
      const environment = { ...program.environment, ...variables };
      replaceProcess({ t: "exec", program: path, argv, environment, keep_channel: false });
      throw startFailure(program);
    }
    const exit = await new Promise<NonNullable<Done["exit"]>>((resolve, reject) => {
      const start = prepare(load, program, message, variables);
      try {
        const child = Bun.spawn([program.path, ...program.argv.slice(1)], {
          argv0: program.argv[0]!,
          env: start.environment,
          stdio: start.stdio,
          // It leads its own session, so that a signal to its process group does not reach this process.
          detached: true,
          onExit: ({ exitCode, signalCode }) =>
            resolve({ code: exitCode, signal: signalCode === null ? null : String(signalCode) }),
        });
        running = child.pid;
      } catch {
        reject(startFailure(program));
      } finally {
        for (const fd of start.stdio) if (typeof fd === "number") closeSync(fd);
      }
    });
    running = undefined;
    reapOrphans(undefined);
    if (exit.code === 0) return { exit, ...readResultFile(message.max_result) };
    const error = program.is_shell ? undefined : readErrorFile();
    return error ? { error } : { exit };
  };
}

interface Start {
  environment: Record<string, string>;
  stdio: ["ignore" | number, "inherit", "inherit", ...number[]];
}

function prepare(load: Load, program: HostedProgram, message: Run, variables: Record<string, string>): Start {
  const environment = { ...program.environment, ...variables };
  if (!program.is_shell) {
    return { environment, stdio: [createMemoryFile(message.args), "inherit", "inherit"] };
  }
  const args = parseVerbatim(message.args) as Record<string, unknown>;
  const values = load.parameters.map(({ name, default: initial }) => toText(args[name] ?? initial));
  const prelude = createMemoryFile(createPrelude(environment, values));
  environment.BASH_ENV = `/proc/self/fd/${PRELUDE_FD}`;
  return { environment, stdio: ["ignore", "inherit", "inherit", prelude] };
}

/** Variables that keep bash from reading its prelude, or locate it; they are set in the prelude instead. */
const STARTUP_VARIABLES = ["BASH_ENV", "POSIXLY_CORRECT"];

/** Returns the commands before the script, which set `$1`, `$2`, …; the last one closes their file. */
function createPrelude(environment: Record<string, string>, values: string[]): string {
  const prelude = ["unset BASH_ENV"];
  for (const name of STARTUP_VARIABLES) {
    if (environment[name] === undefined) continue;
    prelude.push(`export ${name}=${quoteForBash(environment[name])}`);
    delete environment[name];
  }
  prelude.push(`set -- ${values.map(quoteForBash).join(" ")}`, `exec ${PRELUDE_FD}<&-`, "");
  return prelude.join("\n");
}

/** Quotes a text as one bash word, which cannot contain NUL. */
function quoteForBash(text: string): string {
  return `'${text.replaceAll("\0", "").replaceAll("'", "'\\''")}'`;
}

function toText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function startFailure({ path }: HostedProgram): Error {
  return Object.assign(new Error(`${path} could not be started`), { name: "ExecutionErr", stack: "" });
}

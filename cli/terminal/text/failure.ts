/** Errors of commands: exit codes, and how errors are shown. */
import { chalkStderr as chalk } from "chalk";
import { explainDenied } from "./denied-folder.ts";
import { printNote } from "./output.ts";

export const EXIT_CODES = {
  /** The operation was rejected, or the job failed. */
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
  /** The server is unreachable, or rejects the token. */
  unreachable: 3,
  /** Ended by Ctrl-C (128 + SIGINT, as shells report it). */
  interrupted: 130,
} as const;

/** An error that is shown to the user as it is. */
export class CliError extends Error {
  readonly hint: string | undefined;
  /** Location in the user's own code. */
  readonly trace: string | undefined;
  readonly exit_code: number;
  constructor(
    name: string,
    message: string,
    options: { hint?: string | undefined; trace?: string | undefined; exit_code?: number } = {},
  ) {
    super(message);
    this.name = name;
    this.hint = options.hint;
    this.trace = options.trace;
    this.exit_code = options.exit_code ?? EXIT_CODES.failed;
  }
}

/** Creates the error for a missing or wrong argument. */
export function createUsageError(message: string, hint?: string): CliError {
  return new CliError("Usage", message, { hint, exit_code: EXIT_CODES.usage });
}

interface ShownError {
  name: string;
  message: string;
  hint?: string | undefined;
  trace?: string | undefined;
  exit_code?: number;
  stack?: string;
}

/** Prints the error on stderr, as a sentence or as JSON. @returns the exit code */
export function showFailure(cause: unknown, json: boolean): number {
  const error: ShownError = cause instanceof Error ? cause : new Error(String(cause));
  const { name, message, trace } = error;
  const known = "hint" in error || "syscall" in error;
  const debugging = process.env.SVC_LOG_LEVEL === "debug";
  const hint =
    error.hint ??
    explainDenied(error) ??
    (known || debugging ? undefined : "SVC_LOG_LEVEL=debug shows where it happened");
  if (json) {
    printNote(JSON.stringify({ error: { name, message, hint } }));
  } else {
    printNote(`${chalk.red("error:")} ${message}`);
    if (trace) printNote(chalk.dim(trace));
    if (hint) printNote(`${chalk.dim("hint:")} ${hint}`);
  }
  if (debugging) printNote(error.stack ?? "");
  return error.exit_code ?? EXIT_CODES.failed;
}

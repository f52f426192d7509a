/** How a command ends when it fails: the exit codes, and what is shown. */
import { chalkStderr as chalk } from "chalk";
import { note } from "./output.ts";

export const EXIT = {
  /** The operation was refused, or the job failed. */
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
  /** The server cannot be reached, or does not know the token. */
  unreachable: 3,
  /** Ended with Ctrl-C, as shells say it. */
  interrupted: 130,
} as const;

/** A failure that is told to the person as it is. */
export class CliError extends Error {
  readonly hint: string | undefined;
  /** Where in the person's own code it happened. */
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
    this.exit_code = options.exit_code ?? EXIT.failed;
  }
}

/** The command line lacks something, or has too much. */
export function usageError(message: string, hint?: string): CliError {
  return new CliError("Usage", message, { hint, exit_code: EXIT.usage });
}

interface Shown {
  name: string;
  message: string;
  hint?: string | undefined;
  trace?: string | undefined;
  exit_code?: number;
  stack?: string;
}

/** Prints the error on stderr, as a sentence or as JSON. @returns the exit code */
export function showFailure(cause: unknown, json: boolean): number {
  const error: Shown = cause instanceof Error ? cause : new Error(String(cause));
  const { name, message, trace } = error;
  const known = "hint" in error || "syscall" in error;
  const debugging = process.env.SVC_LOG_LEVEL === "debug";
  const hint = error.hint ?? (known || debugging ? undefined : "SVC_LOG_LEVEL=debug shows where it happened");
  if (json) {
    note(JSON.stringify({ error: { name, message, hint } }));
  } else {
    note(`${chalk.red("error:")} ${message}`);
    if (trace) note(chalk.dim(trace));
    if (hint) note(`${chalk.dim("hint:")} ${hint}`);
  }
  if (debugging) note(error.stack ?? "");
  return error.exit_code ?? EXIT.failed;
}

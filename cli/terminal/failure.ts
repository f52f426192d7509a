/** How a command ends when it fails: the exit codes, and what is shown. */
import chalk from "chalk";

export const EXIT = {
  /** The operation was refused, or the job failed. */
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
  /** The server cannot be reached, or does not know the token. */
  unreachable: 3,
} as const;

/** A failure that is told to the person as it is. */
export class CliError extends Error {
  readonly hint: string | undefined;
  readonly exit_code: number;
  constructor(
    name: string,
    message: string,
    options: { hint?: string | undefined; exit_code?: number } = {},
  ) {
    super(message);
    this.name = name;
    this.hint = options.hint;
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
  exit_code?: number;
}

/** Prints the error on stderr, as a sentence or as JSON. @returns the exit code */
export function showFailure(cause: unknown, json: boolean): number {
  const error = cause as Shown & { stack?: string };
  const known = cause instanceof CliError || "hint" in (cause as object);
  if (json) {
    const { name, message, hint } = error;
    process.stderr.write(`${JSON.stringify({ error: { name, message, hint } })}\n`);
  } else {
    process.stderr.write(`${chalk.red("error:")} ${error.message}\n`);
    if (error.hint) process.stderr.write(`${chalk.dim("hint:")} ${error.hint}\n`);
    if (!known || process.env.SVC_LOG_LEVEL === "debug") process.stderr.write(`${error.stack ?? ""}\n`);
  }
  return error.exit_code ?? EXIT.failed;
}

/** Asks questions, only on an interactive terminal. */
import { CliError, createUsageError, EXIT_CODES } from "./text/failure.ts";
import { toOneLine } from "./text/output.ts";

export function isInteractive(): boolean {
  return Boolean(process.stdin.isTTY && process.stderr.isTTY);
}

interface Question {
  /** The text of the question. */
  message: string;
  /** The option that answers it without a terminal. */
  flag: string;
  /** Hint without a terminal; default: that there is no terminal. */
  hint?: string;
  secret?: boolean;
  /** The value of an empty answer. */
  fallback?: string;
  /** Throws an error that describes an invalid answer; then the question is asked again. */
  check?: (answer: string) => unknown;
}

/** Returns the given value, or asks for it. @throws a usage error without a terminal */
export async function askFor(given: string | undefined, question: Question): Promise<string> {
  if (given !== undefined) return given;
  if (!isInteractive()) {
    throw createUsageError(
      `${question.flag} is missing`,
      question.hint ?? "there is no terminal to prompt on",
    );
  }
  const { input, password } = await import("@inquirer/prompts");
  const context = { output: process.stderr };
  const { message, fallback, check } = question;
  const validate = (text: string) => {
    if (text.trim() === "") return "must not be empty";
    try {
      check?.(text.trim());
      return true;
    } catch (cause) {
      return (cause as Error).message;
    }
  };
  const answer = question.secret
    ? password({ message, mask: true, validate }, context)
    : input({ message, validate, ...(fallback !== undefined && { default: fallback }) }, context);
  return answer.catch(throwCanceled);
}

/** Converts Ctrl-C at a question. */
function throwCanceled(cause: Error): never {
  if (cause.name !== "ExitPromptError") throw cause;
  throw new CliError("Canceled", "canceled, nothing was done", { exit_code: EXIT_CODES.interrupted });
}

/** Asks for a choice; the cursor starts at the first one. */
export async function chooseOne<T>(message: string, choices: { value: T; name: string }[]): Promise<T> {
  const { select } = await import("@inquirer/prompts");
  const shown = choices.map((choice) => ({ ...choice, name: toOneLine(choice.name) }));
  return select({ message, choices: shown }, { output: process.stderr }).catch(throwCanceled);
}

/**
 * Asks for confirmation before an irreversible action.
 * @param given the option `--yes`
 * @throws a usage error without a terminal, CliError if the answer is no
 */
export async function confirmFirst(given: boolean | undefined, message: string): Promise<void> {
  if (given) return;
  if (!isInteractive()) throw createUsageError("--yes is missing", "there is no terminal to prompt on");
  const { confirm } = await import("@inquirer/prompts");
  const answer = confirm({ message: toOneLine(message), default: false }, { output: process.stderr }).catch(
    (cause: Error) => {
      if (cause.name !== "ExitPromptError") throw cause;
      return false;
    },
  );
  if (!(await answer)) {
    throw new CliError("Canceled", "canceled, nothing was done", { exit_code: EXIT_CODES.interrupted });
  }
}

/**
 * Asks the user to type the name of an item before it is deleted permanently.
 * @param given the option `--yes`
 * @throws a usage error without a terminal, CliError if another name is typed
 */
export async function confirmName(given: boolean | undefined, message: string, name: string): Promise<void> {
  if (given) return;
  if (!isInteractive()) throw createUsageError("--yes is missing", "there is no terminal to prompt on");
  const typed = await askFor(undefined, { message: `${toOneLine(message)} Type ${name}`, flag: "--yes" });
  if (typed.trim() === name) return;
  throw new CliError("Canceled", `"${toOneLine(typed.trim())}" is not ${name}: nothing was done`, {
    exit_code: EXIT_CODES.interrupted,
  });
}

const MIN_PASSWORD_CHARS = 8;

/** Requires a new password that is long enough. @throws a usage error */
export function requirePassword(password: string): string {
  if (password.length >= MIN_PASSWORD_CHARS) return password;
  throw createUsageError(`the password is too short: it must have at least ${MIN_PASSWORD_CHARS} characters`);
}

/**
 * Returns a new password, or asks for it twice. If the two differ, asks for both again, since either may contain the
 * typing error.
 * @throws a usage error without a terminal, or if it is too short
 */
export async function askForNewPassword(given: string | undefined, question: Question): Promise<string> {
  if (given !== undefined) return requirePassword(given);
  const ask = (more: Partial<Question>) => askFor(undefined, { ...question, secret: true, ...more });
  for (;;) {
    const password = (await ask({ check: requirePassword })).trim();
    const again = (await ask({ message: "The same once more" })).trim();
    if (password === again) return password;
    process.stderr.write("the two passwords differ: type both again\n");
  }
}

/** Reads a secret from stdin, so that it appears neither in the shell's history nor in the process list. */
export async function readSecretFromStdin(): Promise<string> {
  return (await Bun.stdin.text()).replace(/\r?\n$/, "");
}

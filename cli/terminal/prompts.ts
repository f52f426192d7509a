/** Questions, asked only where a person can answer them. */
import { CliError, EXIT, usageError } from "./text/failure.ts";
import { oneLine } from "./text/output.ts";

export function isInteractive(): boolean {
  return Boolean(process.stdin.isTTY && process.stderr.isTTY);
}

interface Question {
  /** What is asked for. */
  message: string;
  /** The option that answers it without a terminal. */
  flag: string;
  /** What else answers it there; left out, that nobody can be asked. */
  hint?: string;
  secret?: boolean;
  /** What an empty answer stands for. */
  fallback?: string;
  /** Throws an error that says what is wrong with an answer; the question is then asked again. */
  check?: (answer: string) => unknown;
}

/** The given value, or the answer of the person at the terminal. @throws a usage error where nobody can be asked */
export async function askFor(given: string | undefined, question: Question): Promise<string> {
  if (given !== undefined) return given;
  if (!isInteractive()) {
    throw usageError(`${question.flag} is missing`, question.hint ?? "there is no terminal to ask on");
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
  return answer.catch(left);
}

/** Ctrl-C at a question. */
function left(cause: Error): never {
  if (cause.name !== "ExitPromptError") throw cause;
  throw new CliError("Canceled", "canceled, nothing was done", { exit_code: EXIT.interrupted });
}

/** The choice of the person at the terminal; the first one is where the cursor begins. */
export async function chooseOne<T>(message: string, choices: { value: T; name: string }[]): Promise<T> {
  const { select } = await import("@inquirer/prompts");
  const shown = choices.map((choice) => ({ ...choice, name: oneLine(choice.name) }));
  return select({ message, choices: shown }, { output: process.stderr }).catch(left);
}

/**
 * Asks before what cannot be taken back is done.
 * @param given the answer of the command line: `--yes`
 * @throws a usage error where nobody can be asked, CliError when the answer is no
 */
export async function confirmFirst(given: boolean | undefined, message: string): Promise<void> {
  if (given) return;
  if (!isInteractive()) throw usageError("--yes is missing", "there is no terminal to ask on");
  const { confirm } = await import("@inquirer/prompts");
  const answer = confirm({ message: oneLine(message), default: false }, { output: process.stderr }).catch(
    (cause: Error) => {
      if (cause.name !== "ExitPromptError") throw cause;
      return false;
    },
  );
  if (!(await answer)) {
    throw new CliError("Canceled", "canceled, nothing was done", { exit_code: EXIT.interrupted });
  }
}

/** What a script pipes in, where no history and no list of processes shows it. */
export async function readSecret(): Promise<string> {
  return (await Bun.stdin.text()).replace(/\r?\n$/, "");
}

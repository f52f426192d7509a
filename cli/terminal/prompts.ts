/** Questions, asked only where a person can answer them. */
import { CliError, EXIT, usageError } from "./failure.ts";

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
}

/** The given value, or the answer of the person at the terminal. @throws a usage error where nobody can be asked */
export async function askFor(given: string | undefined, question: Question): Promise<string> {
  if (given !== undefined) return given;
  if (!isInteractive()) {
    throw usageError(`${question.flag} is missing`, question.hint ?? "there is no terminal to ask on");
  }
  const { input, password } = await import("@inquirer/prompts");
  const context = { output: process.stderr };
  const validate = (text: string) => text.trim() !== "" || "must not be empty";
  const { message } = question;
  const answer = question.secret
    ? password({ message, mask: true, validate }, context)
    : input({ message, validate }, context);
  return answer.catch((cause: Error) => {
    if (cause.name !== "ExitPromptError") throw cause;
    throw new CliError("Canceled", "canceled, nothing was done", { exit_code: EXIT.interrupted });
  });
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
  const answer = confirm({ message, default: false }, { output: process.stderr }).catch((cause: Error) => {
    if (cause.name !== "ExitPromptError") throw cause;
    return false;
  });
  if (!(await answer)) {
    throw new CliError("Canceled", "canceled, nothing was done", { exit_code: EXIT.interrupted });
  }
}

/** What a script pipes in, where no history and no list of processes shows it. */
export async function readSecret(): Promise<string> {
  return (await Bun.stdin.text()).replace(/\r?\n$/, "");
}

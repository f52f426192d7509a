/** Questions, asked only where a person can answer them. */
import { usageError } from "./failure.ts";

export function isInteractive(): boolean {
  return Boolean(process.stdin.isTTY && process.stderr.isTTY);
}

interface Question {
  /** What is asked for. */
  message: string;
  /** The option that answers it without a terminal. */
  flag: string;
  secret?: boolean;
}

/** The given value, or the answer of the person at the terminal. @throws a usage error where nobody can be asked */
export async function askFor(given: string | undefined, question: Question): Promise<string> {
  if (given !== undefined) return given;
  if (!isInteractive()) throw usageError(`${question.flag} is missing`, "there is no terminal to ask on");
  const { input, password } = await import("@inquirer/prompts");
  const context = { output: process.stderr };
  const validate = (text: string) => text.trim() !== "" || "must not be empty";
  if (question.secret) return password({ message: question.message, mask: true, validate }, context);
  return input({ message: question.message, validate }, context);
}

/**
 * Reads values of commands: from an argument, stdin or a prompt, so that secrets need not be in the shell's history.
 */

import { parseJson } from "../../src/lib/json/json.ts";
import { askFor } from "../terminal/prompts.ts";
import { createUsageError } from "../terminal/text/failure.ts";
import { printNote } from "../terminal/text/output.ts";

interface ValueRequest {
  message: string;
  /** Hides the value while it is typed. */
  secret: boolean;
}

/** Reads a value: `-` means stdin without its final newline; undefined asks at the terminal. */
export async function readValueArgument(given: string | undefined, wanted: ValueRequest): Promise<string> {
  if (given === "-") return (await Bun.stdin.text()).replace(/\r?\n$/, "");
  return askFor(given, {
    ...wanted,
    flag: "<value>",
    hint: "there is no terminal to prompt on; write - instead to read it from stdin",
  });
}

/** Reads JSON from an argument, stdin or a prompt. @throws a usage error for invalid JSON */
export async function readJson(given: string | undefined, wanted: ValueRequest): Promise<unknown> {
  const text = await readValueArgument(given, wanted);
  try {
    return parseJson(text);
  } catch (cause) {
    // The text may be a secret although it is invalid JSON: the error contains the position, not the content.
    const { message } = cause as Error;
    const where = /line \d+|position \d+/.exec(message)?.[0];
    throw createUsageError(
      `the value is not JSON${where ? ` (${where})` : ""}`,
      'such as \'{"host": "db"}\', or - for stdin',
    );
  }
}

/** Prints the warnings that follow a confirmation, one per line. */
export function printWarnings(confirmation: string): void {
  for (const line of confirmation.split("\n").slice(1)) printNote(line);
}

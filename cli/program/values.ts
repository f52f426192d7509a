/** Values given to commands: as a word, on stdin, or at a prompt, so that no secret has to stand in a shell's history. */

import { parseJson } from "../../src/lib/json/json.ts";
import { askFor } from "../terminal/prompts.ts";
import { usageError } from "../terminal/text/failure.ts";
import { note } from "../terminal/text/output.ts";

interface Wanted {
  message: string;
  /** Not shown while it is typed. */
  secret: boolean;
}

/** `-` reads stdin, without the newline at its end; left out, the person at the terminal is asked. */
export async function readValue(given: string | undefined, wanted: Wanted): Promise<string> {
  if (given === "-") return (await Bun.stdin.text()).replace(/\r?\n$/, "");
  return askFor(given, {
    ...wanted,
    flag: "<value>",
    hint: "there is no terminal to ask on; - in its place reads it from stdin",
  });
}

/** The same for JSON. @throws a usage error for text that is none */
export async function readJson(given: string | undefined, wanted: Wanted): Promise<unknown> {
  const text = await readValue(given, wanted);
  try {
    return parseJson(text);
  } catch (cause) {
    // What does not parse may still hold a secret: where it stops being JSON is said, not what stands there.
    const { message } = cause as Error;
    const where = /line \d+|position \d+/.exec(message)?.[0];
    throw usageError(
      `the value is not JSON${where ? ` (${where})` : ""}`,
      'such as \'{"host": "db"}\', or - for stdin',
    );
  }
}

/** What the server says after its confirmation: one warning a line. */
export function noteWarnings(confirmation: string): void {
  for (const line of confirmation.split("\n").slice(1)) note(line);
}

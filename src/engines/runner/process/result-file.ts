/** Reads files that a script has written, with the server's rights. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { parseJson } from "../../../lib/json/json.ts";
import type { RunOutcome } from "../types.ts";

/** Returns the content of result.json or result.out; undefined if the script wrote none. */
export async function readResultFile(folder: string, max_result: number): Promise<RunOutcome | undefined> {
  for (const name of ["result.json", "result.out"]) {
    const path = join(folder, name);
    const found = await readOwnFile(path, max_result);
    if (!found) continue;
    const text = found.bytes?.toString();
    if (text === undefined) {
      const message = `${name} is larger than the ${Math.floor(max_result / 1_000_000)} MB a result may have`;
      return { kind: "failure", error: { name: "ResultTooLarge", message } };
    }
    if (name === "result.out") return { kind: "success", result: JSON.stringify(text.trimEnd()) };
    try {
      return { kind: "success", result: JSON.stringify(parseJson(text)) };
    } catch (cause) {
      const message = `result.json is not JSON: ${(cause as Error).message}`;
      return { kind: "failure", error: { name: "ResultNotSerializable", message } };
    }
  }
  return undefined;
}

/**
 * Reads a file written by a script; `bytes` is absent if it is larger than `limit` bytes. As it is read with the server's
 * rights, only a regular file with a single link counts: no links to the server's files, no endless pipes.
 */
export async function readOwnFile(
  path: string,
  limit: number,
): Promise<{ bytes: Buffer | undefined } | undefined> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
  if (!file) return undefined;
  try {
    const stats = await file.stat();
    if (!stats.isFile() || stats.nlink > 1) return undefined;
    return { bytes: stats.size > limit ? undefined : await file.readFile() };
  } finally {
    await file.close();
  }
}

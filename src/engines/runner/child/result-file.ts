/** Files through which a program returns its result or error: `result.json`, `result.out`, `error.json`. */
import type { Done, Load } from "../protocol.ts";
import type { JobError } from "../types.ts";
import { filterUserFrames } from "./error.ts";
import { parseExactly, parseVerbatim } from "./exact.ts";
import { nodeFs } from "./system.ts";

const MAX_ERROR_BYTES = 1_000_000;

/** Returns the result, or the reason why the file is invalid; undefined if the program wrote no file. */
export function readResultFile(max_result: number): Pick<Done, "result" | "error"> {
  for (const name of ["result.json", "result.out"]) {
    const found = readOwnFile(name, max_result);
    if (!found) continue;
    const { text } = found;
    if (text === undefined) {
      const message = `${name} is larger than the ${Math.floor(max_result / 1_000_000)} MB a result may have`;
      return { error: { name: "ResultTooLarge", message } };
    }
    if (name === "result.out") return { result: JSON.stringify(text.trimEnd()) };
    try {
      return { result: JSON.stringify(parseVerbatim(text)) };
    } catch (cause) {
      const message = `result.json is not JSON: ${(cause as Error).message}`;
      return { error: { name: "ResultNotSerializable", message } };
    }
  }
  return {};
}

/** Returns the error of a version's program; undefined if it wrote none. */
export function readErrorFile(version: Load): JobError | undefined {
  const text = readOwnFile("error.json", MAX_ERROR_BYTES)?.text;
  if (text === undefined) return undefined;
  try {
    const { name, message, stack } = parseExactly(text) as Partial<Record<keyof JobError, unknown>>;
    if (typeof name !== "string" || typeof message !== "string") return undefined;
    const frames = typeof stack === "string" ? filterUserFrames(stack, version) : "";
    return {
      name,
      message: message.replaceAll(version.file, version.display),
      ...(frames !== "" && { stack: frames }),
    };
  } catch {
    return undefined;
  }
}

/** Reads a regular file of the job's folder: no links, no endless pipes. `text` is absent if it is larger than `limit` bytes. */
function readOwnFile(name: string, limit: number): { text: string | undefined } | undefined {
  const { closeSync, constants, fstatSync, openSync, readFileSync } = nodeFs();
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  let fd: number;
  try {
    fd = openSync(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile() || stats.nlink > 1) return undefined;
    return { text: stats.size > limit ? undefined : readFileSync(fd, "utf8") };
  } finally {
    closeSync(fd);
  }
}

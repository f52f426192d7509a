/** Arguments of scripts and flows on the command line. */

import { isJsonObject, parseJson } from "../../src/lib/json/json.ts";
import { createUsageError } from "../terminal/text/failure.ts";
/** Reads a text file. @throws a usage error if it cannot be read */
export async function readTextFile(file: string, hint?: string): Promise<string> {
  try {
    return await Bun.file(file).text();
  } catch (cause) {
    const { code, message } = cause as Error & { code?: string };
    throw createUsageError(
      code === "ENOENT" ? `there is no file ${file}` : `${file} cannot be read: ${message}`,
      hint,
    );
  }
}

const DATA_HINT = `such as -d '{"name":"Bob"}', -d @file, or -d - for stdin`;

/**
 * Reads arguments from JSON, `@file`, or `-` for stdin, and from words such as `name=Bob`, which override them.
 * @throws a usage error
 */
export async function readArguments(
  data: string | undefined,
  words: readonly string[] = [],
): Promise<Record<string, unknown>> {
  return mergeWords(await readJsonArguments(data), words);
}

/**
 * Adds words such as `name=Bob` to arguments. A value that is JSON is taken as such, unless `types` declares a text.
 * @throws a usage error
 */
export function mergeWords(
  data: Record<string, unknown>,
  words: readonly string[],
  types: Record<string, string | undefined> = {},
): Record<string, unknown> {
  const args = { ...data };
  for (const word of words) {
    const [, name, text] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
    if (name === undefined || text === undefined) {
      throw createUsageError(
        `${word} is not an argument`,
        "write name=value, such as name=Bob, or -d with JSON",
      );
    }
    args[name] = types[name] === "string" ? text : parseValue(text);
  }
  return args;
}

function parseValue(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** Reads arguments from JSON, `@file`, or `-` for stdin; undefined means none. @throws a usage error */
export async function readJsonArguments(data: string | undefined): Promise<Record<string, unknown>> {
  if (data === undefined) return {};
  const text = await readData(data);
  try {
    const value = parseJson(text) as unknown;
    if (isJsonObject(value)) return value as Record<string, unknown>;
  } catch (cause) {
    throw createUsageError(`--data is not JSON: ${(cause as Error).message}`, DATA_HINT);
  }
  throw createUsageError("--data must be a JSON object: its keys are the script's arguments", DATA_HINT);
}

async function readData(data: string): Promise<string> {
  if (data === "-" || data === "@-") return Bun.stdin.text();
  return data.startsWith("@") ? readTextFile(data.slice(1)) : data;
}

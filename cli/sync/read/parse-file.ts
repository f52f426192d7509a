/** Parses a file of a folder as JSON, if it is named so, else as YAML. */
import { join } from "node:path";
import { parseSchemaJson } from "../../../src/lib/json/json.ts";
import { createParseError, parseYaml } from "../../jobs/flow-file.ts";
import { createUsageError } from "../../terminal/text/failure.ts";
import type { Fields } from "./items.ts";

/** Parses a file with an object, or with a text. @throws a usage error for other contents */
export async function parseFile(root: string, name: string): Promise<Fields>;
export async function parseFile(root: string, name: string, wanted: "string"): Promise<string>;
export async function parseFile(root: string, name: string, wanted?: "string"): Promise<Fields | string> {
  const isJson = name.endsWith(".json");
  const text = await Bun.file(join(root, name)).text();
  let parsed: unknown;
  try {
    parsed = isJson ? parseSchemaJson(text) : await parseYaml(text);
  } catch (cause) {
    throw createParseError(name, cause as Error);
  }
  if (wanted === "string") {
    if (typeof parsed === "string") return parsed;
    throw createUsageError(`${name}: must be a text`);
  }
  if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return parsed as Fields;
  throw createUsageError(`${name}: must be an object`);
}

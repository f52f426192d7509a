/** Filters of the resource list, parsed from the query. */
import { BadRequest } from "../../../lib/errors.ts";
import { containsJson, explainUnsearchable } from "../../../lib/json/contains.ts";
import { isContainer, parseSchemaJson } from "../../../lib/json/json.ts";

/** Parses `a, b` to ["a", "b"]; returns undefined for an empty list. */
export function parseList(text: string | undefined): string[] | undefined {
  const parts = (text ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  return parts.length > 0 ? parts : undefined;
}

/**
 * Creates the filter for `value=…`. JSON (plain or in base64) matches values that contain it, nested objects included.
 * Other text matches values whose JSON contains it, ignoring case.
 * @throws BadRequest for JSON that is too complex to search for
 */
export function createValueFilter(text: string): (value: unknown) => boolean {
  const wanted = parseObject(text) ?? parseObject(Buffer.from(text, "base64").toString("utf8"));
  if (wanted !== undefined) {
    const problem = explainUnsearchable(wanted);
    if (problem !== undefined) throw new BadRequest(`query field \`value\`: ${problem}`);
    return (value) => containsJson(value, wanted);
  }
  const words = text.toLowerCase();
  return (value) => JSON.stringify(value).toLowerCase().includes(words);
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = parseSchemaJson(text);
    return isContainer(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

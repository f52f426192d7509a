/** Filters of the list of resources, as the query says them. */
import { BadRequest } from "../../../lib/errors.ts";
import { contains, unsearchable } from "../../../lib/json/contains.ts";
import { isContainer, parseFields } from "../../../lib/json/json.ts";

/** `a, b` → ["a", "b"]; undefined when there is nothing in it */
export function csv(text: string | undefined): string[] | undefined {
  const parts = (text ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  return parts.length > 0 ? parts : undefined;
}

/**
 * What `value=…` asks of a stored value: JSON (as it is or in base64) asks that the value holds it, object in object;
 * any other text asks that the value's JSON contains it, in any case of letters.
 * @throws BadRequest for JSON that is too much to look for
 */
export function valueFilter(text: string): (value: unknown) => boolean {
  const wanted = parseObject(text) ?? parseObject(Buffer.from(text, "base64").toString("utf8"));
  if (wanted !== undefined) {
    const problem = unsearchable(wanted);
    if (problem !== undefined) throw new BadRequest(`query field \`value\`: ${problem}`);
    return (value) => contains(value, wanted);
  }
  const words = text.toLowerCase();
  return (value) => JSON.stringify(value).toLowerCase().includes(words);
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = parseFields(text);
    return isContainer(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

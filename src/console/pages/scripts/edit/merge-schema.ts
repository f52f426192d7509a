/** Merges user edits of a schema with the schema derived from the code. */

import { isRecord } from "../../../api/json.ts";

type Schema = Record<string, unknown>;

/** Keywords that users may set for any argument. */
const TEXTS = ["description", "title"];
/** Keywords that users may add if the code does not determine them. */
const ADDITIONS = ["format", "contentEncoding", "password"];

/** Whether an earlier type is that of the code, or `integer` for its `number`, or the code has none. */
const areTypesCompatible = (earlier: unknown, inferred: unknown): boolean =>
  earlier === inferred || inferred === undefined || (earlier === "integer" && inferred === "number");

/**
 * Returns the schema of the code, with the descriptions, formats and choices that the earlier schema had for arguments
 * of the same name and type, at any depth. Names, types, defaults and required arguments come from the code. Formats
 * and choices in the code take precedence over the earlier ones.
 */
export function mergeSchema(earlier: unknown, inferred: unknown): Schema {
  const now = isRecord(inferred) ? inferred : {};
  return isRecord(earlier) ? annotate({ type: "object", ...earlier }, now) : now;
}

function annotate(earlier: Schema, now: Schema): Schema {
  if (!areTypesCompatible(earlier.type, now.type)) return now;
  const merged: Schema = { ...now };
  for (const name of [...TEXTS, ...ADDITIONS]) {
    if (name in earlier && (TEXTS.includes(name) || !(name in now))) merged[name] = earlier[name];
  }
  if (now.type === "string" && !now.enum && isChoice(earlier.enum)) merged.enum = earlier.enum;
  if (isRecord(now.items) && isRecord(earlier.items)) merged.items = annotate(earlier.items, now.items);
  if (isRecord(now.properties) && isRecord(earlier.properties)) {
    const before = earlier.properties;
    merged.properties = Object.fromEntries(
      Object.entries(now.properties).map(([name, field]) => {
        const old = before[name];
        return [name, isRecord(old) && isRecord(field) ? annotate(old, field) : field];
      }),
    );
    const names = Object.keys(now.properties);
    const order = Array.isArray(earlier.order) ? earlier.order.filter((name) => names.includes(name)) : [];
    if (order.length > 0) merged.order = [...new Set([...order, ...names])];
  }
  return merged;
}

const isChoice = (value: unknown): boolean =>
  Array.isArray(value) && value.every((each) => typeof each === "string");

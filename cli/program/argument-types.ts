/** Types of the arguments of scripts and flows, as their JSON Schema declares them. */
import { isReference } from "../../src/features/assets/interpolate.ts";
import { toPlainNumber } from "../../src/lib/json/json.ts";

/** `type` of a JSON Schema: one or several names; undefined for any type. */
export type SchemaType = string | string[] | undefined;

export const formatType = (type: SchemaType): string => [type ?? "any"].flat().join(" | ");

/** Describes each type that is checked. Scripts take numbers where texts are declared, so texts are not checked. */
const TYPE_NAMES: Record<string, string> = {
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  array: "a list in JSON",
  object: "an object in JSON, or a resource such as $res:u/ann/db",
};

/**
 * Describes why a value is not of the type: `must be a number, but is "abc"`; undefined if it may be. A reference such
 * as `$var:…` may be of any type, because it is resolved just before the run.
 */
export function describeTypeFault(value: unknown, type: SchemaType): string | undefined {
  const types = [type ?? []].flat();
  if (value === null || isReference(value) || types.length === 0) return undefined;
  if (types.some((each) => !Object.hasOwn(TYPE_NAMES, each) || isOfType(value, each))) return undefined;
  return `must be ${types.map((each) => TYPE_NAMES[each]).join(" or ")}, but is ${formatValue(value)}`;
}

function isOfType(value: unknown, type: string): boolean {
  const plain = toPlainNumber(value);
  if (type === "integer") return Number.isInteger(plain);
  if (type === "array") return Array.isArray(plain);
  return typeof plain === type && !Array.isArray(plain);
}

const MAX_VALUE_CHARACTERS = 40;

/** Formats a value as JSON, truncated. */
function formatValue(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > MAX_VALUE_CHARACTERS ? `${text.slice(0, MAX_VALUE_CHARACTERS)}…` : text;
}

/**
 * Whether a value is what its type's schema says. It is told as a warning and refused nowhere: types are described by
 * people, and what is stored may be ahead of its type.
 *
 * Schemas come from users too, so what a check may cost is bounded: regular expressions and formats are not looked at,
 * and what is large, or refers to itself, is not checked.
 */

import { withPlainNumbers } from "../../../lib/json/json.ts";
import { isReference } from "../interpolate.ts";
import type { ResourceType } from "../resource-tables.ts";

/** Most parts of a schema with its local references followed, of a value, and of one times the other. */
const MAX_SCHEMA = 2_000;
const MAX_VALUE = 2_000;
const MAX_WORK = 1_000_000;

/** Most faults that one warning names. */
const MAX_NAMED = 5;

/** What is wrong with a value of the type, in words; undefined when nothing is, or it cannot be told. */
export async function nonconformity(
  type: Pick<ResourceType, "name" | "schema">,
  value: unknown,
): Promise<string | undefined> {
  const schema = checkable(type.schema, value);
  if (!schema) return undefined;
  const faults = await faultsOf(schema, value);
  if (faults === undefined) return undefined;
  // A reference stands for a value that is known only when a job runs.
  const own = faults.filter(({ path }) => !isReference(at(value, path)));
  if (own.length === 0) return undefined;
  const named = own.slice(0, MAX_NAMED).map(({ path, message }) => `${path || "the value"} ${message}`);
  const more = own.length > MAX_NAMED ? ` (and ${own.length - MAX_NAMED} more)` : "";
  return `the value does not match resource type ${type.name}: ${named.join("; ")}${more}`;
}

/** What is wrong with a schema as such. */
export async function schemaFault(schema: unknown): Promise<string | undefined> {
  if (schema === null || schema === undefined) return undefined;
  if (typeof schema !== "object" || Array.isArray(schema))
    return "its schema is no JSON Schema: it must be an object";
  const bounded = checkable(schema, null);
  if (!bounded) return undefined;
  try {
    (await validator()).compile(withoutNames(bounded));
    return undefined;
  } catch (cause) {
    return `its schema is no JSON Schema that values can be checked by: ${(cause as Error).message.slice(0, 300)}`;
  }
}

interface Fault {
  /** JSON pointer (RFC 6901) to the part of the value. */
  path: string;
  message: string;
}

/** Undefined when the schema is none that can be checked by. */
async function faultsOf(schema: Record<string, unknown>, value: unknown): Promise<Fault[] | undefined> {
  try {
    const check = (await validator()).compile(withoutNames(schema));
    check(withPlainNumbers(value));
    return (check.errors ?? []).map(({ instancePath, message, params }) => ({
      path: instancePath,
      message: `${message}${params.allowedValues ? `: ${JSON.stringify(params.allowedValues)}` : ""}`,
    }));
  } catch {
    return undefined;
  }
}

/** Names would be shared with other schemas, and whatever draft it says it is of, it is read as the newest. */
function withoutNames({ $id, $schema, ...schema }: Record<string, unknown>): Record<string, unknown> {
  return schema;
}

/** Made anew for each check: it would keep every schema it has seen. */
async function validator() {
  const { default: Ajv } = await import("ajv/dist/2020.js");
  const anyText = Object.assign(() => ({ test: () => true }), { code: "anyText" });
  return new Ajv({
    strict: false,
    allErrors: true,
    validateFormats: false,
    logger: false,
    addUsedSchema: false,
    code: { regExp: anyText as never },
  });
}

/** The schema, when checking the value by it costs little. */
function checkable(schema: unknown, value: unknown): Record<string, unknown> | undefined {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return undefined;
  const schemaSize = expandedSize(schema, schema, 0);
  const valueSize = sizeOf(value);
  if (schemaSize > MAX_SCHEMA || valueSize > MAX_VALUE || schemaSize * valueSize > MAX_WORK) return undefined;
  return schema as Record<string, unknown>;
}

function sizeOf(value: unknown): number {
  let size = 0;
  const left = [value];
  while (left.length > 0 && size <= MAX_VALUE) {
    const each = left.pop();
    size++;
    if (typeof each === "object" && each !== null) for (const inner of Object.values(each)) left.push(inner);
  }
  return size;
}

/** Parts of a schema with `#/…` followed; more than is allowed for one that refers to itself. */
function expandedSize(part: unknown, root: object, counted: number): number {
  let size = counted + 1;
  if (typeof part !== "object" || part === null || size > MAX_SCHEMA) return size;
  for (const [name, inner] of Object.entries(part)) {
    if (size > MAX_SCHEMA) return size;
    if (name === "$dynamicRef" || name === "$recursiveRef") return MAX_SCHEMA + 1;
    if (name !== "$ref") size = expandedSize(inner, root, size);
    else if (typeof inner === "string" && inner.startsWith("#")) {
      size = expandedSize(at(root, inner.slice(1)), root, size);
    }
  }
  return size;
}

/** What a JSON pointer leads to. */
function at(value: unknown, pointer: string): unknown {
  let found = value;
  for (const part of pointer.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    found =
      typeof found === "object" && found !== null ? (found as Record<string, unknown>)[name] : undefined;
  }
  return found;
}

/**
 * Checks values of resources against the JSON Schema of their type. A mismatch is only a warning: people write the
 * schemas, and a stored value may be newer than its type.
 *
 * Schemas are untrusted input, so the cost of a check is bounded. Regular expressions and formats are ignored, and
 * large or recursive schemas are not checked.
 */

import type { ValidateFunction } from "ajv";
import { Cache } from "../../../lib/async/cache.ts";
import { toPlainNumbers } from "../../../lib/json/json.ts";
import { isReference } from "../interpolate.ts";
import type { ResourceType } from "../resource-tables.ts";

/** Limits: parts of a schema with local references expanded, parts of a value, and their product. */
const MAX_SCHEMA_PARTS = 2_000;
const MAX_VALUE_PARTS = 2_000;
const MAX_CHECK_COST = 1_000_000;

/** Number of faults listed in one warning. */
const MAX_NAMED_FAULTS = 5;

/** Describes how a value differs from its type; undefined if it conforms, or cannot be checked. */
export async function describeNonconformity(
  type: Pick<ResourceType, "name" | "schema">,
  value: unknown,
): Promise<string | undefined> {
  const faults = await describeFaults(type.schema, value, (path) => path || "the value");
  return faults === undefined ? undefined : `the value does not match resource type ${type.name}: ${faults}`;
}

/**
 * Describes how a value differs from a schema; undefined if it conforms.
 * @param name describes the position of a JSON pointer
 * @param unchecked returned if the value is too large to be checked, or the schema cannot be used
 */
export async function describeFaults(
  given: unknown,
  value: unknown,
  name: (pointer: string) => string,
  unchecked?: string,
): Promise<string | undefined> {
  const schema = toCheckableSchema(given, value);
  if (!schema) return unchecked;
  const faults = await listFaults(schema, value);
  if (faults === undefined) return unchecked;
  // References are placeholders; their values are known only when a job runs.
  const own = faults.filter(({ path }) => !isReference(resolvePointer(value, path)));
  if (own.length === 0) return undefined;
  const named = own.slice(0, MAX_NAMED_FAULTS).map(({ path, message }) => `${name(path)} ${message}`);
  const more = own.length > MAX_NAMED_FAULTS ? ` (and ${own.length - MAX_NAMED_FAULTS} more)` : "";
  return `${named.join("; ")}${more}`;
}

/** Describes what is wrong with a schema; undefined if it is valid. */
export async function describeSchemaFault(schema: unknown): Promise<string | undefined> {
  if (schema === null || schema === undefined) return undefined;
  if (typeof schema !== "object" || Array.isArray(schema))
    return "its schema is not JSON Schema: it must be an object";
  const bounded = toCheckableSchema(schema, null);
  if (!bounded) return undefined;
  try {
    (await createValidator()).compile(withoutIdentifiers(bounded));
    return undefined;
  } catch (cause) {
    return `its schema is not JSON Schema that values can be checked by: ${(cause as Error).message.slice(0, 300)}`;
  }
}

interface Fault {
  /** JSON pointer (RFC 6901) into the value. */
  path: string;
  message: string;
}

/** Lists the faults of a value; undefined if the schema is invalid. */
async function listFaults(schema: Record<string, unknown>, value: unknown): Promise<Fault[] | undefined> {
  try {
    const check = await compileOnce(withoutIdentifiers(schema));
    check(toPlainNumbers(value));
    return (check.errors ?? []).map(({ instancePath, message, params }) => ({
      path: instancePath,
      message: `${message}${params.additionalProperty ? `: ${params.additionalProperty}` : ""}${params.allowedValues ? `: ${JSON.stringify(params.allowedValues)}` : ""}`,
    }));
  } catch {
    return undefined;
  }
}

/** Compiled checks by the text of their schema: compiling takes longer than checking. */
const checks = new Cache<ValidateFunction>({ max: 200 });

async function compileOnce(schema: Record<string, unknown>): Promise<ValidateFunction> {
  const text = JSON.stringify(schema);
  return checks.get(text) ?? checks.load(text, async () => (await createValidator()).compile(schema));
}

/** Removes `$id`, which could clash between schemas, and `$schema`, as every schema is read as the newest draft. */
function withoutIdentifiers({ $id, $schema, ...schema }: Record<string, unknown>): Record<string, unknown> {
  return schema;
}

/** Creates a validator for each check, since it would cache every schema. */
async function createValidator() {
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

/** Returns the schema if checking the value is cheap enough. */
function toCheckableSchema(schema: unknown, value: unknown): Record<string, unknown> | undefined {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return undefined;
  const schemaSize = countSchemaParts(schema, schema, 0);
  const valueSize = countValueParts(value);
  if (schemaSize > MAX_SCHEMA_PARTS || valueSize > MAX_VALUE_PARTS || schemaSize * valueSize > MAX_CHECK_COST)
    return undefined;
  return schema as Record<string, unknown>;
}

function countValueParts(value: unknown): number {
  let size = 0;
  const left = [value];
  while (left.length > 0 && size <= MAX_VALUE_PARTS) {
    const each = left.pop();
    size++;
    if (typeof each === "object" && each !== null) for (const inner of Object.values(each)) left.push(inner);
  }
  return size;
}

/** Counts the parts of a schema with `#/…` references expanded; exceeds the limit for a recursive schema. */
function countSchemaParts(part: unknown, root: object, counted: number): number {
  let size = counted + 1;
  if (typeof part !== "object" || part === null || size > MAX_SCHEMA_PARTS) return size;
  for (const [name, inner] of Object.entries(part)) {
    if (size > MAX_SCHEMA_PARTS) return size;
    if (name === "$dynamicRef" || name === "$recursiveRef") return MAX_SCHEMA_PARTS + 1;
    if (name !== "$ref") size = countSchemaParts(inner, root, size);
    else if (typeof inner === "string" && inner.startsWith("#")) {
      size = countSchemaParts(resolvePointer(root, inner.slice(1)), root, size);
    }
  }
  return size;
}

/** Resolves a JSON pointer. */
function resolvePointer(value: unknown, pointer: string): unknown {
  let found = value;
  for (const part of pointer.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    found =
      typeof found === "object" && found !== null ? (found as Record<string, unknown>)[name] : undefined;
  }
  return found;
}

/** Finds the secrets and files among the values of a form by its JSON Schema. */
import { isRecord } from "../../../api/json.ts";
import { isPassword, resourceTypeOf } from "../prepare.ts";

type Schema = Record<string, unknown>;
type IsLeftOut = (schema: Schema, value: unknown) => boolean;

/** Keywords whose schemas, one or a list, describe the same value as the schema that holds them. */
const SAME_VALUE = ["oneOf", "anyOf", "allOf", "if", "then", "else"];
/** Keywords that map names to such schemas. */
const SAME_VALUE_BY_NAME = ["dependencies", "dependentSchemas"];
/** Keywords whose schemas describe items of a list. */
const OF_ITEMS = ["items", "prefixItems", "additionalItems", "contains"];

/** Stands for a schema that cannot be found: what it describes may be a secret. */
const UNKNOWN: Schema = { password: true };

const listOf = (given: unknown): unknown[] => (Array.isArray(given) ? given : [given]);
const valuesOf = (given: unknown): unknown[] => (isRecord(given) ? Object.values(given) : []);

/** Returns what a `$ref` names within the schema of the form. */
function resolve(root: unknown, ref: string): Schema {
  if (ref !== "#" && !ref.startsWith("#/")) return UNKNOWN;
  let found = root;
  try {
    for (const part of decodeURIComponent(ref.slice(1)).split("/").slice(1)) {
      const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
      found = isRecord(found) || Array.isArray(found) ? (found as Schema)[name] : undefined;
    }
  } catch {
    return UNKNOWN;
  }
  return isRecord(found) ? found : UNKNOWN;
}

/** Lists the given schemas and all that they refer to or combine (`$ref`, `allOf`, `anyOf`, `oneOf`). */
function expand(root: unknown, given: unknown[]): Schema[] {
  const all = new Set<Schema>();
  const add = (schema: unknown) => {
    if (!isRecord(schema) || all.has(schema)) return;
    all.add(schema);
    for (const name of ["$ref", "$dynamicRef"]) {
      if (typeof schema[name] === "string") add(resolve(root, schema[name]));
    }
    for (const name of SAME_VALUE) listOf(schema[name]).forEach(add);
    for (const name of SAME_VALUE_BY_NAME) valuesOf(schema[name]).forEach(add);
  };
  given.forEach(add);
  return [...all];
}

/** Lists the schemas that may describe a field of an object. */
function listFieldSchemas(schemas: Schema[], name: string): unknown[] {
  return schemas.flatMap((schema) => {
    const { properties } = schema;
    if (isRecord(properties) && Object.hasOwn(properties, name)) return [properties[name]];
    return [schema.additionalProperties, schema.unevaluatedProperties, ...valuesOf(schema.patternProperties)];
  });
}

const schemasOfItems = (schemas: Schema[]): unknown[] =>
  schemas.flatMap((schema) => OF_ITEMS.flatMap((name) => listOf(schema[name])));

/** Whether a value is a reference, which is no secret: the run reads what it names. */
const refersTo = (value: unknown, prefix: string) => typeof value === "string" && value.startsWith(prefix);

/**
 * Returns a function that tells whether a value is a secret, or a resource that is written out and may contain some.
 * @param known the resource types of the workspace, if they were loaded
 */
const toIsSecret =
  (known: readonly string[] | undefined): IsLeftOut =>
  (schema, value) =>
    (isPassword(schema) && !refersTo(value, "$var:")) ||
    (isWrittenOut(schema, known) && typeof value === "object" && value !== null);

/** Whether the schema is that of a resource. A type that only its script declares is none: its fields are looked at. */
function isWrittenOut(schema: Schema, known: readonly string[] | undefined): boolean {
  const { type, format, properties } = schema;
  const resource = resourceTypeOf(schema);
  const isDeclared =
    valuesOf(properties).length > 0 && resource !== undefined && known?.includes(resource) === false;
  if (isDeclared) return false;
  return type === "resource" || (typeof format === "string" && /^(resource|jsonschema)-/.test(format));
}

const isFile: IsLeftOut = (schema, value) => schema.contentEncoding === "base64" && !refersTo(value, "$var:");

function withoutThose(root: unknown, values: Values, isLeftOut: IsLeftOut): Values {
  const isOpen = (schemas: Schema[], value: unknown) => !schemas.some((schema) => isLeftOut(schema, value));
  const reduce = (schemas: Schema[], value: unknown): unknown => {
    if (Array.isArray(value)) {
      const items = expand(root, schemasOfItems(schemas));
      // Without one of them, the others would move.
      return value.every((item) => isOpen(items, item)) ? value.map((item) => reduce(items, item)) : [];
    }
    if (!isRecord(value)) return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, field]) => {
        const inner = expand(root, listFieldSchemas(schemas, name));
        return isOpen(inner, field) ? [[name, reduce(inner, field)]] : [];
      }),
    );
  };
  return reduce(expand(root, [root]), values) as Values;
}

type Values = Record<string, unknown>;

/** Removes secret values, which must not be in an address. @param known the resource types of the workspace */
export const omitSecrets = (schema: unknown, values: Values, known?: readonly string[]) =>
  withoutThose(schema, values, toIsSecret(known));

/** Removes secret values and files. @param known the resource types of the workspace */
export function omitSecretsAndFiles(schema: unknown, values: Values, known?: readonly string[]): Values {
  const isSecret = toIsSecret(known);
  return withoutThose(schema, values, (...each) => isSecret(...each) || isFile(...each));
}

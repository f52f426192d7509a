/**
 * Rewrites an OpenAPI 3.1 description for generators that read 3.0 only. What 3.0 cannot say is left out, so that clients
 * accept more than the description does.
 */

type Json = any;

const DROPPED = ["propertyNames", "contentMediaType", "contentEncoding", "examples", "patternProperties"];
const SCHEMAS_IN_LIST = ["anyOf", "oneOf", "allOf"];
const SCHEMAS_BELOW = ["items", "not", "additionalProperties"];

const mapValues = (object: Json, change: (value: Json) => Json) =>
  Object.fromEntries(Object.entries<Json>(object).map(([key, value]) => [key, change(value)]));

/** Converts a JSON schema (2020-12) to a schema object of OpenAPI 3.0. */
function toSchema30(schema: Json): Json {
  if (schema === true) return {};
  if (schema === false) return { not: {} };
  if (typeof schema !== "object" || schema === null) return schema;
  if (schema.$ref) return { $ref: schema.$ref };
  const out: Json = {};
  for (const [key, value] of Object.entries<Json>(schema)) {
    if (DROPPED.includes(key)) continue;
    if (key === "properties") out.properties = mapValues(value, toSchema30);
    else if (SCHEMAS_IN_LIST.includes(key)) {
      const rest = value.filter((each: Json) => each.type !== "null");
      if (rest.length < value.length) out.nullable = true;
      out[key] = rest.map(toSchema30);
    } else if (key === "additionalProperties" && typeof value === "boolean") out[key] = value;
    else if (SCHEMAS_BELOW.includes(key)) out[key] = toSchema30(value);
    else if (key === "prefixItems") out.items ??= {};
    else if (key === "const") out.enum = [value];
    else if (key === "exclusiveMinimum") Object.assign(out, { minimum: value, exclusiveMinimum: true });
    else if (key === "exclusiveMaximum") Object.assign(out, { maximum: value, exclusiveMaximum: true });
    else if (key === "type") Object.assign(out, toTypes30([value].flat()));
    else out[key] = value;
  }
  if (out.type === "array") out.items ??= {};
  return out;
}

function toTypes30(all: string[]): Json {
  const types = all.filter((type) => type !== "null");
  const nullable = types.length < all.length ? { nullable: true } : {};
  if (types.length <= 1) return { ...nullable, ...(types[0] ? { type: types[0] } : {}) };
  return { ...nullable, anyOf: types.map((type) => ({ type, ...(type === "array" ? { items: {} } : {}) })) };
}

function rewrite(node: Json): Json {
  if (Array.isArray(node)) return node.map(rewrite);
  if (typeof node !== "object" || node === null) return node;
  const out: Json = {};
  for (const [key, value] of Object.entries<Json>(node)) {
    if (key === "schema") out.schema = toSchema30(value);
    else if (key === "schemas") out.schemas = mapValues(value, toSchema30);
    else if (key !== "example" && key !== "examples") out[key] = rewrite(value);
  }
  return out;
}

/** Returns the description as OpenAPI 3.0. */
export function toOpenapi30(description: Json): Json {
  const { license: _, ...info } = description.info;
  const { webhooks: __, ...rest } = rewrite(description);
  return { ...rest, openapi: "3.0.3", info };
}

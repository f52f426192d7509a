/** Which values of a form are secrets or files, by its schema. */
import { isRecord } from "../../../api/json.ts";

const ALTERNATIVES = ["oneOf", "anyOf", "allOf"] as const;

/** The schemas that may describe a field of an object, or an item of a list. */
function schemasOf(schema: unknown, name?: string): unknown[] {
  if (!isRecord(schema)) return [];
  const own =
    name === undefined ? schema.items : isRecord(schema.properties) ? schema.properties[name] : undefined;
  const others = ALTERNATIVES.flatMap((each) => {
    const list = schema[each];
    return Array.isArray(list) ? list.flatMap((one) => schemasOf(one, name)) : [];
  });
  return own === undefined ? others : [own, ...others];
}

type IsLeftOut = (schema: unknown) => boolean;

const isSecret: IsLeftOut = (schema) => isRecord(schema) && schema.password === true;
const isFile: IsLeftOut = (schema) => isRecord(schema) && schema.contentEncoding === "base64";

function without(schemas: unknown[], value: unknown, isLeftOut: IsLeftOut): unknown {
  if (Array.isArray(value)) {
    const items = schemas.flatMap((schema) => schemasOf(schema));
    return items.some(isLeftOut) ? [] : value.map((item) => without(items, item, isLeftOut));
  }
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) => {
      const inner = schemas.flatMap((schema) => schemasOf(schema, name));
      const isReference = typeof field === "string" && field.startsWith("$var:");
      return inner.some(isLeftOut) && !isReference ? [] : [[name, without(inner, field, isLeftOut)]];
    }),
  );
}

type Values = Record<string, unknown>;

/** Returns the values without those that no address may hold. */
export const withoutSecrets = (schema: unknown, values: Values) =>
  without([schema], values, isSecret) as Values;

/** Returns the values without those that are secret, and those that are large. */
export const withoutSecretsAndFiles = (schema: unknown, values: Values) =>
  without([schema], values, (each) => isSecret(each) || isFile(each)) as Values;

/** Derives the JSON Schema of an example, such as a captured webhook request, for the inputs of a flow. */
import { type Fields, isRecord } from "../../../../api/json.ts";

/** Deeper values get a schema that allows any type. */
const MAX_DEPTH = 5;

export function deriveSchema(example: unknown, depth = 0): Fields {
  if (depth > MAX_DEPTH) return {};
  if (Array.isArray(example)) {
    return { type: "array", items: example.length > 0 ? deriveSchema(example[0], depth + 1) : {} };
  }
  if (isRecord(example)) {
    const properties = Object.entries(example).map(([name, each]) => [name, deriveSchema(each, depth + 1)]);
    return { type: "object", properties: Object.fromEntries(properties) };
  }
  switch (typeof example) {
    case "string":
      return /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(example)
        ? { type: "string", format: "date-time" }
        : { type: "string" };
    case "number":
      return { type: Number.isInteger(example) ? "integer" : "number" };
    case "bigint":
      return { type: "integer" };
    case "boolean":
      return { type: "boolean" };
    default:
      return {};
  }
}

/** Returns the inputs of a flow that accepts the captured arguments. Already declared inputs stay unchanged. */
export function addInputs(schema: Fields, example: Fields): Fields {
  const declared = isRecord(schema.properties) ? schema.properties : {};
  const added = Object.entries(example).filter(([name]) => !Object.hasOwn(declared, name));
  const properties = {
    ...declared,
    ...Object.fromEntries(added.map(([name, each]) => [name, deriveSchema(each)])),
  };
  const order = Array.isArray(schema.order) ? { order: Object.keys(properties) } : {};
  return { type: "object", ...schema, properties, ...order };
}

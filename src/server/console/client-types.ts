/** Generates the TypeScript types of all operations, keyed by method and path: `"GET /w/{workspace}/jobs/list"`. */
import type {
  ApiDescription,
  DescribedOperation,
  JsonSchema,
} from "../../platform/http/openapi/description.ts";

const HEADER = `// Written by \`bun run console:client\` from the description of the interface. Not to be edited.
`;

/** Returns the source of the declaration file that types the console's API client. */
export function generateClientTypes({ paths, components }: ApiDescription): string {
  const named = Object.entries(components.schemas).map(
    ([name, schema]) => `export type ${name} = ${typeOf(schema)};`,
  );
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, op]) =>
        `  /** ${op.summary.replaceAll("*/", "*")} */\n  "${method.toUpperCase()} ${path}": ${shapeOf(op)};`,
    ),
  );
  return `${HEADER}\n${named.join("\n")}\n\nexport interface Operations {\n${operations.join("\n")}\n}\n`;
}

function shapeOf(op: DescribedOperation): string {
  const of = (place: string) => {
    const found = op.parameters.filter((each) => each.in === place);
    return found.map(({ name, required, schema }) => `${key(name)}${required ? "" : "?"}: ${typeOf(schema)}`);
  };
  const parts = [...of("path")];
  const query = of("query");
  if (query.length > 0) parts.push(`query?: { ${query.join("; ")} }`);
  if (op.requestBody) {
    const { content, required } = op.requestBody;
    const types = Object.entries(content).map(([type, { schema }]) =>
      type.includes("json") ? typeOf(schema) : "unknown",
    );
    parts.push(`body${required ? "" : "?"}: ${types.includes("unknown") ? "unknown" : types.join(" | ")}`);
  }
  const [answer = {}] = Object.entries(op.responses)
    .filter(([status]) => status.startsWith("2"))
    .map(([, each]) => each);
  const [schema] = Object.values(answer.content ?? {});
  return `{ input: { ${parts.join("; ")} }; answer: ${schema ? typeOf(schema.schema) : "unknown"}; access: "${op["x-access"]}" }`;
}

const key = (name: string) => (/^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name));

const PLAIN: Record<string, string> = {
  string: "string",
  number: "number",
  integer: "number",
  boolean: "boolean",
  null: "null",
};

function typeOf(schema: JsonSchema): string {
  const { $ref, type, properties, items, additionalProperties } = schema;
  if (typeof $ref === "string") return $ref.slice($ref.lastIndexOf("/") + 1);
  if ("const" in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  for (const many of [schema.anyOf, schema.oneOf]) {
    if (Array.isArray(many)) return union((many as JsonSchema[]).map(typeOf));
  }
  if (Array.isArray(schema.allOf))
    return (schema.allOf as JsonSchema[]).map((each) => `(${typeOf(each)})`).join(" & ");
  if (Array.isArray(type)) return union(type.map((each) => typeOf({ ...schema, type: each })));
  if (type === "array") return `(${typeOf((items as JsonSchema | undefined) ?? {})})[]`;
  if (properties)
    return objectOf(properties as Record<string, JsonSchema>, (schema.required as string[]) ?? []);
  if (type === "object") {
    const values =
      typeof additionalProperties === "object" ? typeOf(additionalProperties as JsonSchema) : "unknown";
    return `Record<string, ${values}>`;
  }
  return PLAIN[String(type)] ?? "unknown";
}

function objectOf(properties: Record<string, JsonSchema>, required: string[]): string {
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${key(name)}${required.includes(name) ? "" : "?"}: ${typeOf(schema)}`,
  );
  return `{ ${fields.join("; ")} }`;
}

const union = (types: string[]) => [...new Set(types)].join(" | ");

/** Creates a step from an operation of an OpenAPI document: code that calls it, with typed arguments. */
import { type Fields, isRecord } from "../../../../api/json.ts";
import { type ApiDocument, type ApiOperation, resolveReference } from "./read.ts";

/** Deeper parts of a schema have the type `any`. */
const MAX_DEPTH = 4;

interface Argument {
  /** Name in the code. */
  name: string;
  type: string;
  isRequired: boolean;
  /** Default value as TypeScript; undefined: none. */
  initial?: string;
}

export function createStep(document: ApiDocument, operation: ApiOperation): Fields {
  const names = new Set<string>();
  const nameOf = (given: string) => {
    const base = given.replace(/[^\w$]+/g, "_").replace(/^(\d)/, "_$1") || "value";
    let name = RESERVED.has(base) ? `${base}_` : base;
    while (names.has(name)) name += "_";
    names.add(name);
    return name;
  };
  const named = operation.parameters.map((parameter) => ({ ...parameter, argument: nameOf(parameter.name) }));
  const body = operation.body === undefined ? undefined : nameOf("body");
  const secrets = secretsOf(operation).map((each) => nameOf(each));
  const base = nameOf("base_url");
  const args: Argument[] = [
    ...named.map(({ argument, schema, isRequired }) => ({
      name: argument,
      type: toTypeText(document, schema, 0),
      isRequired,
    })),
    ...(body
      ? [{ name: body, type: toTypeText(document, operation.body, 0), isRequired: operation.isBodyRequired }]
      : []),
    ...secrets.map((name) => ({ name, type: "string", isRequired: true })),
    isAddress(document.server)
      ? { name: base, type: "string", isRequired: false, initial: JSON.stringify(document.server) }
      : { name: base, type: "string", isRequired: true },
  ];
  const ordered = [...args.filter((each) => each.isRequired), ...args.filter((each) => !each.isRequired)];
  const path = operation.path
    .replace(/[`\\]|\$\{/g, "\\$&")
    .replace(/\{([^}]+)\}/g, (_all, given: string) => {
      const found = named.find(({ name, place }) => name === given && place === "path");
      return found ? `\${encodeURIComponent(String(${found.argument}))}` : `{${given}}`;
    });
  const query = named.filter(({ place }) => place === "query");
  const headers = [
    ...(body ? [`"content-type": "application/json"`] : []),
    ...secretHeaders(operation, secrets),
  ];
  const headerArguments = named.filter(({ place }) => place === "header");
  const lines = [
    `/** ${comment(operation.summary)} (${comment(operation.name)} of ${comment(document.title)}) */`,
    "export async function main(",
    ...ordered.map(({ name, type, isRequired, initial }) =>
      initial === undefined
        ? `  ${name}${isRequired ? "" : "?"}: ${type},`
        : `  ${name}: ${type} = ${initial},`,
    ),
    ") {",
    `  const url = new URL(${base} + \`${path}\`);`,
    ...(query.length > 0
      ? [
          `  const query = { ${query.map(({ name, argument }) => `${JSON.stringify(name)}: ${argument}`).join(", ")} };`,
          "  for (const [name, value] of Object.entries(query)) {",
          "    for (const each of [value].flat()) if (each !== undefined && each !== null) url.searchParams.append(name, String(each));",
          "  }",
        ]
      : []),
    ...(isRecord(operation.security) && "query" in operation.security
      ? [`  url.searchParams.set(${JSON.stringify(operation.security.query)}, ${secrets[0]});`]
      : []),
    `  const headers: Record<string, string> = { ${headers.join(", ")} };`,
    ...headerArguments.map(
      ({ name, argument }) =>
        `  if (${argument} !== undefined && ${argument} !== null) headers[${JSON.stringify(name)}] = String(${argument});`,
    ),
    "  const response = await fetch(url, {",
    `    method: ${JSON.stringify(operation.method)},`,
    "    headers,",
    ...(body ? [`    body: JSON.stringify(${body}),`] : []),
    "  });",
    "  const text = await response.text();",
    "  if (!response.ok) throw new Error(`The service answered ${response.status}: ${text.slice(0, 500)}`);",
    "  try {",
    "    return JSON.parse(text);",
    "  } catch {",
    "    return text;",
    "  }",
    "}",
    "",
  ];
  return {
    summary: operation.summary,
    value: { type: "rawscript", language: "bun", content: lines.join("\n"), input_transforms: {} },
  };
}

/** Whether a server's URL is absolute. Others are relative to the document's own URL, which is not known here. */
const isAddress = (server: string): boolean => /^https?:\/\/[^{}]+$/i.test(server);

const RESERVED = new Set(
  [
    "break case catch class const continue debugger default delete do else enum export extends false finally for",
    "function if import in instanceof new null return super switch this throw true try typeof var void while with",
    // Reserved words of strict mode, which applies to modules.
    "yield let static await implements interface package private protected public eval arguments undefined",
    // Names that the generated code uses itself.
    "url query headers response text URL fetch String JSON Object Error btoa encodeURIComponent",
  ].flatMap((words) => words.split(" ")),
);

const comment = (text: string): string => text.replaceAll("*/", "* /").replace(/\s+/g, " ").trim();

function secretsOf({ security }: ApiOperation): string[] {
  if (security === undefined) return [];
  if (security === "basic") return ["username", "password"];
  return [security === "bearer" ? "token" : "api_key"];
}

function secretHeaders({ security }: ApiOperation, names: string[]): string[] {
  if (security === "bearer") return [`authorization: \`Bearer \${${names[0]}}\``];
  if (security === "basic") return [`authorization: \`Basic \${btoa(\`\${${names[0]}}:\${${names[1]}}\`)}\``];
  if (isRecord(security) && "cookie" in security)
    return [`cookie: ${JSON.stringify(`${security.cookie}=`)} + encodeURIComponent(${names[0]})`];
  return isRecord(security) && "header" in security
    ? [`${JSON.stringify(security.header)}: ${names[0]}`]
    : [];
}

const SCALARS: Record<string, string> = {
  string: "string",
  integer: "number",
  number: "number",
  boolean: "boolean",
};

/** Returns the TypeScript type of a schema. */
function toTypeText(document: ApiDocument, given: unknown, depth: number): string {
  const schema = resolveReference(document.root, given);
  if (!isRecord(schema) || depth > MAX_DEPTH) return "unknown";
  if (Array.isArray(schema.enum) && schema.enum.length > 0) {
    return schema.enum.map((each) => JSON.stringify(each)).join(" | ");
  }
  const type = Array.isArray(schema.type) ? schema.type.find((each) => each !== "null") : schema.type;
  if (type === "array") return `${wrap(toTypeText(document, schema.items, depth + 1))}[]`;
  if (isRecord(schema.properties)) {
    const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
    const fields = Object.entries(schema.properties).map(
      ([name, each]) =>
        `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)}${required.includes(name) ? "" : "?"}: ${toTypeText(document, each, depth + 1)}`,
    );
    return fields.length === 0 ? "object" : `{ ${fields.join("; ")} }`;
  }
  return SCALARS[String(type)] ?? (type === "object" ? "object" : "any");
}

const wrap = (type: string): string => (type.includes(" ") ? `(${type})` : type);

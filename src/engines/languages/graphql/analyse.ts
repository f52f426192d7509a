import { parseFields } from "../../../lib/json/json.ts";
import { databaseParameter } from "../sql/comments.ts";
import {
  type Parameter,
  type Schema,
  type ScriptAnalysis,
  SyntaxFault,
  toArgumentsSchema,
} from "../types.ts";

const API = /^\s*#\s*api\s+(\S+)\s*$/;
const OPERATION = /\b(?:query|mutation|subscription)\b\s*\w*\s*\(/;
const VARIABLE =
  /\$(\w+)\s*:\s*([\w[\]!\s]+?)\s*(?:=\s*("(?:[^"\\]|\\.)*"|\[[^\]]*\]|[^\s,$]+))?\s*(?=[,$]|$)/g;

/** The arguments are the variables of the operation (GraphQL §2.10), and the resource that says where to ask. */
export function analyseGraphql(content: string): ScriptAnalysis {
  const text = withoutComments(content);
  const api = databaseParameter(content, {
    name: "api",
    schema: { type: "object", format: "resource-graphql" },
    optional: false,
    line: API,
  });
  const parameters = [api, ...variablesOf(text)];
  return {
    signature: { parameters, has_main: true, preprocessor: undefined },
    schema: toArgumentsSchema(parameters),
    packages: undefined,
    imports: [],
  };
}

/** With as many lines and characters as before. */
function withoutComments(content: string): string {
  return content.replace(/"""[\s\S]*?"""|"(?:[^"\\\n]|\\.)*"|#[^\n]*/g, (found) =>
    found.startsWith("#") ? " ".repeat(found.length) : found,
  );
}

function variablesOf(text: string): Parameter[] {
  const found = OPERATION.exec(text);
  if (!found) return [];
  const start = found.index + found[0].length;
  const end = text.indexOf(")", start);
  const line = text.slice(0, start).split("\n").length;
  if (end < 0) throw new SyntaxFault(line, 1, "the list of variables does not end");
  return [...text.slice(start, end).trim().matchAll(VARIABLE)].map(([, name, type, initial]) => ({
    name: name!,
    kind: "named",
    schema: { ...schemaOf(type!.replace(/\s/g, "")), ...(initial === undefined ? {} : defaultOf(initial)) },
    optional: initial !== undefined || !type!.trim().endsWith("!"),
  }));
}

/** The server knows its own defaults: they are shown, not sent. */
function defaultOf(text: string): Schema {
  try {
    return { default: parseFields(text) };
  } catch {
    return { default: text };
  }
}

const SCALARS: Record<string, Schema> = {
  Int: { type: "integer" },
  Float: { type: "number" },
  Boolean: { type: "boolean" },
  String: { type: "string" },
  ID: { type: "string" },
};

function schemaOf(type: string): Schema {
  const bare = type.replace(/!$/, "");
  if (bare.startsWith("[")) return { type: "array", items: schemaOf(bare.slice(1, -1)) };
  return SCALARS[bare] ?? {};
}

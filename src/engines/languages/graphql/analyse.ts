import { parseSchemaJson } from "../../../lib/json/json.ts";
import { parseDatabaseParameter } from "../sql/comments.ts";
import {
  type Parameter,
  type ParameterSchema,
  type ScriptAnalysis,
  SyntaxFault,
  toArgumentsSchema,
} from "../types.ts";

const API = /^\s*#\s*api\s+(\S+)\s*$/;
const OPERATION = /\b(?:query|mutation|subscription)\b\s*(?:\w+\s*)?\(/;
/** A variable with its type, which may be surrounded by spaces, and its default. */
const VARIABLE =
  /\$(\w+)\s*:([\w[\]!\s]+)(?:=\s*("(?:[^"\\]|\\.)*"|\[(?:[^\]"$]|"(?:[^"\\]|\\.)*")*\]|[^\s,$]+)\s*)?(?=[,$]|$)/g;

/**
 * Analyses a GraphQL script: its arguments are the operation's variables (GraphQL §2.10) and the resource with the
 * endpoint.
 */
export function analyseGraphql(content: string): ScriptAnalysis {
  const text = blankComments(content);
  const api = parseDatabaseParameter(content, {
    name: "api",
    schema: { type: "object", format: "resource-graphql" },
    optional: false,
    line: API,
  });
  const parameters = [api, ...parseVariables(text)];
  return {
    signature: { parameters, has_main: true, preprocessor: undefined },
    schema: toArgumentsSchema(parameters),
    packages: undefined,
    imports: [],
  };
}

/** Replaces comments by spaces, so that positions stay the same. */
function blankComments(content: string): string {
  return content.replace(/"""[\s\S]*?(?:"""|$)|"(?:[^"\\\n]|\\.)*"?|#[^\n]*/g, (found) =>
    found.startsWith("#") ? " ".repeat(found.length) : found,
  );
}

function parseVariables(text: string): Parameter[] {
  const found = OPERATION.exec(text);
  if (!found) return [];
  const start = found.index + found[0].length;
  const end = text.indexOf(")", start);
  const line = text.slice(0, start).split("\n").length;
  if (end < 0) throw new SyntaxFault(line, 1, "the list of variables does not end");
  return [...text.slice(start, end).trim().matchAll(VARIABLE)].map(([, name, type, initial]) => ({
    name: name!,
    kind: "named",
    schema: {
      ...schemaOfType(type!.replace(/\s/g, "")),
      ...(initial === undefined ? {} : parseDefault(initial)),
    },
    optional: initial !== undefined || !type!.trim().endsWith("!"),
  }));
}

/** Parses a default for display; it is not sent, because the server applies it. */
function parseDefault(text: string): ParameterSchema {
  try {
    return { default: parseSchemaJson(text) };
  } catch {
    return { default: text };
  }
}

const SCALARS: Record<string, ParameterSchema> = {
  Int: { type: "integer" },
  Float: { type: "number" },
  Boolean: { type: "boolean" },
  String: { type: "string" },
  ID: { type: "string" },
};

function schemaOfType(type: string): ParameterSchema {
  const bare = type.replace(/!$/, "");
  if (bare.startsWith("[")) return { type: "array", items: schemaOfType(bare.slice(1, -1)) };
  return SCALARS[bare] ?? {};
}

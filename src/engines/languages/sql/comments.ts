/**
 * Parses declarations in a query's comments:
 * -- database f/shop/orders_db
 * -- result_collection=last_statement_first_row
 * -- $1 customer (int)
 * -- $2 since (timestamptz) = 2024-01-01
 * MySQL's placeholders are `?`, declared in order, or `:name`; SQLite accepts all forms.
 */
import { BadRequest } from "../../../lib/errors.ts";
import { parseSchemaJson } from "../../../lib/json/json.ts";
import { parsePath } from "../../../lib/text/paths.ts";
import { type Parameter, type ParameterSchema, SyntaxFault } from "../types.ts";
import type { SqlDialect } from "./statements.ts";

/** The placeholder and the name of a declared parameter. */
const DECLARATION = /^\s*(?:--|#)\s*(?:(\$\d+|\?)\s+([A-Za-z_]\w*)|:([A-Za-z_]\w*))/;
/** Its type, which may contain one pair of parentheses. */
const TYPE = /^\(([^()]*(?:\([^()]*\)[^()]*)?)\)/;
const DATABASE = /^\s*(?:--|#)\s*database\s+(\S+)\s*$/;

/** Parses the declared parameters of a query, in order. @throws SyntaxFault */
export function parseDeclaredParameters(content: string, dialect: SqlDialect): Parameter[] {
  const parameters: Parameter[] = [];
  content.split(/\r?\n/).forEach((text, index) => {
    const declared = readDeclaration(text);
    if (!declared) return;
    const { mark, named, colon, type, initial } = declared;
    const name = (named ?? colon)!;
    const placeholder = mark ?? `:${colon}`;
    if ((placeholder === "?" || placeholder.startsWith(":")) && dialect === "postgresql") return;
    if (placeholder.startsWith("$") && dialect === "mysql") return;
    const fault = (message: string) => new SyntaxFault(index + 1, 1, message);
    if (parameters.some((each) => each.name === name)) throw fault(`argument ${name} is declared twice`);
    if (placeholder !== "?" && parameters.some((each) => each.placeholder === placeholder)) {
      throw fault(`${placeholder} is declared twice`);
    }
    const sql_type = type.trim().toLowerCase();
    parameters.push({
      name,
      kind: "named",
      placeholder,
      sql_type,
      optional: initial !== undefined,
      ...(initial === undefined ? {} : { default: parseDefault(initial, sql_type, fault) }),
      schema: {},
    });
  });
  for (const each of parameters) {
    each.schema = {
      ...schemaOfType(each.sql_type ?? "text"),
      ...(each.optional ? { default: each.default } : {}),
    };
  }
  return parameters;
}

/** Reads a line that declares a parameter; undefined if it is another one. */
function readDeclaration(line: string) {
  const match = DECLARATION.exec(line);
  if (!match) return undefined;
  const [whole, mark, named, colon] = match;
  const rest = line.slice(whole.length).trim();
  const type = TYPE.exec(rest);
  const after = rest.slice(type?.[0].length ?? 0).trimStart();
  if (after !== "" && !after.startsWith("=")) return undefined;
  const initial = after === "" ? undefined : after.slice(1).trim();
  return { mark, named, colon, type: type?.[1] ?? "text", initial };
}

/**
 * Parses the parameter for the database: pinned by a comment, which callers cannot override, or an argument.
 * @param line pattern of the comment
 * @throws SyntaxFault
 */
export function parseDatabaseParameter(
  content: string,
  {
    name,
    schema,
    optional,
    line = DATABASE,
  }: { name: string; schema: ParameterSchema; optional: boolean; line?: RegExp },
): Parameter {
  const lines = content.split(/\r?\n/);
  const index = lines.findIndex((text) => line.test(text));
  if (index < 0) return { name, kind: "named", schema, optional };
  const target = line.exec(lines[index]!)![1]!;
  return { name, kind: "pinned", schema, optional: true, default: toPinnedValue(target, index + 1) };
}

/** Returns a pinned value: a resource as a reference, a file as it is. */
function toPinnedValue(target: string, line: number): string {
  if (/^(s3:\/\/|\.\/)/.test(target)) return target;
  try {
    return `$res:${parsePath(target.replace(/^(\$res:|res:\/\/)/, ""))}`;
  } catch (cause) {
    if (!(cause instanceof BadRequest)) throw cause;
    throw new SyntaxFault(line, 1, cause.message);
  }
}

/** Dimensions of an array in PostgreSQL. */
const MAX_DIMENSIONS = 6;

function schemaOfType(type: string, dimensions = 0): ParameterSchema {
  if (type.endsWith("]")) {
    const open = type.lastIndexOf("[");
    if (open >= 0 && type.slice(open + 1, -1).trim() === "" && dimensions < MAX_DIMENSIONS) {
      return { type: "array", items: schemaOfType(type.slice(0, open).trimEnd(), dimensions + 1) };
    }
  }
  const word = /^[a-z]+\d*/.exec(type)?.[0] ?? "";
  if (/^(tiny|small|medium|big)?(int|serial)\d*$|^integer$/.test(word)) return { type: "integer" };
  if (/^(float|double|real|numeric|decimal|number|dec|money)\d*$/.test(word)) return { type: "number" };
  if (/^bool(ean)?$/.test(word)) return { type: "boolean" };
  if (/^json/.test(word)) return {};
  if (word === "date") return { type: "string", format: "date" };
  if (/^(timestamp|timestamptz|datetime)\d*$/.test(word)) return { type: "string", format: "date-time" };
  if (word === "uuid") return { type: "string", format: "uuid" };
  if (/^(bytea|(tiny|medium|long)?blob|(var)?binary)$/.test(word)) {
    return { type: "string", contentEncoding: "base64" };
  }
  return { type: "string" };
}

function parseDefault(text: string, type: string, fault: (message: string) => Error): unknown {
  if (/^null$/i.test(text)) return null;
  const { type: kind } = schemaOfType(type);
  if (kind === "string") return /^'(.*)'$|^"(.*)"$/.test(text) ? text.slice(1, -1) : text;
  try {
    return parseSchemaJson(text.toLowerCase() === text || kind !== "boolean" ? text : text.toLowerCase());
  } catch {
    throw fault(`the default ${text} is not a valid ${String(kind ?? "JSON value")}`);
  }
}

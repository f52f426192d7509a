/** Runs SQLite queries in this process: statements in sequence, with arguments as parameters. */
import { Database } from "bun:sqlite";
import { type SqlStatement, splitStatements } from "../../../languages/sql/statements.ts";
import type { ParameterBinding } from "../../../languages/types.ts";
import { toBigInteger } from "../exact.ts";
import { type Query, QueryError, readArgument, selectResultRows } from "./query.ts";
import { openDatabaseFile } from "./sqlite-files.ts";
import { isBytes, toPlainRow } from "./values.ts";

type Value = string | number | bigint | null | Uint8Array;

export function openQuery(source: string, parameters: ParameterBinding[]): Query {
  const statements = splitStatements(source, "sqlite");
  const named = new Map(parameters.map((parameter) => [parameter.placeholder, parameter]));
  const database = parameters.find(({ name }) => name === "database")!;
  return {
    async main(args) {
      const file = await openDatabaseFile(readArgument(database, args));
      try {
        const unnamed = parameters.filter(({ placeholder }) => placeholder === "?");
        const valueFor = (placeholder: string) => {
          const parameter = placeholder === "?" ? unnamed.shift()! : named.get(placeholder)!;
          return toSqliteValue(readArgument(parameter, args), parameter.sql_type ?? "text");
        };
        const rows = runAll(file.path, statements, valueFor);
        await file.store();
        return selectResultRows(source, rows);
      } finally {
        file.discard();
      }
    },
  };
}

function runAll(
  path: string,
  statements: SqlStatement[],
  valueFor: (placeholder: string) => Value,
): unknown[][] {
  const connection = new Database(path, { create: true, safeIntegers: true });
  try {
    connection.run("PRAGMA busy_timeout = 10000");
    return statements.map((statement) => runStatement(connection, statement, valueFor));
  } finally {
    connection.close();
  }
}

/** Runs a statement. Placeholders are renumbered, so that each has its own value whatever its name. */
function runStatement(
  connection: Database,
  { line, parts }: SqlStatement,
  valueFor: (placeholder: string) => Value,
): unknown[] {
  const values: Value[] = [];
  const text = parts.map((part) => {
    if (typeof part === "string") return part;
    values.push(valueFor(part.placeholder));
    return `?${values.length}`;
  });
  try {
    const statement = connection.prepare(text.join(""));
    const rows = statement.all(...values);
    statement.finalize();
    return rows.map((row) => toPlainRow(row as object));
  } catch (cause) {
    const { message, code } = cause as { message: string; code?: string };
    throw new QueryError(message, { code, line: line + countLinesBefore(text.join(""), message) });
  }
}

/** Returns the lines before the error: SQLite reports only the offending word, not its position. */
function countLinesBefore(text: string, message: string): number {
  const word = /near "([^"]+)"|no such (?:column|table|function): (\S+)/.exec(message);
  const at = word ? text.indexOf((word[1] ?? word[2])!) : -1;
  return at < 0 ? 0 : text.slice(0, at).split("\n").length - 1;
}

function toSqliteValue(value: unknown, type: string): Value {
  if (value === undefined || value === null) return null;
  if (typeof value === "object" || /^json/.test(type)) return toBigInteger(value) ?? JSON.stringify(value);
  if (typeof value === "boolean") return value ? 1 : 0;
  if (isBytes(type)) return new Uint8Array(Buffer.from(String(value), "base64"));
  return typeof value === "number" ? value : String(value);
}

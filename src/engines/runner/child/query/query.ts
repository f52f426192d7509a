/**
 * Shared parts of the query modules: their interface, argument lookup and errors.
 *
 * languages/sql/ reads the comments and statements of a query. The child then loads the module of its language from
 * this folder instead of a script.
 */
import type { ParameterBinding } from "../../../languages/types.ts";

/** A query as returned by a module's `openQuery`. */
export interface Query {
  main(args: Record<string, unknown>): Promise<unknown>;
  /** Stops remote work and resolves when it has ended. */
  stop?(): Promise<void>;
}

/** Returns a parameter's value; undefined if it is absent and has no default. */
export function readArgument(parameter: ParameterBinding, args: Record<string, unknown>): unknown {
  if (parameter.kind === "pinned") return args[parameter.name] ?? parameter.default;
  const given = args[parameter.name];
  return given === undefined ? parameter.default : given;
}

/** An error of a query, without this program's own stack. */
export class QueryError extends Error {
  override readonly name: string = "QueryError";
  override stack = "";
  /** SQLSTATE, or the database's own error name. */
  declare code?: string;
  declare detail?: string;
  declare hint?: string;
  /** Script line, from 1. */
  declare line?: number;

  constructor(
    message: string,
    facts: { code?: unknown; detail?: unknown; hint?: unknown; line?: number } = {},
  ) {
    super(facts.line === undefined ? message : `line ${facts.line}: ${message}`);
    for (const name of ["code", "detail", "hint"] as const) {
      if (typeof facts[name] === "string" || typeof facts[name] === "number")
        this[name] = String(facts[name]);
    }
    // Bun's errors have a hidden `line` of the program's own source.
    if (facts.line !== undefined)
      Object.defineProperty(this, "line", { value: facts.line, enumerable: true });
  }
}

/** Replacing shorter passwords would garble every message. */
const MIN_REDACTED_LENGTH = 4;

/** Removes the resource's password from a text, in case a driver quotes it. */
export function redactPassword(password: unknown, text: string): string {
  if (typeof password !== "string" || password.length < MIN_REDACTED_LENGTH) return text;
  return text.replaceAll(password, "*****").replaceAll(encodeURIComponent(password), "*****");
}

/** Returns the resource to connect to. @throws QueryError for other values */
export function toResource(value: unknown, name: string, type: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new QueryError(
    `argument ${name} must be a resource of type ${type}: hand over "$res:<path>", or pin it with a line that says \`-- ${name} <path>\``,
  );
}

/** Selects the rows that become the result, by the script's result_collection line. */
export function selectResultRows(source: string, rows: unknown[][]): unknown {
  if (rows.length === 0) throw new QueryError("there is no statement to run");
  const chosen =
    /^\s*(?:--|#)\s*result_collection\s*=\s*(\w+)\s*$/m.exec(source)?.[1] ?? "last_statement_all_rows";
  const match = /^(last|all)_statements?_(all_rows|first_row)(_scalar)?$/.exec(chosen);
  if (!match) {
    throw new QueryError(
      `result_collection=${chosen} is not known: use (last|all)_statement[s]_(all_rows|first_row)[_scalar]`,
    );
  }
  const [, which, amount, scalar] = match;
  const scalarOf = (row: unknown) =>
    row === undefined || row === null ? null : (Object.values(row)[0] ?? null);
  const ofStatement = (all: unknown[]) => {
    const values = scalar ? all.map(scalarOf) : all;
    return amount === "first_row" ? (values[0] ?? null) : values;
  };
  return which === "all" ? rows.map(ofStatement) : ofStatement(rows.at(-1) ?? []);
}

/** What the modules that run queries have in common: their shape, how arguments are found, what a failure says. */
import type { ParameterBinding } from "../../../languages/types.ts";

/** What a module's `openQuery` makes of a query's text. */
export interface Query {
  main(args: Record<string, unknown>): Promise<unknown>;
  /** Ends what runs elsewhere, and returns when it has ended. */
  stop?(): Promise<void>;
}

/** The value of one parameter; undefined when it was left out and has no default. */
export function argumentOf(parameter: ParameterBinding, args: Record<string, unknown>): unknown {
  if (parameter.kind === "pinned") return args[parameter.name] ?? parameter.default;
  const given = args[parameter.name];
  return given === undefined ? parameter.default : given;
}

/** Whatever goes wrong with a query; nothing of it is this program's own stack. */
export class QueryError extends Error {
  override readonly name: string = "QueryError";
  override stack = "";
  /** SQLSTATE, or the name the database has for it. */
  declare code?: string;
  declare detail?: string;
  declare hint?: string;
  /** Line of the script, from 1. */
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
    // Errors have a hidden `line` of their own, of this program's source.
    if (facts.line !== undefined)
      Object.defineProperty(this, "line", { value: facts.line, enumerable: true });
  }
}

/** A shorter password would make a riddle of every message. */
const SHORTEST = 4;

/** The same text without the password of the resource, should a driver repeat it. */
export function without(password: unknown, text: string): string {
  if (typeof password !== "string" || password.length < SHORTEST) return text;
  return text.replaceAll(password, "*****").replaceAll(encodeURIComponent(password), "*****");
}

/** The resource to connect to. @throws QueryError */
export function resourceOf(value: unknown, name: string, type: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new QueryError(
    `argument ${name} must be a resource of type ${type}: hand over "$res:<path>", or pin it with a line that says \`-- ${name} <path>\``,
  );
}

/** Which rows of which statements are the result. */
export function chosenRows(source: string, rows: unknown[][]): unknown {
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

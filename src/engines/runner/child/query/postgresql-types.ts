/** Types reported by PostgreSQL: of parameters that a query does not declare, and of result columns. */
import type { Connection } from "./connections.ts";
import { toPlain } from "./values.ts";

const NAME = "svc_parameter_types";
const PREPARE = `PREPARE ${NAME} AS `;
/** SQLSTATE for a parameter whose type cannot be inferred from the statement. */
const INDETERMINATE = "42P18";

/**
 * Returns the types that the server infers for `$1`, `$2`, …; undefined where it cannot.
 * @throws errors of the statement itself
 */
export async function inferParameterTypes(
  connection: Connection,
  text: string,
): Promise<string[] | undefined> {
  try {
    await connection.unsafe(PREPARE + text);
  } catch (cause) {
    const fault = cause as { errno?: string; position?: string };
    if (fault.errno === INDETERMINATE) return undefined;
    if (fault.position !== undefined) fault.position = String(Number(fault.position) - PREPARE.length);
    throw cause;
  }
  try {
    const [row] = await connection.unsafe(
      "SELECT parameter_types::text[] AS types FROM pg_prepared_statements WHERE name = $1",
      [NAME],
    );
    return (row as { types: string[] } | undefined)?.types;
  } finally {
    await connection.unsafe(`DEALLOCATE ${NAME}`);
  }
}

const NUMERIC = 1700;

/** Converts the rows of a result: a numeric becomes a number if a number keeps all its digits, else it stays text. */
export function toPlainRows(rows: Iterable<object>): Record<string, unknown>[] {
  const { columns } = rows as { columns?: { name: string; type: number }[] };
  const numeric = new Set((columns ?? []).filter(({ type }) => type === NUMERIC).map(({ name }) => name));
  const convert = ([name, value]: [string, unknown]) => [
    name,
    numeric.has(name) && typeof value === "string" ? toExactNumber(value) : toPlain(value),
  ];
  return [...rows].map((row) => Object.fromEntries(Object.entries(row).map(convert)));
}

/**
 * Returns the number if it has the same digits as the text, apart from trailing zeros of the fraction; else
 * undefined.
 */
export function toExactNumber(text: string): number | string {
  const digits = text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  const number = Number(digits);
  return Number.isFinite(number) && String(number) === digits ? number : text;
}

/** What PostgreSQL says of types: of parameters that a query does not declare, and of the columns of its result. */
import type { Connection } from "./connections.ts";
import { toPlain } from "./values.ts";

const NAME = "svc_parameter_types";
const PREPARE = `PREPARE ${NAME} AS `;
/** SQLSTATE of a parameter whose type nothing in the statement tells. */
const INDETERMINATE = "42P18";

/**
 * Returns the types that the server infers for `$1`, `$2`, …; undefined where it cannot tell.
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

/** Converts the rows of a result: a numeric becomes a number if that has all its digits, and else stays text. */
export function toPlainRows(rows: Iterable<object>): Record<string, unknown>[] {
  const { columns } = rows as { columns?: { name: string; type: number }[] };
  const numeric = new Set((columns ?? []).filter(({ type }) => type === NUMERIC).map(({ name }) => name));
  const convert = ([name, value]: [string, unknown]) => [
    name,
    numeric.has(name) && typeof value === "string" ? toExactNumber(value) : toPlain(value),
  ];
  return [...rows].map((row) => Object.fromEntries(Object.entries(row).map(convert)));
}

/** Returns the number if it is written with the same digits, without zeros at the end of a fraction. */
export function toExactNumber(text: string): number | string {
  const digits = text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  const number = Number(digits);
  return Number.isFinite(number) && String(number) === digits ? number : text;
}

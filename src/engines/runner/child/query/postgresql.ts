/** Runs PostgreSQL queries: statements in sequence on one connection, with arguments as parameters. */
import { type SqlStatement, splitStatements } from "../../../languages/sql/statements.ts";
import type { ParameterBinding } from "../../../languages/types.ts";
import { type Connection, describeFailure, openConnection } from "./connections.ts";
import { inferParameterTypes, toPlainRows } from "./postgresql-types.ts";
import { type Query, type QueryError, readArgument, selectResultRows, toResource } from "./query.ts";
import { toPostgresText } from "./values.ts";

export function openQuery(source: string, parameters: ParameterBinding[]): Query {
  const statements = splitStatements(source, "postgresql");
  const database = parameters.find(({ name }) => name === "database")!;
  let running: { cancel(): void; ended: Promise<unknown> } | undefined;
  let stopping = false;

  async function rowsOf(connection: Connection, statement: SqlStatement, args: Record<string, unknown>) {
    const { text, used } = await bindWithTypes(connection, statement);
    const values = used.map((parameter) =>
      toPostgresText(readArgument(parameter, args), parameter.sql_type!),
    );
    const query = connection.unsafe(text, values);
    const ended = query.then(
      () => {},
      () => {},
    );
    running = { cancel: () => query.cancel(), ended };
    try {
      return toPlainRows(await query);
    } finally {
      running = undefined;
    }
  }

  /** Binds a statement; the server infers the types of undeclared parameters. */
  async function bindWithTypes(connection: Connection, statement: SqlStatement): Promise<BoundStatement> {
    const bound = bindPostgresStatement(statement, parameters);
    if (bound.used.every(({ sql_type }) => sql_type !== undefined)) return bound;
    const types = await inferParameterTypes(connection, bound.text);
    const known = bound.used.map((parameter, at) => ({
      ...parameter,
      sql_type: parameter.sql_type ?? types?.[at] ?? "text",
    }));
    return bindPostgresStatement(statement, known);
  }

  return {
    async main(args) {
      const resource = toResource(readArgument(database, args), "database", "postgresql");
      const { connection, close } = await openConnection("postgres", resource);
      try {
        await endOnDisconnect(connection);
        const rows: unknown[][] = [];
        for (const each of statements) {
          if (stopping) break;
          rows.push(
            await rowsOf(connection, each, args).catch((cause) =>
              Promise.reject(toQueryError(cause, bindPostgresStatement(each, parameters), resource)),
            ),
          );
        }
        return selectResultRows(source, rows);
      } finally {
        await close();
      }
    },
    async stop() {
      stopping = true;
      const last = running;
      last?.cancel();
      await last?.ended;
    },
  };
}

/**
 * Makes PostgreSQL cancel a statement when its client disappears (killed, network failure); versions before 14 ignore
 * the setting.
 */
async function endOnDisconnect(connection: Connection): Promise<void> {
  await connection.unsafe("SET client_connection_check_interval = '1s'").catch(() => {});
}

interface BoundStatement {
  text: string;
  line: number;
  /** Parameters of this statement's `$1`, `$2`, …. */
  used: ParameterBinding[];
}

/** Renumbers the statement's parameters and casts each to its type, if that is known. */
export function bindPostgresStatement(
  { line, parts }: SqlStatement,
  parameters: ParameterBinding[],
): BoundStatement {
  const used: ParameterBinding[] = [];
  const text = parts.map((part) => {
    if (typeof part === "string") return part;
    const parameter = parameters.find(({ placeholder }) => placeholder === part.placeholder)!;
    if (!used.includes(parameter)) used.push(parameter);
    return `$${used.indexOf(parameter) + 1}${parameter.sql_type === undefined ? "" : castTo(parameter.sql_type)}`;
  });
  return { text: text.join(""), line, used };
}

const TYPE_PATTERN = /^[a-z_][\w ]*(\(\s*\d+\s*(,\s*\d+\s*)?\))?(\s*\[\s*\])*$/;
const SERIAL_TYPES: Record<string, string> = { serial: "int", bigserial: "bigint", smallserial: "smallint" };

/**
 * Casts through text, because the client serializes some types (JSON) differently. `char` without a length would
 * truncate to one character, so it gets no cast.
 */
function castTo(type: string): string {
  if (!TYPE_PATTERN.test(type) || type === "char" || type === "character") return "";
  return type === "text" ? "::text" : `::text::${SERIAL_TYPES[type] ?? type}`;
}

function toQueryError(
  cause: unknown,
  { text, line }: BoundStatement,
  resource: Record<string, unknown>,
): QueryError {
  const { position } = cause as { position?: string };
  const before = position === undefined ? "" : [...text].slice(0, Number(position) - 1).join("");
  return describeFailure(cause, resource, line + before.split("\n").length - 1);
}

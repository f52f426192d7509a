/** Runs MySQL and MariaDB queries: statements in sequence on one connection, with arguments as parameters. */
import { type SqlStatement, splitStatements } from "../../../languages/sql/statements.ts";
import type { ParameterBinding } from "../../../languages/types.ts";
import { type Connection, describeFailure, openConnection } from "./connections.ts";
import { type Query, type QueryError, readArgument, selectResultRows, toResource } from "./query.ts";
import { isBytes, toPlainRow } from "./values.ts";

export function openQuery(source: string, parameters: ParameterBinding[]): Query {
  const unnamed = parameters.filter(({ placeholder }) => placeholder === "?");
  const statements = splitStatements(source, "mysql").map((statement) =>
    bindMysqlStatement(statement, parameters, unnamed),
  );
  const database = parameters.find(({ name }) => name === "database")!;
  let running: { kill(): Promise<void>; ended: Promise<unknown> } | undefined;
  let stopping = false;

  async function rowsOf(
    connection: Connection,
    { text, used }: BoundStatement,
    args: Record<string, unknown>,
    kill: () => Promise<void>,
  ) {
    const query = connection.unsafe(
      text,
      used.map((parameter) => toMysqlValue(readArgument(parameter, args), parameter.sql_type ?? "text")),
    );
    const ended = query.then(
      () => {},
      () => {},
    );
    running = { kill, ended };
    try {
      return [...(await query)].map(toPlainRow);
    } finally {
      running = undefined;
    }
  }

  return {
    async main(args) {
      const resource = toResource(readArgument(database, args), "database", "mysql");
      const { connection, close } = await openConnection("mysql", resource);
      try {
        await connection.unsafe("SET time_zone = '+00:00'");
        const kill = await createKiller(connection, resource);
        const rows: unknown[][] = [];
        for (const each of statements) {
          if (stopping) break;
          const run = rowsOf(connection, each, args, kill);
          rows.push(await run.catch((cause) => Promise.reject(toQueryError(cause, each, resource))));
        }
        return selectResultRows(source, rows);
      } finally {
        await close();
      }
    },
    async stop() {
      stopping = true;
      const last = running;
      await last?.kill();
      await last?.ended;
    },
  };
}

/** Creates a function that kills the running statement from a second connection, because this one is busy. */
async function createKiller(
  connection: Connection,
  resource: Record<string, unknown>,
): Promise<() => Promise<void>> {
  const [row] = (await connection.unsafe("SELECT CONNECTION_ID() AS id")) as { id: number | bigint }[];
  return async () => {
    const other = await openConnection("mysql", resource);
    await other.connection.unsafe(`KILL QUERY ${Number(row!.id)}`).catch(() => {});
    await other.close();
  };
}

interface BoundStatement {
  text: string;
  line: number;
  /** Parameters for this statement's question marks, in order. */
  used: ParameterBinding[];
}

/** Replaces each placeholder by a question mark; unnamed ones are consumed in order of declaration. */
export function bindMysqlStatement(
  { line, parts }: SqlStatement,
  parameters: ParameterBinding[],
  unnamed: ParameterBinding[],
): BoundStatement {
  const used: ParameterBinding[] = [];
  const text = parts.map((part) => {
    if (typeof part === "string") return part;
    const named = parameters.find(({ placeholder }) => placeholder === part.placeholder)!;
    used.push(part.placeholder === "?" ? unnamed.shift()! : named);
    return "?";
  });
  return { text: text.join(""), line, used };
}

/** Converts a value for the client: JSON as text, bytes from base64, timestamps in UTC without their Z. */
export function toMysqlValue(value: unknown, type: string): unknown {
  if (value === undefined || value === null) return null;
  if (typeof value === "object" || /^json/.test(type)) return JSON.stringify(value);
  if (isBytes(type)) return Buffer.from(String(value), "base64");
  if (!/^(datetime|timestamp)/.test(type) || typeof value !== "string") return value;
  const moment = new Date(value);
  if (!/[zZ]|[+-]\d\d:?\d\d$/.test(value) || Number.isNaN(moment.getTime())) return value;
  return moment.toISOString().replace("T", " ").replace("Z", "");
}

/** Adds the script's line: MySQL reports lines of the statement only. */
function toQueryError(
  cause: unknown,
  { line }: BoundStatement,
  resource: Record<string, unknown>,
): QueryError {
  const inside = / at line (\d+)$/.exec((cause as Error).message)?.[1];
  return describeFailure(cause, resource, line + Number(inside ?? 1) - 1);
}

/** Runs a query of MySQL or MariaDB: its statements one after another on one connection, its arguments as parameters. */
import { type Statement, splitStatements } from "../../../languages/sql/statements.ts";
import type { ParameterBinding } from "../../../languages/types.ts";
import { type Connection, connect, describeFailure } from "./connections.ts";
import { argumentOf, chosenRows, type Query, type QueryError, resourceOf } from "./query.ts";
import { isBytes, toPlainRow } from "./values.ts";

export function openQuery(source: string, parameters: ParameterBinding[]): Query {
  const unnamed = parameters.filter(({ placeholder }) => placeholder === "?");
  const statements = splitStatements(source, "mysql").map((statement) =>
    bound(statement, parameters, unnamed),
  );
  const database = parameters.find(({ name }) => name === "database")!;
  let running: { kill(): Promise<void>; ended: Promise<unknown> } | undefined;
  let stopping = false;

  async function rowsOf(
    connection: Connection,
    { text, used }: Bound,
    args: Record<string, unknown>,
    kill: () => Promise<void>,
  ) {
    const query = connection.unsafe(
      text,
      used.map((parameter) => toMysqlValue(argumentOf(parameter, args), parameter.sql_type ?? "text")),
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
      const resource = resourceOf(argumentOf(database, args), "database", "mysql");
      const { connection, close } = await connect("mysql", resource);
      try {
        await connection.unsafe("SET time_zone = '+00:00'");
        const kill = await killerOf(connection, resource);
        const rows: unknown[][] = [];
        for (const each of statements) {
          if (stopping) break;
          const run = rowsOf(connection, each, args, kill);
          rows.push(await run.catch((cause) => Promise.reject(faultOf(cause, each, resource))));
        }
        return chosenRows(source, rows);
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

/** A statement is ended from another connection: this one waits for it. */
async function killerOf(
  connection: Connection,
  resource: Record<string, unknown>,
): Promise<() => Promise<void>> {
  const [row] = (await connection.unsafe("SELECT CONNECTION_ID() AS id")) as { id: number | bigint }[];
  return async () => {
    const other = await connect("mysql", resource);
    await other.connection.unsafe(`KILL QUERY ${Number(row!.id)}`).catch(() => {});
    await other.close();
  };
}

interface Bound {
  text: string;
  line: number;
  /** What the question marks of this statement stand for, in order. */
  used: ParameterBinding[];
}

/** The statement with a question mark for each placeholder; unnamed ones are used up in the order of their declaration. */
export function bound(
  { line, parts }: Statement,
  parameters: ParameterBinding[],
  unnamed: ParameterBinding[],
): Bound {
  const used: ParameterBinding[] = [];
  const text = parts.map((part) => {
    if (typeof part === "string") return part;
    const named = parameters.find(({ placeholder }) => placeholder === part.placeholder)!;
    used.push(part.placeholder === "?" ? unnamed.shift()! : named);
    return "?";
  });
  return { text: text.join(""), line, used };
}

/** As the client sends it: JSON as text, bytes out of base64, moments in UTC without their Z. */
export function toMysqlValue(value: unknown, type: string): unknown {
  if (value === undefined || value === null) return null;
  if (typeof value === "object" || /^json/.test(type)) return JSON.stringify(value);
  if (isBytes(type)) return Buffer.from(String(value), "base64");
  if (!/^(datetime|timestamp)/.test(type) || typeof value !== "string") return value;
  const moment = new Date(value);
  if (!/[zZ]|[+-]\d\d:?\d\d$/.test(value) || Number.isNaN(moment.getTime())) return value;
  return moment.toISOString().replace("T", " ").replace("Z", "");
}

/** MySQL counts the lines of the statement it was sent. */
function faultOf(cause: unknown, { line }: Bound, resource: Record<string, unknown>): QueryError {
  const inside = / at line (\d+)$/.exec((cause as Error).message)?.[1];
  return describeFailure(cause, resource, line + Number(inside ?? 1) - 1);
}

/** Runs a query of PostgreSQL: its statements one after another on one connection, its arguments as parameters. */
import { type Statement, splitStatements } from "../../../languages/sql/statements.ts";
import type { ParameterBinding } from "../../../languages/types.ts";
import { type Connection, connect, describeFailure } from "./connections.ts";
import { argumentOf, chosenRows, type Query, type QueryError, resourceOf } from "./query.ts";
import { toPlainRow, toPostgresText } from "./values.ts";

export function openQuery(source: string, parameters: ParameterBinding[]): Query {
  const statements = splitStatements(source, "postgresql").map((statement) => bound(statement, parameters));
  const database = parameters.find(({ name }) => name === "database")!;
  let running: { cancel(): void; ended: Promise<unknown> } | undefined;
  let stopping = false;

  async function rowsOf(connection: Connection, { text, used }: Bound, args: Record<string, unknown>) {
    const values = used.map((parameter) =>
      toPostgresText(argumentOf(parameter, args), parameter.sql_type ?? "text"),
    );
    const query = connection.unsafe(text, values);
    const ended = query.then(
      () => {},
      () => {},
    );
    running = { cancel: () => query.cancel(), ended };
    try {
      return [...(await query)].map(toPlainRow);
    } finally {
      running = undefined;
    }
  }

  return {
    async main(args) {
      const resource = resourceOf(argumentOf(database, args), "database", "postgresql");
      const { connection, close } = await connect("postgres", resource);
      try {
        await noticeLostClient(connection);
        const rows: unknown[][] = [];
        for (const each of statements) {
          if (stopping) break;
          rows.push(
            await rowsOf(connection, each, args).catch((cause) =>
              Promise.reject(faultOf(cause, each, resource)),
            ),
          );
        }
        return chosenRows(source, rows);
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

/** The server of a client that is gone (killed, unplugged) ends its statement; older than 14 it does not know how. */
async function noticeLostClient(connection: Connection): Promise<void> {
  await connection.unsafe("SET client_connection_check_interval = '1s'").catch(() => {});
}

interface Bound {
  text: string;
  line: number;
  /** What `$1`, `$2`, … of this statement stand for. */
  used: ParameterBinding[];
}

/** The statement with parameters of its own numbers, each cast to the type it is declared with. */
export function bound({ line, parts }: Statement, parameters: ParameterBinding[]): Bound {
  const used: ParameterBinding[] = [];
  const text = parts.map((part) => {
    if (typeof part === "string") return part;
    const parameter = parameters.find(({ placeholder }) => placeholder === part.placeholder)!;
    if (!used.includes(parameter)) used.push(parameter);
    return `$${used.indexOf(parameter) + 1}${castOf(parameter.sql_type ?? "text")}`;
  });
  return { text: text.join(""), line, used };
}

const TYPE = /^[a-z_][\w ]*(\(\s*\d+\s*(,\s*\d+\s*)?\))?(\s*\[\s*\])*$/;
const NO_TYPE: Record<string, string> = { serial: "int", bigserial: "bigint", smallserial: "smallint" };

/**
 * By way of text, since what the client makes of a value for some types (JSON) is not that value's text.
 * `char` without a length cuts values down to one character: what it stands beside decides then.
 */
function castOf(type: string): string {
  if (!TYPE.test(type) || type === "char" || type === "character") return "";
  return type === "text" ? "::text" : `::text::${NO_TYPE[type] ?? type}`;
}

function faultOf(cause: unknown, { text, line }: Bound, resource: Record<string, unknown>): QueryError {
  const { position } = cause as { position?: string };
  const before = position === undefined ? "" : [...text].slice(0, Number(position) - 1).join("");
  return describeFailure(cause, resource, line + before.split("\n").length - 1);
}

/** Backup and restore of our tables in a PostgreSQL database, over a connection alone: no program of PostgreSQL's is needed. */
import { SQL as PostgresClient, type ReservedSQL } from "bun";
import { BadRequest } from "../../lib/errors.ts";
import { migrations } from "../migrations/index.ts";
import { createMigrationTable, type Migration, statementsOf } from "../migrations/migrate.ts";
import { APPLICATION } from "../postgres/postgres.ts";
import { type Cell, damaged, notEmpty, type TableHead } from "./format.ts";
import type { Filling, Snapshot } from "./snapshot.ts";

/** Rows fetched at once, adapted so that they are about this many bytes. */
const FETCH_BYTES = 4_000_000;
const MAX_FETCH = 5_000;
/** Rows stored by one statement: at most this many values (the protocol counts to 65,535) and bytes. */
const MAX_VALUES = 20_000;
const MAX_BYTES = 4_000_000;

interface Column {
  name: string;
  type: string;
  counts: boolean;
}

/** Who works at the moment is no part of what is kept. */
const PASSING = "workers";

/** The tables that migrations ever made; a database may hold others that are none of ours. */
const OURS = new Set(
  migrations.postgres.flatMap(({ sql }) =>
    [...sql.matchAll(/(?:CREATE TABLE (?:IF NOT EXISTS )?|RENAME TO )"(\w+)"/g)].map((match) => match[1]!),
  ),
);

interface Connection {
  run: <R>(text: string, parameters?: unknown[]) => Promise<R[]>;
  close(): Promise<void>;
}

async function connect(url: string): Promise<Connection> {
  const client = new PostgresClient({
    url,
    max: 1,
    bigint: false,
    connection: { application_name: `${APPLICATION} backup` },
  });
  const reserved: ReservedSQL = await client.reserve();
  return {
    run: async <R>(text: string, parameters: unknown[] = []) => [
      ...((await reserved.unsafe(text, parameters as never[])) as Iterable<R>),
    ],
    async close() {
      reserved.release();
      await client.close({ timeout: 1 });
    },
  };
}

/** A transaction that sees the database as it was when it began. @throws BadRequest when it holds nothing of ours */
export async function snapshotPostgres(url: string): Promise<Snapshot> {
  const { run, close } = await connect(url);
  try {
    await run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    const names = await tablesOf(run);
    if (!names.includes("svc_migrations"))
      throw new BadRequest("there is nothing to back up in this database");
    const applied = await run<{ name: string }>("SELECT name FROM svc_migrations ORDER BY name");
    const columns = new Map<string, Column[]>();
    const tables: TableHead[] = [];
    for (const table of names.filter((name) => OURS.has(name) && name !== PASSING)) {
      columns.set(table, await columnsOf(run, table));
      tables.push(await headOf(run, table, columns.get(table)!));
    }
    return {
      migrations: applied.map(({ name }) => name),
      tables,
      rows: ({ table }) => rowsOf(run, table, columns.get(table)!),
      close,
    };
  } catch (cause) {
    await close();
    throw cause;
  }
}

async function tablesOf(run: Connection["run"]): Promise<string[]> {
  const rows = await run<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' ORDER BY table_name",
  );
  return rows.map(({ name }) => name);
}

async function columnsOf(run: Connection["run"], table: string): Promise<Column[]> {
  const rows = await run<{ name: string; type: string; identity: string }>(
    "SELECT column_name AS name, data_type AS type, is_identity AS identity FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position",
    [table],
  );
  return rows.map(({ name, type, identity }) => ({ name, type, counts: identity === "YES" }));
}

async function headOf(run: Connection["run"], table: string, columns: Column[]): Promise<TableHead> {
  const head: TableHead = { table, columns: columns.map(({ name }) => name) };
  const counting = columns.find((column) => column.counts);
  if (!counting) return head;
  const [sequence] = await run<{ name: string }>("SELECT pg_get_serial_sequence($1, $2) AS name", [
    quote(table),
    counting.name,
  ]);
  const [last] = await run<{ last_value: string | number; is_called: boolean }>(
    `SELECT last_value, is_called FROM ${sequence!.name}`,
  );
  head.next = Number(last!.last_value) + (last!.is_called ? 1 : 0);
  return head;
}

/** A column as SQLite stores it. */
function toCell({ name, type }: Column): string {
  const column = quote(name);
  if (type === "boolean") return `${column}::int AS ${column}`;
  if (type.startsWith("timestamp")) return `(extract(epoch FROM ${column}) * 1000)::bigint AS ${column}`;
  return column;
}

async function* rowsOf(run: Connection["run"], table: string, columns: Column[]): AsyncGenerator<Cell[]> {
  const list = columns.map(toCell).join(", ");
  const isNumber = columns.map(({ type }) => type !== "text" && type !== "bytea");
  await run(`DECLARE every_row NO SCROLL CURSOR FOR SELECT ${list} FROM ${quote(table)}`);
  for (let count = 10; ; ) {
    const rows = await run<Record<string, Cell>>(`FETCH ${count} FROM every_row`);
    let bytes = 1;
    for (const row of rows) {
      yield columns.map(({ name }, index) => {
        const value = row[name] ?? null;
        if (typeof value === "string" || value instanceof Uint8Array) bytes += value.length;
        return value !== null && isNumber[index] ? Number(value) : value;
      });
    }
    if (rows.length < count) break;
    count = Math.max(1, Math.min(MAX_FETCH, count * 4, Math.floor((count * FETCH_BYTES) / bytes)));
  }
  await run("CLOSE every_row");
}

/** It can be read back before it is committed. */
export interface PostgresFilling extends Filling {
  /** The rows stored so far of the table that is being filled, cells in the order of its head. */
  rows(head: TableHead): AsyncIterable<Cell[]>;
}

/**
 * One transaction: what was there is dropped, and the backup's tables take its place, or nothing happens.
 * @throws BadRequest when a server works on the database, or it holds rows and `force` is not given
 */
export async function fillPostgres(options: {
  url: string;
  force: boolean;
  before: Migration[];
  after: Migration[];
}): Promise<PostgresFilling> {
  const { run, close } = await connect(options.url);
  let open = true;
  const abort = async () => {
    if (!open) return;
    open = false;
    await run("ROLLBACK").catch(() => {});
    await close();
  };
  const apply = async (list: Migration[]) => {
    for (const migration of list) {
      for (const text of statementsOf(migration)) await run(text);
      await run("INSERT INTO svc_migrations (name, applied_at) VALUES ($1, $2)", [
        migration.name,
        Date.now(),
      ]);
    }
  };
  let insert: { head: TableHead; columns: Column[]; values: unknown[]; bytes: number } | undefined;
  async function flush(): Promise<void> {
    if (!insert || insert.values.length === 0) return;
    const { head, columns, values } = insert;
    const rows: string[] = [];
    for (let at = 0; at < values.length; at += columns.length) {
      rows.push(`(${columns.map(({ type }, index) => `$${at + index + 1}::${type}`).join(", ")})`);
    }
    const into = `${quote(head.table)} (${head.columns.map(quote).join(", ")})`;
    await run(`INSERT INTO ${into} OVERRIDING SYSTEM VALUE VALUES ${rows.join(", ")}`, values);
    insert.values = [];
    insert.bytes = 0;
  }

  try {
    await run("BEGIN");
    await refuseInUse(run);
    const there = (await tablesOf(run)).filter((name) => OURS.has(name) || name === "svc_migrations");
    for (const name of there) {
      const [row] = name === "svc_migrations" ? [] : await run(`SELECT 1 FROM ${quote(name)} LIMIT 1`);
      if (row && !options.force) throw notEmpty("the database");
    }
    for (const name of there) await run(`DROP TABLE ${quote(name)} CASCADE`);
    await run(createMigrationTable("postgres"));
    await apply(options.before);
  } catch (cause) {
    await abort();
    throw cause;
  }
  return {
    async table(head) {
      await flush();
      const known = await columnsOf(run, head.table);
      const columns = head.columns.map((name) => {
        const column = known.find((each) => each.name === name);
        if (!column) throw damaged(`there is no column ${name} in ${head.table}`);
        return column;
      });
      insert = { head, columns, values: [], bytes: 0 };
      const counting = columns.find((column) => column.counts);
      if (counting && head.next !== undefined) {
        const sequence = [quote(head.table), counting.name, head.next];
        await run("SELECT setval(pg_get_serial_sequence($1, $2), $3, false)", sequence);
      }
    },
    async row(cells) {
      const { columns, values } = insert!;
      for (const [index, cell] of cells.entries()) {
        values.push(fromCell(columns[index]!, cell));
        if (typeof cell === "string" || cell instanceof Uint8Array) insert!.bytes += cell.length;
      }
      if (values.length + columns.length > MAX_VALUES || insert!.bytes > MAX_BYTES) await flush();
    },
    async *rows({ table }) {
      await flush();
      yield* rowsOf(run, table, insert!.columns);
    },
    async commit() {
      await flush();
      await apply(options.after);
      await run("COMMIT");
      open = false;
      await close();
    },
    abort,
  };
}

async function refuseInUse(run: Connection["run"]): Promise<void> {
  const [other] = await run<{ pid: number; address: string | null }>(
    "SELECT pid, host(client_addr) AS address FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1 LIMIT 1",
    [APPLICATION],
  );
  if (!other) return;
  throw new BadRequest(`a server works on this database, from ${other.address ?? "this machine"}`, {
    hint: "stop svc serve everywhere before restoring",
  });
}

function fromCell({ type }: Column, cell: Cell): unknown {
  if (cell === null || typeof cell === "string" || cell instanceof Uint8Array) return cell;
  if (type === "boolean") return cell !== 0;
  if (type.startsWith("timestamp")) return new Date(cell).toISOString();
  return String(cell);
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

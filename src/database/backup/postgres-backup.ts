/** Backup and restore of PostgreSQL databases over a connection alone, without PostgreSQL's own tools. */
import { SQL as PostgresClient, type ReservedSQL } from "bun";
import { BadRequest } from "../../lib/errors.ts";
import { migrations } from "../migrations/index.ts";
import { createMigrationTable, type Migration, splitMigration } from "../migrations/migrate.ts";
import { APPLICATION_NAME } from "../postgres/postgres.ts";
import { type Cell, createDamagedBackupError, createTargetNotEmptyError, type TableHead } from "./format.ts";
import type { RestoreTarget, Snapshot } from "./snapshot.ts";

/** Target size of one fetch; the number of rows adapts to it. */
const FETCH_BYTES = 4_000_000;
const MAX_FETCH_ROWS = 5_000;
/** Limits of one INSERT: values (the protocol allows 65,535) and bytes. */
const MAX_INSERT_VALUES = 20_000;
const MAX_INSERT_BYTES = 4_000_000;

interface Column {
  name: string;
  type: string;
  counts: boolean;
}

/** Not backed up: the live workers, and the full-text index of jobs, which is filled again. */
const EPHEMERAL_TABLES = ["workers", "job_search", "job_search_progress"];

/** Tables ever created by a migration; the database may hold other applications' tables. */
const OWN_TABLES = new Set(
  migrations.postgres.flatMap(({ sql }) =>
    [...sql.matchAll(/(?:CREATE TABLE (?:IF NOT EXISTS )?|RENAME TO )"(\w+)"/g)].map((match) => match[1]!),
  ),
);

/** One connection to PostgreSQL, outside of a server. */
export interface Connection {
  run: <R>(text: string, parameters?: unknown[]) => Promise<R[]>;
  close(): Promise<void>;
}

/** Opens a connection that is not counted as a server's. */
export async function connectToPostgres(url: string): Promise<Connection> {
  const client = new PostgresClient({
    url,
    max: 1,
    bigint: false,
    connection: { application_name: `${APPLICATION_NAME} backup` },
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

/** Opens a snapshot in a repeatable-read transaction. @throws BadRequest if the database holds no instance */
export async function snapshotPostgres(url: string): Promise<Snapshot> {
  const { run, close } = await connectToPostgres(url);
  try {
    const partitioned = await listPartitionedTables(run);
    await run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    // Before the first query, which takes the snapshot: no partition is dropped from now on.
    if (partitioned.length > 0)
      await run(`LOCK TABLE ${partitioned.map(quote).join(", ")} IN ACCESS SHARE MODE`);
    const names = await listTables(run);
    if (!names.includes("svc_migrations"))
      throw new BadRequest("there is nothing to back up in this database");
    const applied = await run<{ name: string }>("SELECT name FROM svc_migrations ORDER BY name");
    const columns = new Map<string, Column[]>();
    const tables: TableHead[] = [];
    for (const table of names.filter((name) => OWN_TABLES.has(name) && !EPHEMERAL_TABLES.includes(name))) {
      columns.set(table, await listColumns(run, table));
      tables.push(await readTableHead(run, table, columns.get(table)!));
    }
    return {
      migrations: applied.map(({ name }) => name),
      tables,
      rows: ({ table }) => readRows(run, table, columns.get(table)!),
      close,
    };
  } catch (cause) {
    await close();
    throw cause;
  }
}

async function listTables(run: Connection["run"]): Promise<string[]> {
  const rows = await run<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' ORDER BY table_name",
  );
  return rows.map(({ name }) => name);
}

async function listPartitionedTables(run: Connection["run"]): Promise<string[]> {
  const rows = await run<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relkind = 'p' AND relnamespace = current_schema()::regnamespace ORDER BY relname",
  );
  return rows.map(({ name }) => name).filter((name) => OWN_TABLES.has(name));
}

async function listColumns(run: Connection["run"], table: string): Promise<Column[]> {
  const rows = await run<{ name: string; type: string; identity: string }>(
    "SELECT column_name AS name, data_type AS type, is_identity AS identity FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position",
    [table],
  );
  return rows.map(({ name, type, identity }) => ({ name, type, counts: identity === "YES" }));
}

async function readTableHead(run: Connection["run"], table: string, columns: Column[]): Promise<TableHead> {
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

/** Returns the SQL that reads a column in SQLite's representation. */
function toCell({ name, type }: Column): string {
  const column = quote(name);
  if (type === "boolean") return `${column}::int AS ${column}`;
  if (type.startsWith("timestamp")) return `(extract(epoch FROM ${column}) * 1000)::bigint AS ${column}`;
  return column;
}

async function* readRows(run: Connection["run"], table: string, columns: Column[]): AsyncGenerator<Cell[]> {
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
    count = Math.max(1, Math.min(MAX_FETCH_ROWS, count * 4, Math.floor((count * FETCH_BYTES) / bytes)));
  }
  await run("CLOSE every_row");
}

/** A restore target that can be read back before the commit. */
export interface PostgresRestoreTarget extends RestoreTarget {
  /** Yields the rows inserted so far into the current table, with cells in the header's order. */
  rows(head: TableHead): AsyncIterable<Cell[]>;
}

/**
 * Opens a restore in a single transaction, which drops the existing tables and creates the backup's.
 * @throws BadRequest if a server uses the database, or it holds rows and `force` is not set
 */
export async function openPostgresTarget(options: {
  url: string;
  force: boolean;
  before: Migration[];
  after: Migration[];
}): Promise<PostgresRestoreTarget> {
  const { run, close } = await connectToPostgres(options.url);
  let open = true;
  const abort = async () => {
    if (!open) return;
    open = false;
    await run("ROLLBACK").catch(() => {});
    await close();
  };
  const apply = async (list: Migration[]) => {
    for (const migration of list) {
      for (const text of splitMigration(migration)) await run(text);
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
    await requireUnused(run);
    const there = (await listTables(run)).filter((name) => OWN_TABLES.has(name) || name === "svc_migrations");
    for (const name of there) {
      const [row] = name === "svc_migrations" ? [] : await run(`SELECT 1 FROM ${quote(name)} LIMIT 1`);
      if (row && !options.force) throw createTargetNotEmptyError("the database");
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
      const known = await listColumns(run, head.table);
      const columns = head.columns.map((name) => {
        const column = known.find((each) => each.name === name);
        if (!column) throw createDamagedBackupError(`there is no column ${name} in ${head.table}`);
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
      if (values.length + columns.length > MAX_INSERT_VALUES || insert!.bytes > MAX_INSERT_BYTES)
        await flush();
    },
    async *rows({ table }) {
      await flush();
      yield* readRows(run, table, insert!.columns);
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

/** @throws BadRequest if a server is connected to the database */
export async function requireUnused(run: Connection["run"]): Promise<void> {
  const [other] = await run<{ pid: number; address: string | null }>(
    "SELECT pid, host(client_addr) AS address FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1 LIMIT 1",
    [APPLICATION_NAME],
  );
  if (!other) return;
  throw new BadRequest(`a server works on this database, from ${other.address ?? "this machine"}`, {
    hint: "stop svc serve and svc worker everywhere first",
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

/** Backup and restore of the embedded database file. */
import { type SQLQueryBindings, Database as SqliteFile, type Statement } from "bun:sqlite";
import { existsSync, mkdirSync } from "node:fs";
import { link, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { BadRequest } from "../../lib/errors.ts";
import { createMigrationTable, type Migration, splitMigration } from "../migrations/migrate.ts";
import { makeFilePrivate } from "../open-database.ts";
import { syncToDisk } from "./backup-file.ts";
import type { Cell, TableHead } from "./format.ts";
import type { RestoreTarget, Snapshot } from "./snapshot.ts";

/**
 * All tables but SQLite's own, the migrations (listed in the header), the live workers and the full-text index of jobs,
 * which is filled again.
 */
const LIST_TABLES_SQL =
  "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite@_%' ESCAPE '@' AND name <> 'svc_migrations' AND name <> 'workers' AND name NOT LIKE 'job@_search%' ESCAPE '@' ORDER BY name";

/**
 * Opens a snapshot in a read transaction on its own connection, which does not block the server.
 * @throws BadRequest if there is no database
 */
export function snapshotSqlite(path: string): Snapshot {
  if (!existsSync(path)) {
    throw new BadRequest(`there is nothing to back up: ${path} does not exist`, {
      hint: "choose the server's --data-dir, or set DATABASE_URL as it is set for the server",
    });
  }
  const file = new SqliteFile(path, { readwrite: true });
  file.run("PRAGMA busy_timeout = 5000");
  file.run("PRAGMA query_only = ON");
  file.run("BEGIN");
  const migrations = file.query("SELECT name FROM svc_migrations ORDER BY name").values() as [string][];
  return {
    migrations: migrations.map(([name]) => name),
    tables: queryNames(file, LIST_TABLES_SQL).map((table) => readTableHead(file, table)),
    async *rows({ table, columns }) {
      const query = file.query(`SELECT ${columns.map(quote).join(", ")} FROM ${quote(table)}`);
      for (const row of query.iterate() as Iterable<Record<string, Cell>>) {
        yield columns.map((column) => row[column]!);
      }
    },
    async close() {
      file.close();
    },
  };
}

function readTableHead(file: SqliteFile, table: string): TableHead {
  const columns = queryNames(file, `SELECT name FROM pragma_table_info(${literal(table)}) ORDER BY cid`);
  const counts = file.query("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'").get() !== null;
  const [last] = counts
    ? (file.query(`SELECT seq FROM sqlite_sequence WHERE name = ${literal(table)}`).values() as [number][])
    : [];
  return { table, columns, ...(last ? { next: last[0] + 1 } : {}) };
}

/** Whether the database holds any row. An unreadable file counts as yes: it may be the last copy. */
export function hasRows(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    const file = new SqliteFile(path, { readwrite: true });
    try {
      return queryNames(file, LIST_TABLES_SQL).some(
        (table) => file.query(`SELECT 1 FROM ${quote(table)} LIMIT 1`).get() !== null,
      );
    } finally {
      file.close();
    }
  } catch {
    return true;
  }
}

/**
 * Opens a restore into a new file, which replaces the target on commit.
 * @param before migrations applied before the rows, `after` those applied afterwards
 * @param target the final path, `aside` the folder for the replaced file
 */
export function openSqliteTarget(options: {
  temporary: string;
  target: string;
  aside: string;
  before: Migration[];
  after: Migration[];
}): RestoreTarget {
  makeFilePrivate(options.temporary);
  const file = new SqliteFile(options.temporary, { readwrite: true });
  // No journal: on any failure the file is discarded, and it is synced before use.
  file.run("PRAGMA auto_vacuum = INCREMENTAL");
  file.run("PRAGMA journal_mode = OFF");
  file.run("PRAGMA synchronous = OFF");
  file.run("BEGIN");
  file.run(createMigrationTable("sqlite"));
  const apply = (migrations: Migration[]) => {
    for (const migration of migrations) {
      for (const text of splitMigration(migration)) file.run(text);
      file.run("INSERT INTO svc_migrations (name, applied_at) VALUES (?, ?)", [migration.name, Date.now()]);
    }
  };
  apply(options.before);
  let insert: Statement | undefined;
  let open = true;
  return {
    async table({ table, columns, next }) {
      const places = columns.map(() => "?").join(", ");
      insert = file.prepare(
        `INSERT INTO ${quote(table)} (${columns.map(quote).join(", ")}) VALUES (${places})`,
      );
      if (next === undefined) return;
      file.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", [table, next - 1]);
    },
    async row(cells) {
      insert!.run(...(cells as SQLQueryBindings[]));
    },
    async commit() {
      apply(options.after);
      file.run("COMMIT");
      file.run("PRAGMA journal_mode = WAL");
      file.close();
      open = false;
      await syncToDisk(options.temporary);
      await swapInFile(options);
    },
    async abort() {
      if (open) file.close();
      open = false;
    },
  };
}

/** Replaces the target by one rename, so that a database file exists at every moment. */
async function swapInFile({
  temporary,
  target,
  aside,
}: {
  temporary: string;
  target: string;
  aside: string;
}) {
  if (existsSync(target)) {
    mkdirSync(aside, { recursive: true, mode: 0o700 });
    checkpointLog(target);
    // A log that could not be checkpointed moves too: it would corrupt the new file.
    for (const end of ["-wal", "-shm"]) {
      if (existsSync(target + end)) await rename(target + end, join(aside, `svc.db${end}`));
    }
    await link(target, join(aside, "svc.db")).catch(() => rename(target, join(aside, "svc.db")));
  }
  await rename(temporary, target);
  await syncToDisk(dirname(target));
}

function checkpointLog(path: string): void {
  try {
    const old = new SqliteFile(path, { readwrite: true });
    old.run("PRAGMA journal_mode = DELETE");
    old.close();
  } catch {
    // A damaged file is kept as it is.
  }
}

function queryNames(file: SqliteFile, text: string): string[] {
  return (file.query(text).values() as [string][]).map(([name]) => name);
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

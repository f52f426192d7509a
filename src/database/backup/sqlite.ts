/** Backup and restore of the embedded database's file. */
import { type SQLQueryBindings, Database as SqliteFile, type Statement } from "bun:sqlite";
import { existsSync, mkdirSync } from "node:fs";
import { link, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { BadRequest } from "../../lib/errors.ts";
import { keepPrivate } from "../connect.ts";
import { createMigrationTable, type Migration, statementsOf } from "../migrations/migrate.ts";
import { flush } from "./file.ts";
import type { Cell, TableHead } from "./format.ts";
import type { Filling, Snapshot } from "./snapshot.ts";

/** All but SQLite's own tables, the one whose rows the header holds, and who works at the moment. */
const TABLES =
  "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite@_%' ESCAPE '@' AND name <> 'svc_migrations' AND name <> 'workers' ORDER BY name";

/**
 * A read transaction beside the server's own connections: it sees what was committed when it began, and holds up nobody.
 * @throws BadRequest when there is no database yet
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
    tables: namesOf(file, TABLES).map((table) => headOf(file, table)),
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

function headOf(file: SqliteFile, table: string): TableHead {
  const columns = namesOf(file, `SELECT name FROM pragma_table_info(${literal(table)}) ORDER BY cid`);
  const counts = file.query("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'").get() !== null;
  const [last] = counts
    ? (file.query(`SELECT seq FROM sqlite_sequence WHERE name = ${literal(table)}`).values() as [number][])
    : [];
  return { table, columns, ...(last ? { next: last[0] + 1 } : {}) };
}

/** Whether any row of ours is in it. A file that cannot be read counts: it may be somebody's last copy. */
export function holdsRows(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    const file = new SqliteFile(path, { readwrite: true });
    try {
      return namesOf(file, TABLES).some(
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
 * Fills a new file, which nobody opens before it is moved to its place.
 * @param before migrations that the rows have been through; `after` those that follow
 * @param target where it is moved; `aside` the folder that what stood there is kept in
 */
export function fillSqlite(options: {
  temporary: string;
  target: string;
  aside: string;
  before: Migration[];
  after: Migration[];
}): Filling {
  keepPrivate(options.temporary);
  const file = new SqliteFile(options.temporary, { readwrite: true });
  // Whatever happens to it on the way, it is thrown away; it is flushed before it counts.
  file.run("PRAGMA auto_vacuum = INCREMENTAL");
  file.run("PRAGMA journal_mode = OFF");
  file.run("PRAGMA synchronous = OFF");
  file.run("BEGIN");
  file.run(createMigrationTable("sqlite"));
  const apply = (migrations: Migration[]) => {
    for (const migration of migrations) {
      for (const text of statementsOf(migration)) file.run(text);
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
      await flush(options.temporary);
      await replace(options);
    },
    async abort() {
      if (open) file.close();
      open = false;
    },
  };
}

/** One rename puts the new file in its place: at no moment is there none. */
async function replace({ temporary, target, aside }: { temporary: string; target: string; aside: string }) {
  if (existsSync(target)) {
    mkdirSync(aside, { recursive: true, mode: 0o700 });
    foldLog(target);
    // What could not be folded into the file goes with it: it would spoil the new one.
    for (const end of ["-wal", "-shm"]) {
      if (existsSync(target + end)) await rename(target + end, join(aside, `svc.db${end}`));
    }
    await link(target, join(aside, "svc.db")).catch(() => rename(target, join(aside, "svc.db")));
  }
  await rename(temporary, target);
  await flush(dirname(target));
}

function foldLog(path: string): void {
  try {
    const old = new SqliteFile(path, { readwrite: true });
    old.run("PRAGMA journal_mode = DELETE");
    old.close();
  } catch {
    // Damaged: it is kept as it is.
  }
}

function namesOf(file: SqliteFile, text: string): string[] {
  return (file.query(text).values() as [string][]).map(([name]) => name);
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

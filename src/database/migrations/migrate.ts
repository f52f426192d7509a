/**
 * Applies the migrations that travel inside the executable. All pending ones run in one transaction.
 *
 * The rule for rolling restarts: a migration only adds (tables, indexes, columns that may be left out), so that the
 * version before goes on working beside the one that applied it, and can even be started again. One that takes something
 * away, renames it or asks for more has the word `breaking` in its name: older versions refuse a database that has it,
 * and it may come a release after everything stopped using what it takes away (`test/database/migrate.test.ts`).
 */
import { sql } from "drizzle-orm";
import { Internal } from "../../lib/errors.ts";
import type { Database } from "../database.ts";
import type { Dialect } from "../kit.ts";
import { migrations } from "./index.ts";

/** drizzle-kit's marker between statements. */
const BREAKPOINT = "--> statement-breakpoint";
/** Any number will do, as long as every svc process asks for the same one. */
const POSTGRES_LOCK = 7_325_001;

export interface Migration {
  name: string;
  sql: string;
}

export function statementsOf(migration: Migration): string[] {
  return migration.sql.split(BREAKPOINT);
}

/** Whether versions that do not know a migration cannot work beside it. */
export function isBreaking(name: string): boolean {
  return name.split("_").includes("breaking");
}

/** The statement that makes the table of applied migrations where it is missing. */
export function createMigrationTable(dialect: Dialect): string {
  const number = dialect === "postgres" ? "bigint" : "integer";
  return `CREATE TABLE IF NOT EXISTS svc_migrations (name text PRIMARY KEY, applied_at ${number} NOT NULL)`;
}

/**
 * Brings the schema up to date.
 * @returns the names of the migrations applied now
 * @throws Internal when the database is so much newer that this executable cannot work with it
 */
export async function migrate(db: Database): Promise<string[]> {
  const known = migrations[db.dialect];
  return db.write(async (tx) => {
    if (db.dialect === "postgres") await tx.rows(sql`SELECT pg_advisory_xact_lock(${POSTGRES_LOCK})`);
    const applied = await appliedMigrations(db, tx);
    const { unknown } = compareMigrations(db.dialect, applied);
    if (unknown.length > 0) {
      throw new Internal(`the database is newer than this executable: it has migration ${unknown[0]}`, {
        hint: "start it with the newer svc, or restore a backup made before the upgrade",
      });
    }
    const pending = known.filter((migration) => !applied.includes(migration.name));
    for (const migration of pending) {
      for (const text of statementsOf(migration)) await tx.rows(sql.raw(text));
      await tx.rows(
        sql`INSERT INTO svc_migrations (name, applied_at) VALUES (${migration.name}, ${Date.now()})`,
      );
    }
    return pending.map((migration) => migration.name);
  });
}

/**
 * What there is between a database and this executable.
 * @throws what the database says when it does not answer
 */
export async function migrationsAmiss(db: Database): Promise<Amiss> {
  const rows = await db.read.rows<{ name: string }>(sql`SELECT name FROM svc_migrations`);
  const applied = rows.map((row) => row.name);
  return compareMigrations(db.dialect, applied);
}

export interface Amiss {
  /** Migrations that the database lacks. */
  missing: string[];
  /** Those it has that this executable neither knows nor can work beside. */
  unknown: string[];
  /** Those of a newer version that it can work beside. */
  newer: string[];
}

export function compareMigrations(dialect: Dialect, applied: readonly string[]): Amiss {
  const known = migrations[dialect].map((migration) => migration.name);
  const others = applied.filter((name) => !known.includes(name));
  return {
    missing: known.filter((name) => !applied.includes(name)),
    unknown: others.filter(isBreaking),
    newer: others.filter((name) => !isBreaking(name)),
  };
}

async function appliedMigrations(
  db: Database,
  tx: Parameters<Parameters<Database["write"]>[0]>[0],
): Promise<string[]> {
  await tx.rows(sql.raw(createMigrationTable(db.dialect)));
  const rows = await tx.rows<{ name: string }>(sql`SELECT name FROM svc_migrations ORDER BY name`);
  return rows.map((row) => row.name);
}

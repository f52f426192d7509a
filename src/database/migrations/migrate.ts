/**
 * Applies the migrations embedded in the executable. All pending ones run in one transaction.
 *
 * Rule for rolling restarts: a migration only adds (tables, indexes, optional columns), so that the previous version
 * keeps working and can even restart. A migration that removes, renames or requires something has `breaking` in its
 * name, and older versions refuse such a database. It may only come one release after the code stopped using what it
 * removes (`test/database/migrate.test.ts`).
 */
import { sql } from "drizzle-orm";
import { Internal } from "../../lib/errors.ts";
import type { Database } from "../database.ts";
import type { Dialect } from "../kit.ts";
import { migrations, sqlite_schema } from "./index.ts";

/** drizzle-kit's marker between statements. */
const BREAKPOINT = "--> statement-breakpoint";
/** Any number works, as long as all svc processes use the same one. */
export const MIGRATION_LOCK_ID = 7_325_001;

export interface Migration {
  name: string;
  sql: string;
}

export function splitMigration(migration: Pick<Migration, "sql">): string[] {
  return migration.sql.split(BREAKPOINT);
}

/** Whether versions that do not know a migration cannot work with it. */
export function isBreaking(name: string): boolean {
  return name.split("_").includes("breaking");
}

/** Returns the SQL that creates the table of applied migrations if it is missing. */
export function createMigrationTable(dialect: Dialect): string {
  const number = dialect === "postgres" ? "bigint" : "integer";
  return `CREATE TABLE IF NOT EXISTS svc_migrations (name text PRIMARY KEY, applied_at ${number} NOT NULL)`;
}

/**
 * Migrates the schema to this executable's version.
 * @returns the names of the migrations applied now
 * @throws Internal if the database has a breaking migration that this executable does not know
 */
export async function migrateDatabase(db: Database): Promise<string[]> {
  const known = migrations[db.dialect];
  return db.write(async (tx) => {
    if (db.dialect === "postgres") await tx.rows(sql`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK_ID})`);
    const applied = await appliedMigrations(db, tx);
    const { unknown } = compareMigrations(db.dialect, applied);
    if (unknown.length > 0) {
      throw new Internal(`the database is newer than this executable: it has migration ${unknown[0]}`, {
        hint: "start it with the newer svc, or restore a backup made before the upgrade",
      });
    }
    const pending = known.filter((migration) => !applied.includes(migration.name));
    // A new SQLite database gets the final schema directly, so that a first start does not get slower with each
    // release.
    const isNew = db.dialect === "sqlite" && applied.length === 0;
    const steps = isNew ? [{ sql: sqlite_schema }] : pending;
    for (const text of steps.flatMap(splitMigration)) await tx.rows(sql.raw(text));
    const rows = pending.map((migration) => sql`(${migration.name}, ${Date.now()})`);
    if (rows.length > 0)
      await tx.rows(sql`INSERT INTO svc_migrations (name, applied_at) VALUES ${sql.join(rows, sql`, `)}`);
    return pending.map((migration) => migration.name);
  });
}

/**
 * Compares the database's migrations with this executable's.
 * @throws errors of the database
 */
export async function findMigrationDrift(db: Database): Promise<MigrationDrift> {
  const rows = await db.read.rows<{ name: string }>(sql`SELECT name FROM svc_migrations`);
  const applied = rows.map((row) => row.name);
  return compareMigrations(db.dialect, applied);
}

export interface MigrationDrift {
  /** Migrations not applied yet. */
  missing: string[];
  /** Unknown breaking migrations: this executable cannot work with them. */
  unknown: string[];
  /** Unknown migrations of a newer version that this executable can work with. */
  newer: string[];
}

export function compareMigrations(dialect: Dialect, applied: readonly string[]): MigrationDrift {
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

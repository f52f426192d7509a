/**
 * Checks the database: its integrity, and that its schema is this executable's. It is opened directly, not through a
 * server.
 */
import { Database as SqliteFile } from "bun:sqlite";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { compareMigrations } from "../../../../src/database/migrations/migrate.ts";
import { redactCredentials } from "../../../../src/lib/logging/redact.ts";
import type { Config } from "../../../../src/platform/config/config.ts";
import {
  createFailFinding,
  createOkFinding,
  createWarnFinding,
  type Finding,
  formatBytes,
} from "./finding.ts";

/** Oldest PostgreSQL version that still gets updates. */
const MIN_POSTGRES_VERSION = 13;
const MAX_CLOCK_SKEW_MS = 5_000;
const CONNECT_TIMEOUT_S = 5;

export function checkDatabase(config: Config): Promise<Finding[]> | Finding[] {
  if (config.database_url !== undefined) return checkPostgres(config.database_url);
  const path = join(config.data_dir, "svc.db");
  if (!existsSync(path)) return [createOkFinding("database", "there is none yet: svc serve makes it")];
  return checkSqlite(path);
}

function checkSqlite(path: string): Finding[] {
  const advice = "stop the server and restore a backup: svc restore <file> --force (what is there is kept)";
  let file: SqliteFile | undefined;
  try {
    file = new SqliteFile(path, { readwrite: true });
    file.run("PRAGMA busy_timeout = 5000");
    file.run("PRAGMA query_only = ON");
    const problems = (file.query("PRAGMA quick_check(5)").values() as [string][]).map(([text]) => text);
    if (problems.join() !== "ok")
      return [createFailFinding("database", `is damaged: ${problems.join("; ")}`, advice)];
    const { version } = file.query("SELECT sqlite_version() AS version").get() as { version: string };
    // The newest data is in the write-ahead log until a checkpoint.
    const size = [path, `${path}-wal`]
      .map((name) => statSync(name, { throwIfNoEntry: false })?.size ?? 0)
      .reduce((sum, bytes) => sum + bytes, 0);
    const rows = file.query("SELECT name FROM svc_migrations").values() as [string][];
    return [
      createOkFinding("database", `SQLite ${version}, ${formatBytes(size)}, is whole`),
      checkMigrations(
        "sqlite",
        rows.map(([name]) => name),
      ),
    ];
  } catch (cause) {
    return [createFailFinding("database", `cannot be read: ${(cause as Error).message}`, advice)];
  } finally {
    file?.close();
  }
}

async function checkPostgres(url: string): Promise<Finding[]> {
  const client = new SQL({ url, max: 1, connectionTimeout: CONNECT_TIMEOUT_S });
  try {
    const before = Date.now();
    const [row] = await client`SELECT version() AS version, current_setting('server_version_num') AS number,
      (extract(epoch FROM clock_timestamp()) * 1000)::text AS now`;
    const after = Date.now();
    const version = String(row.version).split(" ").slice(0, 2).join(" ");
    const major = Math.floor(Number(row.number) / 10_000);
    const findings =
      major < MIN_POSTGRES_VERSION
        ? [
            createWarnFinding(
              "database",
              `${version} is no longer looked after`,
              "move to a newer PostgreSQL",
            ),
          ]
        : [createOkFinding("database", `${version} answers in ${after - before} ms`)];
    const skew = Math.max(before - Number(row.now), Number(row.now) - after);
    if (skew > MAX_CLOCK_SKEW_MS) {
      const says = `this machine's clock and the database's differ by ${Math.round(skew / 1000)} s`;
      findings.push(createWarnFinding("clock", says, "set both by NTP"));
    }
    const [table] = await client`SELECT to_regclass('svc_migrations') IS NOT NULL AS is_there`;
    if (!table.is_there)
      return [...findings, createOkFinding("migrations", "there is no table yet: svc serve makes them")];
    const rows: { name: string }[] = await client`SELECT name FROM svc_migrations`;
    return [
      ...findings,
      checkMigrations(
        "postgres",
        rows.map(({ name }) => name),
      ),
    ];
  } catch (cause) {
    const says = `cannot be reached: ${redactCredentials((cause as Error).message)}`;
    return [
      createFailFinding(
        "database",
        says,
        "check DATABASE_URL, and that PostgreSQL is up and lets this machine in",
      ),
    ];
  } finally {
    await client.close({ timeout: 1 });
  }
}

function checkMigrations(dialect: "sqlite" | "postgres", applied: string[]): Finding {
  const { missing, unknown, newer } = compareMigrations(dialect, applied);
  if (unknown.length > 0) {
    const says = `the database is newer than this executable: it has ${unknown.join(", ")}`;
    return createFailFinding(
      "migrations",
      says,
      "use the newer svc, or restore a backup made before the upgrade",
    );
  }
  if (newer.length > 0) {
    const says = `a newer svc has worked with the database: it added ${newer.join(", ")}`;
    return createWarnFinding("migrations", says, "this version can keep running beside it; upgrade it too");
  }
  if (missing.length === 0) return createOkFinding("migrations", `all ${applied.length} are done`);
  return createWarnFinding(
    "migrations",
    `${missing.join(", ")} is not done yet`,
    "make a backup; the next svc serve does them",
  );
}

/**
 * Readiness of this server: whether it can work now, and what prevents it. Cheap, since results of database checks are
 * cached for a second.
 */
import { statfs } from "node:fs/promises";
import { type SQL, sql } from "drizzle-orm";
import type { Dialect } from "../../../database/kit.ts";
import { findMigrationDrift, type MigrationDrift } from "../../../database/migrations/migrate.ts";
import { Cache } from "../../../lib/async/cache.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import { withTimeout } from "../../../lib/async/sleep.ts";
import { VERSION } from "../../../lib/version.ts";
import type { App } from "../../../platform/app/context.ts";

const CACHE_TTL_MS = 1_000;
/** A database that takes longer counts as unavailable. */
const DATABASE_TIMEOUT_MS = 3_000;
/** Less free space below the data directory is reported as low, in bytes. */
const LOW_DISK_BYTES = 500_000_000;

/** How long a write that failed for lack of space counts. */
const RECENT_FULL_MS = 10_000;
/** With less free space, in bytes, writes are expected to fail. */
const NO_ROOM_BYTES = 8_000_000;

export interface ReadinessCheck {
  name: "database" | "migrations" | "storage" | "processes" | "accepting";
  ok: boolean;
  /** A problem description, or a value. */
  detail: string;
}

export interface Readiness {
  ready: boolean;
  checks: ReadinessCheck[];
}

const checksCache = memoizePerApp(
  (_: App) => new Cache<ReadinessCheck[]>({ max: 1, ttl_ms: CACHE_TTL_MS, now: () => performance.now() }),
);

export async function checkReadiness(app: App): Promise<Readiness> {
  const checks = [...(await checkDatabaseCached(app)), checkProcesses(app), checkAccepting(app)];
  return { ready: checks.every((check) => check.ok), checks };
}

async function checkDatabaseCached(app: App): Promise<ReadinessCheck[]> {
  if (app.db.stats().broken) return checkDatabase(app);
  const cache = checksCache(app);
  return cache.get("database") ?? cache.load("database", () => checkDatabase(app));
}

function checkProcesses({ runner }: App): ReadinessCheck {
  const shortage = runner.shortageReason();
  const detail =
    shortage === undefined ? "can be started for jobs" : `cannot be started for jobs: ${shortage}`;
  return { name: "processes", ok: shortage === undefined, detail };
}

function checkAccepting({ acceptsJobs, isStopping }: App): ReadinessCheck {
  const check = (ok: boolean, detail: string): ReadinessCheck => ({ name: "accepting", ok, detail });
  if (!acceptsJobs) return check(false, "the server is shutting down and takes no new jobs");
  if (isStopping) return check(false, "the server is about to shut down: send it no more calls");
  return check(true, "takes jobs");
}

async function checkDatabase(app: App): Promise<ReadinessCheck[]> {
  const { broken } = app.db.stats();
  if (broken) return [{ name: "database", ok: false, detail: broken.message }];
  const began = performance.now();
  const late = () => new Error(`no answer within ${DATABASE_TIMEOUT_MS / 1000} s`);
  try {
    const amiss = await withTimeout(DATABASE_TIMEOUT_MS, findMigrationDrift(app.db), late);
    const ms = (performance.now() - began).toFixed(1);
    return [
      { name: "database", ok: true, detail: `${app.db.dialect} answers in ${ms} ms` },
      {
        name: "migrations",
        ok: amiss.missing.length + amiss.unknown.length === 0,
        detail: describeMigrations(amiss),
      },
      await checkStorage(app),
    ];
  } catch (cause) {
    const said = ((cause as Error).cause as Error | undefined)?.message ?? (cause as Error).message;
    return [{ name: "database", ok: false, detail: `the database does not answer: ${said}` }];
  }
}

/** Checks whether recent writes had space; on SQLite also whether the disk is full. */
async function checkStorage(app: App): Promise<ReadinessCheck> {
  const { full_at } = app.db.stats();
  const fine: ReadinessCheck = { name: "storage", ok: true, detail: "writes find room" };
  if (full_at === undefined) return fine;
  const isRecent = performance.now() - full_at < RECENT_FULL_MS;
  const free = app.db.dialect === "sqlite" ? await readFreeBytes(app) : undefined;
  if (!isRecent && (free === undefined || free > NO_ROOM_BYTES)) return fine;
  const detail = "writes are refused: the disk, or the database's size limit, is full";
  return { name: "storage", ok: false, detail };
}

async function readFreeBytes(app: App): Promise<number | undefined> {
  const disk = await statfs(app.config.data_dir).catch(() => undefined);
  return disk && disk.bavail * disk.bsize;
}

function describeMigrations({ missing, unknown, newer }: MigrationDrift): string {
  if (unknown.length > 0) return `the database is newer than this executable: it has ${unknown.join(", ")}`;
  if (missing.length > 0) return `the database lacks ${missing.join(", ")}: restart the server`;
  if (newer.length > 0) return `all are done, and those of a newer svc: ${newer.join(", ")}`;
  return "all are done";
}

const SIZE_QUERIES: Record<Dialect, SQL> = {
  sqlite: sql`SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()`,
  postgres: sql`SELECT pg_database_size(current_database()) AS bytes`,
};

/** Returns the size of the database on its disk; null if it cannot be asked now. */
async function readDatabaseBytes({ db }: App): Promise<number | null> {
  const rows = withTimeout(
    DATABASE_TIMEOUT_MS,
    db.read.rows<{ bytes: number | string }>(SIZE_QUERIES[db.dialect]),
    () => new Error("no answer"),
  );
  return rows.then(([row]) => Number(row?.bytes ?? 0)).catch(() => null);
}

/** Returns details that only people who run the instance may see. */
export async function readDetails(app: App) {
  const free = await readFreeBytes(app);
  return {
    version: VERSION,
    uptime_s: Math.floor(process.uptime()),
    database: app.db.dialect,
    worker: app.queue.worker,
    pool: app.runner.stats(),
    memory_bytes: process.memoryUsage.rss(),
    database_bytes: await readDatabaseBytes(app),
    disk_free_bytes: free ?? null,
    disk_low: free !== undefined && free < LOW_DISK_BYTES,
  };
}

/**
 * Whether this server can do its work now, and what is in the way. Cheap: what the database says serves all who ask within
 * a second.
 */
import { statfs } from "node:fs/promises";
import { type Amiss, migrationsAmiss } from "../../../database/migrations/migrate.ts";
import { perApp } from "../../../lib/async/per-app.ts";
import { withinMs } from "../../../lib/async/sleep.ts";
import { VERSION } from "../../../lib/version.ts";
import type { App } from "../../../platform/app/context.ts";

const KEPT_MS = 1_000;
/** A database that takes longer does not answer. */
const PATIENCE_MS = 3_000;
/** Nearly full: less than this much, in bytes, is free below the data directory. */
const LOW_DISK = 500_000_000;

/** A write that found no room counts for so long. */
const FULL_MS = 10_000;
/** With less than this, in bytes, there is no room for more. */
const NO_ROOM = 8_000_000;

export interface Check {
  name: "database" | "migrations" | "storage" | "processes" | "accepting";
  ok: boolean;
  /** What is wrong, or a figure. */
  detail: string;
}

export interface Readiness {
  ready: boolean;
  checks: Check[];
}

interface Kept {
  at: number;
  answer: Promise<Check[]>;
}

const keptOf = perApp<App, { last: Kept | undefined }>(() => ({ last: undefined }));

export async function readiness(app: App): Promise<Readiness> {
  const checks = [...(await ofDatabase(app)), processes(app), acceptance(app)];
  return { ready: checks.every((check) => check.ok), checks };
}

function ofDatabase(app: App): Promise<Check[]> {
  const kept = keptOf(app);
  const now = performance.now();
  const isOld = !kept.last || now - kept.last.at > KEPT_MS;
  if (isOld || app.db.stats().broken) kept.last = { at: now, answer: databaseChecks(app) };
  return kept.last!.answer;
}

function processes({ runner }: App): Check {
  const shortage = runner.shortage();
  const detail =
    shortage === undefined ? "can be started for jobs" : `cannot be started for jobs: ${shortage}`;
  return { name: "processes", ok: shortage === undefined, detail };
}

function acceptance({ accepting, leaving }: App): Check {
  const check = (ok: boolean, detail: string): Check => ({ name: "accepting", ok, detail });
  if (!accepting) return check(false, "the server is shutting down and takes no new jobs");
  if (leaving) return check(false, "the server is about to shut down: send it no more calls");
  return check(true, "takes jobs");
}

async function databaseChecks(app: App): Promise<Check[]> {
  const { broken } = app.db.stats();
  if (broken) return [{ name: "database", ok: false, detail: broken.message }];
  const began = performance.now();
  const late = () => new Error(`no answer within ${PATIENCE_MS / 1000} s`);
  try {
    const amiss = await withinMs(PATIENCE_MS, migrationsAmiss(app.db), late);
    const ms = (performance.now() - began).toFixed(1);
    return [
      { name: "database", ok: true, detail: `${app.db.dialect} answers in ${ms} ms` },
      {
        name: "migrations",
        ok: amiss.missing.length + amiss.unknown.length === 0,
        detail: ofMigrations(amiss),
      },
      await storage(app),
    ];
  } catch (cause) {
    const said = ((cause as Error).cause as Error | undefined)?.message ?? (cause as Error).message;
    return [{ name: "database", ok: false, detail: `the database does not answer: ${said}` }];
  }
}

/** Whether writes find room, as far as they have told lately; and none do while the disk has nothing left. */
async function storage(app: App): Promise<Check> {
  const { full_at } = app.db.stats();
  const fine: Check = { name: "storage", ok: true, detail: "writes find room" };
  if (full_at === undefined) return fine;
  const isRecent = performance.now() - full_at < FULL_MS;
  const free = app.db.dialect === "sqlite" ? await freeBytes(app) : undefined;
  if (!isRecent && (free === undefined || free > NO_ROOM)) return fine;
  const detail = "writes are refused: the disk, or the database's size limit, is full";
  return { name: "storage", ok: false, detail };
}

async function freeBytes(app: App): Promise<number | undefined> {
  const disk = await statfs(app.config.data_dir).catch(() => undefined);
  return disk && disk.bavail * disk.bsize;
}

function ofMigrations({ missing, unknown, newer }: Amiss): string {
  if (unknown.length > 0) return `the database is newer than this executable: it has ${unknown.join(", ")}`;
  if (missing.length > 0) return `the database lacks ${missing.join(", ")}: restart the server`;
  if (newer.length > 0) return `all are done, and those of a newer svc: ${newer.join(", ")}`;
  return "all are done";
}

/** What only whoever runs the instance is told. */
export async function details(app: App) {
  const free = await freeBytes(app);
  return {
    version: VERSION,
    uptime_s: Math.floor(process.uptime()),
    database: app.db.dialect,
    worker: app.queue.worker,
    pool: app.runner.stats(),
    memory_bytes: process.memoryUsage.rss(),
    disk_free_bytes: free ?? null,
    disk_low: free !== undefined && free < LOW_DISK,
  };
}

/**
 * The time that all servers of one database agree on: leases, schedules and ends of tokens are compared between
 * machines whose own clocks may be wrong. It is the database's; a machine that has its database for itself goes by its own.
 */
import { sql } from "drizzle-orm";
import type { Log } from "../lib/log.ts";
import type { Database } from "./database.ts";

/** How often the own clock is compared. */
const COMPARE_MS = 30_000;
/** Differences up to this are left alone: they are what asking takes, and time should not jump. */
const TOLERATED_MS = 250;

export interface Clock {
  now: () => Date;
  stop(): void;
}

/** @throws what the database says when it cannot be asked */
export async function followClock(db: Database, log: Log): Promise<Clock> {
  if (db.dialect === "sqlite") return { now: () => new Date(), stop() {} };
  let offset_ms = 0;
  const compare = async () => {
    const asked = Date.now();
    const [row] = await db.read.rows<{ ms: string | number }>(
      sql`SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms`,
    );
    const took = Date.now() - asked;
    const found = Math.round(Number(row!.ms) - (asked + took / 2));
    if (Math.abs(found - offset_ms) <= TOLERATED_MS + took) return;
    offset_ms = Math.abs(found) <= TOLERATED_MS ? 0 : found;
    log.warn({ offset_ms }, "this machine's clock differs from the database's: the database's is gone by");
  };
  await compare();
  const timer = setInterval(() => {
    compare().catch((cause) => log.warn({ error: String(cause) }, "the clock could not be compared"));
  }, COMPARE_MS);
  return {
    now: () => new Date(Date.now() + offset_ms),
    stop: () => clearInterval(timer),
  };
}

/**
 * The time that all servers of one database agree on: leases, schedules and ends of tokens are compared between
 * machines whose own clocks may be wrong. It is the database's; a machine that has its database for itself goes by its own.
 *
 * Between two looks at the database's clock it goes on by this process's own counting of seconds: somebody who sets the
 * machine's clock, or a service that does, moves nothing.
 */
import { sql } from "drizzle-orm";
import type { Log } from "../lib/log.ts";
import type { Database } from "./database.ts";

/** How often the own clock is compared: after a machine slept, it may be behind for so long. */
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
  /** Milliseconds since 1970 when this process's counting began. */
  let origin_ms = Date.now() - performance.now();
  const compare = async () => {
    const asked = performance.now();
    const [row] = await db.read.rows<{ ms: string | number }>(
      sql`SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms`,
    );
    const took = performance.now() - asked;
    const off_ms = Number(row!.ms) - (origin_ms + asked + took / 2);
    if (Math.abs(off_ms) <= TOLERATED_MS + took) return;
    origin_ms += off_ms;
    log.warn(
      { off_ms: Math.round(off_ms) },
      "this machine's clock differs from the database's: the database's is gone by",
    );
  };
  await compare();
  const timer = setInterval(() => {
    compare().catch((cause) => log.warn({ error: String(cause) }, "the clock could not be compared"));
  }, COMPARE_MS);
  return {
    now: () => new Date(origin_ms + performance.now()),
    stop: () => clearInterval(timer),
  };
}

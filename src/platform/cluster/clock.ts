/**
 * The clock shared by all servers of a database: leases, schedules and token expiries are compared between machines
 * whose clocks may be wrong. On PostgreSQL it follows the database's clock, on SQLite the machine's. Between
 * comparisons it advances by `performance.now()`, so setting the machine's clock does not move it. When the clock was
 * set back, features/lifecycle/clock-set-back.ts recomputes due times.
 */
import { sql } from "drizzle-orm";
import type { Database } from "../../database/database.ts";
import type { Service } from "../../lib/async/service.ts";
import type { Log } from "../../lib/logging/log.ts";
import { createPeriodicTask } from "../loops/periodic-task.ts";

/** Interval of comparisons with the database's clock. After a machine slept, the clock may lag for this long. */
const COMPARE_INTERVAL_MS = 30_000;
/** Interval of comparisons with the machine's own clock, which cost nothing. */
const LOCAL_COMPARE_INTERVAL_MS = 1_000;
/** Differences up to this are ignored: they are within the round trip's error, and time should not jump. */
const TOLERATED_DRIFT_MS = 250;
/** Smaller backward steps are not reported as the clock being set back. */
const MIN_SETBACK_MS = 1_000;

export interface Clock extends Service {
  now: () => Date;
  /** Subscribes to the clock being set back; called soon after. */
  onSetBack(listener: (by_ms: number) => void): void;
}

/** Creates a clock that follows the database's from `start`. `start` fails if the database cannot be queried. */
export function createDatabaseClock(db: Database, log: Log): Clock {
  const isOwn = db.dialect === "sqlite";
  const listeners: ((by_ms: number) => void)[] = [];
  const own = () => Date.now() - performance.now();
  /** Unix time in milliseconds at `performance.now()` = 0. */
  let origin_ms = own();
  let isCompared = false;

  function moved(off_ms: number): void {
    origin_ms += off_ms;
    if (off_ms < -MIN_SETBACK_MS && isCompared) for (const listener of listeners) listener(-off_ms);
  }

  async function compareOwn(): Promise<void> {
    moved(own() - origin_ms);
  }

  async function compare(): Promise<void> {
    const asked = performance.now();
    const [row] = await db.read.rows<{ ms: string | number }>(
      sql`SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms`,
    );
    const took = performance.now() - asked;
    const off_ms = Number(row!.ms) - (origin_ms + asked + took / 2);
    if (Math.abs(off_ms) <= TOLERATED_DRIFT_MS + took) return;
    log.warn(
      { off_ms: Math.round(off_ms) },
      "this machine's clock differs from the database's: the database's is used",
    );
    moved(off_ms);
  }

  const task = createPeriodicTask(
    { clock: () => new Date(), log },
    {
      failure_message: "the clocks could not be compared",
      runs_on_start: true,
      interval_ms: isOwn ? LOCAL_COMPARE_INTERVAL_MS : COMPARE_INTERVAL_MS,
      async run() {
        await (isOwn ? compareOwn() : compare());
        isCompared = true;
      },
    },
  );
  return {
    start: task.start,
    stop: task.stop,
    now: isOwn ? () => new Date() : () => new Date(origin_ms + performance.now()),
    onSetBack: (listener) => void listeners.push(listener),
  };
}

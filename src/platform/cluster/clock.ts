/**
 * The time that all servers of one database agree on: leases, schedules and ends of tokens are compared between
 * machines whose own clocks may be wrong. It is the database's; a machine that has its database for itself goes by its own.
 *
 * Between two looks at the database's clock it goes on by this process's own counting of seconds: somebody who sets the
 * machine's clock, or a service that does, moves nothing.
 */
import { sql } from "drizzle-orm";
import type { Database } from "../../database/database.ts";
import type { Service } from "../../lib/async/start-stop.ts";
import type { Log } from "../../lib/logging/log.ts";
import { createPeriodicTask } from "../loops/periodic-task.ts";

/** How often the own clock is compared: after a machine slept, it may be behind for so long. */
const COMPARE_MS = 30_000;
/** How often a clock of one's own is looked at, which costs nothing. */
const OWN_COMPARE_MS = 1_000;
/** Differences up to this are left alone: they are what asking takes, and time should not jump. */
const TOLERATED_MS = 250;
/** A clock that went back by less is not counted as set back. */
const STEP_MS = 1_000;

export interface Clock extends Service {
  now: () => Date;
  /** Calls back when the clock was set back, soon after it was. */
  onSetBack(hear: (by_ms: number) => void): void;
}

/** Follows the database's clock from `start`, which fails with what the database says when it cannot be asked. */
export function followClock(db: Database, log: Log): Clock {
  const isOwn = db.dialect === "sqlite";
  const hearers: ((by_ms: number) => void)[] = [];
  const own = () => Date.now() - performance.now();
  /** Milliseconds since 1970 when this process's counting began. */
  let origin_ms = own();
  let isCompared = false;

  function moved(off_ms: number): void {
    origin_ms += off_ms;
    if (off_ms < -STEP_MS && isCompared) for (const hear of hearers) hear(-off_ms);
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
    if (Math.abs(off_ms) <= TOLERATED_MS + took) return;
    log.warn(
      { off_ms: Math.round(off_ms) },
      "this machine's clock differs from the database's: the database's is gone by",
    );
    moved(off_ms);
  }

  const task = createPeriodicTask(
    { clock: () => new Date(), log },
    {
      failure: "the clock could not be compared",
      starts_with_run: true,
      interval_ms: isOwn ? OWN_COMPARE_MS : COMPARE_MS,
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
    onSetBack: (hear) => void hearers.push(hear),
  };
}

/** What a worker says of the jobs that it has: that it lives, and which of them have begun. */
import { and, eq, inArray, sql } from "drizzle-orm";
import { createGroup, type Service } from "../../../lib/async/start-stop.ts";
import type { App } from "../../../platform/app/context.ts";
import { createPeriodicTask } from "../../../platform/loops/periodic-task.ts";
import { passingLocked } from "../../../platform/queue/concurrency.ts";
import { markBegun } from "../../../platform/queue/job-store.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";

/** A job of a worker. */
export interface Active {
  job: Job;
  isBound: boolean;
  controller: AbortController;
  again?: Job;
  /** It is stored that it has begun. */
  isMarked?: boolean;
}

/** Signs of life in the time of a lease: one that missed several is lost. */
const PINGS_A_LEASE = 6;
/** A job that has run for so long has begun, should its worker be lost: shorter ones are not written about. */
const BEGUN_MS = 250;

/**
 * Stores both now and then.
 * @param onPing called with each sign of life
 */
export function createSigns(app: App, active: Map<string, Active>, onPing: () => void): Service {
  const { db, queue, config } = app;

  /** Those that are claimed ahead have not begun: they may lose their worker more often. */
  async function markLong(): Promise<void> {
    const long = app.runner.busyFor(BEGUN_MS).flatMap((job_id) => active.get(job_id) ?? []);
    const unmarked = long.filter(({ isMarked }) => !isMarked);
    if (unmarked.length === 0) return;
    const ids = unmarked.map(({ job }) => job.id);
    await db.write((tx) => markBegun(tx, queue.worker, ids));
    for (const held of unmarked) held.isMarked = true;
  }

  async function ping(): Promise<void> {
    if (active.size === 0) return;
    // Only what it really has: what a broken connection left under its name is the rescuer's.
    const mine = and(
      sql`${jobs.state} = 'running' AND ${jobs.worker} = ${queue.worker}`,
      inArray(jobs.id, [...active.keys()]),
    );
    await db.write(async (tx) => {
      // What is being finished needs none, and waiting for it while holding others could be waiting for each other.
      const held = await passingLocked(tx.select({ id: jobs.id }).from(jobs).where(mine));
      const ids = held.map(({ id }) => id);
      await tx.update(jobs).set({ last_ping: app.clock() }).where(inArray(jobs.id, ids));
    });
    // Another process may have been asked to cancel one.
    const canceled = await db.read
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(mine, eq(jobs.cancel_requested, true)));
    for (const { id } of canceled) active.get(id)?.controller.abort();
  }

  const interval_ms = (config.lease_s * 1000) / PINGS_A_LEASE;
  const marking = createPeriodicTask(app, {
    failure: "that jobs have begun could not be stored",
    first_ms: BEGUN_MS,
    interval_ms: BEGUN_MS,
    run: markLong,
  });
  const heartbeat = createPeriodicTask(app, {
    failure: "the worker's heartbeat could not be stored",
    first_ms: interval_ms,
    interval_ms,
    async run() {
      onPing();
      await ping();
    },
  });
  return createGroup(app.log, [
    ["marking", marking],
    ["heartbeat", heartbeat],
  ]);
}

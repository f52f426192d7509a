/** Heartbeats of a worker for its running jobs, and marks for jobs whose code has started. */
import { and, eq, inArray, sql } from "drizzle-orm";
import { createServiceGroup, type Service } from "../../../lib/async/service.ts";
import type { StopRequest } from "../../../lib/async/sleep.ts";
import type { TransientMap } from "../../../lib/collections/transient.ts";
import type { App } from "../../../platform/app/context.ts";
import { createPeriodicTask } from "../../../platform/loops/periodic-task.ts";
import { skipLocked } from "../../../platform/queue/concurrency.ts";
import { markBegun } from "../../../platform/queue/job-store.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";

/** A job with larger arguments is updated separately, since a database rewrites the whole row. */
const LARGE_ROW_BYTES = 1_000_000;

/** Groups the ids of jobs that are updated by one statement. */
function groupBySize(held: ActiveJob[]): string[][] {
  const isLarge = ({ job }: ActiveJob) => job.args.length > LARGE_ROW_BYTES;
  const small = held.filter((each) => !isLarge(each)).map(({ job }) => job.id);
  const large = held.filter(isLarge).map(({ job }) => [job.id]);
  return small.length > 0 ? [small, ...large] : large;
}

/** Updates each group, even if others fail. @throws AggregateError of all failures, after the last group */
async function forEachGroup(held: ActiveJob[], write: (ids: string[]) => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  for (const ids of groupBySize(held)) await write(ids).catch((cause) => failures.push(cause));
  if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join("; "));
}

/** A job that this worker holds. */
export interface ActiveJob {
  job: Job;
  isBound: boolean;
  controller: StopRequest;
  next_claim?: Job;
  /** Whether the row is marked as started (`jobs.begun`). */
  isMarked?: boolean;
}

/** Heartbeats in one lease. A worker that misses several is lost. */
const HEARTBEATS_PER_LEASE = 6;
/** A job is marked as started once it has run this long. Shorter jobs are not marked, which saves a write. */
const BEGUN_AFTER_MS = 250;

/**
 * Creates the tasks that write heartbeats and mark begun jobs.
 * @param onPing called with each heartbeat
 */
export function createJobHeartbeats(app: App, active: TransientMap<ActiveJob>, onPing: () => void): Service {
  const { db, queue, config } = app;

  /**
   * Marks long-running jobs as started. Jobs claimed ahead are not marked: they may lose their worker more often
   * before they fail.
   */
  async function markLong(): Promise<void> {
    const long = app.runner.jobsBusyFor(BEGUN_AFTER_MS).flatMap((job_id) => active.get(job_id) ?? []);
    const unmarked = long.filter(({ isMarked }) => !isMarked);
    await forEachGroup(unmarked, async (ids) => {
      await db.write((tx) => markBegun(tx, queue.worker, ids));
      for (const held of unmarked) held.isMarked ||= ids.includes(held.job.id);
    });
  }

  const ping = () => forEachGroup(active.values(), pingSome);

  async function pingSome(some: string[]): Promise<void> {
    // Only jobs that this process runs: rows under its name from a broken connection are left to the rescuer.
    const mine = and(
      sql`${jobs.state} = 'running' AND ${jobs.worker} = ${queue.worker}`,
      inArray(jobs.id, some),
    );
    await db.write(async (tx) => {
      // Rows locked by a completing transaction need no heartbeat, and waiting for them could deadlock.
      const held = await skipLocked(tx.select({ id: jobs.id }).from(jobs).where(mine));
      const ids = held.map(({ id }) => id);
      await tx.update(jobs).set({ last_ping: app.clock() }).where(inArray(jobs.id, ids));
    });
    // Another process may have requested a cancellation.
    const canceled = await db.read
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(mine, eq(jobs.cancel_requested, true)));
    for (const { id } of canceled) active.get(id)?.controller.abort();
  }

  const interval_ms = (config.lease_s * 1000) / HEARTBEATS_PER_LEASE;
  const marking = createPeriodicTask(app, {
    failure_message: "running jobs could not be marked as begun",
    first_delay_ms: BEGUN_AFTER_MS,
    interval_ms: BEGUN_AFTER_MS,
    run: markLong,
  });
  const heartbeat = createPeriodicTask(app, {
    failure_message: "the worker's heartbeat could not be stored",
    first_delay_ms: interval_ms,
    interval_ms,
    async run() {
      onPing();
      await ping();
    },
  });
  return createServiceGroup(app.log, [
    ["marking", marking],
    ["heartbeat", heartbeat],
  ]);
}

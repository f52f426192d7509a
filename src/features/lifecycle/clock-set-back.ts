/**
 * Corrects stored due times when the clock is set back. Times of schedules are computed again, since they follow the wall
 * clock. Durations (a delay, a sleep of a flow, a retry) keep their remaining time. Otherwise everything would be late by
 * as much as the clock was set back.
 */
import { and, asc, eq, gt } from "drizzle-orm";
import { processInBatches } from "../../lib/async/batches.ts";
import type { App } from "../../platform/app/context.ts";
import { retryOnOutage } from "../../platform/loops/retry-on-outage.ts";
import { sliceQueue } from "../../platform/queue/queued-slices.ts";
import { type Job, jobs } from "../../platform/queue/tables.ts";

/** Rows updated in one transaction, so that other writers wait for milliseconds only. */
const BATCH_SIZE = 500;

/**
 * Runs each feature's correction. It never fails: errors are logged, and each feature is corrected independently. On
 * several servers, only the leader runs it.
 */
export async function recoverFromClockSetBack(app: App, by_ms: number): Promise<void> {
  app.log.warn({ by_ms: Math.round(by_ms) }, "the clock was set back: next times are recomputed");
  if (!app.leader.isLeader()) return;
  const parts: [what: string, work: () => Promise<void>][] = [
    ["jobs", () => moveJobsEarlier(app, by_ms)],
    ...app.features.map(({ folder, on }): [string, () => Promise<void>] => [
      folder,
      async () => on?.clockSetBack?.(app, by_ms),
    ]),
  ];
  for (const [what, work] of parts) {
    // Each correction can be repeated: rows corrected before a failure are not corrected again.
    await retryOnOutage(app, { what }, work).catch((cause) =>
      app.log.error({ what, error: String(cause) }, "times could not be recomputed"),
    );
  }
  app.queue.wake();
}

/**
 * Moves queued jobs earlier. A job that was due becomes due now. A job delayed by whole seconds after its creation
 * keeps its remaining delay. All other jobs were scheduled for a wall-clock time and stay unchanged.
 */
async function moveJobsEarlier(app: App, by_ms: number): Promise<void> {
  const now = app.clock();
  const before = now.getTime() + by_ms;
  const { id, state, scheduled_for, created_at } = jobs;
  for await (const slice of sliceQueue(app.db.read)) {
    const rows = await app.db.read
      .select({ id, scheduled_for, created_at })
      .from(jobs)
      .where(and(slice, gt(scheduled_for, now)))
      .orderBy(asc(id));
    await processInBatches(
      rows,
      (some) => retryOnOutage(app, { what: "jobs" }, () => moveSome(some)),
      BATCH_SIZE,
    );
  }

  async function moveSome(
    rows: readonly Pick<Job, "id" | "scheduled_for" | "created_at">[],
  ): Promise<never[]> {
    await app.db.write(async (tx) => {
      for (const row of rows) {
        const due = row.scheduled_for.getTime();
        const isDelayed = (due - row.created_at.getTime()) % 1_000 === 0;
        if (due > before && !isDelayed) continue;
        const moved = new Date(Math.max(now.getTime(), due - by_ms));
        await tx
          .update(jobs)
          .set({ scheduled_for: moved })
          .where(and(eq(id, row.id), eq(state, "queued"), eq(scheduled_for, row.scheduled_for)));
      }
    });
    return [];
  }
}

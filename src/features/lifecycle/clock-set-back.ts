/**
 * What waits for a moment when the clock is set back. Times of schedules are worked out anew, since they are times of the
 * wall clock. What waits for a span of time (a delay in seconds, a sleep of a flow, the next attempt of something) goes on
 * waiting for what is left of it. Without this all of it would wait longer by as much as the clock was set back.
 */
import { and, asc, eq, gt, type SQLWrapper, sql } from "drizzle-orm";
import type { App } from "../../platform/app/context.ts";
import { jobs } from "../../platform/queue/tables.ts";
import { wakeFlowsAt } from "../runs/flows/plan/wake-times.ts";
import { moveWaits } from "../runs/flows/wake/clock-change.ts";
import { senderOf } from "../signals/webhooks/outbox.ts";
import { webhookDeliveries } from "../signals/webhooks/tables.ts";
import { handlersOf } from "../triggers/handlers/outbox.ts";
import { handlerCalls } from "../triggers/handlers/tables.ts";
import { nextDue } from "../triggers/schedules/cron.ts";
import { schedulerOf } from "../triggers/schedules/service.ts";
import { schedules } from "../triggers/schedules/tables.ts";

/** Rows changed by one transaction, so that whoever else writes waits for milliseconds. */
const BATCH_SIZE = 500;

/** Never fails: each kind is done by itself, and what fails is logged. Of several servers the leader does it. */
export async function recoverFromSetBack(app: App, by_ms: number): Promise<void> {
  app.log.warn({ by_ms: Math.round(by_ms) }, "the clock was set back: the next times are worked out anew");
  if (!app.leader.isLeader()) return;
  const kinds: [what: string, work: () => Promise<void>][] = [
    ["schedules", () => scheduleAnew(app)],
    ["jobs", () => moveJobs(app, by_ms)],
    ["flows", () => moveWaits(app, by_ms)],
    ["handlers and webhooks", () => moveAttempts(app, by_ms)],
  ];
  for (const [what, work] of kinds) {
    await work().catch((cause) =>
      app.log.error({ what, error: String(cause) }, "times could not be worked out anew"),
    );
  }
  schedulerOf(app).wake();
  handlersOf(app).wake();
  senderOf(app).wake();
  app.queue.wake();
  wakeFlowsAt(app, app.clock());
}

async function scheduleAnew(app: App): Promise<void> {
  const now = app.clock();
  const rows = await app.db.read.select().from(schedules).where(gt(schedules.next_at, now));
  for (const row of rows) {
    const next_at = earlier(row, now);
    if (!next_at) continue;
    const isStill = and(
      eq(schedules.workspace_id, row.workspace_id),
      eq(schedules.path, row.path),
      eq(schedules.next_at, row.next_at!),
    );
    await app.db.write((tx) => tx.update(schedules).set({ next_at }).where(isStill));
  }
}

/** Undefined where the time that stands there is right. */
function earlier(row: typeof schedules.$inferSelect, now: Date): Date | undefined {
  try {
    const next_at = nextDue(row, now);
    return next_at && next_at < row.next_at! ? next_at : undefined;
  } catch {
    // Found out when it is due, and told on the schedule.
    return undefined;
  }
}

/**
 * A job that was due already is due now. One that was delayed by seconds is due that much after it was asked for, which
 * tells it from one that was asked for at a moment of the wall clock: that one is left alone.
 */
async function moveJobs(app: App, by_ms: number): Promise<void> {
  const now = app.clock();
  const before = now.getTime() + by_ms;
  const { id, state, scheduled_for, created_at } = jobs;
  for (let after = ""; ; ) {
    const rows = await app.db.read
      .select({ id, scheduled_for, created_at })
      .from(jobs)
      .where(and(eq(state, "queued"), gt(scheduled_for, now), gt(id, after)))
      .orderBy(asc(id))
      .limit(BATCH_SIZE);
    if (rows.length === 0) return;
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
    after = rows.at(-1)!.id;
  }
}

/** What failed before is tried again as soon as it would have been. */
async function moveAttempts(app: App, by_ms: number): Promise<void> {
  const now = app.clock();
  const sooner = (moment: SQLWrapper) =>
    app.db.dialect === "sqlite"
      ? sql`${moment} - ${Math.round(by_ms)}`
      : sql`${moment} - ${by_ms} * interval '1 millisecond'`;
  const { state, next_at } = webhookDeliveries;
  await app.db.write(async (tx) => {
    await tx
      .update(handlerCalls)
      .set({ next_at: sooner(handlerCalls.next_at) })
      .where(gt(handlerCalls.next_at, now));
    await tx
      .update(webhookDeliveries)
      .set({ next_at: sooner(next_at) })
      .where(and(eq(state, "pending"), gt(next_at, now)));
  });
}

/** Runs a schedule that is due. */
import { and, eq, isNull, ne } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { isTransient } from "../../../database/failure.ts";
import { SvcError } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";
import { createUnfinishedCondition } from "../../../platform/queue/queued-slices.ts";
import { jobs } from "../../../platform/queue/tables.ts";
import { addRetries } from "../../runs/submit/retrying.ts";
import { createSubmission } from "../../runs/submit/submission.ts";
import { resolveTarget } from "../../runs/submit/target.ts";
import { createTriggerContext, submitTriggered, type Trigger } from "../../runs/submit/triggered.ts";
import { computeNextRunTime } from "./cron/cron.ts";
import { isPlannedFor, planNextRun, removePlannedRun } from "./planned-run.ts";
import { type Schedule, schedules } from "./tables.ts";

/**
 * Starts a schedule's job in the transaction that sets its next time, so that exactly one server starts it. The job
 * replaces the planned one, with the same id. Several missed times result in one run.
 * @throws transient errors (`isTransient`): the schedule stays due
 * @param row as it was when found due
 */
export async function runSchedule(app: App, row: Schedule): Promise<void> {
  const now = app.clock();
  // Another server advanced it before the row was read. The guard below could not detect that.
  if (row.next_at! > now) return;
  const about = { workspace: row.workspace_id, schedule: row.path };
  const isStill = and(
    eq(schedules.workspace_id, row.workspace_id),
    eq(schedules.path, row.path),
    eq(schedules.next_at, row.next_at!),
    eq(schedules.edited_at, row.edited_at),
  );
  let next_at: Date | null;
  try {
    next_at = computeNextRunTime(row, now);
  } catch (cause) {
    // This machine cannot parse the cron expression, or does not know the time zone; the schedule would stay due forever.
    const error = `the next time cannot be computed: ${(cause as Error).message}`;
    app.log.error({ ...about, error }, "a schedule has stopped until it is saved again");
    return void (await app.db.write(async (tx) => {
      await tx.update(schedules).set({ next_at: null, error }).where(isStill);
      await removePlannedRun(tx, row);
    }));
  }
  const putOff = async (tx: Tx, error: string | null) => {
    const [changed] = await tx.update(schedules).set({ next_at, error }).where(isStill).returning();
    if (changed) await planNextRun(app, tx, changed);
    return changed !== undefined;
  };
  if (row.paused_until && row.paused_until > now) return void (await app.db.write((tx) => putOff(tx, null)));
  if (row.no_flow_overlap && (await hasUnfinishedRun(app, row))) {
    return void (await app.db.write((tx) => putOff(tx, null)));
  }
  try {
    await submitScheduledJob(app, row, (tx) => putOff(tx, null));
  } catch (cause) {
    if (isTransient(cause)) throw cause;
    const isTold = cause instanceof SvcError;
    const fields = { ...about, error: String(cause), ...(isTold ? {} : { stack: (cause as Error).stack }) };
    app.log[isTold ? "warn" : "error"](fields, "a schedule could not start its job");
    const error = isTold ? cause.message : "the server failed; its log says more";
    await app.db.write((tx) => putOff(tx, error));
  }
}

async function submitScheduledJob(
  app: App,
  row: Schedule,
  guard: (tx: Tx) => Promise<boolean>,
): Promise<void> {
  const { workspace_id, email, path, script_path, is_flow, args, retry } = row;
  const trigger: Trigger = {
    workspace_id,
    email,
    kind: "schedule",
    created_by: `schedule-${path}`,
    schedule_path: path,
  };
  const ctx = await createTriggerContext(app, trigger, guard);
  const [planned] = await app.db.read.select({ id: jobs.id }).from(jobs).where(isPlannedFor(row));
  const options = { job_id: planned?.id, tag: row.tag ?? undefined, scheduled_for: row.next_at! };
  const target = is_flow ? { flow: script_path } : { path: script_path };
  const found = await resolveTarget(ctx, target);
  const made = await createSubmission(ctx, found, JSON.stringify(args), options);
  const submission = addRetries({ ...made, delete_after_use: false }, found, retry);
  await submitTriggered(ctx, submission, trigger, options);
}

/** Whether the previous run has not ended. */
async function hasUnfinishedRun(app: App, { workspace_id, path, script_path }: Schedule): Promise<boolean> {
  const [unfinished] = await app.db.read
    .select({ id: jobs.id })
    .from(jobs)
    .where(
      createUnfinishedCondition(
        and(
          eq(jobs.workspace_id, workspace_id),
          eq(jobs.script_path, script_path),
          eq(jobs.schedule_path, path),
          isNull(jobs.flow_step_id),
          ne(jobs.kind, "flownode"),
        ),
      ),
    )
    .limit(1);
  return unfinished !== undefined;
}

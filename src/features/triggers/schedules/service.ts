/** Schedules: permissions and validation. */
import { and, desc, eq, inArray, isNotNull } from "drizzle-orm";
import { BadRequest, NotFound } from "../../../lib/errors.ts";
import { parsePath } from "../../../lib/text/paths.ts";
import { parseRunnablePath } from "../../../lib/text/runnable-path.ts";
import { requireWriteAccess } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { RUN_KINDS } from "../../../platform/queue/states.ts";
import { jobs } from "../../../platform/queue/tables.ts";
import { requireTarget, requireTargetScope, toTarget } from "../../runs/submit/target.ts";
import { readSettings } from "../../tenancy/workspaces/settings.ts";
import { type TriggerInput, TriggerStore } from "../common/trigger-store.ts";
import { computeNextRunTime, requireValidCron } from "./cron/cron.ts";
import { createDefaultHandlerFields } from "./default-handlers.ts";
import { getScheduler } from "./get-scheduler.ts";
import { planNextRun, removePlannedRun } from "./planned-run.ts";
import { type Schedule, schedules } from "./tables.ts";

/** Columns about its runs, which the service sets. */
type RunColumns = "failed_times" | "failed_job" | "recovered_times" | "error" | "next_at";

export const scheduleStore = new TriggerStore<Schedule, RunColumns>(schedules, {
  kind: "schedule",
  one: "a schedule",
  anew: (row, now) => ({ error: null, next_at: row.enabled ? computeNextRunTime(row, now) : null }),
  stored: (app, tx, place, row) => (row ? planNextRun(app, tx, row) : removePlannedRun(tx, place)),
  changed: (app) => getScheduler(app).wake(),
});

/** A schedule as its author writes it. */
export type ScheduleBody = TriggerInput<Schedule, RunColumns>;

const HANDLER_FIELDS = ["on_failure", "on_recovery", "on_success"] as const;

/** Creates a schedule. @throws BadRequest naming the field, Forbidden, NotFound for an unknown script or flow */
export async function createSchedule(ctx: WorkspaceContext, body: ScheduleBody): Promise<void> {
  const { app, caller } = ctx;
  const path = parsePath(body.path);
  requireWriteAccess(caller.member, path);
  await requireValidSchedule(ctx, body);
  const handlers = createDefaultHandlerFields(
    body,
    await readSettings(app.db.read, caller.member.workspace_id),
  );
  await scheduleStore.insert(ctx, { ...body, ...handlers, path });
}

/** Changes the given fields of a schedule. @throws BadRequest, Forbidden, NotFound */
export async function updateSchedule(
  ctx: WorkspaceContext,
  path: string,
  changes: Omit<ScheduleBody, "path" | "script_path" | "is_flow" | "enabled">,
): Promise<void> {
  await requireValidSchedule(ctx, { ...(await scheduleStore.getWritable(ctx, path)), ...changes });
  await scheduleStore.update(ctx, path, changes);
}

async function requireValidSchedule(ctx: WorkspaceContext, body: ScheduleBody): Promise<void> {
  requireValidCron(body.schedule, body.timezone);
  const target = toTarget(body.script_path, body.is_flow);
  // A disabled schedule starts nothing: its script may come later. Enabling it asks for no right to run.
  if (body.enabled) await requireTarget(ctx, target);
  else requireTargetScope(ctx, target);
  for (const field of HANDLER_FIELDS) {
    const handler = body[field];
    if (handler) await requireValidHandler(ctx, field, handler);
  }
}

export async function requireValidHandler(
  ctx: WorkspaceContext,
  field: string,
  handler: string,
): Promise<void> {
  const target = parseRunnablePath(handler);
  if (!target) throw new BadRequest(`\`${field}\`: "${handler}" must be script/<path> or flow/<path>`);
  // Scripts of the hub are not offered: an alert says so when the handler is to be started.
  if ("path" in target && target.path.startsWith("hub/")) return;
  try {
    await requireTarget(ctx, target);
  } catch (cause) {
    if (cause instanceof NotFound) throw new BadRequest(`\`${field}\`: ${cause.message}`);
    throw cause;
  }
}

interface PastRun {
  id: string;
  success: boolean;
  duration_ms: number;
}

const MAX_LISTED_RUNS = 20;

/** Lists the last runs of a schedule, newest first. */
export async function listLastRuns(
  ctx: WorkspaceContext,
  { path, script_path, workspace_id }: Schedule,
): Promise<PastRun[]> {
  const rows = await ctx.app.db.read
    .select({ id: jobs.id, status: jobs.status, duration_ms: jobs.duration_ms })
    .from(jobs)
    .where(
      and(
        eq(jobs.workspace_id, workspace_id),
        eq(jobs.script_path, script_path),
        eq(jobs.schedule_path, path),
        eq(jobs.state, "completed"),
        inArray(jobs.kind, RUN_KINDS),
        isNotNull(jobs.status),
      ),
    )
    .orderBy(desc(jobs.created_at), desc(jobs.id))
    .limit(MAX_LISTED_RUNS);
  return rows.map(({ id, status, duration_ms }) => ({
    id,
    success: status === "success" || status === "skipped",
    duration_ms: duration_ms ?? 0,
  }));
}

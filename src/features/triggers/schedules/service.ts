/** Schedules: who may set them up, and what holds of each. */
import { and, desc, eq, inArray, isNotNull } from "drizzle-orm";
import { perApp } from "../../../lib/async/per-app.ts";
import { BadRequest, NotFound } from "../../../lib/errors.ts";
import { checkPath } from "../../../lib/text/paths.ts";
import { targetOfHandler } from "../../../lib/text/runnable-path.ts";
import { requireWrite } from "../../../platform/access/permissions.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import { jobs } from "../../../platform/queue/tables.ts";
import { requireTarget, targetAt } from "../../runs/submit/target.ts";
import { readSettings } from "../../tenancy/workspaces/settings.ts";
import { TriggerStore, type Written } from "../common/store.ts";
import { checkCron, nextDue } from "./cron.ts";
import { defaultsFor } from "./default-handlers.ts";
import { type Schedule, schedules } from "./tables.ts";

/** Called when what is due next may have changed; set by the scheduler where there is one. */
export const schedulerOf = perApp<App, { wake(): void }>(() => ({ wake: () => {} }));

/** What is counted of its runs, and when the next one is. */
type OfRuns = "failed_times" | "failed_job" | "recovered_times" | "error" | "next_at";

export const store = new TriggerStore<Schedule, OfRuns>(schedules, {
  kind: "schedule",
  one: "a schedule",
  anew: (row, now) => ({ error: null, next_at: row.enabled ? nextDue(row, now) : null }),
  changed: (app) => schedulerOf(app).wake(),
});

/** What its author says of a schedule. */
export type ScheduleBody = Written<Schedule, OfRuns>;

const HANDLERS = ["on_failure", "on_recovery", "on_success"] as const;

/** @throws BadRequest naming the field, Forbidden, NotFound for a script or flow that is not there */
export async function createSchedule(ctx: WorkspaceContext, body: ScheduleBody): Promise<void> {
  const { app, caller } = ctx;
  const path = checkPath(body.path);
  requireWrite(caller.member, path);
  await checkBody(ctx, body);
  const handlers = defaultsFor(body, await readSettings(app.db.read, caller.member.workspace_id));
  await store.insert(ctx, { ...body, ...handlers, path });
}

/** @throws BadRequest, Forbidden, NotFound */
export async function updateSchedule(
  ctx: WorkspaceContext,
  path: string,
  changes: Omit<ScheduleBody, "path" | "script_path" | "is_flow" | "enabled">,
): Promise<void> {
  await checkBody(ctx, { ...(await store.getWritable(ctx, path)), ...changes });
  await store.update(ctx, path, changes);
}

async function checkBody(ctx: WorkspaceContext, body: ScheduleBody): Promise<void> {
  checkCron(body.schedule, body.timezone);
  await requireTarget(ctx, targetAt(body.script_path, body.is_flow));
  for (const field of HANDLERS) {
    const handler = body[field];
    if (handler) await checkHandler(ctx, field, handler);
  }
}

export async function checkHandler(ctx: WorkspaceContext, field: string, handler: string): Promise<void> {
  const target = targetOfHandler(handler);
  if (!target) throw new BadRequest(`\`${field}\`: "${handler}" must be script/<path> or flow/<path>`);
  try {
    await requireTarget(ctx, target);
  } catch (cause) {
    if (cause instanceof NotFound) throw new BadRequest(`\`${field}\`: ${cause.message}`);
    throw cause;
  }
}

interface Ran {
  id: string;
  success: boolean;
  duration_ms: number;
}

const MAX_RAN = 20;

/** The last runs of a schedule, newest first. */
export async function lastRuns(
  ctx: WorkspaceContext,
  { path, script_path, workspace_id }: Schedule,
): Promise<Ran[]> {
  const rows = await ctx.app.db.read
    .select({ id: jobs.id, status: jobs.status, duration_ms: jobs.duration_ms })
    .from(jobs)
    .where(
      and(
        eq(jobs.workspace_id, workspace_id),
        eq(jobs.script_path, script_path),
        eq(jobs.schedule_path, path),
        eq(jobs.state, "completed"),
        inArray(jobs.kind, ["script", "flow", "flowpreview"]),
        isNotNull(jobs.status),
      ),
    )
    .orderBy(desc(jobs.created_at), desc(jobs.id))
    .limit(MAX_RAN);
  return rows.map(({ id, status, duration_ms }) => ({
    id,
    success: status === "success" || status === "skipped",
    duration_ms: duration_ms ?? 0,
  }));
}

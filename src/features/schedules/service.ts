/** Schedules: who may set them up, and what holds of each. */
import { and, asc, desc, eq, inArray, isNotNull } from "drizzle-orm";
import type { App, WorkspaceContext } from "../../context.ts";
import { startsWith } from "../../database/conditions.ts";
import type { Reader } from "../../database/database.ts";
import { BadRequest, Forbidden, NotFound } from "../../errors.ts";
import { toWindow } from "../../http/operation.ts";
import { checkPath } from "../../lib/paths.ts";
import { perApp } from "../../lib/per-app.ts";
import { jobs } from "../../queue/tables.ts";
import { targetOfHandler } from "../handlers/target.ts";
import { resolveTarget, targetAt } from "../jobs/target.ts";
import { canRead, canWrite, readableBy } from "../permissions.ts";
import { readSettings } from "../workspaces/settings.ts";
import { checkCron, nextRun } from "./cron.ts";
import { defaultsFor } from "./default-handlers.ts";
import { type Schedule, schedules } from "./tables.ts";

/** Called when what is due next may have changed; set by the scheduler where there is one. */
export const schedulerOf = perApp<App, { wake(): void }>(() => ({ wake: () => {} }));

/** What is counted of its runs. */
type Counted = "failed_times" | "failed_job" | "recovered_times";

/** What its author says of a schedule. */
export type ScheduleBody = Omit<
  Schedule,
  "workspace_id" | "edited_by" | "edited_at" | "email" | "extra_perms" | "error" | "next_at" | Counted
>;

const HANDLERS = ["on_failure", "on_recovery", "on_success"] as const;

/** @throws BadRequest naming the field, Forbidden, NotFound for a script or flow that is not there */
export async function createSchedule(ctx: WorkspaceContext, body: ScheduleBody): Promise<void> {
  const { app, caller } = ctx;
  const path = checkPath(body.path);
  const { workspace_id } = caller.member;
  requireWrite(ctx, { path, extra_perms: {} });
  await checkBody(ctx, body);
  const handlers = defaultsFor(body, await readSettings(app.db.read, workspace_id));
  await ctx.write({ resource: path }, async (tx) => {
    await tx.lock(`schedule ${workspace_id} ${path}`);
    if (await find(ctx, tx, path)) throw new BadRequest(`there is a schedule at ${path} already`);
    await tx
      .insert(schedules)
      .values({ ...body, ...handlers, path, workspace_id, extra_perms: {}, ...editedNow(ctx, body) });
    tx.afterCommit(schedulerOf(app).wake);
  });
}

/** @throws BadRequest, Forbidden, NotFound */
export async function updateSchedule(
  ctx: WorkspaceContext,
  path: string,
  changes: Omit<ScheduleBody, "path" | "script_path" | "is_flow" | "enabled">,
): Promise<void> {
  const found = await getSchedule(ctx, path);
  requireWrite(ctx, found);
  await checkBody(ctx, { ...found, ...changes });
  await ctx.write({ resource: path }, async (tx) => {
    const known = await getSchedule(ctx, path, tx);
    await tx
      .update(schedules)
      .set({ ...changes, ...editedNow(ctx, { ...known, ...changes }) })
      .where(at(ctx, path));
    tx.afterCommit(schedulerOf(ctx.app).wake);
  });
}

/** @throws Forbidden, NotFound */
export async function setEnabled(ctx: WorkspaceContext, path: string, enabled: boolean): Promise<void> {
  requireWrite(ctx, await getSchedule(ctx, path));
  await ctx.write({ resource: path, parameters: { enabled: String(enabled) } }, async (tx) => {
    const known = await getSchedule(ctx, path, tx);
    await tx
      .update(schedules)
      .set({ enabled, ...editedNow(ctx, { ...known, enabled }) })
      .where(at(ctx, path));
    tx.afterCommit(schedulerOf(ctx.app).wake);
  });
}

/** @throws Forbidden, NotFound */
export async function deleteSchedule(ctx: WorkspaceContext, path: string): Promise<void> {
  requireWrite(ctx, await getSchedule(ctx, path));
  await ctx.write({ resource: path }, (tx) => tx.delete(schedules).where(at(ctx, path)));
}

/** Runs act as whoever edited it last: what others set up must not run with the rights of somebody who never saw it. */
function editedNow(
  { app, caller, username }: WorkspaceContext,
  { schedule, timezone, enabled }: Pick<Schedule, "schedule" | "timezone" | "enabled">,
) {
  const now = app.clock();
  return {
    edited_by: username,
    edited_at: now,
    email: caller.identity.email,
    error: null,
    next_at: enabled ? nextRun(schedule, timezone, now) : null,
  };
}

async function checkBody(ctx: WorkspaceContext, body: ScheduleBody): Promise<void> {
  checkCron(body.schedule, body.timezone);
  await resolveTarget(ctx, targetAt(body.script_path, body.is_flow));
  for (const field of HANDLERS) {
    const handler = body[field];
    if (handler) await checkHandler(ctx, field, handler);
  }
  if (body.retry && body.is_flow) {
    throw new BadRequest("`retry`: a flow's steps say themselves how they are tried again");
  }
}

export async function checkHandler(ctx: WorkspaceContext, field: string, handler: string): Promise<void> {
  const target = targetOfHandler(handler);
  if (!target) throw new BadRequest(`\`${field}\`: "${handler}" must be script/<path> or flow/<path>`);
  try {
    await resolveTarget(ctx, target);
  } catch (cause) {
    if (cause instanceof NotFound) throw new BadRequest(`\`${field}\`: ${cause.message}`);
    throw cause;
  }
}

function requireWrite(ctx: WorkspaceContext, row: Pick<Schedule, "path" | "extra_perms">): void {
  if (!canWrite(ctx.caller.member, row.path, row.extra_perms)) {
    throw new Forbidden(`${ctx.username} may not write to ${row.path}`);
  }
}

function at({ caller }: WorkspaceContext, path: string) {
  return and(eq(schedules.workspace_id, caller.member.workspace_id), eq(schedules.path, path));
}

async function find(ctx: WorkspaceContext, db: Reader, path: string): Promise<Schedule | undefined> {
  const [row] = await db.select().from(schedules).where(at(ctx, path));
  return row;
}

/** @throws NotFound when there is none, or none that the caller may read */
export async function getSchedule(
  ctx: WorkspaceContext,
  path: string,
  db: Reader = ctx.app.db.read,
): Promise<Schedule> {
  const row = await find(ctx, db, path);
  const { member } = ctx.caller;
  if (!row || !canRead(member, row.path, row.extra_perms)) {
    throw new NotFound(`schedule ${path} in workspace ${member.workspace_id}`);
  }
  return row;
}

export async function scheduleExists(ctx: WorkspaceContext, path: string): Promise<boolean> {
  return (await find(ctx, ctx.app.db.read, path)) !== undefined;
}

export interface ScheduleFilters {
  /** Of the script or flow that runs. */
  path?: string | undefined;
  is_flow?: boolean | undefined;
  path_start?: string | undefined;
  page: number;
  per_page: number;
}

/** What the caller may read, last edited first. */
export function listSchedules(ctx: WorkspaceContext, filters: ScheduleFilters): Promise<Schedule[]> {
  const { member } = ctx.caller;
  const { path, is_flow, path_start, ...query } = filters;
  const { offset, limit } = toWindow(query);
  return ctx.app.db.read
    .select()
    .from(schedules)
    .where(
      and(
        eq(schedules.workspace_id, member.workspace_id),
        readableBy(member, schedules),
        path ? eq(schedules.script_path, path) : undefined,
        is_flow === undefined ? undefined : eq(schedules.is_flow, is_flow),
        path_start ? startsWith(schedules.path, path_start) : undefined,
      ),
    )
    .orderBy(desc(schedules.edited_at), asc(schedules.path))
    .limit(limit)
    .offset(offset);
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
    .orderBy(desc(jobs.id))
    .limit(MAX_RAN);
  return rows.map(({ id, status, duration_ms }) => ({
    id,
    success: status === "success" || status === "skipped",
    duration_ms: duration_ms ?? 0,
  }));
}

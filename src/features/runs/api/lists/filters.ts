/** What job lists filter by: the query fields, and what they mean to the database. */
import { and, eq, gt, inArray, isNotNull, isNull, lte, ne, or, type SQL, sql } from "drizzle-orm";
import { z } from "zod";
import { matches, someText, startsWith } from "../../../../database/conditions.ts";
import { BadRequest } from "../../../../lib/errors.ts";
import type { WorkspaceContext } from "../../../../platform/app/context.ts";
import { flag, moment } from "../../../../platform/http/operation.ts";
import { jobs } from "../../../../platform/queue/tables.ts";
import { flowFrames } from "../../../code/flows/tables.ts";
import { waitsForApproval } from "../../flows/status/pending-approvals.ts";
import { visibleTo } from "../../submit/service.ts";
import type { IdSet, Selection } from "./job-scan.ts";
import { jsonFilter } from "./json-filter.ts";

/** Names and numbers between commas. */
export const csv = (text: string) => text.split(",").map((part) => part.trim());

/** Of every list. `…_before` is inclusive, `…_after` exclusive. */
export const commonFilters = {
  order_desc: flag.default(true),
  created_by: z.string().optional(),
  label: z.string().optional(),
  parent_job: z.uuid().toLowerCase().optional(),
  script_path_exact: z.string().optional(),
  script_path_start: z.string().optional(),
  schedule_path: z.string().optional(),
  script_hash: z.string().optional(),
  started_before: moment.optional(),
  started_after: moment.optional(),
  created_before: moment.optional(),
  created_after: moment.optional(),
  success: flag.optional(),
  job_kinds: z.string().optional(),
  args: jsonFilter.optional(),
  result: jsonFilter.optional(),
  tag: z.string().optional(),
  is_skipped: flag.optional(),
  is_flow_step: flag.optional(),
  has_null_parent: flag.optional(),
  is_not_schedule: flag.optional(),
  all_workspaces: flag.optional(),
  worker: z.string().optional(),
  allow_wildcards: flag.optional(),
  trigger_kind: z.string().optional(),
};

/** Of lists that show what is not completed. */
export const queueFilters = {
  ...commonFilters,
  running: flag.optional(),
  scheduled_for_before_now: flag.optional(),
  suspended: flag.optional(),
};

/** Of lists that show both. A job that has not begun counts by when it was made. */
export const mixedFilters = {
  ...queueFilters,
  created_or_started_before: moment.optional(),
  created_or_started_after: moment.optional(),
  created_or_started_after_completed_jobs: moment.optional(),
};

export const concurrencyKey = z.string().optional();
const allFilters = z.object({ ...mixedFilters, concurrency_key: concurrencyKey });
/** Any of the filters; a list declares those that it takes. */
export type Filters = Partial<z.output<typeof allFilters>>;

/** Which jobs a list is of: all, or those of one half of their life. */
export type Half = "unfinished" | "completed" | undefined;

/** Jobs that nobody has completed are few, and have small indexes whose condition must be written out, not bound. */
const idsOf = (state: "queued" | "running") =>
  sql`SELECT ${jobs.id} FROM ${jobs} WHERE ${jobs.state} = ${sql.raw(`'${state}'`)}`;

export const QUEUED: IdSet = { ids: idsOf("queued"), plain: eq(jobs.state, "queued") };
export const RUNNING: IdSet = { ids: idsOf("running"), plain: eq(jobs.state, "running") };
export const UNFINISHED: IdSet = {
  ids: sql`${QUEUED.ids} UNION ALL ${RUNNING.ids}`,
  plain: ne(jobs.state, "completed"),
};

/** The queued jobs that are due: the index of the queued ones knows the time too. */
export function dueBy(moment: Date): IdSet {
  const due = lte(jobs.scheduled_for, moment);
  return { ids: sql`${QUEUED.ids} AND ${due}`, plain: sql`(${QUEUED.plain} AND ${due})` };
}

/** Clocks of several machines differ by less. */
const SKEW_MS = 60_000;

/** The jobs that can have been made, begun or completed after a moment. */
export function since(moment: Date, half: Half): IdSet {
  const after = gt(jobs.completed_at, new Date(moment.getTime() - SKEW_MS));
  const completed = sql`SELECT ${jobs.id} FROM ${jobs} WHERE ${jobs.state} = 'completed' AND ${after}`;
  return { ids: half === "completed" ? completed : sql`${UNFINISHED.ids} UNION ALL ${completed}` };
}

/** Jobs of one concurrency key in one workspace. */
export function ofKey(workspace_id: string, key: string): IdSet {
  const held = and(eq(jobs.workspace_id, workspace_id), eq(jobs.concurrency_key, key));
  return {
    ids: sql`SELECT ${jobs.id} FROM ${jobs} WHERE ${held}`,
    plain: unindexed(jobs.concurrency_key, key),
  };
}

function childrenOf(parent: string): IdSet {
  return {
    ids: sql`SELECT ${jobs.id} FROM ${jobs} WHERE ${eq(jobs.parent_job, parent)}`,
    plain: unindexed(jobs.parent_job, parent),
  };
}

/** An equality that leads to no index. */
function unindexed(column: typeof jobs.parent_job | typeof jobs.concurrency_key, value: string): SQL {
  return sql`coalesce(${column}, '') = ${value}`;
}

/**
 * The rows of the workspace; of the instance when a super admin asks for all, in the workspace that is theirs and with
 * a token that is not bound to it.
 */
export function baseOf(ctx: WorkspaceContext, workspace: string, all: boolean | undefined): SQL | undefined {
  const { super_admin, token } = ctx.caller.identity;
  const everywhere = all && workspace === "admins" && super_admin && token?.workspace_id === undefined;
  return everywhere ? undefined : eq(jobs.workspace_id, workspace);
}

/**
 * What the caller's filters select among the jobs they may see.
 * @throws BadRequest for filters that exclude each other
 */
export function selectionOf(
  ctx: WorkspaceContext,
  workspace: string,
  filters: Filters,
  half: Half,
): Selection {
  const all = unguardedSelection(ctx, workspace, filters, half);
  return { ...all, filters: and(visibleTo(ctx.caller), all.filters) };
}

/** The same among all jobs: what is shown of each is for the caller of this to decide. */
export function unguardedSelection(
  ctx: WorkspaceContext,
  workspace: string,
  filters: Filters,
  half: Half,
): Selection {
  if (filters.success !== undefined && filters.running !== undefined) {
    throw new BadRequest(
      "query fields `success` and `running` exclude each other: a running job has no outcome",
    );
  }
  const inWorkspace = baseOf(ctx, workspace, filters.all_workspaces);
  const path = filters.script_path_exact ? eq(jobs.script_path, filters.script_path_exact) : undefined;
  const { args, result } = filters;
  return {
    // An index begins with the workspace and goes on with the path.
    base: inWorkspace && path ? and(inWorkspace, path) : inWorkspace,
    filters: and(
      inWorkspace ? undefined : path,
      ...textFilters(filters),
      ...kindFilters(filters),
      ...timeFilters(filters),
      ...stateFilters(filters, half, ctx.app.clock()),
    ),
    within: and(
      filters.created_before && lte(jobs.created_at, filters.created_before),
      filters.created_after && gt(jobs.created_at, filters.created_after),
    ),
    sets: setsOf(workspace, filters, half),
    containment: args || result ? { args, result } : undefined,
    ascending: filters.order_desc === false,
    signal: ctx.request.signal,
  };
}

function setsOf(workspace: string, filters: Filters, half: Half): IdSet[] {
  const sets: IdSet[] = [];
  if (filters.parent_job) sets.push(childrenOf(filters.parent_job));
  if (filters.concurrency_key) sets.push(ofKey(workspace, filters.concurrency_key));
  if (filters.suspended) sets.push(SUSPENDED);
  if (filters.running !== undefined) sets.push(filters.running ? RUNNING : QUEUED);
  else if (half === "unfinished") sets.push(UNFINISHED);
  const after = [
    filters.created_after,
    filters.started_after,
    filters.created_or_started_after,
    filters.created_or_started_after_completed_jobs,
  ].filter((moment) => moment !== undefined);
  if (after.length > 0) sets.push(since(new Date(Math.max(...after.map(Number))), half));
  return sets;
}

function* textFilters(filters: Filters): Generator<SQL | undefined> {
  const like = (value: typeof jobs.tag | typeof jobs.worker | SQL, wanted: string) =>
    filters.allow_wildcards && wanted.includes("*") ? matches(value, wanted) : sql`${value} = ${wanted}`;
  const { label, tag, worker } = filters;
  if (label) yield someText(jobs.labels, (text) => like(text, label));
  if (tag) yield like(jobs.tag, tag);
  if (worker) yield like(jobs.worker, worker);
  if (filters.created_by) yield eq(jobs.created_by, filters.created_by);
  if (filters.script_path_start) yield startsWith(jobs.script_path, filters.script_path_start);
  if (filters.script_hash) yield eq(jobs.script_hash, filters.script_hash);
  if (filters.schedule_path) yield eq(jobs.schedule_path, filters.schedule_path);
  if (filters.trigger_kind) yield eq(jobs.trigger_kind, filters.trigger_kind);
}

const suspendedIds = sql`SELECT ${flowFrames.job_id} FROM ${flowFrames} WHERE ${waitsForApproval}`;

/** Flows that wait for approvals. */
export const SUSPENDED: IdSet = {
  ids: suspendedIds,
  plain: sql`(${jobs.state} = 'running' AND ${jobs.id} IN (${suspendedIds}))`,
};

function* kindFilters(filters: Filters): Generator<SQL> {
  if (filters.job_kinds) yield inArray(jobs.kind, csv(filters.job_kinds) as "script"[]);
  if (filters.has_null_parent) yield sql`${jobs.parent_job} IS NULL`;
  if (filters.is_not_schedule) yield sql`${jobs.schedule_path} IS NULL`;
  if (filters.is_flow_step !== undefined) {
    yield filters.is_flow_step ? isNotNull(jobs.flow_step_id) : isNull(jobs.flow_step_id);
  }
  if (filters.suspended !== undefined) {
    yield filters.suspended ? eq(jobs.state, "running") : sql`NOT ${SUSPENDED.plain}`;
  }
}

/** When a job began, or was made when it has not begun. */
const begun = sql`coalesce(${jobs.started_at}, ${jobs.created_at})`;

function* timeFilters(filters: Filters): Generator<SQL | undefined> {
  if (filters.started_before) yield lte(jobs.started_at, filters.started_before);
  if (filters.started_after) yield gt(jobs.started_at, filters.started_after);
  const at = (moment: Date) => sql.param(moment, jobs.created_at);
  if (filters.created_or_started_before) yield sql`${begun} <= ${at(filters.created_or_started_before)}`;
  if (filters.created_or_started_after) yield sql`${begun} > ${at(filters.created_or_started_after)}`;
  if (filters.created_or_started_after_completed_jobs) {
    const after = sql`${begun} > ${at(filters.created_or_started_after_completed_jobs)}`;
    yield or(ne(jobs.state, "completed"), after);
  }
}

/** Completed, well or not. */
export function successIs(success: boolean): SQL | undefined {
  const good = inArray(jobs.status, ["success", "skipped"]);
  return and(eq(jobs.state, "completed"), success ? good : sql`NOT ${good}`);
}

function* stateFilters(filters: Filters, half: Half, now: Date): Generator<SQL | undefined> {
  const completed = eq(jobs.state, "completed");
  if (half === "completed") yield completed;
  if (filters.success !== undefined) yield successIs(filters.success);
  if (filters.is_skipped !== undefined) {
    // What has not ended was not skipped, as yet.
    yield filters.is_skipped
      ? and(completed, eq(jobs.status, "skipped"))
      : or(ne(jobs.state, "completed"), ne(jobs.status, "skipped"));
  }
  // What is completed has had its time.
  if (filters.scheduled_for_before_now) yield or(ne(jobs.state, "queued"), lte(jobs.scheduled_for, now));
}

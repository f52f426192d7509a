/** Filters of job lists: the query fields and their SQL conditions. */
import { and, eq, gt, inArray, isNotNull, isNull, lte, ne, not, or, type SQL, sql } from "drizzle-orm";
import { anyJsonText, matchesPattern, startsWith } from "../../../../database/conditions.ts";
import { BadRequest } from "../../../../lib/errors.ts";
import * as z from "../../../../lib/zod/z.ts";
import type { WorkspaceContext } from "../../../../platform/app/context.ts";
import { isoTimestamp, queryBoolean } from "../../../../platform/http/operation.ts";
import { jobs } from "../../../../platform/queue/tables.ts";
import { flowFrames } from "../../../code/flows/tables.ts";
import { ADMINS_WORKSPACE_ID } from "../../../tenancy/people/members.ts";
import { isWaitingForApproval } from "../../flows/status/pending-approvals.ts";
import { selectVisibleJobs } from "../../submit/job-rights.ts";
import type { IdSet, JobQuery } from "./job-scan.ts";
import { jsonFilter } from "./json-filter.ts";

/** Splits comma-separated values. */
export const parseCsv = (text: string) => text.split(",").map((part) => part.trim());

/** Filters of every list. `…_before` is inclusive, `…_after` exclusive. */
export const commonFilters = {
  order_desc: queryBoolean.default(true),
  created_by: z.string().optional(),
  label: z.string().optional(),
  parent_job: z.uuid().toLowerCase().optional(),
  script_path_exact: z.string().optional(),
  script_path_start: z.string().optional(),
  schedule_path: z.string().optional(),
  script_hash: z.string().optional(),
  started_before: isoTimestamp.optional(),
  started_after: isoTimestamp.optional(),
  created_before: isoTimestamp.optional(),
  created_after: isoTimestamp.optional(),
  success: queryBoolean.optional(),
  job_kinds: z.string().optional(),
  args: jsonFilter.optional(),
  result: jsonFilter.optional(),
  tag: z.string().optional(),
  is_skipped: queryBoolean.optional(),
  canceled: queryBoolean.optional(),
  is_flow_step: queryBoolean.optional(),
  has_null_parent: queryBoolean.optional(),
  is_not_schedule: queryBoolean.optional(),
  all_workspaces: queryBoolean.optional(),
  worker: z.string().optional(),
  allow_wildcards: queryBoolean.optional(),
  trigger_kind: z.string().optional(),
};

/** Filters of lists of unfinished jobs. */
export const queueFilters = {
  ...commonFilters,
  running: queryBoolean.optional(),
  scheduled_for_before_now: queryBoolean.optional(),
  suspended: queryBoolean.optional(),
};

/** Filters of lists of all jobs. A job that has not started counts by its creation. */
export const mixedFilters = {
  ...queueFilters,
  created_or_started_before: isoTimestamp.optional(),
  created_or_started_after: isoTimestamp.optional(),
  created_or_started_after_completed_jobs: isoTimestamp.optional(),
};

export const concurrencyKey = z.string().optional();
const allFilters = z.object({ ...mixedFilters, concurrency_key: concurrencyKey });
/** Any of the filters; each list declares those it accepts. */
export type Filters = Partial<z.output<typeof allFilters>>;

/** The jobs of a list: all (undefined), unfinished or completed ones. */
export type JobPhase = "unfinished" | "completed" | undefined;

/**
 * Selects by state through the small partial indexes of unfinished jobs. PostgreSQL uses these only for a literal
 * condition, not for a bound parameter.
 */
const idsInState = (state: "planned" | "queued" | "running") =>
  sql`SELECT ${jobs.id} FROM ${jobs} WHERE ${jobs.state} = ${sql.raw(`'${state}'`)}`;

export const QUEUED_JOBS: IdSet = { ids: idsInState("queued"), condition: eq(jobs.state, "queued") };
/** The next runs of schedules, which lists show together with queued jobs. */
const PLANNED_JOBS: IdSet = { ids: idsInState("planned"), condition: eq(jobs.state, "planned") };
const hasNotStarted = inArray(jobs.state, ["planned", "queued"]);
const WAITING_JOBS: IdSet = {
  ids: sql`${QUEUED_JOBS.ids} UNION ALL ${PLANNED_JOBS.ids}`,
  condition: hasNotStarted,
};
export const RUNNING_JOBS: IdSet = { ids: idsInState("running"), condition: eq(jobs.state, "running") };
export const UNFINISHED_JOBS: IdSet = {
  ids: sql`${WAITING_JOBS.ids} UNION ALL ${RUNNING_JOBS.ids}`,
  condition: ne(jobs.state, "completed"),
};

/** Selects the queued jobs that are due; their index contains the due time too. */
export function selectDueJobs(moment: Date): IdSet {
  const due = lte(jobs.scheduled_for, moment);
  return { ids: sql`${QUEUED_JOBS.ids} AND ${due}`, condition: sql`(${QUEUED_JOBS.condition} AND ${due})` };
}

/** Maximum difference between the clocks of several servers. */
const MAX_CLOCK_SKEW_MS = 60_000;

/** Selects the jobs that may have been created, started or completed after a time. */
export function selectJobsSince(moment: Date, half: JobPhase): IdSet {
  const after = gt(jobs.completed_at, new Date(moment.getTime() - MAX_CLOCK_SKEW_MS));
  const completed = sql`SELECT ${jobs.id} FROM ${jobs} WHERE ${jobs.state} = 'completed' AND ${after}`;
  return { ids: half === "completed" ? completed : sql`${UNFINISHED_JOBS.ids} UNION ALL ${completed}` };
}

/** Selects the jobs of one concurrency key in one workspace. */
export function selectJobsOfConcurrencyKey(workspace_id: string, key: string): IdSet {
  const held = and(eq(jobs.workspace_id, workspace_id), eq(jobs.concurrency_key, key));
  return {
    ids: sql`SELECT ${jobs.id} FROM ${jobs} WHERE ${held}`,
    condition: equalsUnindexed(jobs.concurrency_key, key),
  };
}

function childrenOfJob(parent: string): IdSet {
  return {
    ids: sql`SELECT ${jobs.id} FROM ${jobs} WHERE ${eq(jobs.parent_job, parent)}`,
    condition: equalsUnindexed(jobs.parent_job, parent),
  };
}

/** SQL condition: the column equals the value. It hides the column from index selection. */
function equalsUnindexed(column: typeof jobs.parent_job | typeof jobs.concurrency_key, value: string): SQL {
  return sql`coalesce(${column}, '') = ${value}`;
}

/**
 * Returns the condition for the workspace's rows; undefined (all rows) for a super admin who asks for all in workspace
 * `admins`, with a token that is not bound to a workspace.
 */
export function createWorkspaceCondition(
  ctx: WorkspaceContext,
  workspace: string,
  all: boolean | undefined,
): SQL | undefined {
  const { super_admin, token } = ctx.caller.identity;
  const everywhere =
    all && workspace === ADMINS_WORKSPACE_ID && super_admin && token?.workspace_id === undefined;
  return everywhere ? undefined : eq(jobs.workspace_id, workspace);
}

/**
 * Creates the query for the caller's filters, among the jobs they may see.
 * @throws BadRequest for filters that exclude each other
 */
export function createJobQuery(
  ctx: WorkspaceContext,
  workspace: string,
  filters: Filters,
  half: JobPhase,
): JobQuery {
  const all = createUnguardedQuery(ctx, workspace, filters, half);
  return { ...all, filters: and(selectVisibleJobs(ctx.caller), all.filters) };
}

/** Creates the query without the caller's visibility: the caller of this function restricts what is shown. */
export function createUnguardedQuery(
  ctx: WorkspaceContext,
  workspace: string,
  filters: Filters,
  half: JobPhase,
): JobQuery {
  if (filters.success !== undefined && filters.running !== undefined) {
    throw new BadRequest(
      "query fields `success` and `running` exclude each other: a running job has no outcome",
    );
  }
  const inWorkspace = createWorkspaceCondition(ctx, workspace, filters.all_workspaces);
  const path = filters.script_path_exact ? eq(jobs.script_path, filters.script_path_exact) : undefined;
  const { args, result } = filters;
  return {
    // The index begins with workspace and path.
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
    sets: createIdSets(workspace, filters, half),
    containment: args || result ? { args, result } : undefined,
    ascending: filters.order_desc === false,
    signal: ctx.request.signal,
  };
}

function createIdSets(workspace: string, filters: Filters, half: JobPhase): IdSet[] {
  const sets: IdSet[] = [];
  if (filters.parent_job) sets.push(childrenOfJob(filters.parent_job));
  if (filters.concurrency_key) sets.push(selectJobsOfConcurrencyKey(workspace, filters.concurrency_key));
  if (filters.suspended) sets.push(SUSPENDED_JOBS);
  if (filters.running !== undefined) sets.push(filters.running ? RUNNING_JOBS : WAITING_JOBS);
  else if (half === "unfinished") sets.push(UNFINISHED_JOBS);
  const after = [
    filters.created_after,
    filters.started_after,
    filters.created_or_started_after,
    filters.created_or_started_after_completed_jobs,
  ].filter((moment) => moment !== undefined);
  if (after.length > 0) sets.push(selectJobsSince(new Date(Math.max(...after.map(Number))), half));
  return sets;
}

function* textFilters(filters: Filters): Generator<SQL | undefined> {
  const like = (value: typeof jobs.tag | typeof jobs.worker | SQL, wanted: string) =>
    filters.allow_wildcards && wanted.includes("*")
      ? matchesPattern(value, wanted)
      : sql`${value} = ${wanted}`;
  const { label, tag, worker } = filters;
  if (label) yield anyJsonText(jobs.labels, (text) => like(text, label));
  if (tag) yield like(jobs.tag, tag);
  if (worker) yield like(jobs.worker, worker);
  if (filters.created_by) yield eq(jobs.created_by, filters.created_by);
  if (filters.script_path_start) yield startsWith(jobs.script_path, filters.script_path_start);
  if (filters.script_hash) yield eq(jobs.script_hash, filters.script_hash);
  if (filters.schedule_path) yield eq(jobs.schedule_path, filters.schedule_path);
  if (filters.trigger_kind) yield eq(jobs.trigger_kind, filters.trigger_kind);
}

const suspendedIdsQuery = sql`SELECT ${flowFrames.job_id} FROM ${flowFrames} WHERE ${isWaitingForApproval}`;

/** Flows that wait for approval. */
export const SUSPENDED_JOBS: IdSet = {
  ids: suspendedIdsQuery,
  condition: sql`(${jobs.state} = 'running' AND ${jobs.id} IN (${suspendedIdsQuery}))`,
};

function* kindFilters(filters: Filters): Generator<SQL> {
  if (filters.job_kinds) yield inArray(jobs.kind, parseCsv(filters.job_kinds) as "script"[]);
  if (filters.has_null_parent) yield sql`${jobs.parent_job} IS NULL`;
  if (filters.is_not_schedule) yield sql`${jobs.schedule_path} IS NULL`;
  if (filters.is_flow_step !== undefined) {
    yield filters.is_flow_step ? isNotNull(jobs.flow_step_id) : isNull(jobs.flow_step_id);
  }
  if (filters.suspended !== undefined) {
    yield filters.suspended ? eq(jobs.state, "running") : sql`NOT ${SUSPENDED_JOBS.condition}`;
  }
}

/** SQL condition: the job is not an attempt of a retried run of a script, which is in the lists itself. */
export const isNoAttempt = sql`NOT EXISTS (
  SELECT 1 FROM ${jobs} AS run WHERE run.id = ${jobs.parent_job} AND run.kind = 'singlestepflow')`;

/** Start of a job, or its creation if it has not started. */
const startOrCreation = sql`coalesce(${jobs.started_at}, ${jobs.created_at})`;

function* timeFilters(filters: Filters): Generator<SQL | undefined> {
  if (filters.started_before) yield lte(jobs.started_at, filters.started_before);
  if (filters.started_after) yield gt(jobs.started_at, filters.started_after);
  const at = (moment: Date) => sql.param(moment, jobs.created_at);
  if (filters.created_or_started_before)
    yield sql`${startOrCreation} <= ${at(filters.created_or_started_before)}`;
  if (filters.created_or_started_after)
    yield sql`${startOrCreation} > ${at(filters.created_or_started_after)}`;
  if (filters.created_or_started_after_completed_jobs) {
    const after = sql`${startOrCreation} > ${at(filters.created_or_started_after_completed_jobs)}`;
    yield or(ne(jobs.state, "completed"), after);
  }
}

/** SQL condition: completed with success (or skipped), or without. */
export function createSuccessCondition(success: boolean): SQL | undefined {
  const good = inArray(jobs.status, ["success", "skipped"]);
  return and(eq(jobs.state, "completed"), success ? good : sql`NOT ${good}`);
}

function* stateFilters(filters: Filters, half: JobPhase, now: Date): Generator<SQL | undefined> {
  const completed = eq(jobs.state, "completed");
  if (half === "completed") yield completed;
  if (filters.success !== undefined) yield createSuccessCondition(filters.success);
  if (filters.is_skipped !== undefined) {
    // Unfinished jobs count as not skipped.
    yield filters.is_skipped
      ? and(completed, eq(jobs.status, "skipped"))
      : or(ne(jobs.state, "completed"), ne(jobs.status, "skipped"));
  }
  if (filters.canceled !== undefined) {
    // Unfinished jobs count as not canceled.
    yield filters.canceled
      ? and(completed, eq(jobs.status, "canceled"))
      : or(ne(jobs.state, "completed"), ne(jobs.status, "canceled"));
  }
  // Running and completed jobs were due already.
  if (filters.scheduled_for_before_now) yield or(not(hasNotStarted), lte(jobs.scheduled_for, now));
}

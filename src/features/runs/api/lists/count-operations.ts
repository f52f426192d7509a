/** Counts jobs, and reads their queue position and start times. */
import { and, count, eq, inArray, type SQL } from "drizzle-orm";
import { BadRequest, NotFound } from "../../../../lib/errors.ts";
import * as z from "../../../../lib/zod/z.ts";
import type { App, Context, WorkspaceContext } from "../../../../platform/app/context.ts";
import {
  type Operation,
  operation,
  queryBoolean,
  querySeconds,
  responds,
} from "../../../../platform/http/operation.ts";
import { jobs } from "../../../../platform/queue/tables.ts";
import { lightColumns } from "../../job/records.ts";
import { getJob } from "../../submit/find-and-cancel.ts";
import { canSeeJob } from "../../submit/job-rights.ts";
import { countCompletedSince, scanCompletedSince } from "./completed-scan.ts";
import {
  createSuccessCondition,
  createWorkspaceCondition,
  parseCsv,
  RUNNING_JOBS,
  SUSPENDED_JOBS,
  selectDueJobs,
  UNFINISHED_JOBS,
} from "./filters.ts";
import { countJobs, type IdSet, readRows, scanInSlices } from "./job-scan.ts";

const base = "/w/{workspace}/jobs" as const;
/** Counts reveal many jobs, so a token that may only run one does not suffice. */
const many = { domain: "jobs", action: "read", many: true } as const;
const DatabaseLength = z.object({ database_length: z.number() });

const tagCondition = (tags: string | undefined) => (tags ? inArray(jobs.tag, parseCsv(tags)) : undefined);

const getQueueCount = operation({
  name: "getQueueCount",
  method: "GET",
  path: `${base}/queue/count`,
  access: "member",
  scope: many,
  summary: "Count the jobs that are due and wait for a worker, and the flows that wait for approvals",
  query: z.object({ all_workspaces: queryBoolean.optional(), tags: z.string().optional() }),
  responds: responds.json(DatabaseLength.extend({ suspended: z.number() })),
  run: async (ctx, { workspace, query }) => {
    const base = createWorkspaceCondition(ctx, workspace, query.all_workspaces);
    const filters = tagCondition(query.tags);
    return {
      database_length: await countJobs(ctx.app, { base, filters, sets: [selectDueJobs(ctx.app.clock())] }),
      suspended: await countJobs(ctx.app, {
        base,
        filters: and(filters, eq(jobs.state, "running")),
        sets: [SUSPENDED_JOBS],
      }),
    };
  },
});

/** Counts completed jobs as all minus unfinished: counting index entries is much faster than reading rows. */
async function countCompleted(ctx: WorkspaceContext, rows: SQL | undefined): Promise<number> {
  const { signal } = ctx.request;
  const all = await countJobs(ctx.app, { base: rows, filters: undefined, sets: [], signal });
  const unfinished = await countJobs(ctx.app, {
    base: rows,
    filters: undefined,
    sets: [UNFINISHED_JOBS],
    signal,
  });
  return Math.max(0, all - unfinished);
}

const getCompletedCount = operation({
  name: "getCompletedCount",
  method: "GET",
  path: `${base}/completed/count`,
  access: "member",
  scope: many,
  summary: "Count the completed jobs",
  responds: responds.json(DatabaseLength),
  run: async (ctx, { workspace }) => ({
    database_length: await countCompleted(ctx, eq(jobs.workspace_id, workspace)),
  }),
});

const countCompletedJobs = operation({
  name: "countCompletedJobs",
  method: "GET",
  path: `${base}/completed/count_jobs`,
  access: "member",
  scope: many,
  summary: "Count the completed jobs by tag, outcome, or age",
  query: z.object({
    completed_after_s_ago: querySeconds.optional(),
    success: queryBoolean.optional(),
    tags: z.string().optional(),
    all_workspaces: queryBoolean.optional(),
  }),
  responds: responds.json(z.number()),
  run: (ctx, { workspace, query }) => {
    const rows = createWorkspaceCondition(ctx, workspace, query.all_workspaces);
    const { completed_after_s_ago: ago, success, tags } = query;
    if (ago === undefined && success === undefined && !tags) return countCompleted(ctx, rows);
    const outcome = success === undefined ? undefined : createSuccessCondition(success);
    const filters = and(outcome, tagCondition(tags));
    const { signal } = ctx.request;
    if (ago === undefined) {
      const completed = and(eq(jobs.state, "completed"), filters);
      return countJobs(ctx.app, { base: rows, filters: completed, sets: [], signal });
    }
    const from = new Date(ctx.app.clock().getTime() - ago * 1000);
    return countCompletedSince(ctx.app, { from, base: rows, filters, signal });
  },
});

async function countByTag(app: App, slices: AsyncIterable<SQL | undefined>): Promise<Map<string, number>> {
  const totals = new Map<string, number>();
  for await (const slice of slices) {
    const counted = app.db.read.select({ tag: jobs.tag, count: count() }).from(jobs);
    for (const row of await counted.where(slice).groupBy(jobs.tag)) {
      totals.set(row.tag, (totals.get(row.tag) ?? 0) + row.count);
    }
  }
  return totals;
}

const getQueueDepth = operation({
  name: "getQueueDepth",
  method: "GET",
  path: `${base}/queue/depth`,
  access: "member",
  scope: many,
  summary: "Count the jobs that wait for a worker, run, or wait for approval or time, by tag",
  responds: responds.json(
    z.array(z.object({ tag: z.string(), waiting: z.number(), running: z.number(), suspended: z.number() })),
  ),
  run: async (ctx, { workspace }) => {
    const base = eq(jobs.workspace_id, workspace);
    const { signal } = ctx.request;
    const of = (set: IdSet) =>
      countByTag(ctx.app, scanInSlices(ctx.app, { base, filters: undefined, sets: [set], signal }));
    const waiting = await of(selectDueJobs(ctx.app.clock()));
    const suspended = await of(SUSPENDED_JOBS);
    const running = await of(RUNNING_JOBS);
    const tags = new Set([...waiting.keys(), ...running.keys()]);
    return [...tags].sort().map((tag) => {
      const halted = suspended.get(tag) ?? 0;
      return {
        tag,
        waiting: waiting.get(tag) ?? 0,
        // Suspended flows are stored as running.
        running: Math.max(0, (running.get(tag) ?? 0) - halted),
        suspended: halted,
      };
    });
  },
});

const countJobsByTag = operation({
  name: "countJobsByTag",
  method: "GET",
  path: "/jobs/completed/count_by_tag",
  access: "superAdmin",
  scope: many,
  summary: "Count the jobs completed in the last seconds, by tag",
  query: z.object({ horizon_secs: querySeconds.default(3600), workspace_id: z.string().optional() }),
  responds: responds.json(z.array(z.object({ tag: z.string(), count: z.number() }))),
  run: async (ctx, { query }) => {
    const from = new Date(ctx.app.clock().getTime() - query.horizon_secs * 1000);
    const base = query.workspace_id ? eq(jobs.workspace_id, query.workspace_id) : undefined;
    const recent = { from, base, filters: undefined, signal: ctx.request.signal };
    const totals = await countByTag(ctx.app, scanCompletedSince(ctx.app, recent));
    return [...totals].map(([tag, count]) => ({ tag, count })).sort((a, b) => b.count - a.count);
  },
});

const getQueuePosition = operation({
  name: "getQueuePosition",
  method: "GET",
  path: `${base}/queue/position/{scheduled_for}`,
  access: "member",
  scope: many,
  summary: "Count the queued jobs of the instance that are due by a time, in milliseconds",
  responds: responds.json(z.object({ position: z.number().optional() })),
  run: async (ctx, { scheduled_for }) => {
    if (!/^\d{1,15}$/.test(scheduled_for)) {
      throw new BadRequest(`"${scheduled_for.slice(0, 60)}" is not a time: write milliseconds since 1970`);
    }
    const moment = new Date(Number(scheduled_for));
    // A job that is not due yet has no queue position.
    if (moment > ctx.app.clock()) return {};
    const selection = { base: undefined, filters: undefined, sets: [selectDueJobs(moment)] };
    return { position: await countJobs(ctx.app, selection) };
  },
});

const getScheduledFor = operation({
  name: "getScheduledFor",
  method: "GET",
  path: `${base}/queue/scheduled_for/{id}`,
  access: "member",
  scope: { domain: "jobs", action: "read" },
  summary: "Read the due time of a queued or running job, in milliseconds",
  responds: responds.json(z.number()),
  run: async (ctx, { workspace, id }) => {
    const job = await getJob(ctx, workspace, id);
    if (job.state === "completed") throw new NotFound(`job ${id} is completed: it is not in the queue`);
    return job.scheduled_for.getTime();
  },
});

const getStartedAtByIds = operation({
  name: "getStartedAtByIds",
  method: "POST",
  path: "/w/{workspace}/jobs_u/queue/get_started_at_by_ids",
  access: "anyone",
  scope: { domain: "jobs", action: "read" },
  summary:
    "Read the start times of some jobs; null for one that has not started, or that the caller may not see",
  body: z.array(z.uuid().toLowerCase()).max(10_000),
  responds: responds.json(z.array(z.date().nullable())),
  run: (ctx, { workspace, body }) => listStartTimes(ctx, workspace, body),
});

async function listStartTimes(
  ctx: Context,
  workspace: string,
  ids: readonly string[],
): Promise<(Date | null)[]> {
  const rows = await readRows(ctx.app, lightColumns, [...new Set(ids)]);
  const seen = rows.filter((job) => job.workspace_id === workspace && canSeeJob(ctx.caller, job));
  const starts = new Map(seen.map((job) => [job.id, job.started_at]));
  return ids.map((id) => starts.get(id) ?? null);
}

export const countOperations: Operation[] = [
  getQueueCount,
  getQueueDepth,
  getCompletedCount,
  countCompletedJobs,
  countJobsByTag,
  getQueuePosition,
  getScheduledFor,
  getStartedAtByIds,
];

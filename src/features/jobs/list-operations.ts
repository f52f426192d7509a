/** Listing and counting jobs. */
import { and, asc, count, desc, eq, getTableColumns, gt, inArray, lte, type SQL, sql } from "drizzle-orm";
import { z } from "zod";
import type { Context } from "../../context.ts";
import { startsWith } from "../../database/conditions.ts";
import { BadRequest } from "../../errors.ts";
import { flag, moment, type Operation, operation, paging, responds, toWindow } from "../../http/operation.ts";
import { jobs } from "../../queue/tables.ts";
import { JobRecord, toSummary } from "./records.ts";
import { visibleTo } from "./service.ts";

const base = "/w/{workspace}/jobs" as const;

const {
  args: _args,
  result: _result,
  raw_code: _code,
  raw_lock: _lock,
  preprocessor_input: _input,
  ...lightColumns
} = getTableColumns(jobs);

const csv = (text: string) => text.split(",").map((part) => part.trim());

export const listJobs = operation({
  name: "listJobs",
  method: "GET",
  path: `${base}/list`,
  access: "member",
  scope: { domain: "jobs", action: "read", many: true },
  summary: "List jobs, queued and completed, newest first",
  query: z.object({
    ...paging,
    order_desc: flag.default(true),
    created_by: z.string().optional(),
    parent_job: z.string().optional(),
    script_path_exact: z.string().optional(),
    script_path_start: z.string().optional(),
    script_hash: z.string().optional(),
    created_before: moment.optional(),
    created_after: moment.optional(),
    started_before: moment.optional(),
    started_after: moment.optional(),
    success: flag.optional(),
    running: flag.optional(),
    job_kinds: z.string().optional(),
    tag: z.string().optional(),
    has_null_parent: flag.optional(),
    trigger_kind: z.string().optional(),
  }),
  responds: responds.json(z.array(JobRecord), "jobs without arguments and results"),
  run: async (ctx, { workspace, query }) => {
    if (query.success !== undefined && query.running !== undefined) {
      throw new BadRequest(
        "query fields `success` and `running` exclude each other: a running job has no outcome",
      );
    }
    const order = query.order_desc ? desc : asc;
    const { offset, limit } = toWindow(query);
    const rows = await ctx.app.db.read
      .select(lightColumns)
      .from(jobs)
      .where(
        and(
          eq(jobs.workspace_id, workspace),
          visibleTo(ctx.caller.member),
          query.created_by ? eq(jobs.created_by, query.created_by) : undefined,
          query.parent_job ? eq(jobs.parent_job, query.parent_job) : undefined,
          query.has_null_parent ? sql`${jobs.parent_job} IS NULL` : undefined,
          query.script_path_exact ? eq(jobs.script_path, query.script_path_exact) : undefined,
          query.script_path_start ? startsWith(jobs.script_path, query.script_path_start) : undefined,
          query.script_hash ? eq(jobs.script_hash, query.script_hash) : undefined,
          query.created_before ? lte(jobs.created_at, query.created_before) : undefined,
          query.created_after ? gt(jobs.created_at, query.created_after) : undefined,
          query.started_before ? lte(jobs.started_at, query.started_before) : undefined,
          query.started_after ? gt(jobs.started_at, query.started_after) : undefined,
          query.success === undefined ? undefined : successIs(query.success),
          query.running === undefined ? undefined : stateIs(query.running ? "running" : "queued"),
          query.job_kinds ? inArray(jobs.kind, csv(query.job_kinds) as "script"[]) : undefined,
          query.tag ? eq(jobs.tag, query.tag) : undefined,
          query.trigger_kind ? eq(jobs.trigger_kind, query.trigger_kind) : undefined,
        ),
      )
      .orderBy(order(jobs.id))
      .limit(limit)
      .offset(offset);
    return rows.map(toSummary);
  },
});

function successIs(success: boolean) {
  const good = inArray(jobs.status, ["success", "skipped"]);
  return and(eq(jobs.state, "completed"), success ? good : sql`NOT ${good}`);
}

const countQueuedJobs = operation({
  name: "countQueuedJobs",
  method: "GET",
  path: `${base}/queue/count`,
  access: "member",
  summary: "Count the jobs that are due and wait for a worker",
  responds: responds.json(z.object({ database_length: z.number() })),
  run: async (ctx, { workspace }) => {
    const due = and(stateIs("queued"), lte(jobs.scheduled_for, ctx.app.clock()));
    return countOf(ctx, and(eq(jobs.workspace_id, workspace), due));
  },
});

const countCompletedJobs = operation({
  name: "countCompletedJobs",
  method: "GET",
  path: `${base}/completed/count`,
  access: "member",
  summary: "Count the completed jobs",
  responds: responds.json(z.object({ database_length: z.number() })),
  run: (ctx, { workspace }) =>
    countOf(ctx, and(eq(jobs.workspace_id, workspace), eq(jobs.state, "completed"))),
});

/**
 * By way of the small indexes of unfinished jobs, whose condition must be written out, not bound: the index by
 * workspace would be walked over all completed jobs.
 */
function stateIs(state: "queued" | "running"): SQL {
  return sql`${jobs.id} IN (SELECT unfinished.id FROM jobs unfinished WHERE unfinished.state = ${sql.raw(`'${state}'`)})`;
}

async function countOf(ctx: Context, condition: SQL | undefined) {
  const [row] = await ctx.app.db.read.select({ database_length: count() }).from(jobs).where(condition);
  return { database_length: row?.database_length ?? 0 };
}

export const listOperations: Operation[] = [listJobs, countQueuedJobs, countCompletedJobs];

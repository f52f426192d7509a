/** Reading, following and canceling jobs. `jobs_u` serves callers without a login as well: what they may see is in service.ts. */
import { and, asc, count, desc, eq, getTableColumns, gt, inArray, lte, or, type SQL, sql } from "drizzle-orm";
import { z } from "zod";
import type { Context } from "../../context.ts";
import { startsWith } from "../../database/conditions.ts";
import { BadRequest, NotFound } from "../../errors.ts";
import {
  flag,
  moment,
  type Operation,
  operation,
  paging,
  responds,
  toWindow,
  wholeNumber,
} from "../../http/operation.ts";
import { jobs } from "../../queue/tables.ts";
import { readLog } from "./logs.ts";
import { isSuccess, JobRecord, toRecord, toSummary } from "./records.ts";
import { findJob, getJob, mayRead, rootOf } from "./service.ts";
import { JobUpdate, jobUpdate, updateStream } from "./updates.ts";

const open = "/w/{workspace}/jobs_u" as const;
const base = "/w/{workspace}/jobs" as const;
const read = { domain: "jobs", action: "read" } as const;

export const getJobById = operation({
  name: "getJob",
  method: "GET",
  path: `${open}/get/{id}`,
  access: "anyone",
  scope: read,
  summary: "Read a job, queued, running or completed",
  query: z.object({ no_logs: flag.default(false) }),
  responds: responds.json(JobRecord),
  run: async (ctx, { workspace, id, query }) => {
    const job = await getJob(ctx, workspace, id);
    return toRecord(job, query.no_logs ? undefined : await readLog(ctx.app, job.id));
  },
});

async function getCompleted(ctx: Context, workspace: string, id: string) {
  const job = await getJob(ctx, workspace, id);
  if (job.state !== "completed") throw new NotFound(`job ${id} is not completed: it is ${job.state}`);
  return job;
}

/** The two spellings of each read of a completed job: with and without a login. */
function completedOperations(prefix: typeof open | typeof base, suffix: "" | "Login") {
  const common = {
    method: "GET",
    access: prefix === open ? "anyone" : "member",
    scope: read,
    cors: true,
  } as const;
  return {
    get: operation({
      ...common,
      name: `getCompletedJob${suffix}`,
      path: `${prefix}/completed/get/{id}`,
      summary: "Read a completed job; 404 until it is",
      responds: responds.json(JobRecord),
      run: async (ctx: Context, { workspace, id }) => {
        const job = await getCompleted(ctx, workspace, id);
        return toRecord(job, await readLog(ctx.app, job.id));
      },
    }),
    result: operation({
      ...common,
      name: `getCompletedJobResult${suffix}`,
      path: `${prefix}/completed/get_result/{id}`,
      summary: "Read the result of a completed job; 404 until it is",
      query: z.object({ json_path: z.string().optional() }),
      responds: responds.json(z.unknown(), "the bare result"),
      run: async (ctx: Context, { workspace, id, query }) => {
        const job = await getCompleted(ctx, workspace, id);
        return pick(JSON.parse(job.result ?? "null"), query.json_path);
      },
    }),
    maybe: operation({
      ...common,
      name: `getCompletedJobResultMaybe${suffix}`,
      path: `${prefix}/completed/get_result_maybe/{id}`,
      summary: "Read the result of a job if it is completed; never an error for one that is not",
      query: z.object({ get_started: flag.default(false) }),
      responds: responds.json(
        z.object({
          completed: z.boolean(),
          result: z.unknown(),
          success: z.boolean().optional(),
          started: z.boolean().optional(),
        }),
      ),
      run: async (ctx: Context, { workspace, id, query }) => {
        const job = await findJob(ctx.app, workspace, id);
        if (!job) return { completed: false, result: null };
        await getJob(ctx, workspace, id);
        if (job.state !== "completed") {
          return {
            completed: false,
            result: null,
            ...(query.get_started ? { started: job.state === "running" } : {}),
          };
        }
        return {
          completed: true,
          result: JSON.parse(job.result ?? "null"),
          success: isSuccess(job),
          started: true,
        };
      },
    }),
  };
}

const openCompleted = completedOperations(open, "");
const loginCompleted = completedOperations(base, "Login");
export const getCompletedJob = openCompleted.get;

function pick(value: unknown, path: string | undefined): unknown {
  if (!path) return value;
  let at = value;
  for (const part of path.split(".")) at = (at as Record<string, unknown> | null | undefined)?.[part];
  return at ?? null;
}

export const getJobLogs = operation({
  name: "getJobLogs",
  method: "GET",
  path: `${open}/get_logs/{id}`,
  access: "anyone",
  scope: read,
  summary: "Read the whole log of a job",
  responds: responds.text("the log"),
  run: async (ctx, { workspace, id }) => readLog(ctx.app, (await getJob(ctx, workspace, id)).id),
});

export const getJobArgs = operation({
  name: "getJobArgs",
  method: "GET",
  path: `${open}/get_args/{id}`,
  access: "anyone",
  scope: read,
  summary: "Read the arguments of a job",
  responds: responds.json(z.unknown()),
  run: async (ctx, { workspace, id }) => JSON.parse((await getJob(ctx, workspace, id)).args),
});

const seenQuery = {
  running: flag.optional(),
  log_offset: wholeNumber.min(0).default(0),
  stream_offset: wholeNumber.min(0).default(0),
  no_logs: flag.default(false),
  only_result: flag.default(false),
};

export const getJobUpdate = operation({
  name: "getJobUpdate",
  method: "GET",
  path: `${open}/getupdate/{id}`,
  access: "anyone",
  scope: read,
  summary: "Read what is new of a job since the given offsets",
  query: z.object({ ...seenQuery, get_progress: flag.optional() }),
  responds: responds.json(JobUpdate),
  run: async (ctx, { workspace, id, query }) =>
    jobUpdate(ctx.app, await getJob(ctx, workspace, id), { ...query, running: query.running }),
});

function updateStreamOperation<P extends string>(name: string, path: P) {
  return operation({
    name,
    method: "GET",
    path,
    access: "anyone",
    scope: read,
    cors: true,
    summary: "Stream the updates of a job as server-sent events",
    query: z.object({
      ...seenQuery,
      get_progress: flag.optional(),
      fast: flag.optional(),
      poll_delay_ms: z.string().optional(),
    }),
    responds: responds.raw("text/event-stream", "updates of the job"),
    run: async (ctx: Context, input) => {
      const { workspace, id, query } = input as unknown as {
        workspace: string;
        id: string;
        query: {
          running?: boolean;
          log_offset: number;
          stream_offset: number;
          no_logs: boolean;
          only_result: boolean;
        };
      };
      const job = await getJob(ctx, workspace, id);
      return updateStream(ctx.app, workspace, job.id, {
        seen: { ...query, running: query.running },
        limited: true,
      });
    },
  });
}

export const getJobUpdateStream = updateStreamOperation("getJobUpdateStream", `${open}/getupdate_sse/{id}`);
/** The contract writes `job_u`, existing clients `jobs_u`. */
const getJobUpdateStreamContract = updateStreamOperation(
  "getJobUpdateStreamContract",
  "/w/{workspace}/job_u/getupdate_sse/{id}",
);

export const getJobTiming = operation({
  name: "getCompletedJobTiming",
  method: "GET",
  path: `${open}/completed/get_timing/{id}`,
  access: "anyone",
  scope: read,
  cors: true,
  summary: "Read when a job was made and begun, and how long it took",
  responds: responds.json(
    z.object({
      created_at: z.date(),
      started_at: z.date().optional(),
      duration_ms: z.number().optional(),
    }),
  ),
  run: async (ctx, { workspace, id }) => {
    const { created_at, started_at, duration_ms } = await getJob(ctx, workspace, id);
    return { created_at, started_at: started_at ?? undefined, duration_ms: duration_ms ?? undefined };
  },
});

export const getRootJobId = operation({
  name: "getRootJobId",
  method: "GET",
  path: `${open}/get_root_job_id/{id}`,
  access: "anyone",
  scope: read,
  summary: "Read the id of the topmost ancestor of a job: its own when it has none",
  responds: responds.json(z.string()),
  run: async (ctx, { workspace, id }) => rootOf(ctx.app, await getJob(ctx, workspace, id)),
});

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
    const { member } = ctx.caller;
    const rows = await ctx.app.db.read
      .select(lightColumns)
      .from(jobs)
      .where(
        and(
          eq(jobs.workspace_id, workspace),
          member.is_admin ? undefined : visibleTo(member.username, member.email),
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
    return rows.filter((row) => mayRead(ctx.caller, row)).map(toSummary);
  },
});

function successIs(success: boolean) {
  const good = inArray(jobs.status, ["success", "skipped"]);
  return and(eq(jobs.state, "completed"), success ? good : sql`NOT ${good}`);
}

/** What a member who is no admin may see, said to the database so that pages come out full. */
function visibleTo(username: string, email: string) {
  return or(
    eq(jobs.permissioned_as, `u/${username}`),
    eq(jobs.email, email),
    and(eq(jobs.visible_to_owner, true), startsWith(jobs.script_path, `u/${username}/`)),
  );
}

export const countQueuedJobs = operation({
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

export const countCompletedJobs = operation({
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

export const getDatabaseClock = operation({
  name: "getDatabaseClock",
  method: "GET",
  path: "/jobs/db_clock",
  access: "user",
  bound: true,
  summary: "Read the server's clock, in milliseconds since 1970",
  responds: responds.json(z.number()),
  run: (ctx) => ctx.app.clock().getTime(),
});

export const jobOperations: Operation[] = [
  getJobById,
  ...Object.values(openCompleted),
  ...Object.values(loginCompleted),
  getJobLogs,
  getJobArgs,
  getJobUpdate,
  getJobUpdateStream,
  getJobUpdateStreamContract,
  getJobTiming,
  getRootJobId,
  listJobs,
  countQueuedJobs,
  countCompletedJobs,
  getDatabaseClock,
];

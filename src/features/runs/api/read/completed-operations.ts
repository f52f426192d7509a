/** Reading what a job came to. Most of it is there twice: with a login, and below `jobs_u` without one. */
import { z } from "zod";
import { NotFound } from "../../../../lib/errors.ts";
import { isContainer, parseJson } from "../../../../lib/json/json.ts";
import type { Context } from "../../../../platform/app/context.ts";
import { flag, type Operation, operation, responds } from "../../../../platform/http/operation.ts";
import type { Job } from "../../../../platform/queue/tables.ts";
import { checkSignature, requestOf } from "../../approvals/signature.ts";
import { flowFacts } from "../../flows/status/status.ts";
import { tellOfView, viewJob } from "../../follow/view-audit.ts";
import { readLog } from "../../job/logs.ts";
import { isSuccess, JobRecord, LOG_TAIL, storedJson, toldTo, toRecord } from "../../job/records.ts";
import { findJob, getJob, isWithin } from "../../submit/service.ts";

const open = "/w/{workspace}/jobs_u" as const;
const base = "/w/{workspace}/jobs" as const;
const read = { domain: "jobs", action: "read" } as const;

async function getCompleted(ctx: Context, workspace: string, id: string) {
  return viewed(ctx, completed(await getJob(ctx, workspace, id)));
}

function completed(job: Job): Job {
  if (job.state !== "completed") throw new NotFound(`job ${job.id} is not completed: it is ${job.state}`);
  return job;
}

async function viewed(ctx: Context, job: Job): Promise<Job> {
  await tellOfView(ctx, job);
  return job;
}

/** Whoever holds a signed link to answer for a job reads what that job, and those below it, came to. */
const SignedResultQuery = z.object({
  json_path: z.string().optional(),
  suspended_job: z.string().optional(),
  resume_id: z.string().optional(),
  secret: z.string().optional(),
  approver: z.string().optional(),
});

/** @throws Unauthorized for a wrong signature; NotFound for a job that the signature is not about */
async function getSigned(
  ctx: Context,
  workspace: string,
  id: string,
  { suspended_job, resume_id, secret, approver }: z.output<typeof SignedResultQuery>,
): Promise<Job> {
  if (suspended_job === undefined || resume_id === undefined || secret === undefined) {
    return getCompleted(ctx, workspace, id);
  }
  const request = requestOf({ job_id: suspended_job, resume_id }, { approver });
  await checkSignature(ctx.app, workspace, request, secret);
  const job = await findJob(ctx.app, workspace, id);
  if (!job || !(await isWithin(ctx.app, job, request.job_id))) {
    throw new NotFound(`job ${id} is neither job ${suspended_job} nor below it`);
  }
  return viewed(ctx, completed(job));
}

/** The two spellings of each read of a completed job: with and without a login. */
function readsBelow(prefix: typeof open | typeof base, suffix: "" | "Login") {
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
        const log = await readLog(ctx.app, job);
        return toldTo(ctx.caller, { ...toRecord(job, log), ...(await flowFacts(ctx.app, job)) });
      },
    }),
    result: operation({
      ...common,
      name: `getCompletedJobResult${suffix}`,
      path: `${prefix}/completed/get_result/{id}`,
      summary: "Read the result of a completed job; 404 until it is",
      query: SignedResultQuery,
      responds: responds.raw("application/json", "the bare result"),
      run: async (ctx: Context, { workspace, id, query }) => {
        const { result } = await getSigned(ctx, workspace, id, query);
        const text = result ?? "null";
        return storedJson(query.json_path ? JSON.stringify(pick(parseJson(text), query.json_path)) : text);
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
          success: z.boolean().nullable(),
          started: z.boolean().nullable(),
        }),
      ),
      run: async (ctx: Context, { workspace, id, query }) => {
        const job = await viewJob(ctx, workspace, id).catch(undefinedIfMissing);
        if (!job) return { completed: false, result: null, success: null, started: null };
        if (job.state !== "completed") {
          return {
            completed: false,
            result: null,
            success: null,
            started: query.get_started ? job.state === "running" : null,
          };
        }
        return {
          completed: true,
          result: parseJson(job.result ?? "null"),
          success: isSuccess(job),
          started: true,
        };
      },
    }),
  };
}

/** What the caller may not see is not there. */
function undefinedIfMissing(cause: unknown): undefined {
  if (!(cause instanceof NotFound)) throw cause;
}

const openCompleted = readsBelow(open, "");
const loginCompleted = readsBelow(base, "Login");
export const getCompletedJobResult = openCompleted.result;

/** What stands at a path of keys and indexes with dots between; null where there is nothing. */
export function pick(value: unknown, path: string): unknown {
  let at = value;
  for (const part of path.split(".")) {
    const holds = isContainer(at) && Object.hasOwn(at, part);
    at = holds ? (at as Record<string, unknown>)[part] : null;
  }
  return at;
}

const getCompletedJobLogsTail = operation({
  name: "getCompletedJobLogsTail",
  method: "GET",
  path: `${open}/get_completed_logs_tail/{id}`,
  access: "anyone",
  scope: read,
  summary: "Read the end of the log of a completed job; 404 until it is",
  responds: responds.text("the last characters of the log"),
  run: async (ctx, { workspace, id }) => {
    const job = await getCompleted(ctx, workspace, id);
    return (await readLog(ctx.app, job)).slice(-LOG_TAIL);
  },
});

const getJobTiming = operation({
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

export const completedOperations: Operation[] = [
  ...Object.values(openCompleted),
  ...Object.values(loginCompleted),
  getCompletedJobLogsTail,
  getJobTiming,
];

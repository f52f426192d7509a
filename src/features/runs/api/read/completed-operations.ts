/** Reads completed jobs. Most operations exist twice: below `jobs` with a login, and below `jobs_u` without. */
import { NotFound } from "../../../../lib/errors.ts";
import { isContainer, parseJson } from "../../../../lib/json/json.ts";
import * as z from "../../../../lib/zod/z.ts";
import type { Context } from "../../../../platform/app/context.ts";
import { type Operation, operation, queryBoolean, responds } from "../../../../platform/http/operation.ts";
import type { Job } from "../../../../platform/queue/tables.ts";
import { parseLinkRequest, requireApprovalSignature } from "../../approvals/link-signature.ts";
import { readFlowFields } from "../../flows/status/status.ts";
import { auditJobView, getJobAudited } from "../../follow/view-audit.ts";
import { readLog } from "../../job/logs.ts";
import {
  createJsonResponse,
  hasSucceeded,
  JobRecord,
  MAX_LOG_CHARS,
  redactRecord,
  toJobRecord,
} from "../../job/records.ts";
import { findJob, getJob, isJobWithin } from "../../submit/find-and-cancel.ts";

const open = "/w/{workspace}/jobs_u" as const;
const base = "/w/{workspace}/jobs" as const;
const read = { domain: "jobs", action: "read" } as const;

async function getCompletedAudited(ctx: Context, workspace: string, id: string) {
  return withViewAudit(ctx, requireCompleted(await getJob(ctx, workspace, id)));
}

function requireCompleted(job: Job): Job {
  if (job.state !== "completed") throw new NotFound(`job ${job.id} is not completed: it is ${job.state}`);
  return job;
}

async function withViewAudit(ctx: Context, job: Job): Promise<Job> {
  await auditJobView(ctx, job);
  return job;
}

/** A signed approval link grants access to the results of its job and the jobs below it. */
const SignedResultQuery = z.object({
  json_path: z.string().optional(),
  suspended_job: z.string().optional(),
  resume_id: z.string().optional(),
  secret: z.string().optional(),
  approver: z.string().optional(),
});

/**
 * Returns the job that a signed approval link covers.
 * @throws Unauthorized for an invalid signature; NotFound for a job that the link does not cover
 */
async function getJobByLink(
  ctx: Context,
  workspace: string,
  id: string,
  { suspended_job, resume_id, secret, approver }: z.output<typeof SignedResultQuery>,
): Promise<Job> {
  if (suspended_job === undefined || resume_id === undefined || secret === undefined) {
    return getCompletedAudited(ctx, workspace, id);
  }
  const request = parseLinkRequest({ job_id: suspended_job, resume_id }, { approver });
  await requireApprovalSignature(ctx.app, workspace, request, secret);
  const job = await findJob(ctx.app, workspace, id);
  if (!job || !(await isJobWithin(ctx.app, job, request.job_id))) {
    throw new NotFound(`job ${id} is neither job ${suspended_job} nor below it`);
  }
  return withViewAudit(ctx, requireCompleted(job));
}

/** Creates both variants of each operation: with and without a login. */
function createReadOperations(prefix: typeof open | typeof base, suffix: "" | "Login") {
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
      summary: "Read a completed job; 404 for other jobs",
      responds: responds.json(JobRecord),
      run: async (ctx: Context, { workspace, id }) => {
        const job = await getCompletedAudited(ctx, workspace, id);
        const log = await readLog(ctx.app, job);
        return redactRecord(ctx.caller, {
          ...toJobRecord(job, log),
          ...(await readFlowFields(ctx.app, job)),
        });
      },
    }),
    result: operation({
      ...common,
      name: `getCompletedJobResult${suffix}`,
      path: `${prefix}/completed/get_result/{id}`,
      summary: "Read the result of a completed job; 404 for other jobs",
      query: SignedResultQuery,
      responds: responds.raw("application/json", "the bare result"),
      run: async (ctx: Context, { workspace, id, query }) => {
        const { result } = await getJobByLink(ctx, workspace, id, query);
        const text = result ?? "null";
        return createJsonResponse(
          query.json_path ? JSON.stringify(pickByPath(parseJson(text), query.json_path)) : text,
        );
      },
    }),
    maybe: operation({
      ...common,
      name: `getCompletedJobResultMaybe${suffix}`,
      path: `${prefix}/completed/get_result_maybe/{id}`,
      summary: "Read the result of a job if it is completed; not an error for other jobs",
      query: z.object({ get_started: queryBoolean.default(false) }),
      responds: responds.json(
        z.object({
          completed: z.boolean(),
          result: z.unknown(),
          success: z.boolean().nullable(),
          started: z.boolean().nullable(),
        }),
      ),
      run: async (ctx: Context, { workspace, id, query }) => {
        const job = await getJobAudited(ctx, workspace, id).catch(ignoreNotFound);
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
          success: hasSucceeded(job),
          started: true,
        };
      },
    }),
  };
}

/** Treats a job that the caller may not see as missing. */
function ignoreNotFound(cause: unknown): undefined {
  if (!(cause instanceof NotFound)) throw cause;
}

const openCompleted = createReadOperations(open, "");
const loginCompleted = createReadOperations(base, "Login");
export const getCompletedJobResult = openCompleted.result;

/** Returns the value at a dotted path of keys and indexes; null if there is none. */
export function pickByPath(value: unknown, path: string): unknown {
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
  summary: "Read the end of the log of a completed job; 404 for other jobs",
  responds: responds.text("the last characters of the log"),
  run: async (ctx, { workspace, id }) => {
    const job = await getCompletedAudited(ctx, workspace, id);
    return (await readLog(ctx.app, job)).slice(-MAX_LOG_CHARS);
  },
});

const getJobTiming = operation({
  name: "getCompletedJobTiming",
  method: "GET",
  path: `${open}/completed/get_timing/{id}`,
  access: "anyone",
  scope: read,
  cors: true,
  summary: "Read a job's creation and start times, and its duration",
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

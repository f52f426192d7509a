/** Reading and following a job. `jobs_u` serves callers without a login as well: what they may see is in service.ts. */
import { z } from "zod";
import {
  flag,
  type Operation,
  operation,
  responds,
  wholeNumber,
} from "../../../../platform/http/operation.ts";
import { flowFacts } from "../../flows/status/status.ts";
import { followJob } from "../../follow/stream-answers.ts";
import { JobUpdate, jobUpdate } from "../../follow/updates.ts";
import { viewJob } from "../../follow/view-audit.ts";
import { readLog } from "../../job/logs.ts";
import { JobRecord, storedJson, toldTo, toRecord } from "../../job/records.ts";
import { getJob, rootOf } from "../../submit/service.ts";

const open = "/w/{workspace}/jobs_u" as const;
const read = { domain: "jobs", action: "read" } as const;

export const getJobById = operation({
  name: "getJob",
  method: "GET",
  path: `${open}/get/{id}`,
  access: "anyone",
  scope: read,
  summary: "Read a job, queued, running or completed",
  query: z.object({ no_logs: flag.default(false), no_code: flag.default(false) }),
  responds: responds.json(JobRecord),
  run: async (ctx, { workspace, id, query }) => {
    const job = await viewJob(ctx, workspace, id);
    const log = query.no_logs ? undefined : await readLog(ctx.app, job);
    return toldTo(ctx.caller, { ...toRecord(job, log, query), ...(await flowFacts(ctx.app, job)) });
  },
});

export const getJobLogs = operation({
  name: "getJobLogs",
  method: "GET",
  path: `${open}/get_logs/{id}`,
  access: "anyone",
  scope: read,
  summary: "Read the whole log of a job",
  responds: responds.text("the log"),
  run: async (ctx, { workspace, id }) => readLog(ctx.app, await viewJob(ctx, workspace, id)),
});

/** Where a log is kept in files, they stand below their job's id: here it is one, whatever name is asked for. */
const getJobLogFile = operation({
  name: "getLogFileFromStore",
  method: "GET",
  path: `${open}/get_log_file/{file_path}`,
  access: "anyone",
  scope: read,
  summary: "Read the log of the job whose id the path of a log file begins with",
  responds: responds.text("the log"),
  run: async (ctx, { workspace, file_path }) => {
    const [id = ""] = file_path.split("/", 1);
    return readLog(ctx.app, await viewJob(ctx, workspace, id));
  },
});

export const getJobArgs = operation({
  name: "getJobArgs",
  method: "GET",
  path: `${open}/get_args/{id}`,
  access: "anyone",
  scope: read,
  summary: "Read the arguments of a job",
  responds: responds.raw("application/json", "the arguments"),
  run: async (ctx, { workspace, id }) => storedJson((await viewJob(ctx, workspace, id)).args),
});

const seenQuery = {
  running: flag.optional(),
  log_offset: wholeNumber.min(0).default(0),
  stream_offset: wholeNumber.min(0).default(0),
  no_logs: flag.default(false),
  only_result: flag.default(false),
  get_progress: flag.default(false),
};

export const getJobUpdate = operation({
  name: "getJobUpdate",
  method: "GET",
  path: `${open}/getupdate/{id}`,
  access: "anyone",
  scope: read,
  summary: "Read what is new of a job since the given offsets",
  query: z.object(seenQuery),
  responds: responds.json(JobUpdate),
  run: (ctx, { workspace, id, query }) => jobUpdate(ctx, workspace, id, { ...query, running: query.running }),
});

/** Updates are sent as they come about, so `poll_delay_ms` is taken and does nothing. */
const StreamQuery = z.object({
  ...seenQuery,
  fast: flag.default(false),
  poll_delay_ms: wholeNumber.min(0).optional(),
});

const updateStream = {
  method: "GET",
  access: "anyone",
  scope: read,
  cors: true,
  summary: "Stream the updates of a job as server-sent events",
  query: StreamQuery,
  responds: responds.raw("text/event-stream", "updates of the job"),
} as const;

export const getJobUpdateStream = operation({
  ...updateStream,
  name: "getJobUpdateStream",
  path: `${open}/getupdate_sse/{id}`,
  run: (ctx, { workspace, id, query }) => followJob(ctx, workspace, id, { ...query, running: query.running }),
});

/** The contract writes `job_u`, existing clients `jobs_u`. */
const getJobUpdateStreamContract = operation({
  ...updateStream,
  name: "getJobUpdateStreamContract",
  path: "/w/{workspace}/job_u/getupdate_sse/{id}",
  run: (ctx, { workspace, id, query }) => followJob(ctx, workspace, id, { ...query, running: query.running }),
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
  getJobLogs,
  getJobLogFile,
  getJobArgs,
  getJobUpdate,
  getJobUpdateStream,
  getJobUpdateStreamContract,
  getRootJobId,
  getDatabaseClock,
];

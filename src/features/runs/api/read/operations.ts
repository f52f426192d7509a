/**
 * Reads and follows jobs. Operations below `jobs_u` also serve callers without a login; submit/find-and-cancel.ts
 * decides what they may see.
 */
import * as z from "../../../../lib/zod/z.ts";
import {
  type Operation,
  operation,
  queryBoolean,
  queryInteger,
  responds,
} from "../../../../platform/http/operation.ts";
import { readFlowFields } from "../../flows/status/status.ts";
import { streamJob } from "../../follow/stream-responses.ts";
import { JobUpdate, readJobUpdate } from "../../follow/updates.ts";
import { getJobAudited } from "../../follow/view-audit.ts";
import { readLog } from "../../job/logs.ts";
import { createJsonResponse, JobRecord, redactRecord, toJobRecord } from "../../job/records.ts";
import { findRootJobId, getJob } from "../../submit/find-and-cancel.ts";

const open = "/w/{workspace}/jobs_u" as const;
const read = { domain: "jobs", action: "read" } as const;

export const getJobById = operation({
  name: "getJob",
  method: "GET",
  path: `${open}/get/{id}`,
  access: "anyone",
  scope: read,
  summary: "Read a job, queued, running or completed",
  query: z.object({ no_logs: queryBoolean.default(false), no_code: queryBoolean.default(false) }),
  responds: responds.json(JobRecord),
  run: async (ctx, { workspace, id, query }) => {
    const job = await getJobAudited(ctx, workspace, id);
    const log = query.no_logs ? undefined : await readLog(ctx.app, job);
    return redactRecord(ctx.caller, {
      ...toJobRecord(job, log, query),
      ...(await readFlowFields(ctx.app, job)),
    });
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
  run: async (ctx, { workspace, id }) => readLog(ctx.app, await getJobAudited(ctx, workspace, id)),
});

/** Existing clients expect log files in a directory per job. Here each job has one log, whatever the file name. */
const getJobLogFile = operation({
  name: "getLogFileFromStore",
  method: "GET",
  path: `${open}/get_log_file/{file_path}`,
  access: "anyone",
  scope: read,
  summary: "Read the log of a job by the path of a log file, which begins with the job's id",
  responds: responds.text("the log"),
  run: async (ctx, { workspace, file_path }) => {
    const [id = ""] = file_path.split("/", 1);
    return readLog(ctx.app, await getJobAudited(ctx, workspace, id));
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
  run: async (ctx, { workspace, id }) => createJsonResponse((await getJobAudited(ctx, workspace, id)).args),
});

const seenQuery = {
  running: queryBoolean.optional(),
  log_offset: queryInteger.min(0).default(0),
  stream_offset: queryInteger.min(0).default(0),
  no_logs: queryBoolean.default(false),
  only_result: queryBoolean.default(false),
  get_progress: queryBoolean.default(false),
};

export const getJobUpdate = operation({
  name: "getJobUpdate",
  method: "GET",
  path: `${open}/getupdate/{id}`,
  access: "anyone",
  scope: read,
  summary: "Read the updates of a job since the given offsets",
  query: z.object(seenQuery),
  responds: responds.json(JobUpdate),
  run: (ctx, { workspace, id, query }) =>
    readJobUpdate(ctx, workspace, id, { ...query, running: query.running }),
});

/** Updates are pushed as they occur, so `poll_delay_ms` is accepted and ignored. */
const StreamQuery = z.object({
  ...seenQuery,
  fast: queryBoolean.default(false),
  poll_delay_ms: queryInteger.min(0).optional(),
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
  run: (ctx, { workspace, id, query }) => streamJob(ctx, workspace, id, { ...query, running: query.running }),
});

/** The contract says `job_u`, existing clients use `jobs_u`. */
const getJobUpdateStreamContract = operation({
  ...updateStream,
  name: "getJobUpdateStreamContract",
  path: "/w/{workspace}/job_u/getupdate_sse/{id}",
  run: (ctx, { workspace, id, query }) => streamJob(ctx, workspace, id, { ...query, running: query.running }),
});

export const getRootJobId = operation({
  name: "getRootJobId",
  method: "GET",
  path: `${open}/get_root_job_id/{id}`,
  access: "anyone",
  scope: read,
  summary: "Read the id of a job's topmost ancestor: its own if it has none",
  responds: responds.json(z.string()),
  run: async (ctx, { workspace, id }) => findRootJobId(ctx.app, await getJob(ctx, workspace, id)),
});

export const getDatabaseClock = operation({
  name: "getDatabaseClock",
  method: "GET",
  path: "/jobs/db_clock",
  access: "user",
  allowsWorkspaceTokens: true,
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

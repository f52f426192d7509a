/** Starting jobs: the webhooks of scripts, and previews. */
import { z } from "zod";
import type { WorkspaceContext } from "../../context.ts";
import { flag, moment, type Operation, operation, responds, wholeNumber } from "../../http/operation.ts";
import { analyseScript, checkLock } from "../../languages/analyse.ts";
import { LANGUAGES } from "../scripts/records.ts";
import { argumentsOf } from "./arguments.ts";
import { resultResponse } from "./response-control.ts";
import {
  type RunOptions,
  resolveTarget,
  type Submission,
  scriptSubmission,
  submitJob,
  type Target,
} from "./submit.ts";
import { updateStream } from "./updates.ts";
import { submitAndWait } from "./wait.ts";

const base = "/w/{workspace}/jobs" as const;

const A_CENTURY_S = 3_155_760_000;

/** Stored and compared in lower case (RFC 9562 §4). */
const jobId = z.uuid().toLowerCase();

const runQuery = {
  parent_job: jobId.optional(),
  root_job: jobId.optional(),
  tag: z.string().optional(),
  job_id: jobId.optional(),
  timeout: wholeNumber.min(1).optional(),
  invisible_to_owner: flag.optional(),
  include_header: z.string().optional(),
  include_query: z.string().optional(),
  raw: flag.default(false),
  wrap_body: flag.default(false),
  payload: z.string().optional(),
};

const AsyncQuery = z.object({
  ...runQuery,
  scheduled_for: moment.optional(),
  scheduled_in_secs: wholeNumber.min(0).max(A_CENTURY_S).optional(),
});
const SyncQuery = z.object({ ...runQuery, error_status: flag.default(false) });

type Query = z.output<typeof AsyncQuery> | z.output<typeof SyncQuery>;

async function toSubmission(ctx: WorkspaceContext, target: Target, query: Query): Promise<Submission> {
  const deployed = await resolveTarget(ctx, target);
  const limit = ctx.app.config.max_body_mb * 1_000_000;
  const args = await argumentsOf(ctx.request, query, limit);
  return scriptSubmission(deployed, args, query);
}

async function runAsync(
  ctx: WorkspaceContext,
  target: Target,
  query: z.output<typeof AsyncQuery>,
): Promise<string> {
  const job = await submitJob(ctx, await toSubmission(ctx, target, query), query);
  return job.id;
}

async function runSync(
  ctx: WorkspaceContext,
  target: Target,
  query: z.output<typeof SyncQuery>,
): Promise<Response> {
  const end = await submitAndWait(ctx, await toSubmission(ctx, target, query), query);
  const failed = end.status === "failure" || end.status === "canceled";
  return resultResponse(end.result, { failed, errorStatus: query.error_status ? 500 : 200 });
}

async function runAndStream(
  ctx: WorkspaceContext,
  target: Target,
  query: z.output<typeof SyncQuery>,
): Promise<Response> {
  const job = await submitJob(ctx, await toSubmission(ctx, target, query), query);
  const seen = { running: undefined, log_offset: 0, stream_offset: 0, no_logs: true, only_result: true };
  return updateStream(ctx.app, job.workspace_id, job.id, { seen, limited: false });
}

const runScript = { operation: "jobs.run.script", action_kind: "Execute" } as const;
const uuid = responds.created("uuid of the job");
const result = responds.raw("application/json", "the result of the code, as its response controls say");
const stream = responds.raw("text/event-stream", "updates of the job, to its completion");

/** Scopes of runs name the script's path, which a hash does not tell: they are checked when the target is known. */
const common = { access: "member", scope: false, cors: true, ownWrites: true, audit: runScript } as const;

export const runScriptByPath = operation({
  ...common,
  name: "runScriptByPath",
  method: "POST",
  path: `${base}/run/p/{path}`,
  summary: "Start the newest version of a script; answers before it runs",
  query: AsyncQuery,
  responds: uuid,
  run: (ctx, { path, query }) => runAsync(ctx, { path }, query),
});

export const runScriptByHash = operation({
  ...common,
  name: "runScriptByHash",
  method: "POST",
  path: `${base}/run/h/{hash}`,
  summary: "Start one version of a script; answers before it runs",
  query: AsyncQuery,
  responds: uuid,
  run: (ctx, { hash, query }) => runAsync(ctx, { hash }, query),
});

export const runWaitResultByPath = operation({
  ...common,
  name: "runWaitResultByPath",
  method: "POST",
  path: `${base}/run_wait_result/p/{path}`,
  summary: "Run the newest version of a script and answer its result",
  query: SyncQuery,
  responds: result,
  run: (ctx, { path, query }) => runSync(ctx, { path }, query),
});

export const runWaitResultByPathGet = operation({
  ...common,
  name: "runWaitResultByPathGet",
  method: "GET",
  path: `${base}/run_wait_result/p/{path}`,
  summary: "Run the newest version of a script with a base64 payload and answer its result",
  query: SyncQuery,
  responds: result,
  run: (ctx, { path, query }) => runSync(ctx, { path }, query),
});

export const runWaitResultByHash = operation({
  ...common,
  name: "runWaitResultByHash",
  method: "POST",
  path: `${base}/run_wait_result/h/{hash}`,
  summary: "Run one version of a script and answer its result",
  query: SyncQuery,
  responds: result,
  run: (ctx, { hash, query }) => runSync(ctx, { hash }, query),
});

export const runWaitResultByHashGet = operation({
  ...common,
  name: "runWaitResultByHashGet",
  method: "GET",
  path: `${base}/run_wait_result/h/{hash}`,
  summary: "Run one version of a script with a base64 payload and answer its result",
  query: SyncQuery,
  responds: result,
  run: (ctx, { hash, query }) => runSync(ctx, { hash }, query),
});

export const runAndStreamByPath = operation({
  ...common,
  name: "runAndStreamByPath",
  method: "POST",
  path: `${base}/run_and_stream/p/{path}`,
  summary: "Run the newest version of a script and stream its updates",
  query: SyncQuery,
  responds: stream,
  run: (ctx, { path, query }) => runAndStream(ctx, { path }, query),
});

export const runAndStreamByPathGet = operation({
  ...common,
  name: "runAndStreamByPathGet",
  method: "GET",
  path: `${base}/run_and_stream/p/{path}`,
  summary: "Run the newest version of a script with a base64 payload and stream its updates",
  query: SyncQuery,
  responds: stream,
  run: (ctx, { path, query }) => runAndStream(ctx, { path }, query),
});

export const runAndStreamByHash = operation({
  ...common,
  name: "runAndStreamByHash",
  method: "POST",
  path: `${base}/run_and_stream/h/{hash}`,
  summary: "Run one version of a script and stream its updates",
  query: SyncQuery,
  responds: stream,
  run: (ctx, { hash, query }) => runAndStream(ctx, { hash }, query),
});

export const runAndStreamByHashGet = operation({
  ...common,
  name: "runAndStreamByHashGet",
  method: "GET",
  path: `${base}/run_and_stream/h/{hash}`,
  summary: "Run one version of a script with a base64 payload and stream its updates",
  query: SyncQuery,
  responds: stream,
  run: (ctx, { hash, query }) => runAndStream(ctx, { hash }, query),
});

const Preview = z.object({
  args: z.record(z.string(), z.unknown()).default({}),
  content: z.string(),
  path: z.string().nullish(),
  language: z.enum(LANGUAGES).default("bun"),
  tag: z.string().nullish(),
  lock: z.string().nullish(),
});

const previewQuery = {
  scheduled_for: moment.optional(),
  job_id: jobId.optional(),
  tag: z.string().optional(),
  timeout: wholeNumber.min(1).optional(),
  invisible_to_owner: flag.optional(),
};

async function previewSubmission(
  preview: z.output<typeof Preview>,
  options: RunOptions,
): Promise<Submission> {
  // Refuses a syntax error, and a lock that is none, before there is a job.
  await analyseScript(preview.language, preview.content);
  if (preview.lock) await checkLock(preview.language, preview.lock);
  return {
    kind: "preview",
    script_path: preview.path ?? undefined,
    script_hash: undefined,
    language: preview.language,
    tag: options.tag ?? preview.tag ?? preview.language,
    priority: 0,
    timeout_s: options.timeout,
    raw_code: preview.content,
    raw_lock: preview.lock ?? undefined,
    args: JSON.stringify(preview.args),
    visible_to_owner: !options.invisible_to_owner,
  };
}

const previewCommon = {
  access: "author",
  scope: { domain: "jobs", action: "run" },
  audit: { operation: "jobs.run.preview", action_kind: "Execute" },
} as const;

export const runPreview = operation({
  ...previewCommon,
  name: "runPreview",
  method: "POST",
  path: `${base}/run/preview`,
  summary: "Run code that is not deployed; answers before it runs",
  query: z.object(previewQuery),
  body: Preview,
  responds: uuid,
  run: async (ctx, { body, query }) => (await submitJob(ctx, await previewSubmission(body, query), query)).id,
});

export const runWaitResultPreview = operation({
  ...previewCommon,
  name: "runWaitResultPreview",
  method: "POST",
  path: `${base}/run_wait_result/preview`,
  summary: "Run code that is not deployed and answer its result",
  query: z.object(previewQuery),
  body: Preview,
  responds: result,
  run: async (ctx, { body, query }) => {
    const end = await submitAndWait(ctx, await previewSubmission(body, query), query);
    return resultResponse(end.result, { failed: end.status !== "success", errorStatus: 200 });
  },
});

export const runOperations: Operation[] = [
  runScriptByPath,
  runScriptByHash,
  runWaitResultByPath,
  runWaitResultByPathGet,
  runWaitResultByHash,
  runWaitResultByHashGet,
  runAndStreamByPath,
  runAndStreamByPathGet,
  runAndStreamByHash,
  runAndStreamByHashGet,
  runPreview,
  runWaitResultPreview,
];

/** The webhooks of scripts and flows. */
import { z } from "zod";
import type { ParameterBinding } from "../../../../engines/languages/types.ts";
import type { Audit, WorkspaceContext } from "../../../../platform/app/context.ts";
import {
  alsoAt,
  flag,
  moment,
  type Operation,
  operation,
  responds,
  seconds,
  wholeNumber,
} from "../../../../platform/http/operation.ts";
import { argumentsOf, type Source } from "../../arguments/arguments.ts";
import { inputAsSent } from "../../arguments/caller-references.ts";
import { discardUploads } from "../../arguments/form-data.ts";
import { preprocessedArguments } from "../../arguments/preprocessor-input.ts";
import { errorStatusOf, resultResponse } from "../../follow/response-control.ts";
import { submitAndStream } from "../../follow/stream-answers.ts";
import { idempotencyKey, submitOnce } from "../../submit/idempotency.ts";
import { verifiedRequest } from "../../submit/signatures.ts";
import { runnableSubmission, type Submission } from "../../submit/submission.ts";
import { RUN_FLOW, refuseBeyond, submitJob } from "../../submit/submit.ts";
import { preprocessorOf, resolveTarget, type Target } from "../../submit/target.ts";
import { refuseWhenFull, submitAndWait } from "../../submit/wait.ts";

const base = "/w/{workspace}/jobs" as const;

/** Stored and compared in lower case (RFC 9562 §4). */
export const jobId = z.uuid().toLowerCase();

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
  skip_preprocessor: flag.default(false),
  payload: z.string().optional(),
  cache_ttl: wholeNumber.min(0).optional(),
};

export const AsyncQuery = z.object({
  ...runQuery,
  scheduled_for: moment.optional(),
  scheduled_in_secs: seconds.optional(),
});
const SyncQuery = z.object({
  ...runQuery,
  error_status: flag.optional(),
  queue_limit: wholeNumber.min(0).optional(),
});

type AsyncQuery = z.output<typeof AsyncQuery>;
type SyncQuery = z.output<typeof SyncQuery>;
type Query = AsyncQuery | SyncQuery;

/** What the caller asks for; a synchronous call alone can have nothing of it stored. */
async function toSubmission(
  ctx: WorkspaceContext,
  target: Target,
  query: Query,
  { sync }: { sync: boolean } = { sync: false },
): Promise<Submission> {
  const found = await resolveTarget(ctx, target);
  const limit = ctx.app.settings.get("request_size_limit_mb") * 1_000_000;
  const rule = found.kind === "script" ? found.script.signature : undefined;
  const { workspace_id } = ctx.caller.member;
  const request = rule
    ? await verifiedRequest(ctx.app, ctx.request, { workspace_id, rule, limit })
    : ctx.request;
  const made = await readArguments({ ctx, request, limit }, query, preprocessorOf(found));
  try {
    const submission = await runnableSubmission(ctx, found, made.args, query);
    const input = made.preprocessor_input;
    submission.preprocessor_input = input && (await inputAsSent(ctx, submission.runs_as, input));
    if (!sync) submission.delete_after_use = false;
    return submission;
  } catch (error) {
    await discardUploads(ctx.request);
    throw error;
  }
}

async function readArguments(
  source: Source,
  query: Query,
  preprocessor: ParameterBinding[] | undefined,
): Promise<{ args: string; preprocessor_input?: string }> {
  if (preprocessor && !query.skip_preprocessor) return preprocessedArguments(source, query, preprocessor);
  return { args: await argumentsOf(source, query) };
}

/** Starts a job, or finds the one that the request's idempotency key stands for. @returns its id */
async function start(ctx: WorkspaceContext, target: Target, query: Query): Promise<string> {
  const key = idempotencyKey(ctx.request);
  const submission = await toSubmission(ctx, target, query);
  if (key === undefined) return (await submitJob(ctx, submission, query)).id;
  return (await submitOnce(ctx, key, submission, query)).id;
}

async function runSync(ctx: WorkspaceContext, target: Target, query: SyncQuery): Promise<Response> {
  const key = idempotencyKey(ctx.request);
  refuseWhenFull(ctx.app);
  const most = ctx.app.config.queue_limit || query.queue_limit;
  if (most !== undefined) await refuseBeyond(ctx, most);
  const submission = await toSubmission(ctx, target, query, { sync: true });
  const end = await submitAndWait(ctx, submission, query, key);
  const failed = end.status === "failure" || end.status === "canceled";
  return resultResponse(end.result, { failed, errorStatus: errorStatusOf(ctx.app, query.error_status) });
}

async function runAndStream(ctx: WorkspaceContext, target: Target, query: SyncQuery): Promise<Response> {
  const key = idempotencyKey(ctx.request);
  return submitAndStream(ctx, await toSubmission(ctx, target, query), query, key);
}

const RUN_SCRIPT = { operation: "jobs.run.script", action_kind: "Execute" } as const;
const uuid = responds.created("uuid of the job");
const result = responds.raw("application/json", "the result of the code, as its response controls say");
const stream = responds.raw("text/event-stream", "updates of the job, to its completion");

/** Scopes of runs name the runnable's path, which a hash does not tell: they are checked when the target is known. */
const common = { access: "member", scope: false, cors: true, ownWrites: true } as const;

/** Whatever arguments.ts reads: by default the arguments, by name. */
const posted = {
  reads: {
    "application/json": z.record(z.string(), z.unknown()),
    "application/x-www-form-urlencoded": z.record(z.string(), z.unknown()),
    "multipart/form-data": z.record(z.string(), z.unknown()),
    "text/plain": z.string(),
  },
} as const;

/** What is said of a target: where it stands in the URL, and in summaries. */
interface Form<S extends string> {
  segment: S;
  /** Part of the operations' names. */
  name: string;
  what: string;
  audit: Audit;
  target: (input: Record<string, string>) => Target;
}

/** The run operations of one form of target: asynchronous, synchronous and streaming, by POST and by GET. */
function runForms<const S extends string>({ segment, name, what, audit, target }: Form<S>) {
  const targetOf = (input: object) => target(input as Record<string, string>);
  const sync = {
    ...common,
    audit,
    path: `${base}/run_wait_result/${segment}`,
    query: SyncQuery,
    responds: result,
    run: (ctx: WorkspaceContext, input: { query: SyncQuery }) => runSync(ctx, targetOf(input), input.query),
  } as const;
  const streaming = {
    ...common,
    audit,
    path: `${base}/run_and_stream/${segment}`,
    query: SyncQuery,
    responds: stream,
    run: (ctx: WorkspaceContext, input: { query: SyncQuery }) =>
      runAndStream(ctx, targetOf(input), input.query),
  } as const;
  return {
    async: operation({
      ...common,
      audit,
      name: `run${name}`,
      method: "POST",
      ...posted,
      path: `${base}/run/${segment}`,
      summary: `Start ${what}; answers before it runs`,
      query: AsyncQuery,
      responds: uuid,
      run: (ctx, input) => start(ctx, targetOf(input), input.query as AsyncQuery),
    }),
    sync: operation({
      ...sync,
      name: `runWaitResult${name}`,
      method: "POST",
      ...posted,
      summary: `Run ${what} and answer its result`,
    }),
    syncGet: operation({
      ...sync,
      name: `runWaitResult${name}Get`,
      method: "GET",
      cookie: "ignored",
      summary: `Run ${what} with a base64 payload and answer its result`,
    }),
    stream: operation({
      ...streaming,
      name: `runAndStream${name}`,
      method: "POST",
      ...posted,
      summary: `Run ${what} and stream its updates`,
    }),
    streamGet: operation({
      ...streaming,
      name: `runAndStream${name}Get`,
      method: "GET",
      cookie: "ignored",
      summary: `Run ${what} with a base64 payload and stream its updates`,
    }),
  };
}

const scriptByPath = {
  segment: "p/{path}",
  name: "ScriptByPath",
  what: "the newest version of a script, or else of a flow,",
  audit: RUN_SCRIPT,
  target: ({ path }) => ({ path: path! }),
} as const satisfies Form<string>;
const scriptByHash = {
  segment: "h/{hash}",
  name: "ScriptByHash",
  what: "one version of a script",
  audit: RUN_SCRIPT,
  target: ({ hash }) => ({ hash: hash! }),
} as const satisfies Form<string>;
const flowByPath = {
  segment: "f/{path}",
  name: "FlowByPath",
  what: "the newest version of a flow",
  audit: RUN_FLOW,
  target: ({ path }) => ({ flow: path! }),
} as const satisfies Form<string>;
const flowByVersion = {
  segment: "fv/{version}",
  name: "FlowByVersion",
  what: "one version of a flow",
  audit: RUN_FLOW,
  target: ({ version }) => ({ flow_version: version! }),
} as const satisfies Form<string>;

const runScripts = runForms(scriptByPath);
export const runScriptByPath = runScripts.async;
const runFlows = runForms(flowByPath);
export const runFlowByPath = runFlows.async;

/** The synchronous call under the names that the listing of runnables gives to AI products. */
function aiSync<const S extends string>({ segment, name, what, audit, target }: Form<S>): Operation[] {
  const sync = operation({
    ...common,
    audit,
    name: `aiSync${name}`,
    method: "POST",
    ...posted,
    path: `${base}/ai_sync/${segment}`,
    summary: `Run ${what} for an AI product and answer its result`,
    query: SyncQuery,
    responds: result,
    run: (ctx, input) =>
      runSync(ctx, target(input as unknown as Record<string, string>), input.query as SyncQuery),
  });
  const path = `${base}/openai_sync/${segment}`;
  return [sync, alsoAt(sync, { name: `openaiSync${name}`, path })];
}

export const runOperations: Operation[] = [
  ...Object.values(runScripts),
  ...Object.values(runForms(scriptByHash)),
  ...Object.values(runFlows),
  ...Object.values(runForms(flowByVersion)),
  ...aiSync(scriptByPath),
  ...aiSync(flowByPath),
];

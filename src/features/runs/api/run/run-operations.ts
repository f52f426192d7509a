/** Webhooks that run deployed scripts and flows. */
import * as z from "../../../../lib/zod/z.ts";
import type { AuditedAction, WorkspaceContext } from "../../../../platform/app/context.ts";
import {
  aliasOperation,
  isoTimestamp,
  type Operation,
  operation,
  queryBoolean,
  queryInteger,
  querySeconds,
  responds,
} from "../../../../platform/http/operation.ts";
import { readRequestArguments } from "../../arguments/arguments.ts";
import { escapePreprocessorInput } from "../../arguments/caller-references.ts";
import { discardUploads } from "../../arguments/form-data.ts";
import { readPreprocessorArguments } from "../../arguments/preprocessor-input.ts";
import { createResultResponse, getErrorStatus } from "../../follow/response-control.ts";
import { submitAndStream } from "../../follow/stream-responses.ts";
import { parseIdempotencyKey, submitIdempotently } from "../../submit/idempotency.ts";
import { verifySignature } from "../../submit/signatures.ts";
import { createSubmission, type Submission } from "../../submit/submission.ts";
import { RUN_FLOW_AUDIT, requireQueueBelow, submitJob } from "../../submit/submit.ts";
import { awaitTarget, findPreprocessorParameters, type RelockTarget } from "../../submit/target.ts";
import { requireWaitCapacity, submitAndWait } from "../../submit/wait.ts";

const base = "/w/{workspace}/jobs" as const;

/** A job id, in lower case as it is stored (RFC 9562 §4). */
export const jobIdSchema = z.uuid().toLowerCase();

const runQuery = {
  parent_job: jobIdSchema.optional(),
  root_job: jobIdSchema.optional(),
  tag: z.string().optional(),
  job_id: jobIdSchema.optional(),
  timeout: queryInteger.min(1).optional(),
  invisible_to_owner: queryBoolean.optional(),
  include_header: z.string().optional(),
  include_query: z.string().optional(),
  raw: queryBoolean.default(false),
  wrap_body: queryBoolean.default(false),
  skip_preprocessor: queryBoolean.default(false),
  payload: z.string().optional(),
  cache_ttl: queryInteger.min(0).optional(),
};

export const AsyncQuery = z.object({
  ...runQuery,
  scheduled_for: isoTimestamp.optional(),
  scheduled_in_secs: querySeconds.optional(),
});
const SyncRunQuery = z.object({
  ...runQuery,
  error_status: queryBoolean.optional(),
  queue_limit: queryInteger.min(0).optional(),
});

type AsyncRunQuery = z.output<typeof AsyncQuery>;
type SyncRunQuery = z.output<typeof SyncRunQuery>;
type RunQuery = AsyncRunQuery | SyncRunQuery;

/** Reads a submission from the request. Only synchronous calls support `delete_after_use`. */
async function readSubmission(
  ctx: WorkspaceContext,
  target: RelockTarget,
  query: RunQuery,
  { sync }: { sync: boolean } = { sync: false },
): Promise<Submission> {
  const awaited = awaitTarget(ctx, target);
  const found = awaited instanceof Promise ? await awaited : awaited;
  const limit = ctx.app.settings.get("request_size_limit_mb") * 1_000_000;
  const rule = found.kind === "script" ? found.script.signature : undefined;
  const { workspace_id } = ctx.caller.member;
  const request = rule
    ? await verifySignature(ctx.app, ctx.request, { workspace_id, rule, limit })
    : ctx.request;
  const source = { ctx, request, limit };
  const preprocessor = query.skip_preprocessor ? undefined : findPreprocessorParameters(found);
  const made = preprocessor
    ? await readPreprocessorArguments(source, query, preprocessor)
    : { args: await readRequestArguments(source, query), preprocessor_input: undefined };
  try {
    const input = made.preprocessor_input;
    const has_preprocessor_input = input !== undefined;
    const creating = createSubmission(ctx, found, made.args, { ...query, has_preprocessor_input });
    const submission = creating instanceof Promise ? await creating : creating;
    submission.preprocessor_input = input && (await escapePreprocessorInput(ctx, submission.runs_as, input));
    if (!sync) submission.delete_after_use = false;
    return submission;
  } catch (error) {
    await discardUploads(ctx.request);
    throw error;
  }
}

/** Starts a job, or finds the one of the request's idempotency key. @returns its id */
async function startJob(ctx: WorkspaceContext, target: RelockTarget, query: RunQuery): Promise<string> {
  const key = parseIdempotencyKey(ctx.request);
  const submission = await readSubmission(ctx, target, query);
  if (key === undefined) return (await submitJob(ctx, submission, query)).id;
  return (await submitIdempotently(ctx, key, submission, query)).id;
}

async function runAndWait(
  ctx: WorkspaceContext,
  target: RelockTarget,
  query: SyncRunQuery,
): Promise<Response> {
  const key = parseIdempotencyKey(ctx.request);
  requireWaitCapacity(ctx.app);
  const limit = ctx.app.config.queue_limit || query.queue_limit;
  if (limit !== undefined) await requireQueueBelow(ctx, limit);
  const submission = await readSubmission(ctx, target, query, { sync: true });
  const end = await submitAndWait(ctx, submission, query, key);
  const failed = end.status === "failure" || end.status === "canceled";
  return createResultResponse(end.result, {
    failed,
    errorStatus: getErrorStatus(ctx.app, query.error_status),
  });
}

async function runAndStream(
  ctx: WorkspaceContext,
  target: RelockTarget,
  query: SyncRunQuery,
): Promise<Response> {
  const key = parseIdempotencyKey(ctx.request);
  return submitAndStream(ctx, await readSubmission(ctx, target, query), query, key);
}

const RUN_SCRIPT_AUDIT = { operation: "jobs.run.script", action_kind: "Execute" } as const;
const uuid = responds.created("uuid of the job");
const result = responds.raw("application/json", "the result of the code, as its response controls say");
const stream = responds.raw("text/event-stream", "updates of the job, to its completion");

/** A run's scope names a path, which is unknown for a hash: it is checked when the target is resolved. */
const common = { access: "member", scope: false, cors: true, skipsReadBarrier: true } as const;

/** Bodies that arguments/arguments.ts reads: by default the arguments by name. */
const POST_BODIES = {
  reads: {
    "application/json": z.record(z.string(), z.unknown()),
    "application/x-www-form-urlencoded": z.record(z.string(), z.unknown()),
    "multipart/form-data": z.record(z.string(), z.unknown()),
    "text/plain": z.string(),
  },
} as const;

/** A form of target: its URL segment, and its words in names and summaries. */
interface TargetForm<S extends string> {
  segment: S;
  /** Part of the operations' names. */
  name: string;
  what: string;
  audit: AuditedAction;
  target: (input: Record<string, string>) => RelockTarget;
}

/** Creates the run operations of one target form: asynchronous, synchronous and streaming, by POST and by GET. */
function createRunOperations<const S extends string>({ segment, name, what, audit, target }: TargetForm<S>) {
  const targetOf = (input: object) => target(input as Record<string, string>);
  const sync = {
    ...common,
    audit,
    path: `${base}/run_wait_result/${segment}`,
    query: SyncRunQuery,
    responds: result,
    run: (ctx: WorkspaceContext, input: { query: SyncRunQuery }) =>
      runAndWait(ctx, targetOf(input), input.query),
  } as const;
  const streaming = {
    ...common,
    audit,
    path: `${base}/run_and_stream/${segment}`,
    query: SyncRunQuery,
    responds: stream,
    run: (ctx: WorkspaceContext, input: { query: SyncRunQuery }) =>
      runAndStream(ctx, targetOf(input), input.query),
  } as const;
  return {
    async: operation({
      ...common,
      audit,
      name: `run${name}`,
      method: "POST",
      ...POST_BODIES,
      path: `${base}/run/${segment}`,
      summary: `Start ${what}; answers before it runs`,
      query: AsyncQuery,
      responds: uuid,
      run: (ctx, input) => startJob(ctx, targetOf(input), input.query as AsyncRunQuery),
    }),
    sync: operation({
      ...sync,
      name: `runWaitResult${name}`,
      method: "POST",
      ...POST_BODIES,
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
      ...POST_BODIES,
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
  audit: RUN_SCRIPT_AUDIT,
  target: ({ path }) => ({ path: path! }),
} as const satisfies TargetForm<string>;
const scriptByHash = {
  segment: "h/{hash}",
  name: "ScriptByHash",
  what: "one version of a script",
  audit: RUN_SCRIPT_AUDIT,
  target: ({ hash }) => ({ hash: hash! }),
} as const satisfies TargetForm<string>;
const flowByPath = {
  segment: "f/{path}",
  name: "FlowByPath",
  what: "the newest version of a flow",
  audit: RUN_FLOW_AUDIT,
  target: ({ path }) => ({ flow: path! }),
} as const satisfies TargetForm<string>;
const flowByVersion = {
  segment: "fv/{version}",
  name: "FlowByVersion",
  what: "one version of a flow",
  audit: RUN_FLOW_AUDIT,
  target: ({ version }) => ({ flow_version: version! }),
} as const satisfies TargetForm<string>;

const runScripts = createRunOperations(scriptByPath);
export const runScriptByPath = runScripts.async;
const runFlows = createRunOperations(flowByPath);
export const runFlowByPath = runFlows.async;

/** Creates the synchronous operation under the names that the list of runnables gives to AI products. */
function createAiOperations<const S extends string>({
  segment,
  name,
  what,
  audit,
  target,
}: TargetForm<S>): Operation[] {
  const sync = operation({
    ...common,
    audit,
    name: `aiSync${name}`,
    method: "POST",
    ...POST_BODIES,
    path: `${base}/ai_sync/${segment}`,
    summary: `Run ${what} for an AI product and answer its result`,
    query: SyncRunQuery,
    responds: result,
    run: (ctx, input) =>
      runAndWait(ctx, target(input as unknown as Record<string, string>), input.query as SyncRunQuery),
  });
  const path = `${base}/openai_sync/${segment}`;
  return [sync, aliasOperation(sync, { name: `openaiSync${name}`, path })];
}

export const runOperations: Operation[] = [
  ...Object.values(runScripts),
  ...Object.values(createRunOperations(scriptByHash)),
  ...Object.values(runFlows),
  ...Object.values(createRunOperations(flowByVersion)),
  ...createAiOperations(scriptByPath),
  ...createAiOperations(flowByPath),
];

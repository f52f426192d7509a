/** Runs one job, from claimed to completed. */
import { and, eq } from "drizzle-orm";
import { isOutage } from "../../../database/failure.ts";
import type { RunOutcome, RunRequest } from "../../../engines/runner/types.ts";
import { computeBackoffMs } from "../../../lib/async/retry.ts";
import { type StopRequest, sleep } from "../../../lib/async/sleep.ts";
import { SvcError } from "../../../lib/errors.ts";
import { parseJson } from "../../../lib/json/json.ts";
import type { App } from "../../../platform/app/context.ts";
import { OUTAGE_BACKOFF, retryOnOutage } from "../../../platform/loops/retry-on-outage.ts";
import { deleteOutput } from "../../../platform/queue/job-store.ts";
import { getLogFields } from "../../../platform/queue/log-fields.ts";
import { isFrame } from "../../../platform/queue/states.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { getWorkspaceEnvironment } from "../../tenancy/workspaces/environment.ts";
import { getQueuedJobPolicy } from "../../tenancy/workspaces/gate.ts";
import { escapeComputedReferences } from "../arguments/computed-references.ts";
import { applyPinnedArguments, mayContainReferences, resolveReferences } from "../arguments/references.ts";
import { startClaimedFlow } from "../flows/flow-events.ts";
import { findFlowPlace } from "../flows/status/flow-place.ts";
import { readControlledOutcome } from "../follow/response-control.ts";
import { findCachedResult, storeCachedResult } from "../job/cached-results.ts";
import { createCanceledResult } from "../job/canceled.ts";
import { decodeEntrypoint, removeEntrypointArgument, selectEntrypoint } from "../job/entrypoints.ts";
import { addCustomVariables, createJobEnvironment } from "../job/environment.ts";
import { completeWithRetry } from "./complete-with-retry.ts";
import { resolveDependencies } from "./dependencies/resolve-dependencies.ts";
import { resolveFlowDependencies } from "./dependencies/resolve-flow-dependencies.ts";
import { createOutputWriter, type OutputWriter } from "./job-output.ts";
import type { JobSlot } from "./job-slot.ts";
import { loadVersion, toPreprocessorVersion } from "./load-version.ts";
import { createFailure, isDependencyJob, type JobOutcome } from "./outcome.ts";

/** Abort reason when the server stops or sheds load: the job returns to the queue. Any other reason cancels it. */
export const RELEASED = "released";

/** Runs a job that is stored as running under this worker's name, and stores its outcome. */
export async function runJob(app: App, job: Job, stop: StopRequest, slot: JobSlot): Promise<void> {
  const output = createOutputWriter(app, job);
  try {
    // A queued job is claimed even if its workspace was closed meanwhile.
    const fate = getQueuedJobPolicy(app, job.workspace_id);
    let outcome = fate
      ? await outcomeOfClosedWorkspace(app, job, fate)
      : await attemptRun(app, job, stop, output, slot);
    slot.end();
    const stopping = output.stop();
    if (stopping) await stopping;
    if (outcome === "released" && job.delete_after_use) outcome = await readCanceledOutcome(app, job);
    if (outcome === "released") await requeueJob(app, job, output);
    else if (outcome !== "begun") await completeWithRetry(app, job, outcome, output);
  } finally {
    output.close();
  }
}

async function outcomeOfClosedWorkspace(
  app: App,
  job: Job,
  fate: "canceled" | "held",
): Promise<JobOutcome | "released"> {
  if (fate === "held" && job.flow_step_id === null && !job.cancel_requested) return "released";
  return readCanceledOutcome(app, job);
}

/** Prepares a run. @returns the request for its process, or the outcome of a job that needs no process */
async function prepareRun(
  app: App,
  job: Job,
  stop: StopRequest,
  output: OutputWriter,
  slot: JobSlot,
): Promise<RunRequest | JobOutcome | "begun"> {
  // The flow that waits for the job requested its cancellation while it was queued.
  if (job.cancel_requested) return readCanceledOutcome(app, job);
  if (isDependencyJob(job)) {
    const resolve = job.kind === "dependencies" ? resolveDependencies : resolveFlowDependencies;
    const takeBack = slot.yield();
    return resolve(app, job, output, stop.signal).finally(takeBack);
  }
  if (isFrame(job.kind)) return (await startClaimedFlow(app, job)) ? "begun" : readCanceledOutcome(app, job);
  if (job.kind === "identity") return { status: "success", result: job.args };
  if (job.kind === "noop") return { status: "success", result: "null" };
  const cached = job.cache_ttl ? await findCachedResult(app, job) : undefined;
  if (cached !== undefined) {
    output.log("the result was taken from the cache: the same code has run with these arguments\n");
    return { status: "success", result: cached };
  }
  const place = job.flow_step_id === null ? undefined : await findFlowPlace(app, job);
  if (place?.stream_job) await forwardStream(app, job, place.stream_job, output);
  // A flow's preprocessor is a separate step. A script's runs before main.
  const isPreprocessor = job.flow_step_id === "preprocessor";
  const loading = loadVersion(app, job, { stop, output, slot });
  const code = loading instanceof Promise ? await loading : loading;
  const version = isPreprocessor ? toPreprocessorVersion(code) : code;
  const entrypoint = decodeEntrypoint(job);
  const asked = getWorkspaceEnvironment(app, job.workspace_id);
  const custom = asked instanceof Promise ? await asked : asked;
  const args = (isPreprocessor ? job.preprocessor_input : null) ?? job.args;
  const own = entrypoint === undefined ? args : removeEntrypointArgument(args);
  const given = applyPinnedArguments(own, version.parameters);
  // A preprocessor gets its input unchanged. The arguments it returns are stored and may contain references.
  const isRaw = job.preprocessor_input !== null || isPreprocessor;
  const plain =
    !isRaw && mayContainReferences(given) ? await resolveReferences(app, job, given, place) : undefined;
  return {
    job_id: job.id,
    version: entrypoint === undefined ? version : await selectEntrypoint(version, entrypoint),
    entrypoint: entrypoint ?? (isPreprocessor ? "preprocessor" : "main"),
    permissioned_as: job.permissioned_as,
    email: job.email,
    started_by: job.started_by ?? undefined,
    has_parent: job.parent_job !== null || job.root_job !== null,
    args: plain?.args ?? given,
    secrets: plain?.secrets,
    token_placeholder: plain?.token_placeholder,
    preprocessor_input: (isPreprocessor ? null : job.preprocessor_input) ?? undefined,
    resolveReferences: (args) =>
      retryOnOutage(
        app,
        getLogFields(job),
        async () =>
          resolveReferences(app, job, await escapePreprocessed(app, job, code.content, args), place),
        stop,
      ),
    environment: addCustomVariables(createJobEnvironment(app, job, place), custom, version.envs),
    variant: custom.id,
    shared: place?.sharesFolder ? (job.root_job ?? undefined) : undefined,
    timeout_ms:
      Math.min(job.timeout_s ?? app.settings.get("job_default_timeout"), app.config.max_timeout_s) * 1000,
    onBuild: slot.yield,
    onLog: output.log,
    onStream: output.stream,
  };
}

/** Makes literals of the texts in a preprocessor's result that look like references, but are data of the request. */
async function escapePreprocessed(app: App, job: Job, source: string, args: string): Promise<string> {
  if (!mayContainReferences(args)) return args;
  const given = () => [parseJson(job.preprocessor_input ?? "null")];
  const made = await escapeComputedReferences(app, job, parseJson(args), { source, given, data: given });
  return JSON.stringify(made);
}

/** Prepares and runs a job. Errors before its code runs are retried if they are transient. */
async function attemptRun(
  app: App,
  job: Job,
  stop: StopRequest,
  output: OutputWriter,
  slot: JobSlot,
): Promise<JobOutcome | "released" | "begun"> {
  try {
    const ready = await prepareRun(app, job, stop, output, slot).catch((cause) => {
      if (stop.aborted || !isOutage(cause)) throw cause;
      const prepareAgain = () => prepareRun(app, job, stop, output, slot);
      return retryOnOutage(app, getLogFields(job), prepareAgain, stop);
    });
    if (isDependencyJob(job) && stop.aborted) return await abortedOutcome(app, job, stop);
    if (ready === "begun" || "status" in ready) return ready;
    const staysHere = job.delete_after_use || ready.shared !== undefined;
    const outcome = await (staysHere ? runHere(app, ready, stop) : app.runner.run(ready, stop));
    if (outcome.kind === "success" && !output.hasStreamed())
      return createSuccess(app, job, outcome, outcome.result);
    return await retryOnOutage(app, getLogFields(job), () => toJobOutcome(app, job, outcome, output, stop));
  } catch (error) {
    if (stop.aborted) return abortedOutcome(app, job, stop);
    if (!(error instanceof SvcError))
      app.log.error({ ...getLogFields(job), error: String(error) }, "a job failed inside the server");
    const message =
      error instanceof SvcError ? error.message : "the server could not run the job; its log says more";
    return createFailure({ name: error instanceof SvcError ? error.name : "InternalErr", message });
  }
}

/** Runs a job that must run on this machine: it waits here until a process can be started. */
async function runHere(app: App, request: RunRequest, stop: StopRequest): Promise<RunOutcome> {
  for (let postponed = 1; ; postponed++) {
    const outcome = await app.runner.run(request, stop);
    if (outcome.kind !== "postponed") return outcome;
    await sleep(computeBackoffMs(OUTAGE_BACKOFF, postponed), stop.signal);
    if (stop.aborted) return { kind: "canceled" };
  }
}

/** Forwards the stream of a flow's last step to the flow's job, from its beginning. */
async function forwardStream(app: App, job: Job, flow_job: string, output: OutputWriter): Promise<void> {
  if (job.attempts + job.losses > 0) await app.db.write((tx) => deleteOutput(tx, [flow_job]));
  output.forwardStream(flow_job);
}

/** Returns the outcome of a successful run. @param result the result, merged with the stream */
function createSuccess(
  app: App,
  job: Job,
  { mem_peak_kb, preprocessed_args }: Extract<RunOutcome, { kind: "success" }>,
  result: string,
): JobOutcome {
  const { failed, fault } = readControlledOutcome(result);
  const ran = { mem_peak_kb, preprocessed_args };
  if (fault !== undefined) return { ...createFailure({ name: "InvalidControlKey", message: fault }), ...ran };
  return {
    status: failed ? "failure" : "success",
    result,
    ...ran,
    inTransaction: job.cache_ttl && !failed ? (tx) => storeCachedResult(app, tx, job, result) : undefined,
  };
}

async function toJobOutcome(
  app: App,
  job: Job,
  outcome: RunOutcome,
  output: OutputWriter,
  stop: StopRequest,
): Promise<JobOutcome | "released"> {
  switch (outcome.kind) {
    case "success":
      return createSuccess(app, job, outcome, await output.resultWithStream(outcome.result));
    case "failure":
      return {
        ...createFailure(outcome.error),
        mem_peak_kb: outcome.mem_peak_kb,
        preprocessed_args: outcome.preprocessed_args,
      };
    case "canceled":
      return abortedOutcome(app, job, stop);
    case "released":
    case "postponed":
      return "released";
  }
}

async function abortedOutcome(app: App, job: Job, stop: StopRequest): Promise<JobOutcome | "released"> {
  return stop.reason === RELEASED ? "released" : readCanceledOutcome(app, job);
}

async function readCanceledOutcome(app: App, job: Job): Promise<JobOutcome> {
  const [row] = await retryOnOutage(app, getLogFields(job), async () =>
    app.db.read
      .select({ by: jobs.canceled_by, reason: jobs.canceled_reason })
      .from(jobs)
      .where(eq(jobs.id, job.id)),
  );
  return {
    status: "canceled",
    result: createCanceledResult(row?.reason ?? "canceled", row?.by ?? "the server"),
  };
}

/**
 * Returns the job to the queue. While the server accepts jobs, outages are retried; at shutdown a failure is left to
 * the rescuer.
 */
async function requeueJob(app: App, job: Job, output: OutputWriter): Promise<void> {
  const put = () =>
    app.db.write(async (tx) => {
      const isHeld = getQueuedJobPolicy(app, job.workspace_id) === "held";
      const state = isHeld ? "held" : "queued";
      const [released] = await tx
        .update(jobs)
        .set({ state, worker: null, started_at: null, last_ping: null, begun: false })
        .where(and(eq(jobs.id, job.id), eq(jobs.state, "running"), eq(jobs.worker, app.queue.worker)))
        .returning({ id: jobs.id });
      if (!released) return;
      await deleteOutput(tx, output.jobIds());
      tx.afterCommit(app.queue.wake);
    });
  if (app.acceptsJobs) await retryOnOutage(app, getLogFields(job), put);
  else await put();
}

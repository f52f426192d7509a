/** One job from running to completed. */
import { and, eq } from "drizzle-orm";
import { requireRuntime } from "../../../engines/languages/languages.ts";
import { analyseScript } from "../../../engines/languages/reading/analyse.ts";
import type { Language } from "../../../engines/languages/types.ts";
import type { RunnableVersion, RunOutcome, RunRequest } from "../../../engines/runner/types.ts";
import { backoffMs } from "../../../lib/async/retry.ts";
import { sleep } from "../../../lib/async/sleep.ts";
import { SvcError } from "../../../lib/errors.ts";
import { sha256 } from "../../../lib/text/ids.ts";
import type { App } from "../../../platform/app/context.ts";
import { OUTAGE_BACKOFF, throughOutage } from "../../../platform/loops/retry-on-outage.ts";
import { forgetOutput } from "../../../platform/queue/job-store.ts";
import { aboutJob } from "../../../platform/queue/log-fields.ts";
import { isFrame } from "../../../platform/queue/states.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { loadImports, resolveImports } from "../../code/scripts/imports/imports.ts";
import { deployedByHash } from "../../code/scripts/versions.ts";
import { customEnvironment } from "../../tenancy/workspaces/environment.ts";
import { fateOf } from "../../tenancy/workspaces/gate.ts";
import { followReferences, mayRefer, withPinned } from "../arguments/references.ts";
import { type Code, flowScriptVersion, type ResolvedCode } from "../flows/drive/code.ts";
import { beginClaimedFlow } from "../flows/flow-events.ts";
import { placeInFlow } from "../flows/status/place.ts";
import { endByResult } from "../follow/response-control.ts";
import { cachedResult, cacheResult } from "../job/cached-results.ts";
import { canceledResult } from "../job/canceled.ts";
import { entrypointOf, versionWith, withoutOverride } from "../job/entrypoints.ts";
import { jobEnvironment, withCustom } from "../job/environment.ts";
import { finish } from "./complete-with-retry.ts";
import { deployerOf, lockFor, resolveDependencies } from "./dependencies/resolve-dependencies.ts";
import { resolveFlowDependencies } from "./dependencies/resolve-flow-dependencies.ts";
import { collectOutput, type Output } from "./job-output.ts";
import { type Ending, failure, isLockJob } from "./outcome.ts";

/** Why a signal is aborted when the server stops: the job goes back to the queue. Any other abort cancels it. */
export const RELEASED = "released";

/**
 * Runs a job that is stored as running under this worker's name, and stores how it ended.
 * @param onEnd called once, when nothing of it runs any more
 */
export async function runJob(app: App, job: Job, signal: AbortSignal, onEnd: () => void): Promise<void> {
  const output = collectOutput(app, job);
  // A queued job of a workspace that was closed meanwhile is claimed all the same.
  const fate = fateOf(app, job.workspace_id);
  let outcome = fate ? await endedUnbegun(app, job, fate) : await attempt(app, job, signal, output);
  onEnd();
  await output.stop();
  if (outcome === "released" && job.delete_after_use) outcome = await canceledEnding(app, job);
  if (outcome === "begun") {
    app.events.closeTail(job.id);
    return;
  }
  if (outcome === "released") await release(app, job, output);
  else await finish(app, job, outcome, output);
  output.close();
}

async function endedUnbegun(app: App, job: Job, fate: "canceled" | "held"): Promise<Ending | "released"> {
  if (fate === "held" && job.flow_step_id === null && !job.cancel_requested) return "released";
  return canceledEnding(app, job);
}

/** @returns what its process is to be told; an ending, where it takes no process */
async function prepare(
  app: App,
  job: Job,
  signal: AbortSignal,
  output: Output,
): Promise<RunRequest | Ending | "begun"> {
  // Asked for while it was queued, by a flow that waits for its end.
  if (job.cancel_requested) return canceledEnding(app, job);
  if (isLockJob(job)) {
    const resolve = job.kind === "dependencies" ? resolveDependencies : resolveFlowDependencies;
    return resolve(app, job, output, signal);
  }
  if (isFrame(job.kind)) return (await beginClaimedFlow(app, job)) ? "begun" : canceledEnding(app, job);
  if (job.kind === "identity") return { status: "success", result: job.args };
  if (job.kind === "noop") return { status: "success", result: "null" };
  const cached = job.cache_ttl ? await cachedResult(app, job) : undefined;
  if (cached !== undefined) {
    output.log("the result was taken from the cache: the same code has run with these arguments\n");
    return { status: "success", result: cached };
  }
  const place = job.flow_step_id === null ? undefined : await placeInFlow(app, job);
  if (place?.streams_to) await speakFor(app, job, place.streams_to, output);
  // As the step of a flow it is all that runs; in a script it runs before main.
  const isPreprocessor = job.flow_step_id === "preprocessor";
  const code = await codeOf(app, job, signal, output);
  const version = isPreprocessor ? asPreprocessor(code) : code;
  const entrypoint = entrypointOf(job);
  const asked = customEnvironment(app, job.workspace_id);
  const custom = asked instanceof Promise ? await asked : asked;
  const args = (isPreprocessor ? job.preprocessor_input : null) ?? job.args;
  const own = entrypoint === undefined ? args : withoutOverride(args);
  const given = withPinned(own, version.parameters);
  // A preprocessor is handed what came, as it came: what it makes of that is stored, and may refer.
  const isRaw = job.preprocessor_input !== null || isPreprocessor;
  const plain = !isRaw && mayRefer(given) ? await followReferences(app, job, given, place) : undefined;
  return {
    job_id: job.id,
    version: entrypoint === undefined ? version : await versionWith(version, entrypoint),
    entrypoint: entrypoint ?? (isPreprocessor ? "preprocessor" : "main"),
    permissioned_as: job.permissioned_as,
    email: job.email,
    started_by: job.started_by ?? undefined,
    args: plain?.args ?? given,
    secrets: plain?.secrets,
    token_placeholder: plain?.token_placeholder,
    preprocessor_input: (isPreprocessor ? null : job.preprocessor_input) ?? undefined,
    followReferences: (args) =>
      throughOutage(app, aboutJob(job), () => followReferences(app, job, args, place), signal),
    environment: withCustom(jobEnvironment(app, job, place), custom, version.envs),
    variant: custom.id,
    shared: place?.shares ? (job.root_job ?? undefined) : undefined,
    timeout_ms:
      Math.min(job.timeout_s ?? app.settings.get("job_default_timeout"), app.config.max_timeout_s) * 1000,
    onLog: output.log,
    onStream: output.stream,
  };
}

/** What comes before any code of the job runs can be done over again. */
async function attempt(
  app: App,
  job: Job,
  signal: AbortSignal,
  output: Output,
): Promise<Ending | "released" | "begun"> {
  try {
    const ready = await throughOutage(app, aboutJob(job), () => prepare(app, job, signal, output), signal);
    if (isLockJob(job) && signal.aborted) return await abortedEnding(app, job, signal);
    if (ready === "begun" || "status" in ready) return ready;
    const outcome = await run(app, job, ready, signal);
    return await throughOutage(app, aboutJob(job), () => toEnding(app, job, outcome, output, signal));
  } catch (error) {
    if (signal.aborted) return abortedEnding(app, job, signal);
    if (!(error instanceof SvcError))
      app.log.error({ ...aboutJob(job), error: String(error) }, "a job failed inside the server");
    const message =
      error instanceof SvcError ? error.message : "the server could not run the job; its log says more";
    return failure({ name: error instanceof SvcError ? error.name : "InternalErr", message });
  }
}

/** What can run nowhere else waits here for a machine that can start a process. */
async function run(app: App, job: Job, request: RunRequest, signal: AbortSignal): Promise<RunOutcome> {
  const staysHere = job.delete_after_use || request.shared !== undefined;
  for (let postponed = 1; ; postponed++) {
    const outcome = await app.runner.run(request, signal);
    if (outcome.kind !== "postponed" || !staysHere) return outcome;
    await sleep(backoffMs(OUTAGE_BACKOFF, postponed), signal);
    if (signal.aborted) return { kind: "canceled" };
  }
}

/** What the last step of a flow streams is the flow's stream, from its beginning. */
async function speakFor(app: App, job: Job, flow_job: string, output: Output): Promise<void> {
  if (job.attempts + job.losses > 0) await app.db.write((tx) => forgetOutput(tx, [flow_job]));
  output.forwardStream(flow_job);
}

/** A version whose function `preprocessor` is run in the place of main. */
function asPreprocessor(version: RunnableVersion): RunnableVersion {
  const id = sha256(`${version.id}\npreprocessor`).slice(0, 32);
  const { preprocessor_parameters: parameters = [] } = version;
  return { ...version, id, parameters, preprocessor_parameters: undefined };
}

async function codeOf(app: App, job: Job, signal: AbortSignal, output: Output): Promise<RunnableVersion> {
  if (job.kind === "flowscript") {
    return flowScriptVersion(app, job, (code) => resolveCode(app, job, code, output, signal));
  }
  if (job.script_hash) {
    const found = deployedByHash(app, job.workspace_id, job.script_hash);
    const { version, pins } = found instanceof Promise ? await found : found;
    requireRuntime(version.language);
    const whole = pins ? { ...version, imports: await loadImports(app, job.workspace_id, pins) } : version;
    // What its run writes to its folder goes with a child of its own.
    return job.delete_after_use ? { ...whole, isolation: "fresh" } : whole;
  }
  const content = job.raw_code ?? "";
  const language = job.language as Language;
  const analysis = await analyseScript(language, content);
  const path = job.script_path ?? undefined;
  const code = { language, content, path, lock: job.raw_lock ?? undefined };
  const { lock, imports } = await resolveCode(app, job, code, output, signal);
  return {
    id: sha256(JSON.stringify([language, lock, content, imports])).slice(0, 32),
    workspace_id: job.workspace_id,
    path,
    language: requireRuntime(language),
    content,
    imports: imports.length > 0 ? imports : undefined,
    lock,
    parameters: analysis.signature.parameters,
    preprocessor_parameters: undefined,
    envs: [],
    isolation: "fresh",
  };
}

/** What code needs that is not deployed: as it is found now, with the rights of whom the job runs as. */
async function resolveCode(
  app: App,
  job: Job,
  code: Code,
  output: Output,
  signal: AbortSignal,
): Promise<ResolvedCode> {
  const analysis = await analyseScript(code.language, code.content);
  const options = { onLog: output.log, signal };
  if (analysis.imports.length === 0) {
    return { lock: code.lock || (await lockFor(app, analysis.packages, options)), imports: [] };
  }
  const { workspace_id } = job;
  const found = await resolveImports(app, await deployerOf(app, job), { ...code, workspace_id });
  return { lock: code.lock || (await lockFor(app, found.packages, options)), imports: found.imported };
}

async function toEnding(
  app: App,
  job: Job,
  outcome: RunOutcome,
  output: Output,
  signal: AbortSignal,
): Promise<Ending | "released"> {
  switch (outcome.kind) {
    case "success": {
      const result = await output.resultWithStream(outcome.result);
      const { failed, fault } = endByResult(result);
      const ran = { mem_peak_kb: outcome.mem_peak_kb, preprocessed_args: outcome.preprocessed_args };
      if (fault !== undefined) return { ...failure({ name: "InvalidControlKey", message: fault }), ...ran };
      return {
        status: failed ? "failure" : "success",
        result,
        ...ran,
        also: job.cache_ttl && !failed ? (tx) => cacheResult(app, tx, job, result) : undefined,
      };
    }
    case "failure":
      return {
        ...failure(outcome.error),
        mem_peak_kb: outcome.mem_peak_kb,
        preprocessed_args: outcome.preprocessed_args,
      };
    case "canceled":
      return abortedEnding(app, job, signal);
    case "released":
    case "postponed":
      return "released";
  }
}

async function abortedEnding(app: App, job: Job, signal: AbortSignal): Promise<Ending | "released"> {
  return signal.reason === RELEASED ? "released" : canceledEnding(app, job);
}

async function canceledEnding(app: App, job: Job): Promise<Ending> {
  const [row] = await throughOutage(app, aboutJob(job), async () =>
    app.db.read
      .select({ by: jobs.canceled_by, reason: jobs.canceled_reason })
      .from(jobs)
      .where(eq(jobs.id, job.id)),
  );
  return {
    status: "canceled",
    result: canceledResult(row?.reason ?? "canceled", row?.by ?? "the server"),
  };
}

/** Puts the job back in the queue. While the server runs, it does so through an outage; at its end, the rescuer may. */
async function release(app: App, job: Job, output: Output): Promise<void> {
  const put = () =>
    app.db.write(async (tx) => {
      const isHeld = fateOf(app, job.workspace_id) === "held";
      const state = isHeld ? "held" : "queued";
      const [released] = await tx
        .update(jobs)
        .set({ state, worker: null, started_at: null, last_ping: null, begun: false })
        .where(and(eq(jobs.id, job.id), eq(jobs.state, "running"), eq(jobs.worker, app.queue.worker)))
        .returning({ id: jobs.id });
      if (!released) return;
      await forgetOutput(tx, output.jobs());
      tx.afterCommit(app.queue.wake);
    });
  try {
    if (app.accepting) await throughOutage(app, aboutJob(job), put);
    else await put();
  } finally {
    app.events.closeTail(job.id);
  }
}

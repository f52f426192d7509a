/** One job from running to completed. */
import { and, eq } from "drizzle-orm";
import type { App } from "../context.ts";
import { StorageFull, SvcError } from "../errors.ts";
import { settleWithoutLock } from "../features/flows/locks.ts";
import { flowScriptVersion } from "../features/flows/run/code.ts";
import { placeInFlow } from "../features/flows/run/place.ts";
import { beginClaimedFlow, endJob } from "../features/flows/run/runs.ts";
import { cachedResult, cacheResult } from "../features/jobs/cached-results.ts";
import { canceledResult } from "../features/jobs/canceled.ts";
import { entrypointOf, versionWith, withoutOverride } from "../features/jobs/entrypoints.ts";
import { jobEnvironment, withCustom } from "../features/jobs/environment.ts";
import { followReferences, mayRefer, withPinned } from "../features/jobs/references.ts";
import { failureMark } from "../features/jobs/response-control.ts";
import { deployedByHash } from "../features/scripts/versions.ts";
import { customEnvironment } from "../features/workspaces/environment.ts";
import { countJob } from "../features/workspaces/usage.ts";
import { analyseScript } from "../languages/analyse.ts";
import type { Dependency, Language } from "../languages/types.ts";
import { sha256 } from "../lib/ids.ts";
import { aboutJob } from "../queue/about.ts";
import { settlePlaces } from "../queue/concurrency.ts";
import { type Finish, finishJob, forgetOutput } from "../queue/driver.ts";
import { isFrame } from "../queue/states.ts";
import { type Job, jobLogs, jobs } from "../queue/tables.ts";
import type { RunnableVersion, RunOutcome } from "../runner/types.ts";
import { type Ending, failure } from "./ending.ts";
import { collectOutput, type Output } from "./job-output.ts";
import { queueSuccessor, successorOf } from "./perpetual.ts";
import { lockFor, resolveDependencies } from "./resolve-dependencies.ts";
import { resolveFlowDependencies } from "./resolve-flow-dependencies.ts";

/** A commit that fails (a full disk) is tried again at growing intervals: the result is kept in memory meanwhile. */
const RETRY_MS = [100, 500, 1_000, 5_000, 15_000];
/** The log of a job that leaves nothing behind. */
const DELETED = "##DELETED##";

/** How often an ending is tried as it is before it is thought to be what the database refuses. */
const MAX_WHOLE_TRIES = 2;

/** Why a signal is aborted when the server stops: the job goes back to the queue. Any other abort cancels it. */
export const RELEASED = "released";

/** Runs a job that is stored as running under this worker's name, and stores how it ended. */
export async function runJob(app: App, job: Job, signal: AbortSignal): Promise<void> {
  const output = collectOutput(app, job);
  let outcome = await attempt(app, job, signal, output);
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

async function attempt(
  app: App,
  job: Job,
  signal: AbortSignal,
  output: Output,
): Promise<Ending | "released" | "begun"> {
  try {
    // Asked for while it was queued, by a flow that waits for its end.
    if (job.cancel_requested) return await canceledEnding(app, job);
    if (isLockJob(job)) {
      const resolve = job.kind === "dependencies" ? resolveDependencies : resolveFlowDependencies;
      const ending = await resolve(app, job, output, signal);
      return signal.aborted ? await abortedEnding(app, job, signal) : ending;
    }
    if (isFrame(job.kind)) return await beginFlow(app, job, signal);
    if (job.kind === "identity") return { status: "success", result: job.args };
    if (job.kind === "noop") return { status: "success", result: "null" };
    const cached = job.cache_ttl ? await cachedResult(app, job) : undefined;
    if (cached !== undefined) {
      output.log("the result was taken from the cache: the same code has run with these arguments\n");
      return { status: "success", result: cached };
    }
    const place = job.flow_step_id === null ? undefined : await placeInFlow(app, job);
    if (place?.streams_to) await speakFor(app, job, place.streams_to, output);
    const version = await codeOf(app, job, signal, output);
    const entrypoint = entrypointOf(job);
    const asked = customEnvironment(app, job.workspace_id);
    const custom = asked instanceof Promise ? await asked : asked;
    const own = entrypoint === undefined ? job.args : withoutOverride(job.args);
    const given = withPinned(own, version.parameters);
    // A preprocessor is handed what came, as it came: what it makes of that is stored, and may refer.
    const isRaw = job.preprocessor_input !== null || job.flow_step_id === "preprocessor";
    const plain = !isRaw && mayRefer(given) ? await followReferences(app, job, given, place) : undefined;
    const outcome = await app.runner.run(
      {
        job_id: job.id,
        version: entrypoint === undefined ? version : await versionWith(version, entrypoint),
        entrypoint: entrypoint ?? (job.flow_step_id === "preprocessor" ? "preprocessor" : "main"),
        permissioned_as: job.permissioned_as,
        email: job.email,
        args: plain?.args ?? given,
        secrets: plain?.secrets,
        token_placeholder: plain?.token_placeholder,
        preprocessor_input: job.preprocessor_input ?? undefined,
        followReferences: (args) => followReferences(app, job, args, place),
        environment: withCustom(jobEnvironment(app, job, place), custom, version.envs),
        variant: custom.id,
        shared: place?.shares ? (job.root_job ?? undefined) : undefined,
        timeout_ms:
          Math.min(job.timeout_s ?? app.settings.get("job_default_timeout"), app.config.max_timeout_s) * 1000,
        onLog: output.log,
        onStream: output.stream,
      },
      signal,
    );
    return await toEnding(app, job, outcome, output, signal);
  } catch (error) {
    if (signal.aborted) return abortedEnding(app, job, signal);
    if (!(error instanceof SvcError))
      app.log.error({ ...aboutJob(job), error: String(error) }, "a job failed inside the server");
    const message =
      error instanceof SvcError ? error.message : "the server could not run the job; its log says more";
    return failure({ name: error instanceof SvcError ? error.name : "InternalErr", message });
  }
}

/** Begins a flow as soon as the database can be written. */
async function beginFlow(app: App, job: Job, signal: AbortSignal): Promise<Ending | "released" | "begun"> {
  for (let tries = 0; ; tries++) {
    try {
      if (await beginClaimedFlow(app, job)) return "begun";
      return await canceledEnding(app, job);
    } catch (cause) {
      if (!(cause instanceof StorageFull) || signal.aborted) throw cause;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS[Math.min(tries, RETRY_MS.length - 1)]!));
    }
  }
}

/** What the last step of a flow streams is the flow's stream, from its beginning. */
async function speakFor(app: App, job: Job, flow_job: string, output: Output): Promise<void> {
  if (job.attempts > 0) await app.db.write((tx) => forgetOutput(tx, [flow_job]));
  output.forwardStream(flow_job);
}

function isLockJob({ kind }: Job): boolean {
  return kind === "dependencies" || kind === "flowdependencies";
}

async function codeOf(app: App, job: Job, signal: AbortSignal, output: Output): Promise<RunnableVersion> {
  if (job.kind === "flowscript") {
    const findLock = (dependencies: Dependency[]) =>
      lockFor(app, dependencies, { onLog: output.log, signal });
    return flowScriptVersion(app, job, findLock);
  }
  if (job.script_hash) {
    const found = deployedByHash(app, job.workspace_id, job.script_hash);
    const { version } = found instanceof Promise ? await found : found;
    // What its run writes to its folder goes with a child of its own.
    return job.delete_after_use ? { ...version, isolation: "fresh" } : version;
  }
  const content = job.raw_code ?? "";
  const language = job.language as Language;
  const analysis = await analyseScript(language, content);
  const lock = job.raw_lock || (await lockFor(app, analysis.dependencies, { onLog: output.log, signal }));
  return {
    id: sha256(`${language}\n${lock}\n${content}`).slice(0, 32),
    workspace_id: job.workspace_id,
    path: job.script_path ?? undefined,
    language,
    content,
    lock,
    parameters: analysis.signature.parameters,
    preprocessor_parameters: undefined,
    envs: [],
    isolation: "fresh",
  };
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
      const mark = failureMark(result);
      return {
        status: mark === undefined ? "success" : "failure",
        result,
        mem_peak_kb: outcome.mem_peak_kb,
        preprocessed_args: outcome.preprocessed_args,
        also: job.cache_ttl && mark === undefined ? (tx) => cacheResult(app, tx, job, result) : undefined,
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
      return "released";
  }
}

async function abortedEnding(app: App, job: Job, signal: AbortSignal): Promise<Ending | "released"> {
  return signal.reason === RELEASED ? "released" : canceledEnding(app, job);
}

async function canceledEnding(app: App, job: Job): Promise<Ending> {
  const [row] = await app.db.read
    .select({ by: jobs.canceled_by, reason: jobs.canceled_reason })
    .from(jobs)
    .where(eq(jobs.id, job.id));
  return {
    status: "canceled",
    result: canceledResult(row?.reason ?? "canceled", row?.by ?? "the server"),
  };
}

/**
 * Commits the ending, then tells of it. While the database cannot be written it is tried until it can; an ending that
 * the database refuses for what it holds is stored as a failure that says so.
 */
async function finish(app: App, job: Job, ending: Ending, output: Output): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      const stored = await store(app, job, ending, tries > MAX_WHOLE_TRIES ? undefined : output);
      if (stored) app.events.publishFinished({ id: job.id, workspace_id: job.workspace_id, ...stored });
      else {
        app.log.warn(aboutJob(job), "a job ended here that another worker had been given");
        app.events.closeTail(job.id);
      }
      return;
    } catch (cause) {
      const wait = RETRY_MS[Math.min(tries, RETRY_MS.length - 1)]!;
      app.log.error(
        { ...aboutJob(job), error: String(cause), again_in_ms: wait },
        "a job's end could not be stored yet",
      );
      if (tries === MAX_WHOLE_TRIES && !(cause instanceof StorageFull)) {
        ending = failure({ name: "InternalErr", message: "the database refused to store the job's result" });
      }
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}

/** @returns what was stored; undefined when this worker no longer holds the job */
async function store(
  app: App,
  job: Job,
  ending: Ending,
  output: Output | undefined,
): Promise<{ status: Ending["status"]; result: string } | undefined> {
  const completed_at = app.clock();
  const { status, result } = ending;
  const row: Finish = {
    id: job.id,
    worker: app.queue.worker,
    status,
    result,
    completed_at,
    duration_ms: completed_at.getTime() - (job.started_at ?? completed_at).getTime(),
    mem_peak_kb: ending.mem_peak_kb ?? null,
    preprocessed: ending.preprocessed_args === undefined ? null : true,
    args: ending.preprocessed_args ?? null,
    labels: labelsOf(result),
    canceled_by: null,
    canceled_reason: null,
  };
  const successor = status === "canceled" ? undefined : await successorOf(app, job, completed_at);
  const finished = await endJob(app, job, { status, result }, async (tx) => {
    if (!(await finishJob(tx, job.delete_after_use ? withoutTraces(row) : row))) return false;
    if (job.delete_after_use) await tx.insert(jobLogs).values({ job_id: job.id, seq: 0, content: DELETED });
    else await output?.store(tx);
    if (ending.also) await ending.also(tx);
    else if (isLockJob(job)) await settleWithoutLock(app, tx, job, errorText(result));
    if (successor) await queueSuccessor(app, tx, job, successor);
    if (job.concurrency_key !== null) {
      await settlePlaces(tx, job, completed_at);
      tx.afterCommit(app.queue.wake);
    }
    return true;
  });
  if (!finished) return undefined;
  countJob(app, job, row.duration_ms);
  app.meters.runTime.observe(row.duration_ms / 1000);
  if (app.log.isLevelEnabled("debug")) logEnd(app, job, row);
  return { status, result };
}

/** A line for each job that ends, where the log's level asks for it. What it was given and what came of it are not told. */
function logEnd(app: App, job: Job, { status, duration_ms }: Finish): void {
  const { workspace_id, kind, script_path, root_job } = job;
  const about = { ...aboutJob(job), ...(root_job === null ? {} : { root_job }), workspace: workspace_id };
  const what = { kind, ...(script_path === null ? {} : { path: script_path }) };
  app.log.debug({ ...about, ...what, status, ms: duration_ms }, "a job ended");
}

/** What the row says of a job that leaves nothing behind. */
function withoutTraces(row: Finish): Finish {
  return { ...row, result: "{}", args: null, labels: null };
}

function errorText(result: string): string {
  return (JSON.parse(result) as { error?: { message?: string } }).error?.message ?? result;
}

function labelsOf(result: string): string[] | null {
  if (!result.startsWith("{") || !result.includes('"wm_labels"')) return null;
  const labels = (JSON.parse(result) as { wm_labels?: unknown }).wm_labels;
  return Array.isArray(labels) && labels.every((label) => typeof label === "string") ? labels : null;
}

async function release(app: App, job: Job, output: Output): Promise<void> {
  await app.db.write(async (tx) => {
    const [released] = await tx
      .update(jobs)
      .set({ state: "queued", worker: null, started_at: null, last_ping: null })
      .where(and(eq(jobs.id, job.id), eq(jobs.state, "running"), eq(jobs.worker, app.queue.worker)))
      .returning({ id: jobs.id });
    if (!released) return;
    await forgetOutput(tx, output.jobs());
    tx.afterCommit(app.queue.wake);
  });
  app.events.closeTail(job.id);
}

/** Waits for a job's completion, driven by events, without polling. */

import { LARGE_BYTES } from "../../../lib/async/byte-semaphore.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import { type Indexed, TransientSet } from "../../../lib/collections/transient.ts";
import { CallerGone, Conflict, Unavailable, WaitTimeout } from "../../../lib/errors.ts";
import { createUuid } from "../../../lib/text/ids.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import type { JobFinished } from "../../../platform/events/events.ts";
import { createPeriodicTask, type PeriodicTask } from "../../../platform/loops/periodic-task.ts";
import { findEarlyResult } from "../flows/status/early-return.ts";
import { cancelJob } from "./find-and-cancel.ts";
import { getJobOfKey, submitIdempotently } from "./idempotency.ts";
import type { RunOptions, Submission } from "./submission.ts";
import { submitJob } from "./submit.ts";

type WaitEnd = JobFinished | "timeout" | "hangup" | "shutdown";

/** One synchronous call that waits. */
interface ActiveWait extends Indexed {
  request: Request;
  /** Milliseconds of `performance.now()`. */
  deadline: number;
  settle: (end: WaitEnd) => void;
  /** Set by the first check that finds it: at the next one it has lasted for WATCH_INTERVAL_MS. */
  wasChecked: boolean;
  /** Listener for a hang-up of the caller, added once the wait has lasted for WATCH_INTERVAL_MS. */
  hangUp?: () => void;
}

/**
 * Most jobs complete within this time. Only longer waits are watched for a hang-up and a deadline: a listener and a
 * timer per call would cost more than the rest of the wait.
 */
const WATCH_INTERVAL_MS = 25;

interface WaitWatch {
  waits: TransientSet<ActiveWait>;
  /** Runs while calls wait. */
  checking: PeriodicTask;
  isRunning: boolean;
}

const waitWatchOf = memoizePerApp((app: App): WaitWatch => {
  const checking = createPeriodicTask(app, {
    failure_message: "synchronous calls could not be checked",
    first_delay_ms: WATCH_INTERVAL_MS,
    interval_ms: WATCH_INTERVAL_MS,
    run: async () => checkWaits(watch),
  });
  const watch: WaitWatch = { waits: new TransientSet(), checking, isRunning: false };
  return watch;
});

function checkWaits(watch: WaitWatch): void {
  if (watch.waits.size === 0) {
    watch.isRunning = false;
    void watch.checking.stop();
    return;
  }
  const now = performance.now();
  for (const wait of watch.waits.values()) {
    if (now >= wait.deadline) wait.settle("timeout");
    else if (!wait.wasChecked) wait.wasChecked = true;
    else if (wait.request.signal.aborted) wait.settle("hangup");
    else if (!wait.hangUp) {
      wait.hangUp = () => wait.settle("hangup");
      wait.request.signal.addEventListener("abort", wait.hangUp);
    }
  }
}

/**
 * Submits a job and waits for its completion. If the caller disconnects or the wait times out, the job is canceled.
 * With an idempotency key it is not: the caller repeats the request with the same key and waits for the existing job.
 * @throws WaitTimeout, CallerGone; Unavailable if too many calls wait or the server shuts down; IdempotencyKeyReused
 */
export function submitAndWait(
  ctx: WorkspaceContext,
  submission: Submission,
  options: RunOptions,
  key?: string,
): Promise<JobFinished> {
  const id = options.job_id ?? createUuid();
  const how = { hasGeneratedId: options.job_id === undefined };
  const asked = { ...options, job_id: id };
  const early = submission.flow?.value.early_return !== undefined;
  if (key === undefined) {
    const begin = () =>
      submitJob(ctx, submission, asked, { ...how, awaitsCompletion: true }).then(() => {
        releaseArguments(submission);
        return undefined;
      });
    return waitFor(ctx, id, { leave: "cancel", early, begin });
  }
  return waitFor(ctx, id, {
    leave: "go on",
    early,
    begin: async () => {
      const known = await submitIdempotently(ctx, key, submission, asked, how);
      releaseArguments(submission);
      return known.repeated ? known.id : undefined;
    },
  });
}

/** Releases large arguments, which are stored by now, from memory while the call waits. */
function releaseArguments(submission: Submission): void {
  if (submission.args.length < LARGE_BYTES) return;
  Object.assign(submission, { args: "{}", caller_args: undefined, preprocessor_input: undefined });
}

/** Waits for the completion, or the early result, of a job that another call submitted. */
async function waitForJob(ctx: WorkspaceContext, id: string): Promise<JobFinished> {
  const { workspace_id } = ctx.caller.member;
  return waitFor(ctx, id, {
    leave: "go on",
    early: true,
    begin: async (settle) => {
      const job = await getJobOfKey(ctx, id);
      const early = await findEarlyResult(ctx.app, job);
      if (early !== undefined) {
        await ctx.app.db.readBarrier();
        settle({ id, workspace_id, status: "success", result: early });
        return undefined;
      }
      if (job.state !== "completed") return undefined;
      await ctx.app.db.readBarrier();
      if (job.deleted) throw new Conflict(`the result of job ${id} was deleted after its first use`);
      settle({ id, workspace_id, status: job.status ?? "success", result: job.result ?? "null" });
      return undefined;
    },
  });
}

interface WaitOptions {
  /** Whether the job is canceled or continues if its caller disconnects or the wait times out. */
  leave: "cancel" | "go on";
  /** The job may be a flow with an early result: it continues after the response. */
  early: boolean;
  /** Called once completion events can no longer be missed. @returns id of another job to wait for instead */
  begin: (settle: (end: WaitEnd) => void) => Promise<string | undefined>;
}

async function waitFor(
  ctx: WorkspaceContext,
  id: string,
  { leave, early, begin }: WaitOptions,
): Promise<JobFinished> {
  const { app } = ctx;
  const seconds = app.settings.get("timeout_wait_result") || 2;
  const watch = waitWatchOf(app);
  let settle!: (end: WaitEnd) => void;
  const ended = new Promise<WaitEnd>((resolve) => {
    settle = resolve;
  });
  const deadline = performance.now() + seconds * 1000;
  const wait: ActiveWait = { request: ctx.request, deadline, settle, wasChecked: false, index: -1 };
  const stopListening = app.events.onFinished(id, settle);
  const stopListeningEarly = early
    ? app.events.onEarly(id, (answer) => settle({ ...answer, status: "success" }))
    : undefined;
  watch.waits.add(wait);
  if (!watch.isRunning) {
    watch.isRunning = true;
    void watch.checking.start();
  }
  try {
    const other = await begin(settle);
    if (other !== undefined) return await waitForJob(ctx, other);
    const end = await ended;
    if (typeof end === "object") return end;
    if (end === "shutdown") throw createShutdownError(ctx, id);
    if (end === "hangup" && leave === "go on")
      throw new CallerGone(`the caller of job ${id} no longer waits`);
    if (leave === "go on") {
      throw new WaitTimeout(
        `timeout after ${seconds}s: job ${id} is still running; ask again with the same Idempotency-Key`,
      );
    }
    const reason = end === "timeout" ? `timeout after ${seconds}s` : "http connection broke";
    await cancelAbandonedJob(ctx, id, reason);
    if (end === "hangup") throw new CallerGone(`${reason}: the job was canceled`);
    throw new WaitTimeout(`${reason}: the job was canceled`);
  } finally {
    watch.waits.delete(wait);
    stopListening();
    stopListeningEarly?.();
    if (wait.hangUp) ctx.request.signal.removeEventListener("abort", wait.hangUp);
  }
}

/**
 * Rejects a synchronous call beyond the slots and `max_waiting_calls`: each waiting call holds a connection.
 * @throws Unavailable
 */
export function requireWaitCapacity(app: App): void {
  const { workers, max_waiting_calls } = app.config;
  if (waitWatchOf(app).waits.size < workers + max_waiting_calls) return;
  throw new Unavailable(
    `${max_waiting_calls} synchronous calls wait for a free slot already: try again later`,
  );
}

/** Ends all waits at shutdown: their jobs were requeued. */
export function endAllWaits(app: App): void {
  for (const wait of waitWatchOf(app).waits.values()) wait.settle("shutdown");
}

function createShutdownError(ctx: WorkspaceContext, id: string): Unavailable {
  const { workspace_id } = ctx.caller.member;
  return new Unavailable(
    `the server is shutting down before job ${id} has ended: it will run on another server, or after the restart`,
    {
      job_id: id,
      hint: `read its result later: GET /api/w/${workspace_id}/jobs_u/completed/get_result_maybe/${id}`,
    },
  );
}

/** Returns the number of synchronous calls that wait for a job. */
export function countWaitingCalls(app: App): number {
  return waitWatchOf(app).waits.size;
}

async function cancelAbandonedJob(ctx: WorkspaceContext, id: string, reason: string): Promise<void> {
  // The job's row records the cancellation; the operation's audit row is about the run.
  await cancelJob(ctx, ctx.caller.member.workspace_id, id, reason, { as: "nothing" });
}

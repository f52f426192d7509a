/** Waiting for a job's end: event-driven, never by polling. */

import { LARGE } from "../../../lib/async/large-work.ts";
import { perApp } from "../../../lib/async/per-app.ts";
import { CallerGone, Conflict, Unavailable, WaitTimeout } from "../../../lib/errors.ts";
import { newJobId } from "../../../lib/text/ids.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import type { JobFinished } from "../../../platform/events/events.ts";
import { earlyResult } from "../flows/status/early-return.ts";
import { jobOfKey, submitOnce } from "./idempotency.ts";
import { cancelJob } from "./service.ts";
import type { RunOptions, Submission } from "./submission.ts";
import { submitJob } from "./submit.ts";

type End = JobFinished | "timeout" | "hangup" | "shutdown";

/** One synchronous call that waits. */
interface Wait {
  request: Request;
  /** Milliseconds of `performance.now()`. */
  deadline: number;
  settle: (end: End) => void;
  /** Listens for the caller's hanging up, once the wait has lasted for a moment. */
  hangUp?: () => void;
}

/**
 * Most jobs are done within this. Only the waits that last longer are watched for a hang-up and a deadline: a listener
 * and a timer for each call would cost more than the rest of the wait.
 */
const WATCH_MS = 25;

interface Watch {
  waits: Set<Wait>;
  timer: ReturnType<typeof setInterval> | undefined;
}

const watchOf = perApp<App, Watch>(() => ({ waits: new Set(), timer: undefined }));

function look(watch: Watch): void {
  if (watch.waits.size === 0) {
    clearInterval(watch.timer);
    watch.timer = undefined;
    return;
  }
  const now = performance.now();
  for (const wait of watch.waits) {
    if (now >= wait.deadline) wait.settle("timeout");
    else if (wait.request.signal.aborted) wait.settle("hangup");
    else if (!wait.hangUp) {
      wait.hangUp = () => wait.settle("hangup");
      wait.request.signal.addEventListener("abort", wait.hangUp);
    }
  }
}

/**
 * Submits a job and waits for its end. A caller that hangs up, and a wait that takes too long, cancel the job.
 *
 * With an idempotency key they do not: whoever lost the connection asks again with the same key, and is answered with
 * the end of the job that is there already.
 * @throws WaitTimeout, CallerGone; Unavailable when too many calls wait or the server ends first; IdempotencyKeyReused
 */
export async function submitAndWait(
  ctx: WorkspaceContext,
  submission: Submission,
  options: RunOptions,
  key?: string,
): Promise<JobFinished> {
  const id = options.job_id ?? newJobId();
  const how = { ownId: options.job_id === undefined };
  const asked = { ...options, job_id: id };
  const early = submission.flow?.value.early_return !== undefined;
  if (key === undefined) {
    const begin = async () => {
      await submitJob(ctx, submission, asked, how);
      letGo(submission);
      return undefined;
    };
    return waitFor(ctx, id, { leave: "cancel", early, begin });
  }
  return waitFor(ctx, id, {
    leave: "go on",
    early,
    begin: async () => {
      const known = await submitOnce(ctx, key, submission, asked, how);
      letGo(submission);
      return known.repeated ? known.id : undefined;
    },
  });
}

/** Whoever waits for the job holds its submission for as long: large arguments are stored, and need not be. */
function letGo(submission: Submission): void {
  if (submission.args.length < LARGE) return;
  Object.assign(submission, { args: "{}", given: undefined, preprocessor_input: undefined });
}

/** Waits for the end, or the early result, of a job that somebody else submitted. */
async function waitForJob(ctx: WorkspaceContext, id: string): Promise<JobFinished> {
  const { workspace_id } = ctx.caller.member;
  return waitFor(ctx, id, {
    leave: "go on",
    early: true,
    begin: async (settle) => {
      const job = await jobOfKey(ctx, id);
      const early = await earlyResult(ctx.app, job);
      if (early !== undefined) {
        await ctx.app.db.settled();
        settle({ id, workspace_id, status: "success", result: early });
        return undefined;
      }
      if (job.state !== "completed") return undefined;
      await ctx.app.db.settled();
      if (job.deleted) throw new Conflict(`the result of job ${id} was deleted after its first use`);
      settle({ id, workspace_id, status: job.status ?? "success", result: job.result ?? "null" });
      return undefined;
    },
  });
}

interface Waiting {
  /** What becomes of the job when its caller hangs up or has waited long enough. */
  leave: "cancel" | "go on";
  /** The job may be a flow that answers before its end: it goes on whatever becomes of the caller then. */
  early: boolean;
  /** Called when nothing of the job's end can be missed any more. @returns id of another job to wait for instead */
  begin: (settle: (end: End) => void) => Promise<string | undefined>;
}

async function waitFor(
  ctx: WorkspaceContext,
  id: string,
  { leave, early, begin }: Waiting,
): Promise<JobFinished> {
  const { app } = ctx;
  const seconds = app.settings.get("timeout_wait_result") || 2;
  const watch = watchOf(app);
  let settle!: (end: End) => void;
  const ended = new Promise<End>((resolve) => {
    settle = resolve;
  });
  const wait: Wait = { request: ctx.request, deadline: performance.now() + seconds * 1000, settle };
  const stopListening = app.events.onFinished(id, settle);
  const stopListeningEarly = early
    ? app.events.onEarly(id, (answer) => settle({ ...answer, status: "success" }))
    : undefined;
  watch.waits.add(wait);
  watch.timer ??= setInterval(look, WATCH_MS, watch);
  try {
    const other = await begin(settle);
    if (other !== undefined) return await waitForJob(ctx, other);
    const end = await ended;
    if (typeof end === "object") return end;
    if (end === "shutdown") throw goesOnElsewhere(ctx, id);
    if (end === "hangup" && leave === "go on") throw new CallerGone(`nobody waits for job ${id} any more`);
    if (leave === "go on") {
      throw new WaitTimeout(
        `timeout after ${seconds}s: job ${id} is still running; ask again with the same Idempotency-Key`,
      );
    }
    const reason = end === "timeout" ? `timeout after ${seconds}s` : "http connection broke";
    await cancelAbandoned(ctx, id, reason);
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
 * Calls beyond the running ones wait in the queue, and each holds a connection: at some number more are no help.
 * @throws Unavailable
 */
export function refuseWhenFull(app: App): void {
  const { workers, max_waiting_calls } = app.config;
  if (watchOf(app).waits.size < workers + max_waiting_calls) return;
  throw new Unavailable(
    `${max_waiting_calls} synchronous calls wait for a free slot already: try again later`,
  );
}

/** Ends the waits for jobs that do not end here any more: they were put back in the queue. */
export function endWaits(app: App): void {
  for (const wait of watchOf(app).waits) wait.settle("shutdown");
}

function goesOnElsewhere(ctx: WorkspaceContext, id: string): Unavailable {
  const { workspace_id } = ctx.caller.member;
  return new Unavailable(
    `the server shuts down before job ${id} has ended: it runs on another server, or after the restart`,
    {
      job_id: id,
      hint: `ask for its result: GET /api/w/${workspace_id}/jobs_u/completed/get_result_maybe/${id}`,
    },
  );
}

/** Synchronous calls that wait for the end of a job now. */
export function waitingCalls(app: App): number {
  return watchOf(app).waits.size;
}

async function cancelAbandoned(ctx: WorkspaceContext, id: string, reason: string): Promise<void> {
  // The operation's own audit row belongs to the run; the cancelation is told by the job's row.
  await cancelJob(ctx, ctx.caller.member.workspace_id, id, reason, { as: "nothing" });
}

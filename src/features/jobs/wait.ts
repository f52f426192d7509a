/** Waiting for a job's end: event-driven, never by polling. */
import type { App, Context, WorkspaceContext } from "../../context.ts";
import { WaitTimeout } from "../../errors.ts";
import type { JobFinished } from "../../events/events.ts";
import { newJobId } from "../../lib/ids.ts";
import { perApp } from "../../lib/per-app.ts";
import { cancelJob } from "./service.ts";
import { type RunOptions, type Submission, submitJob } from "./submit.ts";

type End = JobFinished | "timeout" | "hangup";

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
 * Submits a job and waits for its end. The wait is set up before the job exists, so that no end can be missed.
 * A caller that hangs up, and a wait that takes too long, cancel the job.
 * @throws WaitTimeout
 */
export async function submitAndWait(
  ctx: WorkspaceContext,
  submission: Submission,
  options: RunOptions,
): Promise<JobFinished> {
  const { app } = ctx;
  const id = options.job_id ?? newJobId();
  const seconds = app.config.wait_result_s || 2;
  const watch = watchOf(app);
  let settle!: (end: End) => void;
  const ended = new Promise<End>((resolve) => {
    settle = resolve;
  });
  const wait: Wait = { request: ctx.request, deadline: performance.now() + seconds * 1000, settle };
  const stopListening = app.events.onFinished(id, settle);
  watch.waits.add(wait);
  watch.timer ??= setInterval(look, WATCH_MS, watch);
  try {
    await submitJob(ctx, submission, { ...options, job_id: id }, { ownId: options.job_id === undefined });
    const end = await ended;
    if (typeof end === "object") return end;
    await cancelAbandoned(ctx, id, end === "timeout" ? `timeout after ${seconds}s` : "http connection broke");
    throw new WaitTimeout(`timeout after ${seconds}s: the job was canceled`);
  } finally {
    watch.waits.delete(wait);
    stopListening();
    if (wait.hangUp) ctx.request.signal.removeEventListener("abort", wait.hangUp);
  }
}

async function cancelAbandoned(ctx: WorkspaceContext, id: string, reason: string): Promise<void> {
  // The operation's own audit row belongs to the run; the cancelation is told by the job's row.
  const quiet: Context = { ...ctx, write: (_audited, work) => ctx.app.db.write(work) };
  await cancelJob(quiet, ctx.caller.member.workspace_id, id, reason);
}

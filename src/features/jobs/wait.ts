/** Waiting for a job's end: event-driven, never by polling. */
import type { Context, WorkspaceContext } from "../../context.ts";
import { WaitTimeout } from "../../errors.ts";
import type { JobFinished } from "../../events/events.ts";
import { newJobId } from "../../lib/ids.ts";
import { cancelJob } from "./service.ts";
import { type RunOptions, type Submission, submitJob } from "./submit.ts";

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
  let settle!: (end: JobFinished | "timeout" | "hangup") => void;
  const ended = new Promise<JobFinished | "timeout" | "hangup">((resolve) => {
    settle = resolve;
  });
  const stopListening = app.events.onFinished(id, settle);
  const hangUp = () => settle("hangup");
  const timer = setTimeout(() => settle("timeout"), seconds * 1000);
  ctx.signal.addEventListener("abort", hangUp);
  try {
    await submitJob(ctx, submission, { ...options, job_id: id }, { ownId: options.job_id === undefined });
    const end = await ended;
    if (typeof end === "object") return end;
    await cancelAbandoned(ctx, id, end === "timeout" ? `timeout after ${seconds}s` : "http connection broke");
    throw new WaitTimeout(`timeout after ${seconds}s: the job was canceled`);
  } finally {
    clearTimeout(timer);
    stopListening();
    ctx.signal.removeEventListener("abort", hangUp);
  }
}

async function cancelAbandoned(ctx: WorkspaceContext, id: string, reason: string): Promise<void> {
  // The operation's own audit row belongs to the run; the cancelation is told by the job's row.
  const quiet: Context = { ...ctx, write: (_audited, work) => ctx.app.db.write(work) };
  await cancelJob(quiet, ctx.caller.member.workspace_id, id, reason);
}

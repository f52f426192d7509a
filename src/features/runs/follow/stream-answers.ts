/** The answers that stream: run_and_stream, which makes the job, and getupdate_sse, which follows one. */

import { newJobId } from "../../../lib/text/ids.ts";
import type { Context, WorkspaceContext } from "../../../platform/app/context.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { jobOfKey, submitOnce } from "../submit/idempotency.ts";
import type { RunOptions, Submission } from "../submit/submission.ts";
import { submitJob } from "../submit/submit.ts";
import { type StreamOptions, UpdateStream } from "./update-stream.ts";
import type { Seen } from "./updates.ts";
import { viewJob } from "./view-audit.ts";

/**
 * Submits a job and streams it to its end: mainly what it streams and its result, since who wants the log follows the
 * job. A caller that hangs up leaves the job running: it may come back for the rest with getupdate_sse.
 * @param key the request's idempotency key: the job may be there already
 */
export async function submitAndStream(
  ctx: WorkspaceContext,
  submission: Submission,
  options: RunOptions,
  key?: string,
): Promise<Response> {
  const seen = {
    running: undefined,
    log_offset: 0,
    stream_offset: 0,
    no_logs: true,
    only_result: true,
    get_progress: false,
  };
  const { workspace_id } = ctx.caller.member;
  const asked = { workspace_id, seen, fast: true, limited: false };
  if (key !== undefined) {
    const { id: job_id } = await submitOnce(ctx, key, submission, options);
    return stream(ctx, { ...asked, job_id }, () => jobOfKey(ctx, job_id));
  }
  const job_id = options.job_id ?? newJobId();
  return stream(ctx, { ...asked, job_id }, () =>
    submitJob(ctx, submission, { ...options, job_id }, { ownId: options.job_id === undefined }),
  );
}

/**
 * Streams what is new of a job that there is, to its end or for half a minute.
 * @throws NotFound; BadRequest for what is no id, and when nobody asks for somebody's job
 */
export async function followJob(
  ctx: Context,
  workspace_id: string,
  id: string,
  { fast, ...seen }: Seen & { fast: boolean },
): Promise<Response> {
  const options = { workspace_id, job_id: id.toLowerCase(), seen, fast, limited: true };
  return stream(ctx, options, () => viewJob(ctx, workspace_id, id));
}

/** @param begin reads or makes the job, once nothing that happens to it can be missed any more */
async function stream(
  ctx: Context,
  options: Omit<StreamOptions, "caller">,
  begin: () => Promise<Job>,
): Promise<Response> {
  const updates = new UpdateStream(ctx.app, { ...options, caller: ctx.caller });
  try {
    updates.note(await begin());
  } catch (error) {
    updates.stop();
    throw error;
  }
  return eventResponse(updates.body(), { "svc-job-id": options.job_id });
}

function eventResponse(body: ReadableStream, more: Record<string, string>): Response {
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream",
      "cache-control": "no-cache",
      connection: "keep-alive",
      ...more,
    },
  });
}

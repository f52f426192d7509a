/** Streaming responses: run_and_stream, which starts a job, and getupdate_sse, which follows one. */

import { createUuid } from "../../../lib/text/ids.ts";
import type { Context, WorkspaceContext } from "../../../platform/app/context.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { getJobOfKey, submitIdempotently } from "../submit/idempotency.ts";
import type { RunOptions, Submission } from "../submit/submission.ts";
import { submitJob } from "../submit/submit.ts";
import type { StreamOptions } from "./update-events.ts";
import { UpdateStream } from "./update-stream.ts";
import type { SeenState } from "./updates.ts";
import { getJobAudited } from "./view-audit.ts";

/**
 * Submits a job and streams it to its completion: its stream and result, without the log. If the caller disconnects,
 * the job continues, and the caller may follow it with getupdate_sse.
 * @param key the request's idempotency key: the job may already exist
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
    const { id: job_id } = await submitIdempotently(ctx, key, submission, options);
    return createStream(ctx, { ...asked, job_id }, () => getJobOfKey(ctx, job_id));
  }
  const job_id = options.job_id ?? createUuid();
  return createStream(ctx, { ...asked, job_id }, () =>
    submitJob(ctx, submission, { ...options, job_id }, { hasGeneratedId: options.job_id === undefined }),
  );
}

/**
 * Streams the updates of an existing job, to its completion or for half a minute.
 * @throws NotFound; BadRequest for an invalid id, and if an anonymous caller asks for a user's job
 */
export async function streamJob(
  ctx: Context,
  workspace_id: string,
  id: string,
  { fast, ...seen }: SeenState & { fast: boolean },
): Promise<Response> {
  const options = { workspace_id, job_id: id.toLowerCase(), seen, fast, limited: true };
  return createStream(ctx, options, () => getJobAudited(ctx, workspace_id, id));
}

/**
 * Creates a response that streams the updates of a job.
 * @param begin reads or creates the job, once its events can no longer be missed
 */
async function createStream(
  ctx: Context,
  options: Omit<StreamOptions, "caller">,
  begin: () => Promise<Job>,
): Promise<Response> {
  const updates = new UpdateStream(ctx.app, { ...options, caller: ctx.caller });
  try {
    updates.setJob(await begin());
  } catch (error) {
    updates.stop();
    throw error;
  }
  return createEventResponse(updates.body(), { "svc-job-id": options.job_id });
}

function createEventResponse(body: ReadableStream, more: Record<string, string>): Response {
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream",
      "cache-control": "no-cache",
      connection: "keep-alive",
      ...more,
    },
  });
}

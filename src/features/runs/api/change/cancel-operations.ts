/**
 * Cancels jobs. Operations below `jobs_u` also serve callers without a login; submit/find-and-cancel.ts decides what
 * they may cancel.
 */
import * as z from "../../../../lib/zod/z.ts";
import { type Operation, operation, optionalBody, responds } from "../../../../platform/http/operation.ts";
import { cancelJob, cancelJobs, cancelScriptRuns } from "../../submit/find-and-cancel.ts";

const Reason = z.object({ reason: z.string().nullish() });

const common = {
  method: "POST",
  scope: { domain: "jobs", action: "write" },
  audit: { operation: "jobs.cancel", action_kind: "Delete" },
} as const;
const uuidOrNote = responds.text("uuid of the job, or a note that it is already completed");

export const cancelQueuedJob = operation({
  ...common,
  name: "cancelJob",
  path: "/w/{workspace}/jobs_u/queue/cancel/{id}",
  access: "anyone",
  summary: "Cancel a job, queued or running",
  body: optionalBody(Reason),
  responds: uuidOrNote,
  run: (ctx, { workspace, id, body }) => cancelJob(ctx, workspace, id, body.reason ?? undefined),
});

export const forceCancelQueuedJob = operation({
  ...common,
  audit: { operation: "jobs.force_cancel", action_kind: "Delete" },
  name: "forceCancelJob",
  path: "/w/{workspace}/jobs_u/queue/force_cancel/{id}",
  access: "anyone",
  summary: "Complete a job as canceled at once, even if its worker is lost",
  body: optionalBody(Reason),
  responds: uuidOrNote,
  run: (ctx, { workspace, id, body }) =>
    cancelJob(ctx, workspace, id, body.reason ?? undefined, { force: true }),
});

const cancelPersistentJobs = operation({
  ...common,
  name: "cancelPersistentQueuedJobs",
  path: "/w/{workspace}/jobs_u/queue/cancel_persistent/{path}",
  access: "member",
  summary: "Cancel all runs of a script, also to stop one that restarts until canceled",
  body: optionalBody(Reason),
  audit: { operation: "jobs.cancel_persistent", action_kind: "Delete" },
  responds: responds.text("nothing"),
  run: async (ctx, { path, body }) => {
    await cancelScriptRuns(ctx, path, body.reason ?? undefined);
    return "";
  },
});

const cancelSelectedJobs = operation({
  ...common,
  name: "cancelSelection",
  path: "/w/{workspace}/jobs/queue/cancel_selection",
  access: "member",
  summary: "Cancel several jobs; planned runs of schedules are not affected",
  body: z.array(z.uuid().toLowerCase()).max(10_000),
  responds: responds.json(z.array(z.string()), "uuids of the jobs that were canceled"),
  run: (ctx, { workspace, body }) => cancelJobs(ctx, workspace, body),
});

export const cancelOperations: Operation[] = [
  cancelQueuedJob,
  forceCancelQueuedJob,
  cancelPersistentJobs,
  cancelSelectedJobs,
];

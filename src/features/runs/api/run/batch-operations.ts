/** Runs many jobs at once: reruns, and filling the queue for a benchmark. */
import { LANGUAGES } from "../../../../engines/languages/languages.ts";
import { processInBatches } from "../../../../lib/async/batches.ts";
import { BadRequest, Forbidden } from "../../../../lib/errors.ts";
import { mergeMembers } from "../../../../lib/json/json.ts";
import * as z from "../../../../lib/zod/z.ts";
import type { WorkspaceContext } from "../../../../platform/app/context.ts";
import { type Operation, operation, queryInteger, responds } from "../../../../platform/http/operation.ts";
import { isScriptRun } from "../../../../platform/queue/states.ts";
import type { Job } from "../../../../platform/queue/tables.ts";
import { getJob } from "../../submit/find-and-cancel.ts";
import { createSubmission, type Submission } from "../../submit/submission.ts";
import { submitJob } from "../../submit/submit.ts";
import { submitIdenticalJobs } from "../../submit/submit-identical.ts";
import { type RelockTarget, resolveTarget } from "../../submit/target.ts";

const base = "/w/{workspace}/jobs" as const;
const run = { domain: "jobs", action: "run" } as const;

const MAX_BATCH_JOBS = 100_000;
/** Jobs submitted concurrently. */
const SUBMIT_BATCH_SIZE = 50;

const RerunOptions = z.object({
  /** Static values only: `javascript` would be an expression over the old arguments. */
  input_transforms: z
    .record(z.string(), z.object({ type: z.literal("static"), value: z.unknown() }))
    .optional(),
  use_latest_version: z.boolean().optional(),
});

const BatchRerun = z.object({
  job_ids: z.array(z.uuid().toLowerCase()).max(10_000),
  script_options_by_path: z.record(z.string(), RerunOptions).default({}),
  flow_options_by_path: z.record(z.string(), RerunOptions).default({}),
});

/** Finds the targets of a rerun: the version that ran, and the current one; undefined for an undeployed one. */
function findRerunTargets({ kind, script_path, script_hash, flow_version }: Job): RerunTargets | undefined {
  if (script_path === null) return undefined;
  if (isScriptRun(kind) && script_hash !== null) {
    const latest = { path: script_path };
    return { kind: "script", path: script_path, same: { hash: script_hash }, latest };
  }
  if (kind !== "flow" || flow_version === null) return undefined;
  const same = { flow_version: String(flow_version) };
  return { kind, path: script_path, same, latest: { flow: script_path } };
}

interface RerunTargets {
  kind: "script" | "flow";
  path: string;
  same: RelockTarget;
  latest: RelockTarget;
}

/** Creates the submission of a rerun: the job's arguments, with the caller's changes. */
async function createRerunSubmission(
  ctx: WorkspaceContext,
  id: string,
  body: z.output<typeof BatchRerun>,
): Promise<Submission> {
  const { workspace_id } = ctx.caller.member;
  const job = await getJob(ctx, workspace_id, id);
  const targets = findRerunTargets(job);
  if (!targets) {
    throw new BadRequest(`job ${id} is not a run of a deployed script or flow: it cannot be run again`);
  }
  if (job.deleted || job.delete_after_use) {
    throw new BadRequest(`the arguments of job ${id} are deleted: it cannot be run again`);
  }
  const { kind, path, same, latest } = targets;
  const options = body[kind === "script" ? "script_options_by_path" : "flow_options_by_path"][path];
  const found = await resolveTarget(ctx, options?.use_latest_version ? latest : same);
  if (found.kind !== kind) throw new BadRequest(`${path} is no longer a ${kind}`);
  const given = Object.entries(options?.input_transforms ?? {});
  const changed = Object.fromEntries(given.map(([name, { value }]) => [name, value]));
  const args = given.length > 0 ? mergeMembers(job.args, changed) : job.args;
  return { ...(await createSubmission(ctx, found, args, {})), delete_after_use: false };
}

export const batchRerunJobs = operation({
  name: "batchReRunJobs",
  method: "POST",
  path: `${base}/run/batch_rerun_jobs`,
  access: "member",
  scope: run,
  summary: "Run deployed scripts and flows again with the arguments of earlier jobs",
  body: BatchRerun,
  audit: { operation: "jobs.run.script", action_kind: "Execute" },
  responds: responds.text("uuids of the new jobs, one a line"),
  run: async (ctx, { body }) => {
    const submissions = await processInBatches(body.job_ids, async (ids) => {
      const some = [];
      for (const id of ids) some.push(await createRerunSubmission(ctx, id, body));
      return some;
    });
    const submitSome = (some: readonly Submission[]) =>
      Promise.all(some.map((submission) => submitJob(ctx, submission, {})));
    const jobs = await processInBatches(submissions, submitSome, SUBMIT_BATCH_SIZE);
    return jobs.map((job) => `${job.id}\n`).join("");
  },
});

const Batch = z.object({
  kind: z.enum(["script", "rawscript", "noop"]),
  path: z.string().nullish(),
  rawscript: z
    .object({
      content: z.string(),
      language: z.enum(LANGUAGES),
      path: z.string().nullish(),
      lock: z.string().nullish(),
    })
    .nullish(),
  tag: z.string().nullish(),
});

async function createBatchSubmission(
  ctx: WorkspaceContext,
  body: z.output<typeof Batch>,
): Promise<Submission> {
  const tag = body.tag ?? undefined;
  if (body.kind === "script") {
    if (!body.path) throw new BadRequest("body field `path`: must name the script to run");
    const found = await resolveTarget(ctx, { path: body.path });
    return { ...(await createSubmission(ctx, found, "{}", { tag })), delete_after_use: false };
  }
  const raw = body.rawscript;
  if (body.kind === "rawscript" && !raw)
    throw new BadRequest("body field `rawscript`: must be the code to run");
  return {
    kind: body.kind === "noop" ? "noop" : "preview",
    script_path: raw?.path ?? undefined,
    language: raw?.language ?? "bun",
    tag: tag ?? raw?.language ?? "noop",
    raw_code: raw?.content,
    raw_lock: raw?.lock ?? undefined,
    args: "{}",
    visible_to_owner: true,
  };
}

const addBatchJobs = operation({
  name: "addBatchJobs",
  method: "POST",
  path: `${base}/add_batch_jobs/{n}`,
  access: "member",
  scope: run,
  summary: "Queue a number of identical jobs as a load test; super admins only",
  body: Batch,
  audit: { operation: "jobs.run", action_kind: "Execute" },
  responds: responds.json(z.array(z.string()), "uuids of the jobs"),
  run: async (ctx, { n, body }) => {
    if (!ctx.caller.identity.super_admin) throw new Forbidden("this needs a super admin");
    const count = queryInteger.min(1).max(MAX_BATCH_JOBS).safeParse(n);
    if (!count.success)
      throw new BadRequest(`"${n}" in the URL must be a number from 1 to ${MAX_BATCH_JOBS}`);
    const submission = await createBatchSubmission(ctx, body);
    return submitIdenticalJobs(ctx, submission, count.data);
  },
});

export const batchOperations: Operation[] = [batchRerunJobs, addBatchJobs];

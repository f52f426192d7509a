/** Wipes the data of completed jobs, and deletes jobs. */
import { and, eq, inArray, ne } from "drizzle-orm";
import { preventIndexUse } from "../../../../database/conditions.ts";
import type { Tx } from "../../../../database/database.ts";
import { processInBatches } from "../../../../lib/async/batches.ts";
import { NotFound } from "../../../../lib/errors.ts";
import * as z from "../../../../lib/zod/z.ts";
import type { WorkspaceContext } from "../../../../platform/app/context.ts";
import { collectFollowUp } from "../../../../platform/app/job-ends.ts";
import { type Operation, operation, responds } from "../../../../platform/http/operation.ts";
import { rescheduleBlockedJobs } from "../../../../platform/queue/concurrency.ts";
import { deleteOutput } from "../../../../platform/queue/job-store.ts";
import { type Job, jobSearch, jobs } from "../../../../platform/queue/tables.ts";
import { failLocking } from "../../../code/flows/locks.ts";
import { deleteFlowState } from "../../flows/plan/delete-flow-state.ts";
import { createCanceledResult } from "../../job/canceled.ts";
import { JobRecord, toJobRecord } from "../../job/records.ts";
import { getJob } from "../../submit/find-and-cancel.ts";
import { selectChangeableJobs } from "../../submit/job-rights.ts";

const common = {
  method: "POST",
  access: "admin",
  scope: { domain: "jobs", action: "write" },
  audit: { operation: "jobs.delete", action_kind: "Delete" },
} as const;

/** Clears inputs and outputs. The user, code, times and status of the run are kept. */
const WIPED_FIELDS = {
  args: "{}",
  result: null,
  raw_code: null,
  raw_lock: null,
  raw_modules: null,
  raw_flow: null,
  flow_body: null,
  preprocessor_input: null,
  deleted: true,
} as const;

const deleteCompletedJob = operation({
  ...common,
  name: "deleteCompletedJob",
  path: "/w/{workspace}/jobs/completed/delete/{id}",
  summary: "Delete the arguments, result, log and code of a completed job",
  responds: responds.json(JobRecord),
  run: async (ctx, { workspace, id }) => {
    const job = await getJob(ctx, workspace, id);
    const wiped = await ctx.write({ resource: job.id }, async (tx) => {
      const [row] = await tx
        .update(jobs)
        .set(WIPED_FIELDS)
        .where(and(eq(jobs.id, job.id), eq(jobs.state, "completed")))
        .returning();
      if (!row) throw new NotFound(`job ${id} is not completed: it is ${job.state}`);
      await deleteOutput(tx, [row.id]);
      await tx.delete(jobSearch).where(eq(jobSearch.job_id, row.id));
      await deleteFlowState(tx, [row.id]);
      return row;
    });
    return toJobRecord(wiped);
  },
});

const deleteJobs = operation({
  ...common,
  name: "deleteJobs",
  path: "/w/{workspace}/jobs/delete",
  summary: "Delete queued and completed jobs completely; running ones are not affected",
  body: z.array(z.uuid().toLowerCase()),
  responds: responds.text("how many were removed"),
  run: async (ctx, { workspace, body }) => {
    const ids = [...new Set(body)];
    const ended = await processInBatches(
      ids,
      async (some) => {
        const found = await listStates(ctx, workspace, some);
        return Promise.all(found.map((job) => job.state !== "running" && deleteJob(ctx, job.id)));
      },
      DELETE_BATCH_SIZE,
    );
    const removed = ended.filter(Boolean).length;
    const running = ended.length - removed;
    const left = running > 0 ? `; ${running} of them run and were left alone: cancel them first` : "";
    return `removed ${removed} jobs${left}`;
  },
});

/** Number of jobs deleted concurrently: other writes wait for all of them. */
const DELETE_BATCH_SIZE = 50;

function listStates(ctx: WorkspaceContext, workspace: string, ids: readonly string[]) {
  return ctx.app.db.read
    .select({ id: jobs.id, state: jobs.state })
    .from(jobs)
    .where(
      and(
        preventIndexUse(eq(jobs.workspace_id, workspace)),
        inArray(jobs.id, [...ids]),
        selectChangeableJobs(ctx.caller),
      ),
    );
}

/** Deletes a job that has not started. @returns false if the job has started in the meantime */
async function deleteJob(ctx: WorkspaceContext, id: string): Promise<boolean> {
  try {
    await ctx.write({ resource: id }, async (tx) => {
      const still = and(eq(jobs.id, id), ne(jobs.state, "running"));
      const [job] = await tx.delete(jobs).where(still).returning();
      if (!job || (await isStepOfRunningFlow(tx, job)))
        throw new NotFound(`job ${id} among those that do not run`);
      await deleteOutput(tx, [id]);
      await tx.delete(jobSearch).where(eq(jobSearch.job_id, id));
      await deleteFlowState(tx, [id]);
      if (job.state === "queued") await completeDeletedJob(ctx, tx, job);
      if (job.state === "planned") await collectFollowUp(ctx.app, job, "canceled")?.(tx);
    });
    return true;
  } catch (error) {
    if (error instanceof NotFound) return false;
    throw error;
  }
}

/** Whether the job is a step of a running flow, which waits for it or may still read its result. */
async function isStepOfRunningFlow(tx: Tx, { flow_step_id, root_job }: Job): Promise<boolean> {
  if (flow_step_id === null || root_job === null) return false;
  const [root] = await tx.select({ state: jobs.state }).from(jobs).where(eq(jobs.id, root_job));
  return root?.state === "running";
}

/** Completes a deleted job for its waiters, and releases its concurrency slot. */
async function completeDeletedJob({ app, username }: WorkspaceContext, tx: Tx, job: Job): Promise<void> {
  const reason = "the job was deleted";
  await failLocking(app, tx, job, reason);
  await rescheduleBlockedJobs(tx, job, app.clock());
  const result = createCanceledResult(reason, username);
  const { id, workspace_id } = job;
  tx.afterCommit(() => {
    app.queue.wake();
    app.events.publishFinished({ id, workspace_id, status: "canceled", result });
  });
}

export const deleteOperations: Operation[] = [deleteCompletedJob, deleteJobs];

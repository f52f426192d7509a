/** Wiping what a completed job held, and removing jobs. */
import { and, eq, inArray, ne } from "drizzle-orm";
import { z } from "zod";
import type { Tx } from "../../../../database/database.ts";
import { inPieces } from "../../../../lib/async/batches.ts";
import { NotFound } from "../../../../lib/errors.ts";
import type { WorkspaceContext } from "../../../../platform/app/context.ts";
import { type Operation, operation, responds } from "../../../../platform/http/operation.ts";
import { settlePlaces } from "../../../../platform/queue/concurrency.ts";
import { forgetOutput } from "../../../../platform/queue/job-store.ts";
import { type Job, jobs } from "../../../../platform/queue/tables.ts";
import { settleWithoutLock } from "../../../code/flows/locks.ts";
import { forgetRuns } from "../../flows/plan/forget.ts";
import { canceledResult } from "../../job/canceled.ts";
import { JobRecord, toRecord } from "../../job/records.ts";
import { getJob } from "../../submit/service.ts";

const common = {
  method: "POST",
  access: "admin",
  scope: { domain: "jobs", action: "write" },
  audit: { operation: "jobs.delete", action_kind: "Delete" },
} as const;

/** What a user put in and what came out; that the job ran, when and how it ended is kept. */
const WIPED = {
  args: "{}",
  result: null,
  raw_code: null,
  raw_lock: null,
  raw_flow: null,
  flow_body: null,
  preprocessor_input: null,
  deleted: true,
} as const;

const deleteCompletedJob = operation({
  ...common,
  name: "deleteCompletedJob",
  path: "/w/{workspace}/jobs/completed/delete/{id}",
  summary: "Wipe the arguments, result, log and code of a completed job",
  responds: responds.json(JobRecord),
  run: async (ctx, { workspace, id }) => {
    const job = await getJob(ctx, workspace, id);
    const wiped = await ctx.write({ resource: job.id }, async (tx) => {
      const [row] = await tx
        .update(jobs)
        .set(WIPED)
        .where(and(eq(jobs.id, job.id), eq(jobs.state, "completed")))
        .returning();
      if (!row) throw new NotFound(`job ${id} is not completed: it is ${job.state}`);
      await forgetOutput(tx, [row.id]);
      await forgetRuns(tx, [row.id]);
      return row;
    });
    return toRecord(wiped);
  },
});

const deleteJobs = operation({
  ...common,
  name: "deleteJobs",
  path: "/w/{workspace}/jobs/delete",
  summary: "Remove jobs, queued and completed, without a trace; running ones are left alone",
  body: z.array(z.uuid().toLowerCase()),
  responds: responds.text("how many were removed"),
  run: async (ctx, { workspace, body }) => {
    const ids = [...new Set(body)];
    const ended = await inPieces(
      ids,
      async (some) => {
        const found = await statesOf(ctx, workspace, some);
        return Promise.all(found.map((job) => job.state !== "running" && remove(ctx, job.id)));
      },
      MOST_REMOVED,
    );
    const removed = ended.filter(Boolean).length;
    const running = ended.length - removed;
    const left = running > 0 ? `; ${running} of them run and were left alone: cancel them first` : "";
    return `removed ${removed} jobs${left}`;
  },
});

/** Jobs that are removed side by side: whoever else writes waits for all of them. */
const MOST_REMOVED = 50;

function statesOf(ctx: WorkspaceContext, workspace: string, ids: readonly string[]) {
  return ctx.app.db.read
    .select({ id: jobs.id, state: jobs.state })
    .from(jobs)
    .where(and(eq(jobs.workspace_id, workspace), inArray(jobs.id, [...ids])));
}

/** @returns false when it has begun to run meanwhile */
async function remove(ctx: WorkspaceContext, id: string): Promise<boolean> {
  try {
    await ctx.write({ resource: id }, async (tx) => {
      const still = and(eq(jobs.id, id), ne(jobs.state, "running"));
      const [job] = await tx.delete(jobs).where(still).returning();
      if (!job || (await isAwaited(tx, job))) throw new NotFound(`job ${id} among those that do not run`);
      await forgetOutput(tx, [id]);
      await forgetRuns(tx, [id]);
      if (job.state === "queued") await endUnrun(ctx, tx, job);
    });
    return true;
  } catch (error) {
    if (error instanceof NotFound) return false;
    throw error;
  }
}

/** A step of a flow that runs: the flow waits for its end, or may still ask for its result. */
async function isAwaited(tx: Tx, { flow_step_id, root_job }: Job): Promise<boolean> {
  if (flow_step_id === null || root_job === null) return false;
  const [root] = await tx.select({ state: jobs.state }).from(jobs).where(eq(jobs.id, root_job));
  return root?.state === "running";
}

/** Whoever waits for a job that will never run is told, and its place goes to the next. */
async function endUnrun({ app, username }: WorkspaceContext, tx: Tx, job: Job): Promise<void> {
  const reason = "the job was deleted";
  await settleWithoutLock(app, tx, job, reason);
  await settlePlaces(tx, job, app.clock());
  const result = canceledResult(reason, username);
  const { id, workspace_id } = job;
  tx.afterCommit(() => {
    app.queue.wake();
    app.events.publishFinished({ id, workspace_id, status: "canceled", result });
  });
}

export const deleteOperations: Operation[] = [deleteCompletedJob, deleteJobs];

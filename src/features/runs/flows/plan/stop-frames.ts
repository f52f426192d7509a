/**
 * Stops the jobs below completed frames. The completing transaction stops a first batch. If there are more, the frames
 * stay marked as due (CLEANUP_TIME), and the wake-up timers continue batch by batch, also after a restart.
 */
import { and, asc, eq, inArray, isNotNull, ne, or } from "drizzle-orm";
import type { Tx } from "../../../../database/database.ts";
import type { App } from "../../../../platform/app/context.ts";
import { rescheduleBlockedJobs } from "../../../../platform/queue/concurrency.ts";
import { FRAME_KINDS, isFrame } from "../../../../platform/queue/states.ts";
import { type Job, jobs } from "../../../../platform/queue/tables.ts";
import { flowFrames } from "../../../code/flows/tables.ts";
import { createCanceledResult } from "../../job/canceled.ts";
import { CLEANUP_TIME, wakeFlowsAt } from "./wake-times.ts";

const CANCELED_FIELDS = { canceled_by: "flow", canceled_reason: "the flow stopped" } as const;
/** Maximum jobs stopped in one transaction, which blocks others. */
const MAX_STOPPED_JOBS = 500;
/** Maximum ids in one statement. */
const BATCH_SIZE = 500;
/** Maximum frames per query for children. With more, PostgreSQL prefers a full table scan. */
const PARENTS_PER_QUERY = 50;

/** Columns that decide how a job is stopped. */
const STOPPABLE_COLUMNS = {
  id: jobs.id,
  kind: jobs.kind,
  state: jobs.state,
  workspace_id: jobs.workspace_id,
  concurrency_key: jobs.concurrency_key,
  concurrent_limit: jobs.concurrent_limit,
  concurrency_time_window_s: jobs.concurrency_time_window_s,
};
type StoppableJob = Pick<Job, keyof typeof STOPPABLE_COLUMNS>;

/** Releases the concurrency slot of a job that has ended or will not start. */
export async function releaseConcurrencySlot(
  app: App,
  tx: Tx,
  job: Parameters<typeof rescheduleBlockedJobs>[1],
): Promise<void> {
  if (job.concurrency_key === null) return;
  await rescheduleBlockedJobs(tx, job, app.clock());
  tx.afterCommit(app.queue.wake);
}

/**
 * Stops what is below completed frames, up to a limit: queued leaves are completed, running ones are asked to stop,
 * frames are completed. The rest is left to the wake-up timers.
 */
export async function stopFramesBelow(app: App, tx: Tx, frames: readonly string[]): Promise<void> {
  const todo = [...frames];
  const done: string[] = [];
  for (let room = MAX_STOPPED_JOBS; todo.length > 0 && room > 0; ) {
    const some = todo.slice(0, PARENTS_PER_QUERY);
    const children = await listUnfinishedChildren(tx, some, room);
    await stopChildren(app, tx, children);
    todo.push(...children.filter(({ kind }) => isFrame(kind)).map(({ id }) => id));
    room -= children.length;
    // Fewer children than the limit: nothing is left below these frames.
    if (room > 0) done.push(...todo.splice(0, some.length));
  }
  await setWakeTime(tx, done, null);
  await setWakeTime(tx, todo, CLEANUP_TIME);
  if (todo.length > 0) tx.afterCommit(() => wakeFlowsAt(app, CLEANUP_TIME));
}

/** Completes frames that still run inside completed ones, and everything below them. */
export async function stopOrphans(app: App, tx: Tx, ids: readonly string[]): Promise<void> {
  const orphans = await tx
    .select(STOPPABLE_COLUMNS)
    .from(jobs)
    .where(and(inArray(jobs.id, [...ids]), eq(jobs.state, "running"), inArray(jobs.kind, [...FRAME_KINDS])));
  await stopChildren(app, tx, orphans);
  // Completed frames must not keep a wake time either.
  await stopFramesBelow(app, tx, ids);
}

function listUnfinishedChildren(tx: Tx, parents: string[], limit: number): Promise<StoppableJob[]> {
  // A leaf that was asked to stop ends on its own.
  const isLeft = or(
    inArray(jobs.kind, [...FRAME_KINDS]),
    eq(jobs.state, "queued"),
    eq(jobs.cancel_requested, false),
  );
  return (
    tx
      .select(STOPPABLE_COLUMNS)
      .from(jobs)
      .where(
        and(
          inArray(jobs.parent_job, parents),
          ne(jobs.state, "completed"),
          isNotNull(jobs.flow_step_id),
          isLeft,
        ),
      )
      // In index order; otherwise PostgreSQL considers a full table scan the cheapest plan.
      .orderBy(asc(jobs.parent_job))
      .limit(limit)
  );
}

async function setWakeTime(tx: Tx, frames: string[], wake_at: Date | null): Promise<void> {
  for (let at = 0; at < frames.length; at += BATCH_SIZE) {
    const some = frames.slice(at, at + BATCH_SIZE);
    await tx.update(flowFrames).set({ wake_at }).where(inArray(flowFrames.job_id, some));
  }
}

async function stopChildren(app: App, tx: Tx, children: readonly StoppableJob[]): Promise<void> {
  if (children.length === 0) return;
  const ends = children.filter(({ kind, state }) => isFrame(kind) || state === "queued");
  const ended = await cancelImmediately(app, tx, ends);
  // A job claimed a moment ago is running, so it is asked to stop.
  await requestCancellation(
    app,
    tx,
    children.filter(({ id }) => !ended.has(id)).map(({ id }) => id),
  );
}

/**
 * Stores queued jobs and running frames among the children as canceled.
 * @returns ids of the jobs that were still queued, and of the frames that were running
 */
async function cancelImmediately(app: App, tx: Tx, children: readonly StoppableJob[]): Promise<Set<string>> {
  if (children.length === 0) return new Set();
  const result = createCanceledResult(CANCELED_FIELDS.canceled_reason, CANCELED_FIELDS.canceled_by);
  const ids = children.map(({ id }) => id);
  const ended = await tx
    .update(jobs)
    .set({
      ...CANCELED_FIELDS,
      state: "completed",
      status: "canceled",
      result,
      completed_at: app.clock(),
      duration_ms: 0,
    })
    .where(
      and(
        inArray(jobs.id, ids),
        ne(jobs.state, "completed"),
        or(eq(jobs.state, "queued"), inArray(jobs.kind, [...FRAME_KINDS])),
      ),
    )
    .returning({ id: jobs.id });
  const isEnded = new Set(ended.map(({ id }) => id));
  const limited = new Map<string, StoppableJob>();
  for (const child of children) {
    if (!isEnded.has(child.id)) continue;
    const { id, workspace_id, concurrency_key } = child;
    if (concurrency_key !== null) limited.set(`${workspace_id}/${concurrency_key}`, child);
    tx.afterCommit(() => app.events.publishFinished({ id, workspace_id, status: "canceled", result }));
  }
  for (const child of limited.values()) await releaseConcurrencySlot(app, tx, child);
  return isEnded;
}

async function requestCancellation(app: App, tx: Tx, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx
    .update(jobs)
    .set({ ...CANCELED_FIELDS, cancel_requested: true })
    .where(and(inArray(jobs.id, ids), ne(jobs.state, "completed")));
  tx.afterCommit(() => {
    for (const id of ids) app.queue.cancel(id);
  });
}

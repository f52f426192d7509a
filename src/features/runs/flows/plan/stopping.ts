/**
 * Stopping jobs of a flow. What ends a frame stops a first piece of what is below it in its own transaction; where there
 * is more, frames that have ended are left marked as due, and the waker (waker.ts) goes on from them piece by piece,
 * after a restart too. Each frame that a piece ends is marked in turn until its own children are stopped.
 */
import { and, asc, eq, inArray, isNotNull, ne, or } from "drizzle-orm";
import type { Tx } from "../../../../database/database.ts";
import type { App } from "../../../../platform/app/context.ts";
import { settlePlaces } from "../../../../platform/queue/concurrency.ts";
import { FRAME_KINDS, isFrame } from "../../../../platform/queue/states.ts";
import { type Job, jobs } from "../../../../platform/queue/tables.ts";
import { flowFrames } from "../../../code/flows/tables.ts";
import { canceledResult } from "../../job/canceled.ts";
import { STOPS_BELOW, wakeFlowsAt } from "./wake-times.ts";

const STOPPED = { canceled_by: "flow", canceled_reason: "the flow stopped" } as const;
/** Most jobs that one transaction stops: it keeps others waiting. */
const MOST_STOPPED = 500;
/** Most ids in one statement. */
const MOST_IDS = 500;
/** Most frames whose children one statement looks for: for more than a few, PostgreSQL rather reads the whole table. */
const MOST_PARENTS = 50;

/** What of a job says how it is stopped. */
const STOPPABLE = {
  id: jobs.id,
  kind: jobs.kind,
  state: jobs.state,
  workspace_id: jobs.workspace_id,
  concurrency_key: jobs.concurrency_key,
  concurrent_limit: jobs.concurrent_limit,
  concurrency_time_window_s: jobs.concurrency_time_window_s,
};
type Stoppable = Pick<Job, keyof typeof STOPPABLE>;

/** Others wait for the place of one that has ended, or does not begin any more. */
export async function freePlace(app: App, tx: Tx, job: Parameters<typeof settlePlaces>[1]): Promise<void> {
  if (job.concurrency_key === null) return;
  await settlePlaces(tx, job, app.clock());
  tx.afterCommit(app.queue.wake);
}

/**
 * Stops what is below frames that have ended, or the first of it: queued leaves end at once, running ones are asked to
 * stop, and frames end. What is left is left to the waker.
 */
export async function stopBelow(app: App, tx: Tx, frames: readonly string[]): Promise<void> {
  const todo = [...frames];
  const done: string[] = [];
  for (let room = MOST_STOPPED; todo.length > 0 && room > 0; ) {
    const some = todo.slice(0, MOST_PARENTS);
    const children = await childrenOf(tx, some, room);
    await stopAll(app, tx, children);
    todo.push(...children.filter(({ kind }) => isFrame(kind)).map(({ id }) => id));
    room -= children.length;
    // As many as were asked for: there may be more.
    if (room > 0) done.push(...todo.splice(0, some.length));
  }
  await mark(tx, done, null);
  await mark(tx, todo, STOPS_BELOW);
  if (todo.length > 0) tx.afterCommit(() => wakeFlowsAt(app, STOPS_BELOW));
}

/** Frames that still run inside of what has ended end too, with what is below them. */
export async function stopOrphans(app: App, tx: Tx, ids: readonly string[]): Promise<void> {
  const orphans = await tx
    .select(STOPPABLE)
    .from(jobs)
    .where(and(inArray(jobs.id, [...ids]), eq(jobs.state, "running"), inArray(jobs.kind, [...FRAME_KINDS])));
  await stopAll(app, tx, orphans);
  // Of those that had ended no moment must be left either.
  await stopBelow(app, tx, ids);
}

function childrenOf(tx: Tx, parents: string[], limit: number): Promise<Stoppable[]> {
  // A leaf that was asked already ends by itself.
  const isLeft = or(
    inArray(jobs.kind, [...FRAME_KINDS]),
    eq(jobs.state, "queued"),
    eq(jobs.cancel_requested, false),
  );
  return (
    tx
      .select(STOPPABLE)
      .from(jobs)
      .where(
        and(
          inArray(jobs.parent_job, parents),
          ne(jobs.state, "completed"),
          isNotNull(jobs.flow_step_id),
          isLeft,
        ),
      )
      // In the order of the index, or PostgreSQL takes a short read of the whole table for the shorter way to a limit.
      .orderBy(asc(jobs.parent_job))
      .limit(limit)
  );
}

async function mark(tx: Tx, frames: string[], wake_at: Date | null): Promise<void> {
  for (let at = 0; at < frames.length; at += MOST_IDS) {
    const some = frames.slice(at, at + MOST_IDS);
    await tx.update(flowFrames).set({ wake_at }).where(inArray(flowFrames.job_id, some));
  }
}

async function stopAll(app: App, tx: Tx, children: readonly Stoppable[]): Promise<void> {
  if (children.length === 0) return;
  const ends = children.filter(({ kind, state }) => isFrame(kind) || state === "queued");
  const ended = await endNow(app, tx, ends);
  // One that was claimed a moment ago runs.
  await askToStop(
    app,
    tx,
    children.filter(({ id }) => !ended.has(id)).map(({ id }) => id),
  );
}

/** @returns those that were still queued, or frames that ran */
async function endNow(app: App, tx: Tx, children: readonly Stoppable[]): Promise<Set<string>> {
  if (children.length === 0) return new Set();
  const result = canceledResult(STOPPED.canceled_reason, STOPPED.canceled_by);
  const ids = children.map(({ id }) => id);
  const ended = await tx
    .update(jobs)
    .set({
      ...STOPPED,
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
  const limited = new Map<string, Stoppable>();
  for (const child of children) {
    if (!isEnded.has(child.id)) continue;
    const { id, workspace_id, concurrency_key } = child;
    if (concurrency_key !== null) limited.set(`${workspace_id}/${concurrency_key}`, child);
    tx.afterCommit(() => app.events.publishFinished({ id, workspace_id, status: "canceled", result }));
  }
  for (const child of limited.values()) await freePlace(app, tx, child);
  return isEnded;
}

async function askToStop(app: App, tx: Tx, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx
    .update(jobs)
    .set({ ...STOPPED, cancel_requested: true })
    .where(and(inArray(jobs.id, ids), ne(jobs.state, "completed")));
  tx.afterCommit(() => {
    for (const id of ids) app.queue.cancel(id);
  });
}

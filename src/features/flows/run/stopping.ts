/** Stopping jobs of a flow, in the transaction of the transition that asks for it. */
import { and, asc, eq, isNotNull, ne } from "drizzle-orm";
import type { App } from "../../../context.ts";
import type { Tx } from "../../../database/database.ts";
import { settlePlaces } from "../../../queue/concurrency.ts";
import { isFrame } from "../../../queue/states.ts";
import { type Job, jobs } from "../../../queue/tables.ts";
import { canceledResult } from "../../jobs/canceled.ts";

const STOPPED = { canceled_by: "flow", canceled_reason: "the flow stopped" } as const;

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

/** Queued children end at once; running ones are asked to stop, and frames end with all that is in them. */
export async function stopChildren(app: App, tx: Tx, parent: string): Promise<void> {
  const children = await tx
    .select(STOPPABLE)
    .from(jobs)
    .where(and(eq(jobs.parent_job, parent), ne(jobs.state, "completed"), isNotNull(jobs.flow_step_id)))
    .orderBy(asc(jobs.id));
  for (const child of children) {
    if (isFrame(child.kind)) await stopChildren(app, tx, child.id);
    const endsHere = isFrame(child.kind) || child.state === "queued";
    if (!(endsHere && (await endNow(app, tx, child)))) await askToStop(app, tx, child.id);
  }
}

/** @returns false when it is no longer in the state it was found in */
async function endNow(app: App, tx: Tx, child: Stoppable): Promise<boolean> {
  const result = canceledResult(STOPPED.canceled_reason, STOPPED.canceled_by);
  const { id, workspace_id, state } = child;
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
    .where(and(eq(jobs.id, id), eq(jobs.state, state)))
    .returning({ id: jobs.id });
  if (ended.length === 0) return false;
  await freePlace(app, tx, child);
  tx.afterCommit(() => app.events.publishFinished({ id, workspace_id, status: "canceled", result }));
  return true;
}

/** A running leaf is asked to stop; a queued one is claimed at once, and ends: its frame awaits that. */
export async function cancelLeaf(app: App, tx: Tx, id: string): Promise<void> {
  await askToStop(app, tx, id);
  const isQueued = and(eq(jobs.id, id), eq(jobs.state, "queued"));
  const [queued] = await tx.select(STOPPABLE).from(jobs).where(isQueued);
  if (!queued) return;
  await tx
    .update(jobs)
    .set({ scheduled_for: app.clock(), concurrency_key: null, concurrency_blocked: false })
    .where(isQueued);
  await freePlace(app, tx, queued);
  tx.afterCommit(app.queue.wake);
}

async function askToStop(app: App, tx: Tx, id: string): Promise<void> {
  await tx
    .update(jobs)
    .set({ ...STOPPED, cancel_requested: true })
    .where(and(eq(jobs.id, id), ne(jobs.state, "completed")));
  tx.afterCommit(() => app.queue.cancel(id));
}

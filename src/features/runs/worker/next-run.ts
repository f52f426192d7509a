/** Scripts that restart until they are canceled: whenever a run ends, the next one is queued in the same transaction. */
import { eq } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { BadRequest, NotFound } from "../../../lib/errors.ts";
import { newJobId } from "../../../lib/text/ids.ts";
import type { App } from "../../../platform/app/context.ts";
import { insertJob } from "../../../platform/queue/job-store.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { type Deployed, deployedByHash, deployedByPath } from "../../code/scripts/versions.ts";
import { withCurrentKey } from "../arguments/stale-ciphertext.ts";
import { entrypointOf } from "../job/entrypoints.ts";

/** Runs begin at least this far apart, so that one that fails at once does not keep the server busy. */
const LEAST_MS = 1_000;

/** What the next run takes over from the one that ended. */
type Successor = Parameters<typeof insertJob>[1];

/**
 * Whatever the end of a run was, if nobody asked for it, the next one follows: also after a result from the cache, an
 * error of the server's own, and a worker that is lost.
 * @returns the run that follows on this one; undefined when the script is gone, or asks for none (any more)
 */
export async function successorOf(app: App, job: Job, now: Date): Promise<Successor | undefined> {
  const { kind, workspace_id, script_path, script_hash } = job;
  // As a step of a flow it runs once, as the flow says; so does one of its functions that another job asked for.
  if (job.flow_step_id !== null || entrypointOf(job) !== undefined) return undefined;
  if (kind !== "script" || !script_path || !script_hash || job.delete_after_use) return undefined;
  const own = await ifDeployed(() => deployedByHash(app, workspace_id, script_hash));
  if (!own?.restart_unless_cancelled) return undefined;
  const names = await namesNow(app, job);
  const next = await ifDeployed(() => deployedByPath(app, workspace_id, names.script_path ?? script_path));
  if (!next?.restart_unless_cancelled) return undefined;
  const earliest = (job.started_at ?? now).getTime() + LEAST_MS;
  return {
    ...job,
    ...names,
    id: newJobId(),
    state: "queued",
    script_hash: next.hash,
    created_at: now,
    scheduled_for: new Date(Math.max(now.getTime(), earliest)),
    started_at: null,
    last_ping: null,
    worker: null,
  };
}

/** Whoever it runs as may be called otherwise than when it began, and the script stand elsewhere. */
async function namesNow(app: App, job: Job): Promise<Partial<Job>> {
  const [row] = await app.db.read
    .select({
      script_path: jobs.script_path,
      permissioned_as: jobs.permissioned_as,
      created_by: jobs.created_by,
      args: jobs.args,
    })
    .from(jobs)
    .where(eq(jobs.id, job.id));
  return row ?? {};
}

async function ifDeployed(find: () => Deployed | Promise<Deployed>): Promise<Deployed | undefined> {
  try {
    return await find();
  } catch (cause) {
    if (cause instanceof NotFound || cause instanceof BadRequest) return undefined;
    throw cause;
  }
}

/** Queues the next run, unless somebody asked meanwhile that there be none. */
export async function queueSuccessor(app: App, tx: Tx, job: Job, successor: Successor): Promise<void> {
  const [row] = await tx.select({ canceled: jobs.cancel_requested }).from(jobs).where(eq(jobs.id, job.id));
  if (row?.canceled) return;
  await insertJob(tx, { ...successor, args: await withCurrentKey(app, tx, job, successor.args) });
  tx.afterCommit(app.queue.wake);
}

/**
 * Scripts with `restart_unless_cancelled`: the next run is queued in the transaction that completes the current one.
 */
import { eq } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { BadRequest, NotFound } from "../../../lib/errors.ts";
import { createUuid } from "../../../lib/text/ids.ts";
import type { App } from "../../../platform/app/context.ts";
import { insertJob } from "../../../platform/queue/job-store.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import {
  type DeployedScript,
  getDeployedScriptByHash,
  getDeployedScriptByPath,
} from "../../code/scripts/versions.ts";
import { reencryptIfStale } from "../arguments/stale-ciphertext.ts";
import { decodeEntrypoint } from "../job/entrypoints.ts";

/**
 * Minimum time between the starts of two runs, so that a script that fails immediately does not keep the server busy.
 */
const MIN_RESTART_INTERVAL_MS = 1_000;

/** The row of the next run. */
type NextRun = Parameters<typeof insertJob>[1];

/**
 * Returns the next run of a script with `restart_unless_cancelled`, whatever the outcome of `job` (success, failure,
 * cache hit, lost worker).
 * @returns undefined if the script was deleted or no longer restarts; synchronous for most scripts, which have no
 * such option
 */
export function findNextRun(app: App, job: Job, now: Date): Promise<NextRun | undefined> | undefined {
  const { kind, script_path, script_hash } = job;
  // A step of a flow runs once, as the flow says. So does a job that runs another function than main.
  if (job.flow_step_id !== null || decodeEntrypoint(job) !== undefined) return undefined;
  if (kind !== "script" || !script_path || !script_hash || job.delete_after_use) return undefined;
  const own = getDeployedScriptByHash(app, job.workspace_id, script_hash);
  if (!(own instanceof Promise) && !own.restart_unless_cancelled) return undefined;
  return createNextRun(app, { ...job, script_path }, own, now);
}

async function createNextRun(
  app: App,
  job: Job & { script_path: string },
  version: DeployedScript | Promise<DeployedScript>,
  now: Date,
): Promise<NextRun | undefined> {
  const { workspace_id, script_path } = job;
  const own = await findIfDeployed(() => version);
  if (!own?.restart_unless_cancelled) return undefined;
  const names = await readCurrentNames(app, job);
  const next = await findIfDeployed(() =>
    getDeployedScriptByPath(app, workspace_id, names.script_path ?? script_path),
  );
  if (!next?.restart_unless_cancelled) return undefined;
  const earliest = (job.started_at ?? now).getTime() + MIN_RESTART_INTERVAL_MS;
  return {
    ...job,
    ...names,
    id: createUuid(),
    state: "queued",
    script_hash: next.hash,
    created_at: now,
    scheduled_for: new Date(Math.max(now.getTime(), earliest)),
    started_at: null,
    last_ping: null,
    worker: null,
  };
}

/** Reads names that may have changed since the job began: the user it runs as, and the path of the script. */
async function readCurrentNames(app: App, job: Job): Promise<Partial<Job>> {
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

async function findIfDeployed(
  find: () => DeployedScript | Promise<DeployedScript>,
): Promise<DeployedScript | undefined> {
  try {
    return await find();
  } catch (cause) {
    if (cause instanceof NotFound || cause instanceof BadRequest) return undefined;
    throw cause;
  }
}

/** Queues the next run, unless the job was canceled meanwhile. */
export async function enqueueNextRun(app: App, tx: Tx, job: Job, successor: NextRun): Promise<void> {
  const [row] = await tx.select({ canceled: jobs.cancel_requested }).from(jobs).where(eq(jobs.id, job.id));
  if (row?.canceled) return;
  await insertJob(tx, { ...successor, args: await reencryptIfStale(app, tx, job, successor.args) });
  tx.afterCommit(app.queue.wake);
}

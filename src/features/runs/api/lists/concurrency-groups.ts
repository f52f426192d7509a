/** Concurrency groups. A group has no row: it consists of the jobs with its key, and is busy while one of them runs. */
import { and, count, eq, inArray, sql } from "drizzle-orm";
import { preventIndexUse } from "../../../../database/conditions.ts";
import type { Tx } from "../../../../database/database.ts";
import { drainInBatches } from "../../../../lib/async/batches.ts";
import { BadRequest, NotFound } from "../../../../lib/errors.ts";
import { isUuid } from "../../../../lib/text/ids.ts";
import type { App, UserContext } from "../../../../platform/app/context.ts";
import { sliceQueue } from "../../../../platform/queue/queued-slices.ts";
import { jobs } from "../../../../platform/queue/tables.ts";
import { resolveMember } from "../../../tenancy/people/members.ts";
import { workspaces } from "../../../tenancy/workspaces/tables.ts";
import { canReadJob } from "../../submit/job-rights.ts";
import { RUNNING_JOBS, UNFINISHED_JOBS } from "./filters.ts";
import { countJobs, scanInSlices } from "./job-scan.ts";

export interface ConcurrencyGroup {
  concurrency_key: string;
  workspace_id: string;
  total_running: number;
}

/** Lists the groups of unfinished jobs, busiest first. */
export async function listActiveGroups(app: App): Promise<ConcurrencyGroup[]> {
  const groups = new Map<string, ConcurrencyGroup>();
  const keyed = sql`${jobs.concurrency_key} IS NOT NULL`;
  const { workspace_id, concurrency_key, state } = jobs;
  for await (const slice of scanInSlices(app, { base: undefined, filters: keyed, sets: [UNFINISHED_JOBS] })) {
    const rows = await app.db.read
      .select({ workspace_id, concurrency_key, state, count: count() })
      .from(jobs)
      .where(slice)
      .groupBy(workspace_id, concurrency_key, state);
    for (const row of rows) {
      const name = `${row.workspace_id}\n${row.concurrency_key}`;
      const total = (groups.get(name)?.total_running ?? 0) + (row.state === "running" ? row.count : 0);
      groups.set(name, {
        concurrency_key: row.concurrency_key ?? "",
        workspace_id: row.workspace_id,
        total_running: total,
      });
    }
  }
  return [...groups.values()].sort((a, b) => b.total_running - a.total_running);
}

/** Jobs changed in the first transaction, which is audited. */
const BATCH_SIZE = 500;

const hasKey = (workspace_id: string, key: string) =>
  and(eq(jobs.workspace_id, workspace_id), eq(jobs.concurrency_key, key));

/**
 * Removes the key from its completed jobs, so that they no longer count and blocked jobs are due.
 * @param only one workspace; undefined: all
 * @throws BadRequest while one of its jobs runs, NotFound if no job has the key
 */
export async function pruneConcurrencyGroup(
  ctx: UserContext,
  key: string,
  only: string | undefined,
): Promise<string> {
  const { app } = ctx;
  const holders = await listWorkspacesWithKey(app, key, only);
  if (holders.length === 0) throw new NotFound(`jobs with the concurrency key ${key}`);
  for (const id of holders) {
    const running = await countJobs(app, { base: undefined, filters: hasKey(id, key), sets: [RUNNING_JOBS] });
    if (running > 0) {
      throw new BadRequest(`${running} jobs with the concurrency key ${key} run in workspace ${id}`, {
        hint: "wait until they have ended, or cancel them",
      });
    }
  }
  let forgotten = 0;
  for (const id of holders) {
    forgotten += await ctx.write({ resource: key, parameters: { workspace_id: id } }, (tx) =>
      removeKey(tx, id, key, BATCH_SIZE),
    );
    forgotten += await drainInBatches((limit) => app.db.write((tx) => removeKey(tx, id, key, limit)));
    await unblockJobs(app, id, key);
  }
  app.queue.wake();
  return `forgot ${forgotten} jobs of the concurrency key ${key}`;
}

/**
 * Lists the workspaces with a job that has the key. They are searched one by one, because the key's index begins with
 * the workspace.
 */
async function listWorkspacesWithKey(app: App, key: string, only: string | undefined): Promise<string[]> {
  const all = await app.db.read.select({ id: workspaces.id }).from(workspaces);
  const holders: string[] = [];
  for (const { id } of all) {
    if (only !== undefined && id !== only) continue;
    const [one] = await app.db.read.select({ id: jobs.id }).from(jobs).where(hasKey(id, key)).limit(1);
    if (one) holders.push(id);
  }
  return holders;
}

/** Removes the key from some of its completed jobs. @returns from how many */
async function removeKey(tx: Tx, workspace_id: string, key: string, limit: number): Promise<number> {
  const completed = and(hasKey(workspace_id, key), eq(jobs.state, "completed"));
  const some = await tx.select({ id: jobs.id }).from(jobs).where(completed).limit(limit);
  const ids = some.map(({ id }) => id);
  if (ids.length > 0) await tx.update(jobs).set({ concurrency_key: null }).where(inArray(jobs.id, ids));
  return ids.length;
}

/** Makes blocked jobs of the key due. */
async function unblockJobs(app: App, workspace_id: string, key: string): Promise<void> {
  const blocked = preventIndexUse(and(hasKey(workspace_id, key), eq(jobs.concurrency_blocked, true))!);
  for await (const slice of sliceQueue(app.db.read)) {
    const due = { scheduled_for: app.clock(), concurrency_blocked: false };
    await app.db.write((tx) => tx.update(jobs).set(due).where(and(slice, blocked)));
  }
}

/** Reads the concurrency key of a job. @throws NotFound, also if the caller may not see the job */
export async function readConcurrencyKey(ctx: UserContext, job_id: string): Promise<string | null> {
  if (!isUuid(job_id)) throw new BadRequest(`"${job_id.slice(0, 60)}" is not a job id: it must be a UUID`);
  const { app } = ctx;
  const { identity } = ctx.caller;
  const unknown = new NotFound(`job ${job_id}`);
  const [job] = await app.db.read.select().from(jobs).where(eq(jobs.id, job_id.toLowerCase()));
  const bound = identity.token?.workspace_id;
  if (!job || (bound !== undefined && bound !== job.workspace_id)) throw unknown;
  const member = await resolveMember(app, identity, job.workspace_id);
  if (!member || member.disabled || !canReadJob({ identity, member }, job)) throw unknown;
  return job.concurrency_key;
}

/** Configuration of worker groups, and the jobs that wait for workers. */
import { and, asc, eq, lte, min, sql } from "drizzle-orm";
import { NotFound } from "../../../lib/errors.ts";
import type { App, Context } from "../../../platform/app/context.ts";
import { invalidateWorkerGroups, loadGroupTags } from "../../../platform/cluster/group-tags.ts";
import { workerGroups } from "../../../platform/cluster/tables.ts";
import { jobs } from "../../../platform/queue/tables.ts";

type GroupConfig = Record<string, unknown>;

/** Lists the groups that have a configuration, by name. */
export function listGroupConfigs({ db }: App): Promise<{ name: string; config: GroupConfig }[]> {
  return db.read.select().from(workerGroups).orderBy(asc(workerGroups.name));
}

/** Returns a group's configuration, or null. */
export async function findGroupConfig({ db }: App, group: string): Promise<GroupConfig | null> {
  const [row] = await db.read.select().from(workerGroups).where(eq(workerGroups.name, group));
  return row?.config ?? null;
}

/** Stores a group's configuration. Local workers apply it before this resolves; those on other servers soon after. */
export async function storeGroupConfig(
  ctx: Context,
  group: string,
  { resource, config }: { resource: string; config: GroupConfig },
): Promise<void> {
  await ctx.write({ resource }, async (tx) => {
    await tx
      .insert(workerGroups)
      .values({ name: group, config })
      .onConflictDoUpdate({ target: workerGroups.name, set: { config } });
    tx.afterCommit(() => invalidateWorkerGroups(ctx.app));
  });
  await loadGroupTags(ctx.app);
}

/** Deletes a group's configuration. @throws NotFound */
export async function deleteGroupConfig(ctx: Context, group: string, resource: string): Promise<void> {
  await ctx.write({ resource }, async (tx) => {
    const gone = await tx.delete(workerGroups).where(eq(workerGroups.name, group)).returning();
    if (gone.length === 0) throw new NotFound(`there is no configuration ${resource}`);
    tx.afterCommit(() => invalidateWorkerGroups(ctx.app));
  });
  await loadGroupTags(ctx.app);
}

/** Counts due jobs that wait for a worker, by tag, and returns the earliest due time of each. */
export async function countWaitingByTag(app: App): Promise<{ tag: string; count: number; since: Date }[]> {
  const rows = await app.db.read
    .select({ tag: jobs.tag, count: sql<number>`count(*)`, since: min(jobs.scheduled_for) })
    .from(jobs)
    .where(and(sql`${jobs.state} = 'queued'`, lte(jobs.scheduled_for, app.clock())))
    .groupBy(jobs.tag)
    .orderBy(asc(jobs.tag));
  return rows.map(({ tag, count, since }) => ({ tag, count: Number(count), since: new Date(since!) }));
}

/** What groups of workers are given, and what waits for them. */
import { and, asc, eq, lte, min, sql } from "drizzle-orm";
import { NotFound } from "../../../lib/errors.ts";
import type { App, Context } from "../../../platform/app/context.ts";
import { groupsChanged, readGroupTags } from "../../../platform/cluster/group-tags.ts";
import { workerGroups } from "../../../platform/cluster/tables.ts";
import { jobs } from "../../../platform/queue/tables.ts";

type GroupConfig = Record<string, unknown>;

/** The groups that are given something, by name. */
export function listGroups({ db }: App): Promise<{ name: string; config: GroupConfig }[]> {
  return db.read.select().from(workerGroups).orderBy(asc(workerGroups.name));
}

/** What a group is given; null when nothing was said. */
export async function configOf({ db }: App, group: string): Promise<GroupConfig | null> {
  const [row] = await db.read.select().from(workerGroups).where(eq(workerGroups.name, group));
  return row?.config ?? null;
}

/** Gives a group something; its workers here follow before this resolves, those elsewhere at once. */
export async function setGroup(
  ctx: Context,
  group: string,
  { resource, config }: { resource: string; config: GroupConfig },
): Promise<void> {
  await ctx.write({ resource }, async (tx) => {
    await tx
      .insert(workerGroups)
      .values({ name: group, config })
      .onConflictDoUpdate({ target: workerGroups.name, set: { config } });
    tx.afterCommit(() => groupsChanged(ctx.app));
  });
  await readGroupTags(ctx.app);
}

/** Gives a group nothing in particular. @throws NotFound */
export async function removeGroup(ctx: Context, group: string, resource: string): Promise<void> {
  await ctx.write({ resource }, async (tx) => {
    const gone = await tx.delete(workerGroups).where(eq(workerGroups.name, group)).returning();
    if (gone.length === 0) throw new NotFound(`there is no configuration ${resource}`);
    tx.afterCommit(() => groupsChanged(ctx.app));
  });
  await readGroupTags(ctx.app);
}

/** Due jobs that wait, by tag, and since when the first of them does. */
export async function waitingByTag(app: App): Promise<{ tag: string; count: number; since: Date }[]> {
  const rows = await app.db.read
    .select({ tag: jobs.tag, count: sql<number>`count(*)`, since: min(jobs.scheduled_for) })
    .from(jobs)
    .where(and(sql`${jobs.state} = 'queued'`, lte(jobs.scheduled_for, app.clock())))
    .groupBy(jobs.tag)
    .orderBy(asc(jobs.tag));
  return rows.map(({ tag, count, since }) => ({ tag, count: Number(count), since: new Date(since!) }));
}

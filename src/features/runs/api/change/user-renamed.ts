/** The runs of a user who is renamed. What has ended keeps the name it ran under. */
import { type AnyColumn, and, eq, inArray, or, type SQL, sql } from "drizzle-orm";
import { containsText, replacePrefix, startsWith, unindexed } from "../../../../database/conditions.ts";
import type { Tx } from "../../../../database/database.ts";
import type { App } from "../../../../platform/app/context.ts";
import type { RenameParameters } from "../../../../platform/app/person.ts";
import { unfinishedWhere } from "../../../../platform/queue/queued-slices.ts";
import { jobs } from "../../../../platform/queue/tables.ts";
import { flowFrames } from "../../../code/flows/tables.ts";

const whenElse = (test: SQL, value: SQL, otherwise: SQL | AnyColumn): SQL =>
  sql`CASE WHEN ${test} THEN ${value} ELSE ${otherwise} END`;

/** Renames the user in unfinished jobs, which continue under the new name and find renamed items. */
export async function renameInUnfinishedRuns(_app: App, tx: Tx, renaming: RenameParameters): Promise<void> {
  const { workspace_id, from, to, rewrite } = renaming;
  const [before, after] = [`u/${from}/`, `u/${to}/`];
  const ofWorkspace = eq(jobs.workspace_id, workspace_id);
  const unfinishedAnd = (condition: SQL | undefined) =>
    unfinishedWhere(and(ofWorkspace, condition), { withPlanned: true });
  const moved = (column: AnyColumn, prefix = "") => {
    const test = startsWith(column, prefix + before);
    return { test, set: whenElse(test, replacePrefix(column, prefix + before, prefix + after), column) };
  };
  const isOwn = eq(jobs.permissioned_as, `u/${from}`);
  const isAuthor = eq(jobs.created_by, from);
  const path = moved(jobs.script_path);
  const schedule = moved(jobs.schedule_path);
  const keys = ["script", "flow"].map((kind) => moved(jobs.concurrency_key, `${workspace_id}/${kind}/`));
  // One statement: the queue may be long.
  await tx
    .update(jobs)
    .set({
      permissioned_as: whenElse(isOwn, sql`${`u/${to}`}`, jobs.permissioned_as),
      created_by: whenElse(isAuthor, sql`${to}`, jobs.created_by),
      script_path: path.set,
      schedule_path: schedule.set,
      concurrency_key: whenElse(keys[0]!.test, keys[0]!.set, keys[1]!.set),
    })
    .where(unfinishedAnd(or(isOwn, isAuthor, ...[path, schedule, ...keys].map(({ test }) => test))));
  // Arguments are stored as they were sent, so a reference may be written with JSON escapes.
  const mayRefer = or(containsText(jobs.args, '"$'), containsText(jobs.args, "\\u0024"));
  const maySayOtherwise = and(containsText(jobs.args, "\\"), mayRefer);
  const mentioning = await tx
    .select({ id: jobs.id, args: jobs.args, raw_flow: jobs.raw_flow })
    .from(jobs)
    .where(
      unfinishedAnd(
        or(containsText(jobs.args, before), containsText(jobs.raw_flow, before), maySayOtherwise),
      ),
    );
  for (const { id, args, raw_flow } of mentioning) {
    await tx
      .update(jobs)
      .set({ args: rewrite.references(args), raw_flow: raw_flow === null ? null : rewrite.flow(raw_flow) })
      .where(eq(jobs.id, id));
  }
  // Raises the version, so that a server with the flow run in memory reloads it at its next write.
  const roots = tx
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(sql`${jobs.state} = 'running'`, unindexed(ofWorkspace)));
  await tx
    .update(flowFrames)
    .set({ version: sql`${flowFrames.version} + 1` })
    .where(inArray(flowFrames.job_id, roots));
}

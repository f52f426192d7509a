/** Updates the runs of a renamed user. Completed jobs keep the former name. */
import { type AnyColumn, and, eq, inArray, or, type SQL, sql } from "drizzle-orm";
import { containsText, preventIndexUse, replacePrefix, startsWith } from "../../../../database/conditions.ts";
import type { Reader, Tx } from "../../../../database/database.ts";
import { divideByKey, type Part } from "../../../../database/slices.ts";
import type { RenameParameters } from "../../../../platform/app/person.ts";
import { sliceQueue } from "../../../../platform/queue/queued-slices.ts";
import { jobs } from "../../../../platform/queue/tables.ts";
import { flowFrames } from "../../../code/flows/tables.ts";

const whenElse = (test: SQL, value: SQL, otherwise: SQL | AnyColumn): SQL =>
  sql`CASE WHEN ${test} THEN ${value} ELSE ${otherwise} END`;

/** Renames the user in unfinished jobs, which continue under the new name and find renamed items. */
export async function* renameInUnfinishedRuns(
  db: Reader,
  renaming: RenameParameters,
  how: { inTransaction: boolean },
): AsyncGenerator<Part> {
  const ofWorkspace = preventIndexUse(eq(jobs.workspace_id, renaming.workspace_id));
  let continues = false;
  for await (const slice of sliceQueue(db, how)) {
    yield { run: (tx) => renameInJobs(tx, renaming, sql`${slice} AND ${ofWorkspace}`), continues };
    continues = true;
  }
  // Also the next runs of schedules, which are rows that no worker claims yet.
  for (const state of ["held", "planned", "running"]) {
    const ofState = sql`${jobs.state} = ${sql.raw(`'${state}'`)} AND ${ofWorkspace}`;
    yield* divideByKey(db, jobs.id, ofState, async (tx, slice) => {
      await renameInJobs(tx, renaming, slice);
      if (state === "running") await reloadFlows(tx, slice);
    });
  }
}

async function renameInJobs(tx: Tx, renaming: RenameParameters, slice: SQL): Promise<void> {
  const { workspace_id, from, to, rewrite } = renaming;
  const [before, after] = [`u/${from}/`, `u/${to}/`];
  const moved = (column: AnyColumn, prefix = "") => {
    const test = startsWith(column, prefix + before);
    return { test, set: whenElse(test, replacePrefix(column, prefix + before, prefix + after), column) };
  };
  const isOwn = preventIndexUse(eq(jobs.permissioned_as, `u/${from}`));
  const isAuthor = preventIndexUse(eq(jobs.created_by, from));
  const path = moved(jobs.script_path);
  const schedule = moved(jobs.schedule_path);
  const keys = ["script", "flow"].map((kind) => moved(jobs.concurrency_key, `${workspace_id}/${kind}/`));
  const concerned = or(isOwn, isAuthor, ...[path, schedule, ...keys].map(({ test }) => test));
  await tx
    .update(jobs)
    .set({
      permissioned_as: whenElse(isOwn, sql`${`u/${to}`}`, jobs.permissioned_as),
      created_by: whenElse(isAuthor, sql`${to}`, jobs.created_by),
      script_path: path.set,
      schedule_path: schedule.set,
      concurrency_key: whenElse(keys[0]!.test, keys[0]!.set, keys[1]!.set),
    })
    .where(and(slice, concerned));
  // Arguments are stored as they were sent, so a reference may be written with JSON escapes.
  const mayContainReference = or(containsText(jobs.args, '"$'), containsText(jobs.args, "\\u0024"));
  const maySayOtherwise = and(containsText(jobs.args, "\\"), mayContainReference);
  const mentioning = await tx
    .select({ id: jobs.id, args: jobs.args, raw_flow: jobs.raw_flow })
    .from(jobs)
    .where(
      and(slice, or(containsText(jobs.args, before), containsText(jobs.raw_flow, before), maySayOtherwise)),
    );
  for (const { id, args, raw_flow } of mentioning) {
    const rewritten = {
      args: rewrite.references(args),
      raw_flow: raw_flow === null ? null : rewrite.flow(raw_flow),
    };
    if (rewritten.args !== args || rewritten.raw_flow !== raw_flow)
      await tx.update(jobs).set(rewritten).where(eq(jobs.id, id));
  }
}

/** Increments the version, so that a server with one of the flow runs in memory reloads it at its next write. */
async function reloadFlows(tx: Tx, slice: SQL): Promise<void> {
  const roots = tx.select({ id: jobs.id }).from(jobs).where(slice);
  await tx
    .update(flowFrames)
    .set({ version: sql`${flowFrames.version} + 1` })
    .where(inArray(flowFrames.job_id, roots));
}

/** The runs of a user who is renamed. What has ended keeps the name it ran under. */
import { and, eq, inArray, ne, or, sql } from "drizzle-orm";
import { containsText, replacePrefix, startsWith } from "../../../../database/conditions.ts";
import type { Tx } from "../../../../database/database.ts";
import type { App } from "../../../../platform/app/context.ts";
import type { RenameParameters } from "../../../../platform/app/person.ts";
import { jobs } from "../../../../platform/queue/tables.ts";
import { flowFrames } from "../../../code/flows/tables.ts";

/** Renames the user in unfinished jobs, which continue under the new name and find renamed items. */
export async function renameInUnfinishedRuns(_app: App, tx: Tx, renaming: RenameParameters): Promise<void> {
  const { workspace_id, from, to, rewrite } = renaming;
  const [before, after] = [`u/${from}/`, `u/${to}/`];
  const unfinished = and(eq(jobs.workspace_id, workspace_id), ne(jobs.state, "completed"));
  await tx
    .update(jobs)
    .set({ permissioned_as: `u/${to}` })
    .where(and(unfinished, eq(jobs.permissioned_as, `u/${from}`)));
  await tx
    .update(jobs)
    .set({ created_by: to })
    .where(and(unfinished, eq(jobs.created_by, from)));
  await tx
    .update(jobs)
    .set({ script_path: replacePrefix(jobs.script_path, before, after) })
    .where(and(unfinished, startsWith(jobs.script_path, before)));
  await tx
    .update(jobs)
    .set({ schedule_path: replacePrefix(jobs.schedule_path, before, after) })
    .where(and(unfinished, startsWith(jobs.schedule_path, before)));
  for (const kind of ["script", "flow"]) {
    const key = (below: string) => `${workspace_id}/${kind}/${below}`;
    await tx
      .update(jobs)
      .set({ concurrency_key: replacePrefix(jobs.concurrency_key, key(before), key(after)) })
      .where(and(unfinished, startsWith(jobs.concurrency_key, key(before))));
  }
  // Arguments are stored as they were sent, so a reference may be written with JSON escapes.
  const mayRefer = or(containsText(jobs.args, '"$'), containsText(jobs.args, "\\u0024"));
  const maySayOtherwise = and(containsText(jobs.args, "\\"), mayRefer);
  const mentioning = await tx
    .select({ id: jobs.id, args: jobs.args, raw_flow: jobs.raw_flow })
    .from(jobs)
    .where(
      and(
        unfinished,
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
    .where(and(unfinished, eq(jobs.state, "running")));
  await tx
    .update(flowFrames)
    .set({ version: sql`${flowFrames.version} + 1` })
    .where(inArray(flowFrames.job_id, roots));
}

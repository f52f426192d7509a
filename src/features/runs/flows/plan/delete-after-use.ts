/** Steps with `delete_after_use`: their arguments, results and logs are deleted when their flow ends. */
import { and, eq, inArray } from "drizzle-orm";
import type { Tx } from "../../../../database/database.ts";
import { jobLogs, jobSearch, jobStreams, jobs } from "../../../../platform/queue/tables.ts";
import type { LiveFlow, LiveFrame } from "../live-run.ts";
import { findLeafModule } from "../modules.ts";

/** Maximum ids in one statement. */
const BATCH_SIZE = 1_000;

/**
 * Deletes the data of such steps of a completed flow. For frames of loops and branches it does nothing: their flow does
 * it.
 */
export async function deleteAfterUse(tx: Tx, frame: LiveFrame): Promise<void> {
  const { flow } = frame;
  if (frame.frame !== flow.value) return;
  const steps = stepsToDelete(flow);
  if (steps.length === 0) return;
  for (let level = [frame.id]; level.length > 0; ) {
    const inside: string[] = [];
    for (let at = 0; at < level.length; at += BATCH_SIZE) {
      const some = level.slice(at, at + BATCH_SIZE);
      await deleteBelow(tx, some, steps);
      const frames = await tx
        .select({ id: jobs.id })
        .from(jobs)
        .where(and(inArray(jobs.parent_job, some), eq(jobs.kind, "flownode")));
      inside.push(...frames.map(({ id }) => id));
    }
    level = inside;
  }
}

function stepsToDelete({ modules }: LiveFlow): string[] {
  return [...modules.values()]
    .filter((module) => module.delete_after_use || findLeafModule(module).delete_after_use)
    .map(({ id }) => id);
}

async function deleteBelow(tx: Tx, parents: string[], steps: string[]): Promise<void> {
  const ended = await tx
    .update(jobs)
    .set({ args: "{}", result: "{}", labels: null, deleted: true })
    .where(and(inArray(jobs.parent_job, parents), inArray(jobs.flow_step_id, steps)))
    .returning({ id: jobs.id });
  for (let at = 0; at < ended.length; at += BATCH_SIZE) {
    const ids = ended.slice(at, at + BATCH_SIZE).map(({ id }) => id);
    await tx.delete(jobLogs).where(inArray(jobLogs.job_id, ids));
    await tx.delete(jobStreams).where(inArray(jobStreams.job_id, ids));
    await tx.delete(jobSearch).where(inArray(jobSearch.job_id, ids));
  }
}

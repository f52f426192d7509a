/** Steps that leave nothing behind: what they took, made and said goes when their flow has ended. */
import { and, eq, inArray } from "drizzle-orm";
import type { Tx } from "../../../../database/database.ts";
import { jobLogs, jobStreams, jobs } from "../../../../platform/queue/tables.ts";
import { leafOf } from "../modules.ts";
import type { LiveFlow, LiveFrame } from "../run.ts";

/** Most ids in one statement. */
const MOST_IDS = 1_000;

/** Deletes what is not to stay of an ended flow's steps; for iterations and branches their flow sees to it. */
export async function deleteAfterUse(tx: Tx, frame: LiveFrame): Promise<void> {
  const { flow } = frame;
  if (frame.frame !== flow.value) return;
  const steps = stepsToDelete(flow);
  if (steps.length === 0) return;
  for (let level = [frame.id]; level.length > 0; ) {
    const inside: string[] = [];
    for (let at = 0; at < level.length; at += MOST_IDS) {
      const some = level.slice(at, at + MOST_IDS);
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
    .filter((module) => module.delete_after_use || leafOf(module).delete_after_use)
    .map(({ id }) => id);
}

async function deleteBelow(tx: Tx, parents: string[], steps: string[]): Promise<void> {
  const ended = await tx
    .update(jobs)
    .set({ args: "{}", result: "{}", labels: null, deleted: true })
    .where(and(inArray(jobs.parent_job, parents), inArray(jobs.flow_step_id, steps)))
    .returning({ id: jobs.id });
  for (let at = 0; at < ended.length; at += MOST_IDS) {
    const ids = ended.slice(at, at + MOST_IDS).map(({ id }) => id);
    await tx.delete(jobLogs).where(inArray(jobLogs.job_id, ids));
    await tx.delete(jobStreams).where(inArray(jobStreams.job_id, ids));
  }
}

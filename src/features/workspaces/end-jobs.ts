/** Ending what a workspace runs, when it is archived, deleted or gets another id. */

import { and, asc, desc, eq, isNull, ne, type SQL, sql } from "drizzle-orm";
import type { App, Context } from "../../context.ts";
import { sleep } from "../../loops/sleep.ts";
import { type Job, jobs } from "../../queue/tables.ts";
import { cancelUnfinished } from "../jobs/service.ts";

const AT_ONCE = 200;
const LOOK_MS = 20;
const CANCELED = { operation: "jobs.cancel", action_kind: "Delete" } as const;

/** Jobs of the workspace that have not ended; with `asked` also those that were asked to. */
const unfinished = (workspace_id: string, asked: boolean): SQL | undefined =>
  and(
    eq(jobs.workspace_id, workspace_id),
    ne(jobs.state, "completed"),
    asked ? undefined : eq(jobs.cancel_requested, false),
  );

/**
 * Cancels jobs of a workspace: flows first, which take their steps with them. Running ones are asked to stop, and may
 * take a moment.
 * @param which all that have not ended, or those that run
 */
export async function endJobs(
  ctx: Context,
  workspace_id: string,
  reason: string,
  which: "unfinished" | "running",
): Promise<void> {
  const seen = new Set<string>();
  for (;;) {
    const some = await ctx.app.db.read
      .select()
      .from(jobs)
      .where(
        and(
          unfinished(workspace_id, false),
          which === "running" ? sql`${jobs.state} = 'running'` : undefined,
        ),
      )
      .orderBy(desc(isNull(jobs.flow_step_id)), asc(jobs.id))
      .limit(AT_ONCE);
    const fresh = some.filter(({ id }) => !seen.has(id));
    if (fresh.length === 0) return;
    for (const { id } of fresh) seen.add(id);
    await Promise.all(fresh.map((job: Job) => cancelUnfinished(ctx, job, reason, false, CANCELED)));
  }
}

/** Waits until no job of the workspace runs, or for so many milliseconds. */
export async function untilEnded(app: App, workspace_id: string, most_ms: number): Promise<void> {
  const end = performance.now() + most_ms;
  while (performance.now() < end) {
    const [running] = await app.db.read
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(unfinished(workspace_id, true), sql`${jobs.state} = 'running'`))
      .limit(1);
    if (!running) return;
    await sleep(LOOK_MS);
  }
}

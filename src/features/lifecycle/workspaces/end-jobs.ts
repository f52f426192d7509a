/** Ending what a workspace runs, when it is archived, deleted or gets another id. */
import { and, eq, sql } from "drizzle-orm";
import { apart } from "../../../database/conditions.ts";
import { sleep } from "../../../lib/async/sleep.ts";
import type { App } from "../../../platform/app/context.ts";
import { jobs } from "../../../platform/queue/tables.ts";
import { type Canceling, cancelAll } from "../../runs/submit/service.ts";

const LOOK_MS = 20;
const CANCELED = { operation: "jobs.cancel", action_kind: "Delete" } as const;

/**
 * Cancels jobs of a workspace: flows first, which take their steps with them. Running ones are asked to stop, and may
 * take a moment.
 * @param which all that have not ended, or those that run
 */
export async function endJobs(
  ctx: Canceling,
  workspace_id: string,
  reason: string,
  which: "unfinished" | "running",
): Promise<void> {
  await cancelAll(ctx, apart(eq(jobs.workspace_id, workspace_id)), reason, { which, as: CANCELED });
}

/** Waits until no job of the workspace runs, or for so many milliseconds. */
export async function untilEnded(app: App, workspace_id: string, most_ms: number): Promise<void> {
  const end = performance.now() + most_ms;
  while (performance.now() < end) {
    const [running] = await app.db.read
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(apart(eq(jobs.workspace_id, workspace_id)), sql`${jobs.state} = 'running'`))
      .limit(1);
    if (!running) return;
    await sleep(LOOK_MS);
  }
}

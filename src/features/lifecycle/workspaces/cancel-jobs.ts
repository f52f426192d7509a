/** Cancels the jobs of a workspace that is archived, deleted or renamed. */
import { and, eq, sql } from "drizzle-orm";
import { preventIndexUse } from "../../../database/conditions.ts";
import { sleep } from "../../../lib/async/sleep.ts";
import type { App } from "../../../platform/app/context.ts";
import type { CancelContext } from "../../../platform/app/lifecycle.ts";
import { jobs } from "../../../platform/queue/tables.ts";

const POLL_INTERVAL_MS = 20;

/**
 * Cancels jobs of a workspace. Running ones are asked to stop, which may take a moment.
 * @param which all unfinished jobs, or the running ones only
 */
export async function cancelJobs(
  ctx: CancelContext,
  workspace_id: string,
  reason: string,
  which: "unfinished" | "running",
): Promise<void> {
  for (const { on } of ctx.app.features) await on?.workspaceClosing?.(ctx, workspace_id, { reason, which });
}

/** Waits until no job of the workspace is running, for at most `most_ms` milliseconds. */
export async function awaitJobsEnded(app: App, workspace_id: string, timeout_ms: number): Promise<void> {
  const end = performance.now() + timeout_ms;
  while (performance.now() < end) {
    const [running] = await app.db.read
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(preventIndexUse(eq(jobs.workspace_id, workspace_id)), sql`${jobs.state} = 'running'`))
      .limit(1);
    if (!running) return;
    await sleep(POLL_INTERVAL_MS);
  }
}

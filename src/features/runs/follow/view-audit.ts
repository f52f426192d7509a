/** Audits reads of jobs, if configured: at most one row per minute for each user and job. */

import { Cache } from "../../../lib/async/cache.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import type { App, Context } from "../../../platform/app/context.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { getJob } from "../submit/find-and-cancel.ts";

const VIEW_AUDIT = { operation: "jobs.view", action_kind: "Execute" } as const;
const REPEAT_AFTER_MS = 60_000;
const MAX_CACHED_VIEWS = 20_000;

/** Recorded views by user and job. A promise resolves when the row is stored: nothing is shown before. */
const recordedViewsOf = memoizePerApp(
  (app: App) =>
    new Cache<Promise<void>>({
      max: MAX_CACHED_VIEWS,
      ttl_ms: REPEAT_AFTER_MS,
      now: () => app.clock().getTime(),
    }),
);

/** Returns the job and audits the view. @throws as `getJob` */
export async function getJobAudited(ctx: Context, workspace_id: string, id: string): Promise<Job> {
  const job = await getJob(ctx, workspace_id, id);
  await auditJobView(ctx, job);
  return job;
}

/** Audits the view of a job. Call it before the job is shown. */
export async function auditJobView(ctx: Context, { id, workspace_id }: Pick<Job, "id" | "workspace_id">) {
  const { app, username } = ctx;
  if (app.config.job_view_audit_logs !== "true") return;
  const told = recordedViewsOf(app);
  const key = `${workspace_id}\n${username}\n${id}`;
  const known = told.get(key);
  if (known) return known;
  const stored = ctx.write({ resource: id, action: VIEW_AUDIT }, async () => {});
  told.set(key, stored);
  try {
    await stored;
  } catch (cause) {
    if (told.get(key) === stored) told.delete(key);
    throw cause;
  }
}

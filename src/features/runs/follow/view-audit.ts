/** Who has read which job: told in the audit log where that is asked for, once a minute for each of both. */

import { Cache } from "../../../lib/async/cache.ts";
import { perApp } from "../../../lib/async/per-app.ts";
import type { App, Context } from "../../../platform/app/context.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { getJob } from "../submit/service.ts";

const VIEW = { operation: "jobs.view", action_kind: "Execute" } as const;
const AGAIN_MS = 60_000;
const MAX_REMEMBERED = 20_000;

/** By person and job; resolved when the row is there: whoever asks meanwhile is shown nothing before. */
const toldOf = perApp(
  (app: App) =>
    new Cache<Promise<void>>({
      max: MAX_REMEMBERED,
      ttl_ms: AGAIN_MS,
      now: () => app.clock().getTime(),
    }),
);

/** The job, which is about to be shown: that is told. @throws as `getJob` */
export async function viewJob(ctx: Context, workspace_id: string, id: string): Promise<Job> {
  const job = await getJob(ctx, workspace_id, id);
  await tellOfView(ctx, job);
  return job;
}

/** To be called when the job is about to be shown. */
export async function tellOfView(ctx: Context, { id, workspace_id }: Pick<Job, "id" | "workspace_id">) {
  const { app, username } = ctx;
  if (app.config.job_view_audit_logs !== "true") return;
  const told = toldOf(app);
  const key = `${workspace_id}\n${username}\n${id}`;
  const known = told.get(key);
  if (known) return known;
  const stored = ctx.write({ resource: id, as: VIEW }, async () => {});
  told.set(key, stored);
  try {
    await stored;
  } catch (cause) {
    if (told.get(key) === stored) told.delete(key);
    throw cause;
  }
}

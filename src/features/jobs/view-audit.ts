/** Who has read which job: told in the audit log where that is asked for, once a minute for each of both. */
import type { App, Context } from "../../context.ts";
import { perApp } from "../../lib/per-app.ts";
import type { Job } from "../../queue/tables.ts";

const VIEW = { operation: "jobs.view", action_kind: "Execute" } as const;
const AGAIN_MS = 60_000;
const MAX_REMEMBERED = 20_000;

/** Until when, in milliseconds, nothing more is told of a person and a job: those told of last stand at the end. */
const toldOf = perApp<App, Map<string, number>>(() => new Map());

/** To be called when the job is about to be shown. */
export async function tellOfView(ctx: Context, { id, workspace_id }: Pick<Job, "id" | "workspace_id">) {
  const { app, username } = ctx;
  if (app.config.job_view_audit_logs !== "true") return;
  const told = toldOf(app);
  const now = app.clock().getTime();
  const key = `${workspace_id}\n${username}\n${id}`;
  if ((told.get(key) ?? 0) > now) return;
  told.delete(key);
  if (told.size >= MAX_REMEMBERED) told.delete(told.keys().next().value!);
  told.set(key, now + AGAIN_MS);
  await ctx.write({ resource: id, as: VIEW }, async () => {});
}

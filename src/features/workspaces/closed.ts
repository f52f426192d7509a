/**
 * Workspaces in which nothing begins any more, for good or while their id changes: a call that was let in before is
 * stopped here, when it is about to store a job.
 */
import type { App } from "../../context.ts";
import { BadRequest } from "../../errors.ts";
import { forgottenEverywhere } from "../../events/forgetting.ts";
import { perApp } from "../../lib/per-app.ts";

/** Why, by workspace: empty on most servers at most times. */
const closedOf = perApp<App, Map<string, string>>(() => new Map());

/** `why` is what has become of the workspace, such as `is archived`. */
export const close = forgottenEverywhere<[workspace_id: string, why: string]>("closed", {
  forget: (app, workspace_id, why) => void closedOf(app).set(workspace_id, why),
  forgetAll() {},
});

/** It is open again, or another one has its id. */
export const reopen = forgottenEverywhere<[workspace_id: string]>("reopened", {
  forget: (app, workspace_id) => void closedOf(app).delete(workspace_id),
  // What is archived or gone lets nobody in at all.
  forgetAll: (app) => closedOf(app).clear(),
});

/** @throws BadRequest */
export function refuseClosed(app: App, workspace_id: string): void {
  const closed = closedOf(app);
  if (closed.size === 0) return;
  const why = closed.get(workspace_id);
  if (why !== undefined) throw new BadRequest(`workspace ${workspace_id} ${why}`);
}

/**
 * Workspaces in which nothing begins any more, for good or while their id changes: a call that was let in before is
 * stopped here, when it is about to store a job.
 */
import type { App } from "../../context.ts";
import { BadRequest } from "../../errors.ts";
import { perApp } from "../../lib/per-app.ts";

/** Why, by workspace: empty on most servers at most times. */
const closedOf = perApp<App, Map<string, string>>(() => new Map());

/** @param why what has become of the workspace, such as `is archived` */
export function close(app: App, workspace_id: string, why: string): void {
  closedOf(app).set(workspace_id, why);
}

/** It is open again, or another one has its id. */
export function reopen(app: App, workspace_id: string): void {
  closedOf(app).delete(workspace_id);
}

/** @throws BadRequest */
export function refuseClosed(app: App, workspace_id: string): void {
  const closed = closedOf(app);
  if (closed.size === 0) return;
  const why = closed.get(workspace_id);
  if (why !== undefined) throw new BadRequest(`workspace ${workspace_id} ${why}`);
}

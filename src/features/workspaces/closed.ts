/**
 * Workspaces in which nothing begins any more, for good or while their id changes: a call that was let in before is
 * stopped here, when it is about to store a job.
 */
import type { App } from "../../context.ts";
import { BadRequest } from "../../errors.ts";
import { forgottenEverywhere } from "../../events/forgetting.ts";
import { perApp } from "../../lib/per-app.ts";

/** Servers hear of each other within milliseconds. */
const HEARD_MS = 500;

interface Closed {
  /** What has become of the workspace, such as `is archived`. */
  why: string;
  /** This server is at work on it: nobody else knows better. */
  isUnderWay: boolean;
}

/** By workspace: empty on most servers at most times. */
const closedOf = perApp<App, Map<string, Closed>>(() => new Map());

/** `why` is what has become of the workspace, such as `is archived`. */
export const close = forgottenEverywhere<[workspace_id: string, why: string]>("closed", {
  forget: (app, workspace_id, why) => void closedOf(app).set(workspace_id, { why, isUnderWay: false }),
  forgetAll() {},
});

/** Closes it while this server changes something of it, until it is closed for good or open again. */
export function closeMeanwhile(app: App, workspace_id: string, why: string): void {
  close(app, workspace_id, why);
  closedOf(app).set(workspace_id, { why, isUnderWay: true });
}

/** It is open again, or another one has its id. */
export const reopen = forgottenEverywhere<[workspace_id: string]>("reopened", {
  forget: (app, workspace_id) => void closedOf(app).delete(workspace_id),
  // What is archived or gone lets nobody in at all.
  forgetAll(app) {
    for (const [workspace_id, { isUnderWay }] of closedOf(app)) {
      if (!isUnderWay) closedOf(app).delete(workspace_id);
    }
  },
});

/** @throws BadRequest */
export function refuseClosed(app: App, workspace_id: string): void {
  const closed = closedOf(app).get(workspace_id);
  if (closed) throw new BadRequest(`workspace ${workspace_id} ${closed.why}`);
}

/** Resolves when other servers have heard that it is closed, before what is in it goes elsewhere. */
export async function untilHeard(app: App): Promise<void> {
  if (app.db.channel) await Bun.sleep(HEARD_MS);
}

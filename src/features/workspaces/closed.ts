/**
 * Workspaces in which nothing begins any more, for good or while their id changes: a call that was let in before is
 * stopped here, when it is about to store a job.
 */
import { and, eq, sql } from "drizzle-orm";
import type { App } from "../../context.ts";
import { statement, type Tx } from "../../database/database.ts";
import { BadRequest } from "../../errors.ts";
import { forgottenEverywhere } from "../../events/forgetting.ts";
import { perApp } from "../../lib/per-app.ts";
import { workspaces } from "./tables.ts";

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

const findOpen = statement<{ id: string }, { id: string }[]>((q) =>
  q
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(and(eq(workspaces.id, sql.placeholder("id")), eq(workspaces.archived, false))),
);

/**
 * To be called in the transaction that stores the job.
 * @throws BadRequest
 */
export async function refuseClosed(app: App, tx: Tx, workspace_id: string): Promise<void> {
  const closed = closedOf(app).get(workspace_id);
  if (closed) throw new BadRequest(`workspace ${workspace_id} ${closed.why}`);
  // Another server may have closed it, and this one not have heard of it yet.
  if (app.db.channel && (await tx.exec(findOpen, { id: workspace_id })).length === 0) {
    throw new BadRequest(`workspace ${workspace_id} is archived, or has another id, or was deleted`);
  }
}

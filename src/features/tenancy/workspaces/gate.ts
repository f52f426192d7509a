/**
 * Workspaces in which nothing begins any more, for good or while their id changes: a call that was let in before is
 * stopped here, when it is about to store a job.
 */
import { and, eq, sql } from "drizzle-orm";
import { sharedStatement, type Tx } from "../../../database/database.ts";
import { perApp } from "../../../lib/async/per-app.ts";
import { BadRequest } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";
import { forgottenEverywhere } from "../../../platform/cluster/cache-invalidation.ts";
import { othersAlive } from "../../../platform/cluster/heartbeat.ts";
import { heededElsewhere } from "../../../platform/cluster/request-reply.ts";
import { workspaces } from "./tables.ts";

interface Closed {
  /** What has become of the workspace, such as `is archived`. */
  why: string;
  /** This server is at work on it: nobody else knows better. */
  isUnderWay: boolean;
  /** It will go on elsewhere: what is queued waits until then, instead of being canceled. */
  isMoving: boolean;
}

/** By workspace: empty on most servers at most times. */
const closedOf = perApp<App, Map<string, Closed>>(() => new Map());

/** `why` is what has become of the workspace, such as `is archived`. */
export const close = forgottenEverywhere<[workspace_id: string, why: string, moving?: "moving"]>("closed", {
  forget: (app, workspace_id, why, moving) =>
    void closedOf(app).set(workspace_id, { why, isUnderWay: false, isMoving: moving !== undefined }),
  forgetAll() {},
});

/** Closes it while this server changes something of it, until it is closed for good or open again. */
export function closeMeanwhile(app: App, workspace_id: string, why: string, moving?: "moving"): void {
  close(app, workspace_id, why, moving);
  closedOf(app).get(workspace_id)!.isUnderWay = true;
}

/**
 * What becomes of a queued job of the workspace that is about to begin: undefined where nothing stands in its way. On
 * PostgreSQL the claim passes over what is archived or moving, whoever was told.
 */
export function fateOf(app: App, workspace_id: string): "canceled" | "held" | undefined {
  const closed = closedOf(app).get(workspace_id);
  if (!closed) return undefined;
  return closed.isMoving ? "held" : "canceled";
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

const isOpen = sharedStatement<{ id: string }, { id: string }[]>(
  (q) =>
    q
      .select({ id: workspaces.id })
      .from(workspaces)
      .where(and(eq(workspaces.id, sql.placeholder("id")), eq(workspaces.archived, false))),
  ({ id }) => [{ id }],
);

const nameOf = (workspace_id: string) => `workspace ${workspace_id}`;

/**
 * Refuses what is about to be stored in a workspace that is closed.
 *
 * What this server was told is not enough where there are others: it may have stood still since, or stand still between
 * here and the commit, for longer than anybody waits for it. So the transaction itself takes part in holding the
 * workspace's name, and then looks whether it is there and not archived. Whoever makes it otherwise holds that name alone
 * (`holdAlone`) in the transaction that does. One that had the name before is committed by then, and its job is seen, and
 * ended or taken along; one that has it later sees what has become of the workspace. Neither a clock nor a message takes
 * part in this. On SQLite one transaction follows the other, and the one process that there is knows what is closed.
 * @returns undefined where there is nothing to wait for
 * @throws BadRequest
 */
export function refuseClosed(app: App, tx: Tx, workspace_id: string): Promise<void> | undefined {
  const closed = closedOf(app).get(workspace_id);
  if (closed) throw new BadRequest(`workspace ${workspace_id} ${closed.why}`);
  return app.db.channel && lookWhetherOpen(tx, workspace_id);
}

async function lookWhetherOpen(tx: Tx, workspace_id: string): Promise<void> {
  await tx.share(nameOf(workspace_id));
  const found = await tx.exec(isOpen, { id: workspace_id });
  if (found.length === 0)
    throw new BadRequest(`workspace ${workspace_id} is archived, was deleted, or has another id now`);
}

/** Until the end of the transaction nothing is stored in the workspaces by those who ask `refuseClosed`. */
export async function holdAlone(tx: Tx, ...workspace_ids: string[]): Promise<void> {
  // In one order, so that nobody waits for who waits for them.
  for (const id of workspace_ids.sort()) await tx.lock(nameOf(id));
}

/** Other servers have what they let in before either stored or refused when they say that they have heard. */
const heeded = heededElsewhere<[workspace_id: string, why: string, isMoving: string]>(
  "close",
  async (app, workspace_id, why, isMoving) => {
    closedOf(app).set(workspace_id, { why, isUnderWay: false, isMoving: isMoving === "true" });
    await app.db.channel?.written();
  },
);

/**
 * Resolves when nobody begins anything in the closed workspace any more, so that what runs there can be ended: all who
 * live have said that they have heard. Who does not say so is waited for until its lease is over, and no longer than one
 * lease; should it live all the same, it can store nothing there once the workspace is moved (`refuseClosed`).
 */
export async function untilHeard(app: App, workspace_id: string): Promise<void> {
  const closed = closedOf(app).get(workspace_id);
  if (!app.db.channel || !closed) return;
  const { lease_s } = app.config;
  await heeded(
    app,
    () => othersAlive(app),
    lease_s * 1000,
    workspace_id,
    closed.why,
    String(closed.isMoving),
  );
  await app.db.channel.written();
}

/** Submits jobs that the server starts for a workspace: they run as a group, not as a user. */

import type { Tx } from "../../../database/database.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import { createSubmission, type RunOptions } from "../../runs/submit/submission.ts";
import { type RelockTarget, resolveTarget } from "../../runs/submit/target.ts";
import { createTriggerContext, submitTriggered, type Trigger } from "../../runs/submit/triggered.ts";
import { formatGroupRunAs } from "../../tenancy/people/members.ts";

export interface GroupSubmission {
  target: RelockTarget;
  args: Record<string, unknown>;
  options: RunOptions;
}

/**
 * Submits a job that runs as a group.
 * @param guard called in the transaction that stores the job; false: nothing is stored
 * @returns the job's id; undefined if the guard returned false
 * @throws NotFound, BadRequest if it cannot run
 */
export async function submitAsGroup(
  app: App,
  { group, ...how }: Omit<Trigger, "email"> & { group: string },
  { target, args, options }: GroupSubmission,
  guard?: (tx: Tx) => Promise<boolean>,
): Promise<string | undefined> {
  const runs_as = formatGroupRunAs(group);
  const trigger = { ...how, email: runs_as.email };
  const ctx = await createTriggerContext(app, trigger, guard);
  const found = await resolveTarget(asAdmin(ctx), target);
  const submission = await createSubmission(ctx, found, JSON.stringify(args), options);
  return submitTriggered(ctx, { ...submission, runs_as: submission.runs_as ?? runs_as }, trigger, options);
}

/** Returns the context with an admin's rights, to find the handler: the admin who configured it could read it. */
function asAdmin(ctx: WorkspaceContext): WorkspaceContext {
  return { ...ctx, caller: { ...ctx.caller, member: { ...ctx.caller.member, is_admin: true } } };
}

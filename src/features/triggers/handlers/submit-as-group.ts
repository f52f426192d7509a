/** Jobs that the server starts for a workspace and not for a person: they run as a group. */

import type { Tx } from "../../../database/database.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import { type RunOptions, runnableSubmission } from "../../runs/submit/submission.ts";
import { resolveTarget, type Target } from "../../runs/submit/target.ts";
import { contextOf, submitTriggered, type Trigger } from "../../runs/submit/triggered.ts";
import { groupIdentity } from "../../tenancy/people/members.ts";

export interface What {
  target: Target;
  args: Record<string, unknown>;
  options: RunOptions;
}

/**
 * @param guard asked in the transaction that stores the job; false: nothing is stored
 * @returns the job's id; undefined when the guard did not want it
 * @throws NotFound, BadRequest when it cannot run
 */
export async function submitAsGroup(
  app: App,
  { group, ...how }: Omit<Trigger, "email"> & { group: string },
  { target, args, options }: What,
  guard?: (tx: Tx) => Promise<boolean>,
): Promise<string | undefined> {
  const runs_as = groupIdentity(group);
  const trigger = { ...how, email: runs_as.email };
  const ctx = await contextOf(app, trigger, guard);
  const found = await resolveTarget(asAdmin(ctx), target);
  const submission = await runnableSubmission(ctx, found, JSON.stringify(args), options);
  return submitTriggered(ctx, { ...submission, runs_as: submission.runs_as ?? runs_as }, trigger, options);
}

/** The admin who named what is run could read it, which is enough for it to be found. */
function asAdmin(ctx: WorkspaceContext): WorkspaceContext {
  return { ...ctx, caller: { ...ctx.caller, member: { ...ctx.caller.member, is_admin: true } } };
}

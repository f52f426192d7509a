/**
 * Jobs started by triggers (schedules, routes, messages, handlers) with the rights of the user who set the trigger up.
 */

import type { Tx } from "../../../database/database.ts";
import { BadRequest } from "../../../lib/errors.ts";
import type { App, AuditedAction, WorkspaceContext } from "../../../platform/app/context.ts";
import { createContext } from "../../../platform/app/create-context.ts";
import { recordAudit } from "../../signals/audit/service.ts";
import { resolveMember } from "../../tenancy/people/members.ts";
import { isSuperAdmin } from "../../tenancy/people/super-admin.ts";
import { createSubmission, type RunOptions, type Submission } from "./submission.ts";
import { submitJob } from "./submit.ts";
import { type RelockTarget, resolveTarget } from "./target.ts";

export interface Trigger {
  workspace_id: string;
  /** The user with whose rights the job runs. */
  email: string;
  /** The job's `created_by`. */
  created_by: string;
  kind: "schedule" | "http" | "websocket" | "error_handler" | "chat";
  schedule_path?: string | undefined;
}

/** The guard returned false: nothing is submitted. */
class GuardRejected extends Error {}

const RUN_AUDIT: AuditedAction = { operation: "jobs.run", action_kind: "Execute" };

/**
 * Creates the context in which a trigger's job is submitted.
 * @param guard called in the transaction that stores the job; false: nothing is stored
 * @throws BadRequest if the user has left, or the workspace is archived
 */
export async function createTriggerContext(
  app: App,
  { workspace_id, email, created_by }: Trigger,
  guard: (tx: Tx) => Promise<boolean> = async () => true,
): Promise<WorkspaceContext> {
  // Super admins and the local admin can set up triggers in workspaces they are not members of.
  const super_admin = await isSuperAdmin(app.db.read, email);
  const identity = { email, super_admin, devops: false, token: undefined };
  const member = await resolveMember(app, identity, workspace_id);
  if (!member || member.disabled) {
    throw new BadRequest(`${email}, as whom it runs, is not an active member of workspace ${workspace_id}`);
  }
  return createContext({
    app,
    caller: { identity, member },
    username: created_by,
    workspace_id,
    action: RUN_AUDIT,
    recordAudit,
    async guard(tx) {
      if (!(await guard(tx))) throw new GuardRejected();
    },
  });
}

/**
 * Creates the submission of a trigger's target. @param args JSON text of an object. @throws NotFound, BadRequest if it
 * cannot run
 */
export async function createTriggerSubmission(
  ctx: WorkspaceContext,
  target: RelockTarget,
  args: string,
  options: RunOptions,
): Promise<Submission> {
  const found = await resolveTarget(ctx, target);
  return createSubmission(ctx, found, args, options);
}

/** Submits a job that a trigger starts. @returns the job's id; undefined if the context's guard returned false */
export async function submitTriggered(
  ctx: WorkspaceContext,
  submission: Submission,
  { kind, created_by, schedule_path }: Trigger,
  options: RunOptions,
): Promise<string | undefined> {
  const trigger = { kind, created_by, schedule_path };
  try {
    return (await submitJob(ctx, { ...submission, delete_after_use: false, trigger }, options)).id;
  } catch (cause) {
    if (cause instanceof GuardRejected) return undefined;
    throw cause;
  }
}

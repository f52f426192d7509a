/** Jobs that no call asks for: something that was set up earlier starts them, in the name of who set it up. */

import type { Tx } from "../../../database/database.ts";
import { BadRequest } from "../../../lib/errors.ts";
import type { App, Audit, WorkspaceContext } from "../../../platform/app/context.ts";
import { recordAudit } from "../../signals/audit/service.ts";
import { resolveMember } from "../../tenancy/people/members.ts";
import { isSuperAdmin } from "../../tenancy/people/super-admin.ts";
import { type RunOptions, runnableSubmission, type Submission } from "./submission.ts";
import { submitJob } from "./submit.ts";
import { resolveTarget, type Target } from "./target.ts";

export interface Trigger {
  workspace_id: string;
  /** Whose rights it has. */
  email: string;
  /** What set it off, as `created_by` of its job shows it. */
  created_by: string;
  kind: "schedule" | "http" | "websocket" | "error_handler" | "chat";
  schedule_path?: string | undefined;
}

/** Something came in between: nothing is submitted. */
class NotWanted extends Error {}

const RUNS: Audit = { operation: "jobs.run", action_kind: "Execute" };

/**
 * The context in which a trigger's job is submitted.
 * @param guard asked in the transaction that stores the job; false: nothing is stored
 * @throws BadRequest when the person has left, or the workspace is archived
 */
export async function contextOf(
  app: App,
  { workspace_id, email, created_by }: Trigger,
  guard: (tx: Tx) => Promise<boolean> = async () => true,
): Promise<WorkspaceContext> {
  // Super admins, and the machine's local admin, set things up in workspaces they are no members of.
  const super_admin = await isSuperAdmin(app.db.read, email);
  const identity = { email, super_admin, devops: false, token: undefined };
  const member = await resolveMember(app, identity, workspace_id);
  if (!member || member.disabled) {
    throw new BadRequest(`${email}, in whose name it runs, is no active member of workspace ${workspace_id}`);
  }
  const audit: WorkspaceContext["audit"] = (tx, { as = RUNS, resource, parameters }) =>
    recordAudit(tx, {
      timestamp: app.clock(),
      workspace_id,
      username: created_by,
      email,
      audit: as,
      resource,
      parameters,
    });
  return {
    app,
    caller: { identity, member },
    username: created_by,
    request: new Request("http://localhost/"),
    request_id: undefined,
    audit,
    write: (audited, work) =>
      app.db.write(async (tx) => {
        if (!(await guard(tx))) throw new NotWanted();
        const value = await work(tx);
        await audit(tx, audited);
        return value;
      }),
  };
}

/** What a trigger runs. @param args JSON text of an object. @throws NotFound, BadRequest when it cannot run */
export async function submissionOf(
  ctx: WorkspaceContext,
  target: Target,
  args: string,
  options: RunOptions,
): Promise<Submission> {
  const found = await resolveTarget(ctx, target);
  return runnableSubmission(ctx, found, args, options);
}

/** @returns the job's id; undefined when the context's guard did not want it */
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
    if (cause instanceof NotWanted) return undefined;
    throw cause;
  }
}

import { NotFound } from "../../../lib/errors.ts";
import type { App, Identity, WorkspaceContext } from "../../../platform/app/context.ts";
import { createContext } from "../../../platform/app/create-context.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { resolveMember } from "../../tenancy/people/members.ts";

/**
 * Creates a context with the rights a job runs with. Its writes leave no audit rows.
 * @throws NotFound if that user has left the workspace or is disabled
 */
export async function createJobContext(app: App, job: Job): Promise<WorkspaceContext> {
  const identity: Identity = {
    email: job.email,
    super_admin: false,
    devops: false,
    token: {
      hash: "",
      prefix: "",
      label: undefined,
      scopes: undefined,
      workspace_id: job.workspace_id,
      expiration: undefined,
      job: { id: job.id, permissioned_as: job.permissioned_as },
    },
  };
  const member = await resolveMember(app, identity, job.workspace_id);
  if (!member || member.disabled) {
    throw new NotFound(`active user ${job.email} in workspace ${job.workspace_id}`);
  }
  return createContext({
    app,
    caller: { identity, member },
    username: member.username,
    request_id: job.request_id ?? undefined,
    workspace_id: job.workspace_id,
    action: undefined,
  });
}

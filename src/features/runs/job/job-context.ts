import { NotFound } from "../../../lib/errors.ts";
import type { App, Identity, WorkspaceContext } from "../../../platform/app/context.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { resolveMember } from "../../tenancy/people/members.ts";

/**
 * What the server does for a job, it does with the rights the job runs with. Nothing written leaves an audit row by
 * itself.
 * @throws NotFound when whom it runs as has left the workspace, or is disabled there
 */
export async function jobContext(app: App, job: Job): Promise<WorkspaceContext> {
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
  return {
    app,
    caller: { identity, member },
    username: member.username,
    request: new Request("http://localhost/"),
    request_id: job.request_id ?? undefined,
    audit: async () => {},
    write: (_audited, work) => app.db.write(work),
  };
}

/** Cancels the unfinished runs of a user in a workspace: queued, scheduled and running ones. */
import { and, eq } from "drizzle-orm";
import type { Tx } from "../../../../database/database.ts";
import { BadRequest } from "../../../../lib/errors.ts";
import type {
  App,
  AuditedAction,
  Member,
  UserContext,
  WorkspaceContext,
} from "../../../../platform/app/context.ts";
import type { Revocation, RevokedWork, RunOwner } from "../../../../platform/app/person.ts";
import { unfinishedWhere } from "../../../../platform/queue/queued-slices.ts";
import { jobs } from "../../../../platform/queue/tables.ts";
import { LOCAL_ADMIN } from "../../../tenancy/people/local-admin.ts";
import { resolveMember } from "../../../tenancy/people/members.ts";
import { cancelJob } from "../../submit/find-and-cancel.ts";

const CANCEL_AUDIT = { operation: "jobs.cancel", action_kind: "Delete" } as const satisfies AuditedAction;

/** What a schedule plans stays with the schedule, which says why it cannot start. */
const unfinishedRunsOf = ({ workspace_id, username }: RunOwner) =>
  unfinishedWhere(and(eq(jobs.workspace_id, workspace_id), eq(jobs.permissioned_as, `u/${username}`)));

/**
 * Marks every run of a person as canceled, in the transaction that takes their access away: from then on none of them
 * begins, whatever becomes of this process. `finish` ends them at once.
 */
export async function cancelRunsOf(tx: Tx, person: RunOwner, revocation: Revocation): Promise<RevokedWork> {
  const found = await tx
    .update(jobs)
    .set({ cancel_requested: true, canceled_by: revocation.by, canceled_reason: revocation.reason })
    .where(unfinishedRunsOf(person))
    .returning({ id: jobs.id, parent_job: jobs.parent_job });
  found.sort((a, b) => (a.id < b.id ? -1 : 1));
  // The outermost first: they cancel what they have started.
  const outermost = found.filter(({ parent_job }) => parent_job === null);
  const inner = found.filter(({ parent_job }) => parent_job !== null);
  const ids = [...outermost, ...inner].map(({ id }) => id);
  return { canceled_runs: ids.length, finish: (ctx) => endRuns(ctx, person, ids, revocation.reason) };
}

/** Cancels marked runs with all jobs they started, each with its own audit row. */
async function endRuns(
  ctx: UserContext | WorkspaceContext,
  person: RunOwner,
  ids: readonly string[],
  reason: string,
): Promise<void> {
  if (ids.length === 0) return;
  // An admin who removes a member cancels their runs even without access to them.
  const member = await findLocalAdminMember(ctx.app, person.workspace_id);
  if (!member) return;
  const asLocalAdmin: WorkspaceContext = { ...ctx, caller: { identity: LOCAL_ADMIN, member } };
  for (const id of ids) await cancelJob(asLocalAdmin, person.workspace_id, id, reason, { as: CANCEL_AUDIT });
}

/** Returns undefined in an archived workspace, where nothing runs. */
async function findLocalAdminMember(app: App, workspace_id: string): Promise<Member | undefined> {
  try {
    return await resolveMember(app, LOCAL_ADMIN, workspace_id);
  } catch (cause) {
    if (cause instanceof BadRequest) return undefined;
    throw cause;
  }
}

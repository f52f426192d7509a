/** The runs of a person in a workspace: what is queued, due later or running as them. */
import { and, asc, eq, ne } from "drizzle-orm";
import type { Tx } from "../../../../database/database.ts";
import { BadRequest } from "../../../../lib/errors.ts";
import type { App, Audit, Member, UserContext, WorkspaceContext } from "../../../../platform/app/context.ts";
import type { Person, Revocation, RevokedWork } from "../../../../platform/app/person.ts";
import { jobs } from "../../../../platform/queue/tables.ts";
import { OPERATOR } from "../../../tenancy/people/local-admin.ts";
import { resolveMember } from "../../../tenancy/people/members.ts";
import { cancelJob } from "../../submit/service.ts";

const CANCELS = { operation: "jobs.cancel", action_kind: "Delete" } as const satisfies Audit;

const unfinishedOf = ({ workspace_id, username }: Person) =>
  and(
    eq(jobs.workspace_id, workspace_id),
    ne(jobs.state, "completed"),
    eq(jobs.permissioned_as, `u/${username}`),
  );

/**
 * Marks every run of a person as canceled, in the transaction that takes their access away: from then on none of them
 * begins, whatever becomes of this process. `finish` ends them at once.
 */
export async function cancelRunsOf(tx: Tx, person: Person, revocation: Revocation): Promise<RevokedWork> {
  const found = await tx
    .select({ id: jobs.id, parent_job: jobs.parent_job })
    .from(jobs)
    .where(unfinishedOf(person))
    .orderBy(asc(jobs.id));
  await tx
    .update(jobs)
    .set({ cancel_requested: true, canceled_by: revocation.by, canceled_reason: revocation.reason })
    .where(unfinishedOf(person));
  // The outermost first: they cancel what they have started.
  const outermost = found.filter(({ parent_job }) => parent_job === null);
  const inner = found.filter(({ parent_job }) => parent_job !== null);
  const ids = [...outermost, ...inner].map(({ id }) => id);
  return { canceled_runs: ids.length, finish: (ctx) => endRuns(ctx, person, ids, revocation.reason) };
}

/** Ends marked runs, each with a row of its own in the audit log, and whatever they have started. */
async function endRuns(
  ctx: UserContext | WorkspaceContext,
  person: Person,
  ids: readonly string[],
  reason: string,
): Promise<void> {
  if (ids.length === 0) return;
  // Whoever takes somebody's place away ends their runs, whether they may see them or not.
  const member = await operatorIn(ctx.app, person.workspace_id);
  if (!member) return;
  const asOperator: WorkspaceContext = { ...ctx, caller: { identity: OPERATOR, member } };
  for (const id of ids) await cancelJob(asOperator, person.workspace_id, id, reason, { as: CANCELS });
}

/** Undefined in an archived workspace, where nothing runs. */
async function operatorIn(app: App, workspace_id: string): Promise<Member | undefined> {
  try {
    return await resolveMember(app, OPERATOR, workspace_id);
  } catch (cause) {
    if (cause instanceof BadRequest) return undefined;
    throw cause;
  }
}

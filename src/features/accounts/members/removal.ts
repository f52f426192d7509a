/**
 * Removal of a member from a workspace. What happens to what they have there:
 *
 * - Scripts, flows, apps, variables, resources, schedules and drafts below `u/<name>/` stay, for the workspace's
 * admins: others may use them.
 * - The username is reserved for them, and with it those items.
 * - Grants to them (`extra_perms`), folder ownership, and membership and management of groups are revoked.
 * - Their favorites and private saved inputs are deleted.
 * - Their tokens bound to the workspace are deleted; sessions and other tokens stay with the account.
 * - Unfinished jobs that run as them are canceled. New jobs on their behalf (`on_behalf_of_email`) are refused.
 * - Completed jobs and audit rows stay.
 */
import { and, eq } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import type { App, UserContext, WorkspaceContext } from "../../../platform/app/context.ts";
import type { Revocation, RevokedWork, RunOwner } from "../../../platform/app/person.ts";
import { retireProcesses } from "../../../platform/cluster/processes.ts";
import { groupMembers } from "../../tenancy/people/group-tables.ts";
import { invalidateMembers } from "../../tenancy/people/members.ts";
import { formerUsernames } from "../../tenancy/people/user-tables.ts";
import { revokeGrants } from "../../tenancy/rights/grants.ts";
import { invalidateTokens } from "../../tenancy/tokens/cache.ts";
import { tokens } from "../../tenancy/tokens/tables.ts";
import { workspaceMembers } from "../../tenancy/workspaces/tables.ts";

const REMOVED_REASON = "its owner is not a member of the workspace any more";

export interface Removal extends RevokedWork {
  person: RunOwner;
  tokens: number;
}

/** Removes a member from a workspace that keeps an admin. Call `finish` of the result after the commit. */
export async function removeMember(app: App, tx: Tx, person: RunOwner, by: string): Promise<Removal> {
  const { workspace_id, email } = person;
  for (const table of [workspaceMembers, groupMembers]) {
    await tx.delete(table).where(and(eq(table.workspace_id, workspace_id), eq(table.email, email)));
  }
  await reserveUsername(tx, person);
  await revokeGrants(app, tx, workspace_id, `u/${person.username}`);
  for (const { on } of app.features) await on?.memberLeft?.(app, tx, person);
  const ended = await tx
    .delete(tokens)
    .where(and(eq(tokens.email, email), eq(tokens.workspace_id, workspace_id)))
    .returning({ hash: tokens.hash });
  const work = await revokeAccess(app, tx, person, { by, reason: REMOVED_REASON });
  tx.afterCommit(() => {
    invalidateMembers(app);
    invalidateTokens(
      app,
      ended.map(({ hash }) => hash),
    );
    retireProcesses(app, { workspace_id, email });
  });
  return { ...work, person, tokens: ended.length };
}

/**
 * Calls the features' `accessRevoked` handlers, which cancel the user's work in progress. Runs in the transaction
 * that revokes the access.
 */
export async function revokeAccess(
  app: App,
  tx: Tx,
  person: RunOwner,
  revocation: Revocation,
): Promise<RevokedWork> {
  const work: RevokedWork[] = [];
  for (const { on } of app.features) {
    const ended = await on?.accessRevoked?.(app, tx, person, revocation);
    if (ended) work.push(ended);
  }
  return {
    canceled_runs: work.reduce((sum, { canceled_runs }) => sum + canceled_runs, 0),
    isAll: work.every(({ isAll }) => isAll),
    finish: (ctx) => finishCanceling(ctx, work),
  };
}

/** Finishes, after the commit, canceling the work of a removed user. */
export async function finishCanceling(
  ctx: UserContext | WorkspaceContext,
  work: readonly RevokedWork[],
): Promise<void> {
  for (const { finish } of work) await finish(ctx);
}

/** Returns the number of canceled runs for audit rows: `1000+` if there are more. */
export function countCanceled(work: readonly RevokedWork[]): string {
  const count = work.reduce((sum, { canceled_runs }) => sum + canceled_runs, 0);
  return `${count}${work.every(({ isAll }) => isAll) ? "" : "+"}`;
}

/** Returns the parameters of a removal's audit row. */
export function createAuditDetails(removal: Removal): Record<string, string> {
  const { person, tokens } = removal;
  return {
    email: person.email,
    kept_for_admins: `u/${person.username}/`,
    canceled_runs: countCanceled([removal]),
    deleted_tokens: String(tokens),
  };
}

/** Reserves a username, so that nobody else can get it in the workspace. */
export async function reserveUsername(tx: Tx, { workspace_id, username, email }: RunOwner): Promise<void> {
  await tx
    .insert(formerUsernames)
    .values({ workspace_id, username, email })
    .onConflictDoUpdate({
      target: [formerUsernames.workspace_id, formerUsernames.username],
      set: { email },
    });
}

/**
 * What becomes of what a person owns in a workspace they leave, or are taken out of:
 *
 * - scripts, flows, apps, variables, resources, schedules and drafts below `u/<name>/` stay where they are, for the
 *   workspace's admins: what others call goes on;
 * - the name is kept for them: nobody else gets it in this workspace, and with it what stands there;
 * - what was shared with them (`extra_perms`) no longer is, and they own no folder, manage no group and are in none;
 * - their stars, and the inputs they saved for themselves, are deleted;
 * - their tokens that are bound to the workspace are deleted, sessions and others stay with the account;
 * - runs as them, queued, due later or running, are canceled; so are those that others start on their behalf from
 *   then on refused (`on_behalf_of_email`);
 * - what has run, and what they did, stays in the history and the audit log.
 */
import { and, eq } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import type { App, UserContext, WorkspaceContext } from "../../../platform/app/context.ts";
import { retireChildren } from "../../../platform/cluster/processes.ts";
import { cancelMarked, markRuns, type Person } from "../../runs/api/change/person.ts";
import { forgetMembers } from "../../tenancy/people/members.ts";
import { formerUsernames } from "../../tenancy/people/user-tables.ts";
import { forgetPerson } from "../../tenancy/rights/grants.ts";
import { forgetTokens } from "../../tenancy/tokens/cache.ts";
import { tokens } from "../../tenancy/tokens/tables.ts";
import { workspaceMembers } from "../../tenancy/workspaces/tables.ts";
import { requireOtherAdmin } from "./last-admin.ts";

const REASON = "its owner is no member of the workspace any more";

export interface Departure {
  person: Person;
  /** Runs marked to be canceled. */
  runs: string[];
  tokens: number;
}

/**
 * Takes a member out of a workspace. `finishDeparture` follows, once this is committed.
 * @throws BadRequest when nobody else is an admin of the workspace
 */
export async function departFrom(app: App, tx: Tx, person: Person, by: string): Promise<Departure> {
  const { workspace_id, email } = person;
  await requireOtherAdmin(tx, workspace_id, email);
  await tx
    .delete(workspaceMembers)
    .where(and(eq(workspaceMembers.workspace_id, workspace_id), eq(workspaceMembers.email, email)));
  await keepName(tx, person);
  await forgetPerson(app, tx, person);
  const ended = await tx
    .delete(tokens)
    .where(and(eq(tokens.email, email), eq(tokens.workspace_id, workspace_id)))
    .returning({ hash: tokens.hash });
  const runs = await markRuns(tx, person, { by, reason: REASON });
  tx.afterCommit(() => {
    forgetMembers(app);
    forgetTokens(
      app,
      ended.map(({ hash }) => hash),
    );
    retireChildren(app, { workspace_id, email });
  });
  return { person, runs, tokens: ended.length };
}

/** Ends the runs of people who have left. */
export async function finishDepartures(
  ctx: UserContext | WorkspaceContext,
  departures: readonly Departure[],
): Promise<void> {
  for (const { person, runs } of departures) await cancelMarked(ctx, person, runs, REASON);
}

/** What the audit row says of it. */
export function told({ person, runs, tokens }: Departure): Record<string, string> {
  return {
    email: person.email,
    kept_for_admins: `u/${person.username}/`,
    canceled_runs: String(runs.length),
    deleted_tokens: String(tokens),
  };
}

/** From now on the name is nobody else's in the workspace. */
export async function keepName(tx: Tx, { workspace_id, username, email }: Person): Promise<void> {
  await tx
    .insert(formerUsernames)
    .values({ workspace_id, username, email })
    .onConflictDoUpdate({
      target: [formerUsernames.workspace_id, formerUsernames.username],
      set: { email },
    });
}

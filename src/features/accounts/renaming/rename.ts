/**
 * Renames a user in every workspace they belong to, in one transaction. The rename covers:
 *
 * - items below `u/<name>/`: scripts, flows and apps with their versions, variables, resources, schedules, triggers and
 * drafts, with favorites and saved inputs of all users;
 * - references to them: steps of flows, components and policies of apps, targets of schedules and triggers, `$var:` and
 * `$res:` references, paths in expressions, secrets of signatures, settings and object storage of the workspace, scopes
 * of tokens that belong to the workspace or the user;
 * - grants to the user, folders and groups they manage, authorship, and their unfinished jobs.
 *
 * Tokens belong to an e-mail address and need no change. Completed jobs keep the old name. So does the code of scripts,
 * where authors must change paths themselves.
 *
 * Features declare the columns concerned: `pathColumns`, `usernameColumns`, `mentioningJson`, `itemKinds` and
 * `on.userRenamed` (platform/app/feature.ts). `rewrite-json.ts` rewrites paths inside JSON. Removal of a member is
 * members/removal.ts, with `on.memberLeft`.
 */
import { and, asc, eq, isNull, or } from "drizzle-orm";
import { containsText } from "../../../database/conditions.ts";
import type { Tx } from "../../../database/database.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { parseSchemaJson } from "../../../lib/json/json.ts";
import { parseEmail, parseUsername } from "../../../lib/text/paths.ts";
import type { App, UserContext } from "../../../platform/app/context.ts";
import type { RenameParameters } from "../../../platform/app/person.ts";
import { retireProcesses } from "../../../platform/cluster/processes.ts";
import { invalidateMembers } from "../../tenancy/people/members.ts";
import { users } from "../../tenancy/people/user-tables.ts";
import { renameGrantee } from "../../tenancy/rights/grants.ts";
import { findPathBelow } from "../../tenancy/rights/item-kinds.ts";
import { tokens } from "../../tenancy/tokens/tables.ts";
import { workspaceMembers, workspaces } from "../../tenancy/workspaces/tables.ts";
import { reserveUsername } from "../members/removal.ts";
import { requireFreeUsername } from "../members/usernames.ts";
import { invalidateIdentity } from "../sessions/sessions.ts";
import { getUser, requireFreeInstanceUsername } from "../users/service.ts";
import { recordMoves } from "./moved-events.ts";
import { renameAuthor, renamePathPrefix, rewriteMentions } from "./references.ts";
import { renamingOf } from "./rewrite-json.ts";

/** @throws BadRequest for an invalid or used username; NotFound for an unknown user */
export async function renameUser(ctx: UserContext, given: string, new_username: string): Promise<void> {
  const { app } = ctx;
  const email = parseEmail(given);
  const to = parseUsername(new_username);
  const audited = { resource: email, parameters: { new_username: to } };
  await ctx.write(audited, async (tx) => {
    await tx.lock("users");
    await getUser(tx, email);
    await requireFreeInstanceUsername(tx, to, email);
    await tx.update(users).set({ username: to }).where(eq(users.email, email));
    const places = await tx
      .select({ workspace_id: workspaceMembers.workspace_id, username: workspaceMembers.username })
      .from(workspaceMembers)
      .where(eq(workspaceMembers.email, email))
      .orderBy(asc(workspaceMembers.workspace_id));
    for (const { workspace_id, username } of places) {
      if (username !== to)
        await renameInWorkspace(app, tx, renamingOf({ workspace_id, email, from: username, to }));
    }
    await invalidateIdentity(app, tx, email);
    tx.afterCommit(() => {
      invalidateMembers(app);
      retireProcesses(app, { email });
    });
  });
}

async function renameInWorkspace(app: App, tx: Tx, renaming: RenameParameters): Promise<void> {
  const { workspace_id, email, from, to } = renaming;
  await tx.lock(`people of workspace ${workspace_id}`);
  await requireFreeUsername(tx, workspace_id, email, to);
  const occupied = await findPathBelow(app, tx, workspace_id, `u/${to}/`, { deleted: true });
  if (occupied !== undefined) {
    throw new BadRequest(`${occupied} stands where u/${from}/… of workspace ${workspace_id} would go`);
  }
  await rewriteMentions(app, tx, renaming);
  await rewriteStorage(tx, renaming);
  await renamePathPrefix(app, tx, renaming);
  await recordMoves(app, tx, renaming);
  await renameGrantee(app, tx, workspace_id, `u/${from}`, `u/${to}`);
  await renameAuthor(app, tx, renaming);
  for (const { on } of app.features) await on?.userRenamed?.(app, tx, renaming);
  await renameInScopes(app, tx, renaming);
  await tx
    .update(workspaceMembers)
    .set({ username: to })
    .where(and(eq(workspaceMembers.workspace_id, workspace_id), eq(workspaceMembers.email, email)));
  await reserveUsername(tx, { workspace_id, username: from, email });
}

/** Rewrites resource paths in the workspace's storage settings. */
async function rewriteStorage(tx: Tx, { workspace_id, rewrite }: RenameParameters): Promise<void> {
  const [workspace] = await tx
    .select({ storage: workspaces.large_file_storage })
    .from(workspaces)
    .where(eq(workspaces.id, workspace_id));
  if (!workspace?.storage) return;
  const large_file_storage = parseSchemaJson(
    rewrite.storage(JSON.stringify(workspace.storage)),
  ) as typeof workspace.storage;
  await tx.update(workspaces).set({ large_file_storage }).where(eq(workspaces.id, workspace_id));
}

/** Renames paths in token scopes, so that a token for `u/ann/hello` keeps working. */
async function renameInScopes(
  app: App,
  tx: Tx,
  { workspace_id, email, from, to }: RenameParameters,
): Promise<void> {
  const own = and(eq(tokens.email, email), isNull(tokens.workspace_id));
  const rows = await tx
    .select({ hash: tokens.hash, email: tokens.email, scopes: tokens.scopes })
    .from(tokens)
    .where(and(or(eq(tokens.workspace_id, workspace_id), own), containsText(tokens.scopes, `u/${from}/`)));
  // In a scope, a path follows `:`, `,` or the slash of `run:script/`.
  const mention = new RegExp(`(?<=[:,]|run:(?:script|flow)/)u/${from}/`, "g");
  for (const { hash, scopes } of rows) {
    const moved = scopes?.map((scope) => scope.replace(mention, `u/${to}/`)) ?? null;
    await tx.update(tokens).set({ scopes: moved }).where(eq(tokens.hash, hash));
  }
  for (const owner of new Set(rows.map((row) => row.email))) await invalidateIdentity(app, tx, owner);
}

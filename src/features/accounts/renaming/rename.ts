/**
 * Gives a person another name, in every workspace they belong to and in one transaction. With the name goes
 *
 * - what stands below `u/<name>/`: scripts, flows and apps with their versions, variables, resources, schedules, triggers,
 *   drafts, with everybody's stars and saved inputs;
 * - what mentions it: steps of flows, components of apps and their policies, what schedules and triggers run, `$var:` and
 *   `$res:` references, paths in expressions, secrets of signatures, the workspace's settings and object storage, scopes of
 *   tokens that are bound to the workspace or are the person's own;
 * - what was shared with them, folders and groups they manage, what they made, and their runs that have not ended.
 *
 * Tokens belong to an e-mail address, so they follow by themselves. What has run keeps the name it ran under, and so
 * does the code of scripts: a path spelled there must be changed by who wrote it.
 */
import { and, asc, eq, isNull, or } from "drizzle-orm";
import { containsText } from "../../../database/conditions.ts";
import type { Tx } from "../../../database/database.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { parseFields } from "../../../lib/json/json.ts";
import { checkEmail, checkUsername } from "../../../lib/text/paths.ts";
import type { App, UserContext } from "../../../platform/app/context.ts";
import type { Renaming } from "../../../platform/app/person.ts";
import { retireChildren } from "../../../platform/cluster/processes.ts";
import { forgetMembers } from "../../tenancy/people/members.ts";
import { users } from "../../tenancy/people/user-tables.ts";
import { renameGrantee } from "../../tenancy/rights/grants.ts";
import { findPathBelow } from "../../tenancy/rights/item-kinds.ts";
import { tokens } from "../../tenancy/tokens/tables.ts";
import { workspaceMembers, workspaces } from "../../tenancy/workspaces/tables.ts";
import { reserveUsername } from "../members/removal.ts";
import { checkUsernameFree } from "../members/usernames.ts";
import { forgetIdentity } from "../sessions/sessions.ts";
import { getUser, refuseTakenUsername } from "../users/service.ts";
import { renameAuthor, renamePathPrefix, rewriteMentions } from "./references.ts";
import { renamingOf } from "./rewrite-json.ts";

/** @throws BadRequest for what is no username, or is somebody's; NotFound for an unknown user */
export async function renameUser(ctx: UserContext, given: string, new_username: string): Promise<void> {
  const { app } = ctx;
  const email = checkEmail(given);
  const to = checkUsername(new_username);
  const audited = { resource: email, parameters: { new_username: to } };
  await ctx.write(audited, async (tx) => {
    await tx.lock("users");
    await getUser(tx, email);
    await refuseTakenUsername(tx, to, email);
    await tx.update(users).set({ username: to }).where(eq(users.email, email));
    const places = await tx
      .select({ workspace_id: workspaceMembers.workspace_id, username: workspaceMembers.username })
      .from(workspaceMembers)
      .where(eq(workspaceMembers.email, email))
      .orderBy(asc(workspaceMembers.workspace_id));
    for (const { workspace_id, username } of places) {
      if (username !== to) await renameIn(app, tx, renamingOf({ workspace_id, email, from: username, to }));
    }
    await forgetIdentity(app, tx, email);
    tx.afterCommit(() => {
      forgetMembers(app);
      retireChildren(app, { email });
    });
  });
}

async function renameIn(app: App, tx: Tx, renaming: Renaming): Promise<void> {
  const { workspace_id, email, from, to } = renaming;
  await tx.lock(`people of workspace ${workspace_id}`);
  await checkUsernameFree(tx, workspace_id, email, to);
  const occupied = await findPathBelow(app, tx, workspace_id, `u/${to}/`, { deleted: true });
  if (occupied !== undefined) {
    throw new BadRequest(`${occupied} stands where u/${from}/… of workspace ${workspace_id} would go`);
  }
  await rewriteMentions(app, tx, renaming);
  await moveStorage(tx, renaming);
  await renamePathPrefix(app, tx, renaming);
  await renameGrantee(app, tx, workspace_id, `u/${from}`, `u/${to}`);
  await renameAuthor(app, tx, renaming);
  for (const { on } of app.features) await on?.userRenamed?.(app, tx, renaming);
  await moveScopes(app, tx, renaming);
  await tx
    .update(workspaceMembers)
    .set({ username: to })
    .where(and(eq(workspaceMembers.workspace_id, workspace_id), eq(workspaceMembers.email, email)));
  await reserveUsername(tx, { workspace_id, username: from, email });
}

/** Where the workspace keeps its files. */
async function moveStorage(tx: Tx, { workspace_id, rewrite }: Renaming): Promise<void> {
  const [workspace] = await tx
    .select({ storage: workspaces.large_file_storage })
    .from(workspaces)
    .where(eq(workspaces.id, workspace_id));
  if (!workspace?.storage) return;
  const large_file_storage = parseFields(
    rewrite.storage(JSON.stringify(workspace.storage)),
  ) as typeof workspace.storage;
  await tx.update(workspaces).set({ large_file_storage }).where(eq(workspaces.id, workspace_id));
}

/** A token that runs `u/ann/hello` alone runs what has become of it. */
async function moveScopes(app: App, tx: Tx, { workspace_id, email, from, to }: Renaming): Promise<void> {
  const own = and(eq(tokens.email, email), isNull(tokens.workspace_id));
  const rows = await tx
    .select({ hash: tokens.hash, email: tokens.email, scopes: tokens.scopes })
    .from(tokens)
    .where(and(or(eq(tokens.workspace_id, workspace_id), own), containsText(tokens.scopes, `u/${from}/`)));
  // In a scope a path follows on `:`, `,`, or the slash of `run:script/`.
  const mention = new RegExp(`(?<=[:,]|run:(?:script|flow)/)u/${from}/`, "g");
  for (const { hash, scopes } of rows) {
    const moved = scopes?.map((scope) => scope.replace(mention, `u/${to}/`)) ?? null;
    await tx.update(tokens).set({ scopes: moved }).where(eq(tokens.hash, hash));
  }
  for (const owner of new Set(rows.map((row) => row.email))) await forgetIdentity(app, tx, owner);
}

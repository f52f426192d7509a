/**
 * Renames a user in every workspace they belong to. If they own few items, it takes one transaction; otherwise a
 * first one and many that follow, so that other writers do not wait. Until the last one, both names refer to the user
 * (tenancy/people/renamings.ts), and items below either path cannot be changed.
 * The rename covers:
 * - items below `u/<name>/`: scripts, flows and apps with their versions, variables, resources, schedules, triggers
 *   and drafts, with favorites and saved inputs of all users;
 * - references to them: steps of flows, components and policies of apps, targets of schedules and triggers, `$var:`
 *   and `$res:` references, paths in expressions, secrets of signatures, settings and object storage of the
 *   workspace, scopes of tokens that belong to the workspace or the user;
 * - grants to the user, folders and groups they manage, authorship, and their unfinished jobs.
 * Tokens belong to an e-mail address and need no change. Completed jobs keep the old name. So does the code of
 * scripts, where authors must change paths themselves.
 * Features declare the columns concerned: `pathColumns`, `usernameColumns`, `mentioningJson`, `itemKinds` and
 * `on.userRenamed` (platform/app/feature.ts). `rewrite-json.ts` rewrites paths inside JSON. Removal of a member is in
 * members/removal.ts, with `on.memberLeft`.
 */
import { and, asc, eq, isNull, or } from "drizzle-orm";
import { containsText } from "../../../database/conditions.ts";
import type { Reader, Tx } from "../../../database/database.ts";
import { dialect } from "../../../database/kit.ts";
import type { Part } from "../../../database/slices.ts";
import { yieldToEventLoop } from "../../../lib/async/time-slices.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { parseSchemaJson } from "../../../lib/json/json.ts";
import { parseEmail, parseUsername } from "../../../lib/text/paths.ts";
import type { App, UserContext } from "../../../platform/app/context.ts";
import type { RenameParameters } from "../../../platform/app/person.ts";
import { retireProcesses } from "../../../platform/cluster/processes.ts";
import { invalidateMembers } from "../../tenancy/people/members.ts";
import { announceRenaming, endRenaming } from "../../tenancy/people/renamings.ts";
import { users } from "../../tenancy/people/user-tables.ts";
import { defineResumable, requireNoOperation } from "../../tenancy/resumable/service.ts";
import { renameGrantee } from "../../tenancy/rights/grants.ts";
import { findPathBelow } from "../../tenancy/rights/item-kinds.ts";
import { tokens } from "../../tenancy/tokens/tables.ts";
import { workspaceMembers, workspaces } from "../../tenancy/workspaces/tables.ts";
import { reserveUsername } from "../members/removal.ts";
import { requireFreeUsername } from "../members/usernames.ts";
import { invalidateIdentity } from "../sessions/sessions.ts";
import { getUser, requireFreeInstanceUsername } from "../users/service.ts";
import { recordMoves } from "./moved-events.ts";
import { deleteStalePaths, renameAuthor, renamePathPrefix, rewriteMentions } from "./references.ts";
import { createRenaming } from "./rewrite-json.ts";

/** Time limit of the first transaction; the remaining parts run in transactions of their own. */
const FIRST_TRANSACTION_MS = dialect === "sqlite" ? 25 : 250;

type Names = Omit<RenameParameters, "rewrite">;

/**
 * Renames a user on the instance and in all their workspaces.
 * @throws BadRequest for an invalid or used username; NotFound for an unknown user
 */
export async function renameUser(ctx: UserContext, given: string, new_username: string): Promise<void> {
  const { app } = ctx;
  const email = parseEmail(given);
  const to = parseUsername(new_username);
  const audited = { resource: email, parameters: { new_username: to } };
  const unfinished = await ctx.write(audited, async (tx) => {
    const deadline = performance.now() + FIRST_TRANSACTION_MS;
    await tx.lock("users");
    await getUser(tx, email);
    await requireFreeInstanceUsername(tx, to, email);
    await tx.update(users).set({ username: to }).where(eq(users.email, email));
    const places = await tx
      .select({ workspace_id: workspaceMembers.workspace_id, from: workspaceMembers.username })
      .from(workspaceMembers)
      .where(eq(workspaceMembers.email, email))
      .orderBy(asc(workspaceMembers.workspace_id));
    const rest: Started[] = [];
    for (const { workspace_id, from } of places) {
      if (from === to) continue;
      const names = { workspace_id, email, from, to };
      await changeName(app, tx, names);
      if (!(await renameAllWithin(app, tx, names, deadline))) rest.push(await startRest(app, tx, names));
    }
    await invalidateIdentity(app, tx, email);
    tx.afterCommit(() => {
      invalidateMembers(app);
      retireProcesses(app, { email });
    });
    return rest;
  });
  for (const operation of unfinished) await renaming.run(app, operation);
}

/** Changes the member's username and reserves the former one for them. */
async function changeName(app: App, tx: Tx, { workspace_id, email, from, to }: Names): Promise<void> {
  await tx.lock(`people of workspace ${workspace_id}`);
  await requireNoOperation(tx, workspace_id);
  await requireFreeUsername(tx, workspace_id, email, to);
  const occupied = await findPathBelow(app, tx, workspace_id, `u/${to}/`, { deleted: true });
  if (occupied !== undefined) {
    throw new BadRequest(
      `${occupied} already exists where u/${from}/… of workspace ${workspace_id} would be moved`,
    );
  }
  await deleteStalePaths(app, tx, createRenaming({ workspace_id, email, from, to }));
  await tx
    .update(workspaceMembers)
    .set({ username: to })
    .where(and(eq(workspaceMembers.workspace_id, workspace_id), eq(workspaceMembers.email, email)));
  await reserveUsername(tx, { workspace_id, username: from, email });
}

/** Renames everything in the caller's transaction, unless it takes too long. @returns whether all parts are done */
async function renameAllWithin(app: App, tx: Tx, names: Names, deadline: number): Promise<boolean> {
  const renaming = createRenaming(names);
  for await (const part of renamingParts(app, tx, renaming, { inTransaction: true })) {
    if (part.continues || performance.now() > deadline) return false;
    await part.run?.(tx);
  }
  // As few rows as there are renamed paths.
  for await (const part of recordMoves(app, tx, renaming)) await part.run?.(tx);
  await completeRenaming(app, tx, renaming);
  return true;
}

type Started = Awaited<ReturnType<typeof renaming.start>>;

function startRest(app: App, tx: Tx, names: Names): Promise<Started> {
  const { workspace_id, from, to } = names;
  tx.afterCommit(() => announceRenaming(app, workspace_id, from, to));
  return renaming.start(app, tx, workspace_id, names);
}

/** Completes the parts that the first transaction has left. All of them may be repeated. */
const renaming = defineResumable<Names>("the renaming of a user", {
  hold: (app, { workspace_id, from, to }) => announceRenaming(app, workspace_id, from, to),
  async finish(app, names) {
    const { workspace_id } = names;
    const renaming = createRenaming(names);
    await runApart(app, renamingParts(app, app.db.read, renaming, { inTransaction: false }));
    await runApart(app, recordMoves(app, app.db.read, renaming));
    await app.db.write(async (tx) => {
      await completeRenaming(app, tx, renaming);
      tx.afterCommit(() => {
        endRenaming(app, workspace_id);
        invalidateMembers(app, workspace_id);
      });
    });
  },
});

/** Runs each part in its own transaction. */
async function runApart(app: App, parts: AsyncIterable<Part>): Promise<void> {
  for await (const part of parts) {
    if (part.run) await app.db.write(part.run);
    await yieldToEventLoop();
  }
}

async function* renamingParts(
  app: App,
  db: Reader,
  renaming: RenameParameters,
  how: { inTransaction: boolean },
): AsyncGenerator<Part> {
  const { workspace_id, from, to } = renaming;
  yield* rewriteMentions(app, db, renaming);
  yield { run: (tx) => rewriteStorage(tx, renaming), continues: false };
  yield* renamePathPrefix(app, db, renaming);
  yield* renameGrantee(app, db, { workspace_id, from: `u/${from}`, to: `u/${to}` });
  yield* renameAuthor(app, db, renaming);
  for (const { on } of app.features) {
    if (on?.userRenaming) yield* on.userRenaming(db, renaming, how);
  }
}

/** Completes the renaming in its last transaction. */
async function completeRenaming(app: App, tx: Tx, renaming: RenameParameters): Promise<void> {
  for (const { on } of app.features) await on?.userRenamed?.(app, tx, renaming);
  await renameInScopes(app, tx, renaming);
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

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
import { and, asc, eq, inArray, isNull, ne, or, sql } from "drizzle-orm";
import { startsWith } from "../../../database/conditions.ts";
import type { Tx } from "../../../database/database.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { parseFields } from "../../../lib/json/json.ts";
import { checkEmail, checkUsername } from "../../../lib/text/paths.ts";
import type { App, UserContext } from "../../../platform/app/context.ts";
import { retireChildren } from "../../../platform/cluster/processes.ts";
import { jobs } from "../../../platform/queue/tables.ts";
import { flowFrames } from "../../code/flows/tables.ts";
import { forgetFlows } from "../../code/flows/versions.ts";
import { forgetScripts } from "../../code/scripts/versions.ts";
import { forgetMembers } from "../../tenancy/people/members.ts";
import { users } from "../../tenancy/people/user-tables.ts";
import { renameName } from "../../tenancy/rights/grants.ts";
import { tokens } from "../../tenancy/tokens/tables.ts";
import { workspaceMembers, workspaces } from "../../tenancy/workspaces/tables.ts";
import { forgetRoutes } from "../../triggers/http/table.ts";
import { schedulerOf } from "../../triggers/schedules/service.ts";
import { listenerOf } from "../../triggers/websocket/service.ts";
import { websocketTriggers } from "../../triggers/websocket/tables.ts";
import { keepName } from "../members/removal.ts";
import { checkUsernameFree } from "../members/usernames.ts";
import { forgetIdentity } from "../sessions/sessions.ts";
import { getUser, refuseTakenUsername } from "../users/service.ts";
import { anyPathBelow, mentions, moved, movePaths, moveTexts, renameMakers } from "./references.ts";
import { type Follow, follow } from "./rewrite-json.ts";

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
      if (username !== to) await renameIn(app, tx, { workspace_id, email, from: username, to });
    }
    await forgetIdentity(app, tx, email);
    tx.afterCommit(() => {
      forgetMembers(app);
      retireChildren(app, { email });
    });
  });
}

interface Renaming {
  workspace_id: string;
  email: string;
  from: string;
  to: string;
}

async function renameIn(app: App, tx: Tx, renaming: Renaming): Promise<void> {
  const { workspace_id, email, from, to } = renaming;
  await tx.lock(`people of workspace ${workspace_id}`);
  await checkUsernameFree(tx, workspace_id, email, to);
  const at = (name: string) => `u/${name}/`;
  const occupied = await anyPathBelow(tx, workspace_id, at(to));
  if (occupied !== undefined) {
    throw new BadRequest(`${occupied} stands where ${at(from)}… of workspace ${workspace_id} would go`);
  }
  const rules = follow(from, to);
  await moveTexts(tx, workspace_id, from, rules);
  await moveStorage(tx, renaming, rules);
  await movePaths(tx, workspace_id, at(from), at(to));
  await renameName(app, tx, workspace_id, `u/${from}`, `u/${to}`);
  await renameMakers(tx, workspace_id, from, to);
  await listenAnew(app, tx, renaming);
  await moveRuns(tx, renaming, rules);
  await moveScopes(app, tx, renaming);
  await tx
    .update(workspaceMembers)
    .set({ username: to })
    .where(and(eq(workspaceMembers.workspace_id, workspace_id), eq(workspaceMembers.email, email)));
  await keepName(tx, { workspace_id, username: from, email });
  tx.afterCommit(() => {
    forgetScripts(app, workspace_id);
    forgetFlows(app, workspace_id);
    forgetRoutes(app);
    schedulerOf(app).wake();
    listenerOf(app).wake();
  });
}

/** Whoever listens for a trigger that has moved, or runs what has, knows it as it was: its hold ends, as after an edit. */
async function listenAnew(app: App, tx: Tx, { workspace_id, to }: Renaming): Promise<void> {
  const { path, script_path, url, url_runnable_args, initial_messages } = websocketTriggers;
  const texts = [path, script_path, url, url_runnable_args, initial_messages];
  const hasMoved = or(...texts.map((text) => mentions(text, `u/${to}/`)));
  await tx
    .update(websocketTriggers)
    .set({ edited_at: app.clock(), server_id: null, last_server_ping: null })
    .where(and(eq(websocketTriggers.workspace_id, workspace_id), hasMoved));
}

/** Where the workspace keeps its files. */
async function moveStorage(tx: Tx, { workspace_id }: Renaming, { storage }: Follow): Promise<void> {
  const [workspace] = await tx
    .select({ storage: workspaces.large_file_storage })
    .from(workspaces)
    .where(eq(workspaces.id, workspace_id));
  if (!workspace?.storage) return;
  const large_file_storage = parseFields(
    storage(JSON.stringify(workspace.storage)),
  ) as typeof workspace.storage;
  await tx.update(workspaces).set({ large_file_storage }).where(eq(workspaces.id, workspace_id));
}

/** Runs that have not ended go on under the new name, and find what they run at its new place. */
async function moveRuns(tx: Tx, renaming: Renaming, { flow, references }: Follow): Promise<void> {
  const { workspace_id, from, to } = renaming;
  const [before, after] = [`u/${from}/`, `u/${to}/`];
  const unfinished = and(eq(jobs.workspace_id, workspace_id), ne(jobs.state, "completed"));
  await tx
    .update(jobs)
    .set({ permissioned_as: `u/${to}` })
    .where(and(unfinished, eq(jobs.permissioned_as, `u/${from}`)));
  await tx
    .update(jobs)
    .set({ created_by: to })
    .where(and(unfinished, eq(jobs.created_by, from)));
  await tx
    .update(jobs)
    .set({ script_path: moved(jobs.script_path, before, after) })
    .where(and(unfinished, startsWith(jobs.script_path, before)));
  await tx
    .update(jobs)
    .set({ schedule_path: moved(jobs.schedule_path, before, after) })
    .where(and(unfinished, startsWith(jobs.schedule_path, before)));
  for (const kind of ["script", "flow"]) {
    const key = (below: string) => `${workspace_id}/${kind}/${below}`;
    await tx
      .update(jobs)
      .set({ concurrency_key: moved(jobs.concurrency_key, key(before), key(after)) })
      .where(and(unfinished, startsWith(jobs.concurrency_key, key(before))));
  }
  // Arguments stand as they were sent: what is a reference may be spelled with escapes.
  const mayRefer = or(mentions(jobs.args, '"$'), mentions(jobs.args, "\\u0024"));
  const maySayOtherwise = and(mentions(jobs.args, "\\"), mayRefer);
  const mentioning = await tx
    .select({ id: jobs.id, args: jobs.args, raw_flow: jobs.raw_flow })
    .from(jobs)
    .where(
      and(unfinished, or(mentions(jobs.args, before), mentions(jobs.raw_flow, before), maySayOtherwise)),
    );
  for (const { id, args, raw_flow } of mentioning) {
    await tx
      .update(jobs)
      .set({ args: references(args), raw_flow: raw_flow === null ? null : flow(raw_flow) })
      .where(eq(jobs.id, id));
  }
  // Whoever holds such a flow in memory is refused what it writes next, and reads it anew.
  const roots = tx
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(unfinished, eq(jobs.state, "running")));
  await tx
    .update(flowFrames)
    .set({ version: sql`${flowFrames.version} + 1` })
    .where(inArray(flowFrames.job_id, roots));
}

/** A token that runs `u/ann/hello` alone runs what has become of it. */
async function moveScopes(app: App, tx: Tx, { workspace_id, email, from, to }: Renaming): Promise<void> {
  const own = and(eq(tokens.email, email), isNull(tokens.workspace_id));
  const rows = await tx
    .select({ hash: tokens.hash, email: tokens.email, scopes: tokens.scopes })
    .from(tokens)
    .where(and(or(eq(tokens.workspace_id, workspace_id), own), mentions(tokens.scopes, `u/${from}/`)));
  // In a scope a path follows on `:`, `,`, or the slash of `run:script/`.
  const mention = new RegExp(`(?<=[:,]|run:(?:script|flow)/)u/${from}/`, "g");
  for (const { hash, scopes } of rows) {
    const moved = scopes?.map((scope) => scope.replace(mention, `u/${to}/`)) ?? null;
    await tx.update(tokens).set({ scopes: moved }).where(eq(tokens.hash, hash));
  }
  for (const owner of new Set(rows.map((row) => row.email))) await forgetIdentity(app, tx, owner);
}

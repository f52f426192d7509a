/**
 * A person's place in a workspace, with its groups and its rights in folders: asked on every call, so answered from
 * memory when it was asked before.
 */
import { and, asc, eq } from "drizzle-orm";
import { Cache } from "../../../lib/async/cache.ts";
import { perApp } from "../../../lib/async/per-app.ts";
import { BadRequest, NotFound } from "../../../lib/errors.ts";
import { folderRight } from "../../../platform/access/permissions.ts";
import type { App, FolderRight, Identity, Member } from "../../../platform/app/context.ts";
import { forgottenEverywhere, IDENTITY_TTL_MS } from "../../../platform/cluster/cache-invalidation.ts";
import { workspaceMembers, workspaces } from "../workspaces/tables.ts";
import { withDefaults } from "./folder-defaults.ts";
import { folders } from "./folder-tables.ts";
import { groupMembers, instanceGroupMembers } from "./group-tables.ts";
import { isSuperAdmin } from "./super-admin.ts";

const MAX_CACHED = 50_000;
/** By workspace and e-mail; null for who is no member. Another process may have changed what it says. */
const cacheOf = perApp(
  (app: App) =>
    new Cache<Member | null>({ max: MAX_CACHED, ttl_ms: IDENTITY_TTL_MS, now: () => app.clock().getTime() }),
);
const key = (workspace_id: string, email: string) => `${workspace_id}\n${email}`;

/**
 * Forgets what was remembered of people; called after a commit that changed who they are, their groups or a folder.
 * @param workspace_id the one whose people it concerns; left out, all
 */
export const forgetMembers = forgottenEverywhere<[workspace_id?: string]>("members", {
  forget(app, workspace_id) {
    if (workspace_id === undefined) cacheOf(app).clear();
    else cacheOf(app).deleteWhere((name) => name.startsWith(key(workspace_id, "")));
  },
  forgetAll: (app) => cacheOf(app).clear(),
});

/** Whose place is asked for, and as whom a job of theirs runs, when it is a job that asks. */
interface Who {
  email: string;
  super_admin: boolean;
  runs_as: string | undefined;
}

/**
 * The caller's place in the workspace. A super admin who is no member stands above: admin, named by e-mail.
 * @returns undefined when there is none
 * @throws NotFound for an unknown workspace (super admins only: others learn nothing), BadRequest for an archived one
 */
export function resolveMember(
  app: App,
  { email, super_admin, token }: Identity,
  workspace_id: string,
): Member | undefined | Promise<Member | undefined> {
  const found = placeOf(app, { email, super_admin, runs_as: token?.job?.permissioned_as }, workspace_id);
  if (!token || token.job) return found;
  if (found instanceof Promise)
    return found.then((member) => (member?.unasked ? joined(app, member) : member));
  return found?.unasked ? joined(app, found) : found;
}

/** Somebody who was made a member before they had an account comes for the first time: from now on they belong. */
async function joined(app: App, member: Member): Promise<Member> {
  const { workspace_id, email } = member;
  await app.db.write(async (tx) => {
    await tx
      .update(workspaceMembers)
      .set({ unasked: false })
      .where(and(eq(workspaceMembers.workspace_id, workspace_id), eq(workspaceMembers.email, email)));
    tx.afterCommit(() => forgetMembers(app, workspace_id));
  });
  return { ...member, unasked: false };
}

/** The place of whoever a job runs as. @returns, @throws as `resolveMember` */
export function memberOfJob(
  app: App,
  job: { workspace_id: string; email: string; permissioned_as: string },
): Member | undefined | Promise<Member | undefined> {
  const { email, permissioned_as: runs_as, workspace_id } = job;
  return placeOf(app, { email, super_admin: false, runs_as }, workspace_id);
}

function placeOf(app: App, who: Who, workspace_id: string): Member | undefined | Promise<Member | undefined> {
  const known = cacheOf(app).get(key(workspace_id, who.email));
  if (known === undefined) return loadMember(app, who, workspace_id);
  if (known) return withRights(known, who);
  if (who.runs_as !== undefined || who.super_admin) return loadMember(app, who, workspace_id);
  return undefined;
}

async function loadMember(app: App, who: Who, workspace_id: string): Promise<Member | undefined> {
  const [workspace] = await app.db.read.select().from(workspaces).where(eq(workspaces.id, workspace_id));
  if (!workspace) {
    if (who.super_admin) throw new NotFound(`workspace ${workspace_id}`);
    return undefined;
  }
  if (workspace.archived) throw new BadRequest(`workspace ${workspace_id} is archived`);
  const { email } = who;
  const look = () => findMember(app, workspace_id, email);
  const member = await cacheOf(app).load(key(workspace_id, email), look);
  if (member) return withRights(member, who);
  const above = who.super_admin || (await runsForSuperAdmin(app, who));
  return above ? superAdminMember(app, who.email, workspace_id) : undefined;
}

async function findMember(app: App, workspace_id: string, email: string): Promise<Member | null> {
  const [row] = await app.db.read
    .select()
    .from(workspaceMembers)
    .where(and(eq(workspaceMembers.workspace_id, workspace_id), eq(workspaceMembers.email, email)));
  const known = row ?? groupRow(workspace_id, email);
  const [member = null] = known ? await withPlaces(app, workspace_id, [known]) : [];
  return member;
}

type Row = typeof workspaceMembers.$inferSelect;

/** What the server itself starts for a workspace runs as a group, whose members and folders say what it may do. */
export function groupIdentity(name: string): { email: string; permissioned_as: string } {
  // No person can have such an address.
  return { email: `g/${name}`, permissioned_as: `g/${name}` };
}

/** The group behind such an identity; the address of an account, which has an @, is none whatever it begins with. */
function groupOf(email: string): string | undefined {
  return /^g\/([\w-]+)$/.exec(email)?.[1];
}

function groupRow(workspace_id: string, email: string): Row | undefined {
  if (groupOf(email) === undefined) return undefined;
  const nobody = {
    is_admin: false,
    operator: false,
    disabled: false,
    unasked: false,
    created_at: new Date(0),
  };
  return { workspace_id, email, username: email, ...nobody };
}

function groupsBehind(email: string): Set<string> {
  const group = groupOf(email);
  return new Set(group === undefined ? [] : [group]);
}

/** Everybody who is in a workspace, with their groups and rights, by name. */
export async function listMembers(app: App, workspace_id: string): Promise<Member[]> {
  const rows = await app.db.read
    .select()
    .from(workspaceMembers)
    .where(eq(workspaceMembers.workspace_id, workspace_id))
    .orderBy(asc(workspaceMembers.username));
  return withPlaces(app, workspace_id, rows);
}

/** Members with their groups, and with what these and the folders' own entries give them in folders. */
async function withPlaces(app: App, workspace_id: string, rows: readonly Row[]): Promise<Member[]> {
  const { read } = app.db;
  const groupsOf = new Map<string, Set<string>>(rows.map(({ email }) => [email, groupsBehind(email)]));
  const only = rows.length === 1 ? rows[0]!.email : undefined;
  const inGroups = await read
    .select({ name: groupMembers.name, email: groupMembers.email })
    .from(groupMembers)
    .where(
      and(
        eq(groupMembers.workspace_id, workspace_id),
        only === undefined ? undefined : eq(groupMembers.email, only),
      ),
    );
  const ofInstance = await read
    .select({ name: instanceGroupMembers.name, email: instanceGroupMembers.email })
    .from(instanceGroupMembers)
    .where(only === undefined ? undefined : eq(instanceGroupMembers.email, only));
  for (const { name, email } of [...inGroups, ...ofInstance]) groupsOf.get(email)?.add(name);
  const stored = await read.select().from(folders).where(eq(folders.workspace_id, workspace_id));
  const all = withDefaults(workspace_id, stored);
  return rows.map((row) => {
    const groups = [...(groupsOf.get(row.email) ?? [])].sort();
    const rights = new Map<string, FolderRight>();
    for (const folder of all) {
      const right = folderRight({ username: row.username, groups }, folder);
      if (right) rights.set(folder.name, right);
    }
    return { ...row, groups, folders: rights };
  });
}

/** Remembered is what the workspace says of a person; what else they are depends on how they come. */
function withRights(member: Member, { super_admin }: Who): Member {
  return super_admin && !member.is_admin ? { ...member, is_admin: true } : member;
}

/**
 * The job of a super admin who is no member of the workspace: it stands where they stood when they started it, as long
 * as they are one. The machine's operator is no user at all.
 */
async function runsForSuperAdmin(app: App, { email, runs_as }: Who): Promise<boolean> {
  return runs_as === `u/${email}` && isSuperAdmin(app.db.read, email);
}

function superAdminMember(app: App, email: string, workspace_id: string): Member {
  return {
    workspace_id,
    email,
    username: email,
    is_admin: true,
    operator: false,
    disabled: false,
    created_at: app.clock(),
    groups: [],
    folders: new Map(),
  };
}

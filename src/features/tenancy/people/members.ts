/**
 * Resolves a person's membership in a workspace: their role, groups and folder rights. Every call needs it, so results
 * are cached.
 */
import { and, asc, eq } from "drizzle-orm";
import { Cache } from "../../../lib/async/cache.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import { BadRequest, NotFound } from "../../../lib/errors.ts";
import { resolveFolderRight } from "../../../platform/access/permissions.ts";
import type { App, FolderRight, Identity, Member } from "../../../platform/app/context.ts";
import { defineInvalidation, IDENTITY_TTL_MS } from "../../../platform/cluster/cache-invalidation.ts";
import { workspaceMembers, workspaces } from "../workspaces/tables.ts";
import { withBuiltInFolders } from "./built-in-folders.ts";
import { folders } from "./folder-tables.ts";
import { groupMembers, instanceGroupMembers } from "./group-tables.ts";
import { findRenaming } from "./renamings.ts";
import { isSuperAdmin } from "./super-admin.ts";

const MAX_CACHED = 50_000;
/** Members by workspace and e-mail; null for non-members. Entries expire, since another process may change the rows. */
const memberCache = memoizePerApp(
  (app: App) =>
    new Cache<Member | null>({ max: MAX_CACHED, ttl_ms: IDENTITY_TTL_MS, now: () => app.clock().getTime() }),
);
const cacheKey = (workspace_id: string, email: string) => `${workspace_id}\n${email}`;

/**
 * Invalidates cached members. Call it after a commit that changed roles, groups or folders.
 * @param workspace_id restricts it to one workspace; without it, all entries are dropped
 */
export const invalidateMembers = defineInvalidation<[workspace_id?: string]>("members", {
  forget(app, workspace_id) {
    if (workspace_id === undefined) memberCache(app).clear();
    else memberCache(app).deleteWhere((name) => name.startsWith(cacheKey(workspace_id, "")));
  },
  forgetAll: (app) => memberCache(app).clear(),
});

/** The workspace of scripts for the instance itself; its admins are the super admins. */
export const ADMINS_WORKSPACE_ID = "admins";

/** Identifies the member to look up and, for a job, the identity the job runs as. */
interface MemberLookup {
  email: string;
  super_admin: boolean;
  runs_as: string | undefined;
  reads?: boolean;
}

/**
 * Returns the caller's membership in the workspace. A super admin who is not a member is treated as an admin, with
 * the e-mail as username.
 * @param reads whether the caller only reads. Super admins may read in their own workspace even before it was
 * created, since clients request lists of the whole instance there
 * @returns undefined if the caller is not a member
 * @throws NotFound for an unknown workspace (super admins only, so that others learn nothing), BadRequest for an
 * archived one
 */
export function resolveMember(
  app: App,
  { email, super_admin, token }: Identity,
  workspace_id: string,
  reads = false,
): Member | undefined | Promise<Member | undefined> {
  const who = { email, super_admin, runs_as: token?.job?.permissioned_as, reads };
  const found = lookUpMember(app, who, workspace_id);
  if (!token || token.job) return found;
  if (found instanceof Promise)
    return found.then((member) => (member?.unasked ? acceptMembership(app, member) : member));
  return found?.unasked ? acceptMembership(app, found) : found;
}

/** Completes a membership that was created before the person had an account, at their first call. */
async function acceptMembership(app: App, member: Member): Promise<Member> {
  const { workspace_id, email } = member;
  await app.db.write(async (tx) => {
    await tx
      .update(workspaceMembers)
      .set({ unasked: false })
      .where(and(eq(workspaceMembers.workspace_id, workspace_id), eq(workspaceMembers.email, email)));
    tx.afterCommit(() => invalidateMembers(app, workspace_id));
  });
  return { ...member, unasked: false };
}

/** Returns the membership of the identity a job runs as. @returns, @throws as `resolveMember` */
export function resolveJobMember(
  app: App,
  job: { workspace_id: string; email: string; permissioned_as: string },
): Member | undefined | Promise<Member | undefined> {
  const { email, permissioned_as: runs_as, workspace_id } = job;
  return lookUpMember(app, { email, super_admin: false, runs_as }, workspace_id);
}

function lookUpMember(
  app: App,
  who: MemberLookup,
  workspace_id: string,
): Member | undefined | Promise<Member | undefined> {
  const known = memberCache(app).get(cacheKey(workspace_id, who.email));
  if (known === undefined) return loadMember(app, who, workspace_id);
  if (known) return withAdminRights(known, who);
  if (who.runs_as !== undefined || who.super_admin) return loadMember(app, who, workspace_id);
  return undefined;
}

async function loadMember(app: App, who: MemberLookup, workspace_id: string): Promise<Member | undefined> {
  const [workspace] = await app.db.read.select().from(workspaces).where(eq(workspaces.id, workspace_id));
  if (!workspace) {
    if (who.super_admin && who.reads && workspace_id === ADMINS_WORKSPACE_ID)
      return createSuperAdminMember(app, who.email, workspace_id);
    if (who.super_admin) throw new NotFound(`workspace ${workspace_id}`);
    return undefined;
  }
  if (workspace.archived) throw new BadRequest(`workspace ${workspace_id} is archived`);
  const { email } = who;
  const look = () => findCachedValue(app, workspace_id, email);
  const member = await memberCache(app).load(cacheKey(workspace_id, email), look);
  if (member) return withAdminRights(member, who);
  const above = who.super_admin || (await isSuperAdminJob(app, who));
  return above ? createSuperAdminMember(app, who.email, workspace_id) : undefined;
}

async function findCachedValue(app: App, workspace_id: string, email: string): Promise<Member | null> {
  const [row] = await app.db.read
    .select()
    .from(workspaceMembers)
    .where(and(eq(workspaceMembers.workspace_id, workspace_id), eq(workspaceMembers.email, email)));
  const known = row ?? createGroupRow(workspace_id, email);
  const [member = null] = known ? await withGroupsAndFolders(app, workspace_id, [known]) : [];
  return member;
}

type Row = typeof workspaceMembers.$inferSelect;

/** Returns the identity of jobs that the server starts on its own: a group, whose grants decide what they may do. */
export function formatGroupRunAs(name: string): { email: string; permissioned_as: string } {
  // No user can have such an address.
  return { email: `g/${name}`, permissioned_as: `g/${name}` };
}

/**
 * Returns the group's name if the e-mail is that of a group identity. Addresses of accounts contain an @ and never
 * match.
 */
function parseGroupIdentity(email: string): string | undefined {
  return /^g\/([\w-]+)$/.exec(email)?.[1];
}

function createGroupRow(workspace_id: string, email: string): Row | undefined {
  if (parseGroupIdentity(email) === undefined) return undefined;
  const nobody = {
    is_admin: false,
    operator: false,
    disabled: false,
    unasked: false,
    created_at: new Date(0),
  };
  return { workspace_id, email, username: email, ...nobody };
}

function initialGroups(email: string): Set<string> {
  const group = parseGroupIdentity(email);
  return new Set(group === undefined ? [] : [group]);
}

/**
 * Returns the member that a grantee such as `u/ann` names; of a group, its identity, which has the rights of the group
 * alone.
 */
export async function findGranteeMember(
  app: App,
  workspace_id: string,
  grantee: string,
): Promise<Member | undefined> {
  const identity = { super_admin: false, devops: false, token: undefined };
  if (!grantee.startsWith("u/")) return resolveMember(app, { ...identity, email: grantee }, workspace_id);
  const [row] = await app.db.read
    .select({ email: workspaceMembers.email })
    .from(workspaceMembers)
    .where(
      and(eq(workspaceMembers.workspace_id, workspace_id), eq(workspaceMembers.username, grantee.slice(2))),
    );
  return row && resolveMember(app, { ...identity, email: row.email }, workspace_id);
}

/** Lists the members of a workspace with their groups and folder rights, by username. */
export async function listWorkspaceMembers(app: App, workspace_id: string): Promise<Member[]> {
  const rows = await app.db.read
    .select()
    .from(workspaceMembers)
    .where(eq(workspaceMembers.workspace_id, workspace_id))
    .orderBy(asc(workspaceMembers.username));
  return withGroupsAndFolders(app, workspace_id, rows);
}

/** Adds groups to member rows, and the folder rights that grants to them and their groups give. */
async function withGroupsAndFolders(app: App, workspace_id: string, rows: readonly Row[]): Promise<Member[]> {
  const { read } = app.db;
  const groupsOf = new Map<string, Set<string>>(rows.map(({ email }) => [email, initialGroups(email)]));
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
  const all = withBuiltInFolders(workspace_id, stored);
  const renaming = findRenaming(app, workspace_id);
  return rows.map((row) => {
    const groups = [...(groupsOf.get(row.email) ?? [])].sort();
    const rights = new Map<string, FolderRight>();
    for (const folder of all) {
      const right = resolveFolderRight({ username: row.username, groups, renaming }, folder);
      if (right) rights.set(folder.name, right);
    }
    return { ...row, ...(renaming && { renaming }), groups, folders: rights };
  });
}

/** Applies rights that depend on the caller. The cached entry holds only what the workspace defines. */
function withAdminRights(member: Member, { super_admin }: MemberLookup): Member {
  return super_admin && !member.is_admin ? { ...member, is_admin: true } : member;
}

/**
 * Whether the job runs as a super admin who is not a member of the workspace. Its rights last as long as that user is
 * a super admin. The local admin has no account, so `isSuperAdmin` recognizes it by its e-mail.
 */
async function isSuperAdminJob(app: App, { email, runs_as }: MemberLookup): Promise<boolean> {
  return runs_as === `u/${email}` && isSuperAdmin(app.db.read, email);
}

function createSuperAdminMember(app: App, email: string, workspace_id: string): Member {
  return {
    workspace_id,
    email,
    username: email,
    is_admin: true,
    operator: false,
    disabled: false,
    created_at: app.clock(),
    renaming: findRenaming(app, workspace_id),
    groups: [],
    folders: new Map(),
  };
}

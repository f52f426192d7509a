/** A person's place in a workspace: asked on every call, so answered from memory when it was asked before. */
import { and, eq } from "drizzle-orm";
import type { App, Identity, Member } from "../../context.ts";
import { BadRequest, NotFound } from "../../errors.ts";
import { perApp } from "../../lib/per-app.ts";
import { OPERATOR } from "../users/operator.ts";
import { users } from "../users/tables.ts";
import { workspaceMembers, workspaces } from "./tables.ts";

interface Cache {
  members: Map<string, Member | null>;
  workspaces: Map<string, boolean>;
  generation: number;
}

const MAX_CACHED = 50_000;
const cacheOf = perApp<App, Cache>(() => ({ members: new Map(), workspaces: new Map(), generation: 0 }));
const keyOf = (workspace_id: string, email: string) => `${workspace_id}\n${email}`;

/** Forgets what was remembered of a workspace's people; called after a commit that changed them. */
export function forgetMembers(app: App): void {
  const cache = cacheOf(app);
  cache.generation++;
  cache.members.clear();
  cache.workspaces.clear();
}

/**
 * The caller's place in the workspace. A super admin who is no member stands above: admin, named by e-mail.
 * @returns undefined when there is none
 * @throws NotFound for an unknown workspace (super admins only: others learn nothing), BadRequest for an archived one
 */
export function resolveMember(
  app: App,
  identity: Identity,
  workspace_id: string,
): Member | undefined | Promise<Member | undefined> {
  const known = cacheOf(app).members.get(keyOf(workspace_id, identity.email));
  if (known) return withRights(known, identity);
  if (known === null && identity.token?.job) return loadMember(app, identity, workspace_id);
  if (known === null && !identity.super_admin) return undefined;
  return loadMember(app, identity, workspace_id);
}

async function loadMember(app: App, identity: Identity, workspace_id: string): Promise<Member | undefined> {
  const cache = cacheOf(app);
  const { generation } = cache;
  const [workspace] = await app.db.read.select().from(workspaces).where(eq(workspaces.id, workspace_id));
  if (!workspace) {
    if (identity.super_admin) throw new NotFound(`workspace ${workspace_id}`);
    return undefined;
  }
  if (workspace.archived) throw new BadRequest(`workspace ${workspace_id} is archived`);
  const [row] = await app.db.read
    .select()
    .from(workspaceMembers)
    .where(and(eq(workspaceMembers.workspace_id, workspace_id), eq(workspaceMembers.email, identity.email)));
  const member: Member | null = row ? { ...row, groups: [] } : null;
  if (cache.generation === generation) {
    if (cache.members.size >= MAX_CACHED) cache.members.clear();
    cache.members.set(keyOf(workspace_id, identity.email), member);
  }
  if (member) return withRights(member, identity);
  const above = identity.super_admin || (await runsForSuperAdmin(app, identity));
  return above ? superAdminMember(app, identity, workspace_id) : undefined;
}

/** Remembered is what the workspace says of a person; what else they are depends on how they come. */
function withRights(member: Member, identity: Identity): Member {
  return identity.super_admin && !member.is_admin ? { ...member, is_admin: true } : member;
}

/**
 * The job of a super admin who is no member of the workspace: it stands where they stood when they started it, as long
 * as they are one. The machine's operator is no user at all.
 */
async function runsForSuperAdmin(app: App, { email, token }: Identity): Promise<boolean> {
  if (token?.job?.permissioned_as !== `u/${email}`) return false;
  const [user] = await app.db.read
    .select({ super_admin: users.super_admin })
    .from(users)
    .where(eq(users.email, email));
  return user ? user.super_admin : email === OPERATOR.email;
}

function superAdminMember(app: App, identity: Identity, workspace_id: string): Member {
  return {
    workspace_id,
    email: identity.email,
    username: identity.email,
    is_admin: true,
    operator: false,
    disabled: false,
    created_at: app.clock(),
    groups: [],
  };
}

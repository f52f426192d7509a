import { and, asc, eq } from "drizzle-orm";
import type { Reader } from "../../../database/database.ts";
import { BadRequest, Forbidden, NotFound } from "../../../lib/errors.ts";
import {
  deriveUsername,
  isLocalAdminEmail,
  parseEmail,
  parseUsername,
  parseWorkspaceId,
  requireNotObjectKey,
} from "../../../lib/text/paths.ts";
import type { Identity, UserContext } from "../../../platform/app/context.ts";
import { toLimitOffset } from "../../../platform/http/operation.ts";
import { hasLicense } from "../../tenancy/license/service.ts";
import { ADMINS_WORKSPACE_ID, invalidateMembers } from "../../tenancy/people/members.ts";
import { users } from "../../tenancy/people/user-tables.ts";
import { lockWorkspace, reopenWorkspace } from "../../tenancy/workspaces/gate.ts";
import { createWorkspaceKey } from "../../tenancy/workspaces/secrets.ts";
import { createStorageFolderName } from "../../tenancy/workspaces/storage-folder.ts";
import { workspaceInvites, workspaceMembers, workspaces } from "../../tenancy/workspaces/tables.ts";

export interface NewWorkspace {
  id: string;
  name: string;
  username?: string | undefined;
  /** E-mail of the first admin, if a super admin creates the workspace for another user. */
  owner?: string | undefined;
}

/** Pseudo workspace id of the instance's own audit rows; no workspace may have it. */
const RESERVED_ID = "global";

/** Validates the id of a new workspace. @throws BadRequest, Forbidden for the super admins' workspace */
export function parseNewWorkspaceId(identity: Identity, given: string): string {
  const id = parseWorkspaceId(given);
  requireNotObjectKey("workspace id", id);
  if (id === RESERVED_ID)
    throw new BadRequest(`"${id}" cannot be a workspace id: it is reserved for the whole instance`);
  if (id === ADMINS_WORKSPACE_ID && !identity.super_admin) {
    throw new Forbidden(`only a super admin can create the workspace ${id}`);
  }
  return id;
}

/** Rejects the super admins' workspace. @throws BadRequest for the super admins' workspace */
export function requireOrdinaryWorkspace(id: string, what: string): void {
  if (id === ADMINS_WORKSPACE_ID)
    throw new BadRequest(`workspace ${id} belongs to the super admins and cannot be ${what}`);
}

/** Checks that a workspace id is free. @throws BadRequest if a workspace has this id */
export async function requireFreeId(db: Reader, id: string): Promise<void> {
  const [taken] = await db.select({ id: workspaces.id }).from(workspaces).where(eq(workspaces.id, id));
  if (taken) throw new BadRequest(`there is a workspace with id ${id} already`);
}

const MAX_NAME_CHARS = 250;

/** Validates a workspace name. @throws BadRequest naming the field */
export function parseWorkspaceName(field: string, name: string): string {
  if (name.trim() === "") throw new BadRequest(`body field \`${field}\`: must not be empty`);
  if (name.length <= MAX_NAME_CHARS) return name;
  throw new BadRequest(`body field \`${field}\`: must have at most ${MAX_NAME_CHARS} characters`);
}

/**
 * Checks that the caller may create workspaces.
 * @throws Forbidden if the instance's settings do not allow the caller to create workspaces
 */
async function requireWorkspaceCreator({ app, caller: { identity } }: UserContext): Promise<void> {
  if (identity.super_admin) return;
  if (app.settings.get("create_workspace_require_superadmin")) {
    throw new Forbidden("only a super admin can create workspaces on this instance", {
      hint: "the setting create_workspace_require_superadmin, set to false, lets others",
    });
  }
  const roles = await app.db.read
    .select({ operator: workspaceMembers.operator })
    .from(workspaceMembers)
    .where(eq(workspaceMembers.email, identity.email));
  if (roles.length > 0 && roles.every(({ operator }) => operator)) {
    throw new Forbidden("operators may run and view, not create workspaces");
  }
}

/**
 * Creates a workspace with its key and its first admin.
 * @throws BadRequest for an invalid or used id, Forbidden for what is reserved to super admins, NotFound for an unknown
 * owner
 */
export async function createWorkspace(ctx: UserContext, body: NewWorkspace): Promise<void> {
  const { app } = ctx;
  const { identity } = ctx.caller;
  await requireWorkspaceCreator(ctx);
  if (body.owner !== undefined && body.owner !== identity.email && !identity.super_admin) {
    throw new Forbidden("only a super admin can create a workspace for another user: leave `owner` out");
  }
  const id = parseNewWorkspaceId(identity, body.id);
  // The local admin is not a user: without an owner, only super admins can access the workspace.
  const memberless = body.owner === undefined && !identity.token && isLocalAdminEmail(identity.email);
  const owner = parseEmail(body.owner ?? identity.email);
  const name = parseWorkspaceName("name", body.name);
  const storage_folder = await createStorageFolderName(app, id);
  await ctx.write({ resource: id }, async (tx) => {
    const [user] = await tx.select({ username: users.username }).from(users).where(eq(users.email, owner));
    if (!user && !memberless) {
      throw new NotFound(`user ${owner}`, {
        hint: "name an existing user as the owner: svc user create --email …",
      });
    }
    await lockWorkspace(tx, id);
    await requireFreeId(tx, id);
    const created_at = app.clock();
    const key = createWorkspaceKey(app, id);
    await tx.insert(workspaces).values({ id, name, owner, created_at, storage_folder, ...key });
    if (user) {
      const username = parseUsername(body.username || user.username || deriveUsername(owner));
      const member = {
        workspace_id: id,
        email: owner,
        username,
        is_admin: true,
        operator: false,
        created_at,
      };
      await tx.insert(workspaceMembers).values(member);
    }
    tx.afterCommit(() => {
      invalidateMembers(app);
      reopenWorkspace(app, id);
    });
  });
}

/** Lists all workspaces that are not archived; for super admins. */
export function listAllWorkspaces(ctx: UserContext) {
  return ctx.app.db.read
    .select({ id: workspaces.id, name: workspaces.name, owner: workspaces.owner })
    .from(workspaces)
    .where(eq(workspaces.archived, false))
    .orderBy(workspaces.id);
}

/** Lists a page of all workspaces, archived ones included. */
export async function listWorkspacePage({ app }: UserContext, query: { page: number; per_page: number }) {
  const { offset, limit } = toLimitOffset(query);
  const rows = await app.db.read
    .select({
      id: workspaces.id,
      name: workspaces.name,
      owner: workspaces.owner,
      deleted: workspaces.archived,
    })
    .from(workspaces)
    .orderBy(asc(workspaces.id))
    .limit(limit)
    .offset(offset);
  const premium = await hasLicense(app);
  return rows.map((row) => ({ ...row, premium }));
}

/** Whether a username is used in a workspace. Always false for a workspace that the caller may not know about. */
export async function isUsernameTaken(
  ctx: UserContext,
  { id, username }: { id: string; username: string },
): Promise<boolean> {
  const { db } = ctx.app;
  if (!(await canSeeUsernames(ctx, id))) return false;
  const rows = await db.read
    .select({ email: workspaceMembers.email })
    .from(workspaceMembers)
    .where(and(eq(workspaceMembers.workspace_id, id), eq(workspaceMembers.username, username)));
  return rows.length > 0;
}

async function canSeeUsernames({ app, caller }: UserContext, workspace_id: string): Promise<boolean> {
  const { super_admin, email } = caller.identity;
  if (super_admin) return true;
  for (const table of [workspaceMembers, workspaceInvites]) {
    const [own] = await app.db.read
      .select({ email: table.email })
      .from(table)
      .where(and(eq(table.workspace_id, workspace_id), eq(table.email, email)));
    if (own) return true;
  }
  return false;
}

import { and, asc, eq } from "drizzle-orm";
import type { Reader } from "../../../database/database.ts";
import { BadRequest, Forbidden, NotFound } from "../../../lib/errors.ts";
import {
  checkEmail,
  checkUsername,
  checkWorkspaceId,
  refuseObjectKey,
  usernameFromEmail,
} from "../../../lib/text/paths.ts";
import type { Identity, UserContext } from "../../../platform/app/context.ts";
import { toWindow } from "../../../platform/http/operation.ts";
import { hasLicense } from "../../tenancy/license/service.ts";
import { forgetMembers } from "../../tenancy/people/members.ts";
import { users } from "../../tenancy/people/user-tables.ts";
import { holdAlone, reopen } from "../../tenancy/workspaces/gate.ts";
import { newWorkspaceKey } from "../../tenancy/workspaces/secrets.ts";
import { newStorageFolder } from "../../tenancy/workspaces/storage-folder.ts";
import { workspaceInvites, workspaceMembers, workspaces } from "../../tenancy/workspaces/tables.ts";

export interface NewWorkspace {
  id: string;
  name: string;
  username?: string | undefined;
  /** E-mail of the first admin, when a super admin makes a workspace for somebody. */
  owner?: string | undefined;
}

/** Audit rows of the whole instance stand under this name: nobody may become its admin. */
const RESERVED_ID = "global";
/** Where the instance's own scripts live: its admins are the super admins. */
const SUPER_ADMIN_ID = "admins";

/**
 * Checks an id that a workspace is to have.
 * @throws BadRequest, Forbidden for one that is the super admins' own
 */
export function checkNewId(identity: Identity, given: string): string {
  const id = checkWorkspaceId(given);
  refuseObjectKey("workspace id", id);
  if (id === RESERVED_ID)
    throw new BadRequest(`"${id}" cannot be a workspace id: it stands for the whole instance`);
  if (id === SUPER_ADMIN_ID && !identity.super_admin) {
    throw new Forbidden(`only a super admin makes the workspace ${id}`);
  }
  return id;
}

/** @throws BadRequest for the workspace that the instance itself needs */
export function refuseSpecial(id: string, what: string): void {
  if (id === SUPER_ADMIN_ID)
    throw new BadRequest(`workspace ${id} is the super admins' and cannot be ${what}`);
}

/** @throws BadRequest when there is a workspace with this id */
export async function refuseTaken(db: Reader, id: string): Promise<void> {
  const [taken] = await db.select({ id: workspaces.id }).from(workspaces).where(eq(workspaces.id, id));
  if (taken) throw new BadRequest(`there is a workspace with id ${id} already`);
}

const MOST_NAME = 250;

/** @throws BadRequest naming the field */
export function checkName(field: string, name: string): string {
  if (name.trim() === "") throw new BadRequest(`body field \`${field}\`: must not be empty`);
  if (name.length <= MOST_NAME) return name;
  throw new BadRequest(`body field \`${field}\`: must have at most ${MOST_NAME} characters`);
}

/** @throws Forbidden for who may not make a workspace, as the instance's setting says */
async function requireMaker({ app, caller: { identity } }: UserContext): Promise<void> {
  if (identity.super_admin) return;
  if (app.settings.get("create_workspace_require_superadmin")) {
    throw new Forbidden("only a super admin makes workspaces on this instance", {
      hint: "the setting create_workspace_require_superadmin, set to false, lets others",
    });
  }
  const roles = await app.db.read
    .select({ operator: workspaceMembers.operator })
    .from(workspaceMembers)
    .where(eq(workspaceMembers.email, identity.email));
  if (roles.length > 0 && roles.every(({ operator }) => operator)) {
    throw new Forbidden("operators may run and view, not make workspaces");
  }
}

/**
 * Makes a workspace with its key and its first admin.
 * @throws BadRequest for a bad or taken id, Forbidden for what super admins alone may, NotFound for an owner who is no user
 */
export async function createWorkspace(ctx: UserContext, body: NewWorkspace): Promise<void> {
  const { app } = ctx;
  const { identity } = ctx.caller;
  await requireMaker(ctx);
  if (body.owner !== undefined && body.owner !== identity.email && !identity.super_admin) {
    throw new Forbidden("only a super admin makes a workspace for somebody else: leave `owner` out");
  }
  const id = checkNewId(identity, body.id);
  // The machine's operator is no user: without an owner, super admins alone reach the workspace.
  const memberless = body.owner === undefined && identity.token === undefined;
  const owner = checkEmail(body.owner ?? identity.email);
  const name = checkName("name", body.name);
  const storage_folder = await newStorageFolder(app, id);
  await ctx.write({ resource: id }, async (tx) => {
    const [user] = await tx.select({ username: users.username }).from(users).where(eq(users.email, owner));
    if (!user && !memberless) {
      throw new NotFound(`user ${owner}`, {
        hint: "name an existing user as the owner: svc user create --email …",
      });
    }
    await holdAlone(tx, id);
    await refuseTaken(tx, id);
    const created_at = app.clock();
    const key = newWorkspaceKey(app, id);
    await tx.insert(workspaces).values({ id, name, owner, created_at, storage_folder, ...key });
    if (user) {
      const username = checkUsername(body.username || user.username || usernameFromEmail(owner));
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
      forgetMembers(app);
      reopen(app, id);
    });
  });
}

/** Every workspace there is, for super admins. */
export function allWorkspaces(ctx: UserContext) {
  return ctx.app.db.read
    .select({ id: workspaces.id, name: workspaces.name, owner: workspaces.owner })
    .from(workspaces)
    .where(eq(workspaces.archived, false))
    .orderBy(workspaces.id);
}

/** A page of them, those that are archived included. */
export async function pageOfWorkspaces({ app }: UserContext, query: { page: number; per_page: number }) {
  const { offset, limit } = toWindow(query);
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

/** Whether a name is somebody's in a workspace; of one that is not the caller's to know, no name is. */
export async function isUsernameTaken(
  ctx: UserContext,
  { id, username }: { id: string; username: string },
): Promise<boolean> {
  const { db } = ctx.app;
  if (!(await mayKnowNames(ctx, id))) return false;
  const rows = await db.read
    .select({ email: workspaceMembers.email })
    .from(workspaceMembers)
    .where(and(eq(workspaceMembers.workspace_id, id), eq(workspaceMembers.username, username)));
  return rows.length > 0;
}

async function mayKnowNames({ app, caller }: UserContext, workspace_id: string): Promise<boolean> {
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

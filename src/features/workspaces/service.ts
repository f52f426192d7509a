import { and, eq } from "drizzle-orm";
import type { UserContext } from "../../context.ts";
import { BadRequest, Forbidden, NotFound } from "../../errors.ts";
import { checkEmail, checkUsername, checkWorkspaceId, usernameFromEmail } from "../../lib/paths.ts";
import { users } from "../users/tables.ts";
import { forgetMembers } from "./members.ts";
import { newWorkspaceKey } from "./secrets.ts";
import { workspaceMembers, workspaces } from "./tables.ts";

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
 * Makes a workspace with its key and its first admin.
 * @throws BadRequest for a bad or taken id, Forbidden for what super admins alone may, NotFound for an owner who is no user
 */
export async function createWorkspace(ctx: UserContext, body: NewWorkspace): Promise<void> {
  const { app } = ctx;
  const id = checkWorkspaceId(body.id);
  const { identity } = ctx.caller;
  if (body.owner !== undefined && body.owner !== identity.email && !identity.super_admin) {
    throw new Forbidden("only a super admin makes a workspace for somebody else: leave `owner` out");
  }
  if (id === RESERVED_ID)
    throw new BadRequest(`"${id}" cannot be a workspace id: it stands for the whole instance`);
  if (id === SUPER_ADMIN_ID && !identity.super_admin) {
    throw new Forbidden(`only a super admin makes the workspace ${id}`);
  }
  // The machine's operator is no user: without an owner, super admins alone reach the workspace.
  const memberless = body.owner === undefined && identity.token === undefined;
  const owner = checkEmail(body.owner ?? identity.email);
  if (body.name.trim() === "") throw new BadRequest("body field `name`: must not be empty");
  await ctx.write({ resource: id }, async (tx) => {
    const [user] = await tx.select({ username: users.username }).from(users).where(eq(users.email, owner));
    if (!user && !memberless) {
      throw new NotFound(`user ${owner}`, {
        hint: "name an existing user as the owner: svc user create --email …",
      });
    }
    await tx.lock(`workspace ${id}`);
    const [taken] = await tx.select({ id: workspaces.id }).from(workspaces).where(eq(workspaces.id, id));
    if (taken) throw new BadRequest(`there is a workspace with id ${id} already`);
    const created_at = app.clock();
    await tx
      .insert(workspaces)
      .values({ id, name: body.name, owner, created_at, ...newWorkspaceKey(app, id) });
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
    tx.afterCommit(() => forgetMembers(app));
  });
}

/** The workspaces a person belongs to, with the name they have there. */
export function workspacesOf(ctx: UserContext) {
  return ctx.app.db.read
    .select({
      id: workspaces.id,
      name: workspaces.name,
      owner: workspaces.owner,
      username: workspaceMembers.username,
    })
    .from(workspaceMembers)
    .innerJoin(workspaces, eq(workspaces.id, workspaceMembers.workspace_id))
    .where(and(eq(workspaceMembers.email, ctx.caller.identity.email), eq(workspaces.archived, false)))
    .orderBy(workspaces.id);
}

/** Every workspace there is, for super admins. */
export function allWorkspaces(ctx: UserContext) {
  return ctx.app.db.read
    .select({ id: workspaces.id, name: workspaces.name, owner: workspaces.owner })
    .from(workspaces)
    .where(eq(workspaces.archived, false))
    .orderBy(workspaces.id);
}

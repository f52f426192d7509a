/**
 * Protects the last admin of a workspace and the last super admin, so that someone remains who can give access to
 * others.
 */
import { and, eq, ne } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { isSuperAdmin } from "../../tenancy/people/super-admin.ts";
import { users } from "../../tenancy/people/user-tables.ts";
import { workspaceMembers, workspaces } from "../../tenancy/workspaces/tables.ts";

/**
 * Call it before a member is demoted, disabled or removed by a change to the workspace alone. A super admin stays an
 * admin of every workspace, and needs no other: so a push of its users may remove the super admin who made it.
 * @throws BadRequest if they are its only enabled admin; archived workspaces need none
 */
export async function requireAnyAdmin(tx: Tx, workspace_id: string, email: string): Promise<void> {
  if (!(await isSuperAdmin(tx, email))) await requireOtherAdmin(tx, workspace_id, email);
}

/**
 * Call it before the account of a workspace admin is deleted.
 * @throws BadRequest if they are its only enabled admin; archived workspaces need none
 */
export async function requireOtherAdmin(tx: Tx, workspace_id: string, email: string): Promise<void> {
  await tx.lock(`people of workspace ${workspace_id}`);
  const active = and(
    eq(workspaceMembers.workspace_id, workspace_id),
    eq(workspaceMembers.is_admin, true),
    eq(workspaceMembers.disabled, false),
  );
  const [own] = await tx
    .select({ email: workspaceMembers.email })
    .from(workspaceMembers)
    .innerJoin(workspaces, eq(workspaces.id, workspaceMembers.workspace_id))
    .where(and(active, eq(workspaceMembers.email, email), eq(workspaces.archived, false)));
  if (!own) return;
  const [other] = await tx
    .select({ email: workspaceMembers.email })
    .from(workspaceMembers)
    .where(and(active, ne(workspaceMembers.email, email)))
    .limit(1);
  if (other) return;
  throw new BadRequest(`${email} is the last admin of workspace ${workspace_id}`, {
    hint: "make somebody else an admin first, or archive the workspace",
  });
}

/** Call it before a super admin is demoted or deleted. @throws BadRequest if they are the only one */
export async function requireOtherSuperAdmin(tx: Tx, email: string): Promise<void> {
  await tx.lock("super admins");
  const admins = await tx.select({ email: users.email }).from(users).where(eq(users.super_admin, true));
  if (admins.length === 1 && admins[0]!.email === email) {
    throw new BadRequest(`${email} is the last super admin of the instance`, {
      hint: "make somebody else an admin first",
    });
  }
}

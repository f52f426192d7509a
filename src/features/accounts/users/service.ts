/** Users of the instance: creating and reading them. */

import { and, eq, inArray, ne, sql } from "drizzle-orm";
import type { Reader, Tx } from "../../../database/database.ts";
import { BadRequest, NotFound } from "../../../lib/errors.ts";
import { parseNewEmail, parseUsername } from "../../../lib/text/paths.ts";
import type { App, Context, UserContext } from "../../../platform/app/context.ts";
import { recordInstanceEvent } from "../../signals/webhooks/instance-events.ts";
import { users } from "../../tenancy/people/user-tables.ts";
import { workspaceMembers } from "../../tenancy/workspaces/tables.ts";
import { joinByDomain } from "../members/joining/auto-invite.ts";
import { chooseInstanceUsername } from "./instance-username.ts";
import { hashPassword } from "./passwords.ts";

export interface NewUser {
  email: string;
  password: string;
  super_admin: boolean;
  name?: string | undefined;
  company?: string | undefined;
  username?: string | undefined;
}

/** Creates a user who logs in with a password. @throws BadRequest for an invalid or used e-mail */
export async function createUser(ctx: Context, body: NewUser): Promise<void> {
  const email = parseNewEmail(body.email);
  const row = await createUserRow(ctx.app, { ...body, email });
  await ctx.write({ resource: email }, async (tx) => {
    const username = row.username ?? (await chooseInstanceUsername(ctx.app, tx, email));
    await insertUser(tx, { ...row, username });
    await recordInstanceEvent(ctx.app, tx, { type: "UserAdded", email });
    await joinByDomain(ctx.app, tx, email);
  });
}

type UserRow = typeof users.$inferInsert;

export async function createUserRow(app: App, body: NewUser): Promise<UserRow> {
  return {
    email: body.email,
    password_hash: await hashPassword(body.password),
    login_type: "password",
    super_admin: body.super_admin,
    verified: true,
    name: body.name || null,
    company: body.company || null,
    username: body.username ? parseUsername(body.username) : null,
    first_time_user: true,
    created_at: app.clock(),
  };
}

export async function insertUser(tx: Tx, row: UserRow): Promise<void> {
  await tx.lock("users");
  const [taken] = await tx.select({ email: users.email }).from(users).where(eq(users.email, row.email));
  if (taken) throw new BadRequest(`there is a user with e-mail ${row.email} already`);
  if (row.username) await requireFreeInstanceUsername(tx, row.username, row.email);
  await tx.insert(users).values(row);
}

/**
 * Checks that a username is free on the instance.
 * @throws BadRequest if somebody else has the username on the instance
 */
export async function requireFreeInstanceUsername(tx: Tx, username: string, email: string): Promise<void> {
  const [taken] = await tx
    .select({ email: users.email })
    .from(users)
    .where(and(eq(users.username, username), ne(users.email, email)));
  if (taken) throw new BadRequest(`the username ${username} is that of ${taken.email}: choose another`);
}

/** The columns of a user that may be returned; never the password hash. */
export const USER_COLUMNS = {
  email: users.email,
  login_type: users.login_type,
  super_admin: users.super_admin,
  devops: users.devops,
  verified: users.verified,
  name: users.name,
  company: users.company,
  username: users.username,
  first_time_user: users.first_time_user,
};

/** Returns a user by their e-mail address. @throws NotFound */
export async function getUser(db: Reader, email: string) {
  const [user] = await db.select(USER_COLUMNS).from(users).where(eq(users.email, email));
  if (!user) throw new NotFound(`user ${email}`);
  return user;
}

/** Whether an account exists and the caller may know about it; see `selectKnownUsers`. */
export async function isKnownUser(ctx: UserContext, email: string): Promise<boolean> {
  const { read } = ctx.app.db;
  const [user] = await read.select({ email: users.email }).from(users).where(eq(users.email, email));
  return user !== undefined && (await selectKnownUsers(ctx, [email])).length > 0;
}

/**
 * Returns those of the addresses that the caller may know about: their own, and those of members of their workspaces;
 * super admins and devops may know about everybody.
 */
export async function selectKnownUsers(
  { app, caller: { identity } }: UserContext,
  emails: readonly string[],
): Promise<string[]> {
  if (identity.super_admin || identity.devops || emails.length === 0) return [...emails];
  const { read } = app.db;
  const own = read
    .select({ id: workspaceMembers.workspace_id })
    .from(workspaceMembers)
    .where(eq(workspaceMembers.email, identity.email));
  const others = await read
    .selectDistinct({ email: workspaceMembers.email })
    .from(workspaceMembers)
    .where(inArray(workspaceMembers.workspace_id, own));
  const known = new Set([identity.email, ...others.map(({ email }) => email)]);
  return emails.filter((email) => known.has(email));
}

export async function countUsers(db: Pick<Tx, "select">): Promise<number> {
  const [row] = await db.select({ n: sql<number>`count(*)` }).from(users);
  return Number(row?.n ?? 0);
}

/** Users of the instance: making them, and what is told of them. */

import { and, eq, inArray, ne, sql } from "drizzle-orm";
import type { Reader, Tx } from "../../../database/database.ts";
import { BadRequest, NotFound } from "../../../lib/errors.ts";
import { checkNewEmail, checkUsername } from "../../../lib/text/paths.ts";
import type { App, Context, UserContext } from "../../../platform/app/context.ts";
import { recordInstanceEvent } from "../../signals/webhooks/instance-events.ts";
import { users } from "../../tenancy/people/user-tables.ts";
import { workspaceMembers } from "../../tenancy/workspaces/tables.ts";
import { joinByDomain } from "../members/joining/auto-invite.ts";
import { instanceUsername } from "./instance-username.ts";
import { hashPassword } from "./passwords.ts";

export interface NewUser {
  email: string;
  password: string;
  super_admin: boolean;
  name?: string | undefined;
  company?: string | undefined;
  username?: string | undefined;
}

/** @throws BadRequest for a bad or taken e-mail */
export async function createUser(ctx: Context, body: NewUser): Promise<void> {
  const email = checkNewEmail(body.email);
  const row = await toRow(ctx.app, { ...body, email });
  await ctx.write({ resource: email }, async (tx) => {
    const username = row.username ?? (await instanceUsername(ctx.app, tx, email));
    await insertUser(tx, { ...row, username });
    await recordInstanceEvent(ctx.app, tx, { type: "UserAdded", email });
    await joinByDomain(ctx.app, tx, email);
  });
}

type UserRow = typeof users.$inferInsert;

export async function toRow(app: App, body: NewUser): Promise<UserRow> {
  return {
    email: body.email,
    password_hash: await hashPassword(body.password),
    login_type: "password",
    super_admin: body.super_admin,
    verified: true,
    name: body.name || null,
    company: body.company || null,
    username: body.username ? checkUsername(body.username) : null,
    first_time_user: true,
    created_at: app.clock(),
  };
}

export async function insertUser(tx: Tx, row: UserRow): Promise<void> {
  await tx.lock("users");
  const [taken] = await tx.select({ email: users.email }).from(users).where(eq(users.email, row.email));
  if (taken) throw new BadRequest(`there is a user with e-mail ${row.email} already`);
  if (row.username) await refuseTakenUsername(tx, row.username, row.email);
  await tx.insert(users).values(row);
}

/** @throws BadRequest when somebody else has the username on the instance */
export async function refuseTakenUsername(tx: Tx, username: string, email: string): Promise<void> {
  const [taken] = await tx
    .select({ email: users.email })
    .from(users)
    .where(and(eq(users.username, username), ne(users.email, email)));
  if (taken) throw new BadRequest(`the username ${username} is that of ${taken.email}: choose another`);
}

/** What may be told of a user: never the password's hash. */
export const USER_FACTS = {
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

/** @throws NotFound */
export async function getUser(db: Reader, email: string) {
  const [user] = await db.select(USER_FACTS).from(users).where(eq(users.email, email));
  if (!user) throw new NotFound(`user ${email}`);
  return user;
}

/**
 * Whether there is an account, of a person that the caller may know of: themselves, who is in one of their workspaces,
 * and everybody for who looks after the instance.
 */
export async function isKnownUser({ app, caller }: UserContext, email: string): Promise<boolean> {
  const { read } = app.db;
  const [user] = await read.select({ email: users.email }).from(users).where(eq(users.email, email));
  if (!user) return false;
  const { identity } = caller;
  if (identity.super_admin || identity.devops || identity.email === email) return true;
  const own = read
    .select({ id: workspaceMembers.workspace_id })
    .from(workspaceMembers)
    .where(eq(workspaceMembers.email, identity.email));
  const [shared] = await read
    .select({ id: workspaceMembers.workspace_id })
    .from(workspaceMembers)
    .where(and(eq(workspaceMembers.email, email), inArray(workspaceMembers.workspace_id, own)))
    .limit(1);
  return shared !== undefined;
}

export async function countUsers(db: Pick<Tx, "select">): Promise<number> {
  const [row] = await db.select({ n: sql<number>`count(*)` }).from(users);
  return Number(row?.n ?? 0);
}

import { and, eq } from "drizzle-orm";
import { LOCAL_ADMIN_EMAIL } from "../../../lib/text/paths.ts";
import type { App, Identity } from "../../../platform/app/context.ts";
import { ACT_AS_HEADER } from "../../../platform/http/act-as.ts";
import { users } from "./user-tables.ts";

/**
 * The identity of the local admin: anyone who can open the data directory or the server's socket in it. It has every
 * right and is not a user.
 */
export const LOCAL_ADMIN: Identity = {
  email: LOCAL_ADMIN_EMAIL,
  super_admin: true,
  devops: true,
  token: undefined,
};

/**
 * Identifies a caller on the local socket: the super admin it acts as, so that what it makes belongs to a person, else
 * the local admin.
 */
export function identifyLocalCaller(app: App, request: Request): Identity | Promise<Identity> {
  const email = request.headers.get(ACT_AS_HEADER);
  return email === null ? LOCAL_ADMIN : findSuperAdmin(app, email);
}

async function findSuperAdmin(app: App, email: string): Promise<Identity> {
  const [user] = await app.db.read
    .select({ email: users.email })
    .from(users)
    .where(and(eq(users.email, email), eq(users.super_admin, true)));
  return user ? { ...LOCAL_ADMIN, email: user.email } : LOCAL_ADMIN;
}

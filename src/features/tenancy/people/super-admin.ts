import { eq } from "drizzle-orm";
import type { Reader } from "../../../database/database.ts";
import { OPERATOR } from "./local-admin.ts";
import { users } from "./user-tables.ts";

/** Whether the e-mail is that of a super admin now, or of the machine's local admin, who has no account. */
export async function isSuperAdmin(db: Reader, email: string): Promise<boolean> {
  const [user] = await db
    .select({ super_admin: users.super_admin })
    .from(users)
    .where(eq(users.email, email));
  return user ? user.super_admin : email === OPERATOR.email;
}

import { eq } from "drizzle-orm";
import type { Reader } from "../../../database/database.ts";
import { isLocalAdminEmail } from "../../../lib/text/paths.ts";
import { users } from "./user-tables.ts";

/** Whether the e-mail belongs to a current super admin, or to the local admin, who has no account. */
export async function isSuperAdmin(db: Reader, email: string): Promise<boolean> {
  const [user] = await db
    .select({ super_admin: users.super_admin })
    .from(users)
    .where(eq(users.email, email));
  return user ? user.super_admin : isLocalAdminEmail(email);
}

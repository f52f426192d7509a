/** Usernames that the instance makes of e-mail addresses, where it is set to: no two people share one. */
import { eq } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { usernameFromEmail } from "../../../lib/text/paths.ts";
import type { App } from "../../../platform/app/context.ts";
import { users } from "../../tenancy/people/user-tables.ts";

/** How many names that are alike are tried. */
const MOST_TRIED = 1_000;

/**
 * The instance's name for a new user, in the transaction that stores it; null where workspaces name their people
 * themselves.
 */
export async function instanceUsername(app: App, tx: Tx, email: string): Promise<string | null> {
  if (!app.settings.get("automate_username_creation")) return null;
  await tx.lock("users");
  const base = usernameFromEmail(email);
  for (let number = 1; number <= MOST_TRIED; number++) {
    const username = number === 1 ? base : `${base.slice(0, 46)}${number}`;
    const [taken] = await tx.select({ email: users.email }).from(users).where(eq(users.username, username));
    if (!taken) return username;
  }
  throw new BadRequest(`there are too many names like ${base}: give a \`username\``);
}

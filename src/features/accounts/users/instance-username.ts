/** Derives unique usernames on the instance from e-mail addresses, if the instance is configured to. */
import { eq } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { deriveUsername } from "../../../lib/text/paths.ts";
import type { App } from "../../../platform/app/context.ts";
import { users } from "../../tenancy/people/user-tables.ts";

/** Maximum number of similar names that are tried. */
const MAX_CANDIDATES = 1_000;

/**
 * Chooses the username of a new user, in the transaction that inserts them; null if usernames are chosen per workspace.
 */
export async function chooseInstanceUsername(app: App, tx: Tx, email: string): Promise<string | null> {
  if (!app.settings.get("automate_username_creation")) return null;
  await tx.lock("users");
  const base = deriveUsername(email);
  for (let number = 1; number <= MAX_CANDIDATES; number++) {
    const username = number === 1 ? base : `${base.slice(0, 46)}${number}`;
    const [taken] = await tx.select({ email: users.email }).from(users).where(eq(users.username, username));
    if (!taken) return username;
  }
  throw new BadRequest(`there are too many names like ${base}: give a \`username\``);
}

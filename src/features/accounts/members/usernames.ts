/** Usernames in a workspace: checking that they are free, and choosing one. */
import { and, eq, ne, sql } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { deriveUsername, parseUsername } from "../../../lib/text/paths.ts";
import type { App } from "../../../platform/app/context.ts";
import { formerUsernames, users } from "../../tenancy/people/user-tables.ts";
import { hasGrants } from "../../tenancy/rights/grants.ts";
import { isPlaceUsed } from "../../tenancy/rights/item-kinds.ts";
import { workspaceMembers } from "../../tenancy/workspaces/tables.ts";

/** Maximum number of similar names that are tried. */
const MAX_CANDIDATES = 1_000;

/**
 * Checks that a username is free in the workspace. Errors name the holder only if `tellWho` is set, for admins.
 * @throws BadRequest if it is or was somebody else's: items below `u/<name>/` belong to them
 */
export async function requireFreeUsername(
  tx: Tx,
  workspace_id: string,
  email: string,
  username: string,
  { tellWho } = { tellWho: true },
): Promise<void> {
  const taken = await findUsernameHolder(tx, workspace_id, email, username);
  if (!taken) return;
  const hint = "choose another one";
  if (!tellWho)
    throw new BadRequest(`the username ${username} is taken in workspace ${workspace_id}`, { hint });
  const why = taken.is_former ? "was" : "is";
  throw new BadRequest(
    `the username ${username} ${why} that of ${taken.email} in workspace ${workspace_id}`,
    { hint },
  );
}

/**
 * Checks that a username that a new member chooses is free, and that nothing waits under it for somebody else: items
 * below `u/<name>/` or grants, as they come with an imported workspace. Their own former or default name may be such a one.
 * @throws BadRequest, which tells nothing about the holder
 */
export async function requireUnusedUsername(
  app: App,
  tx: Tx,
  workspace_id: string,
  email: string,
  username: string,
): Promise<void> {
  if (username === (await findDefaultUsername(tx, email))) return;
  const { workspace_id: workspace, username: name, email: owner } = formerUsernames;
  const own = and(eq(workspace, workspace_id), eq(name, username), eq(owner, email));
  if ((await tx.select({ name }).from(formerUsernames).where(own)).length > 0) return;
  const place = `u/${username}`;
  const isUsed =
    (await isPlaceUsed(app, tx, workspace_id, place)) || (await hasGrants(app, tx, workspace_id, place));
  if (!isUsed) return;
  throw new BadRequest(`the username ${username} is taken in workspace ${workspace_id}`, {
    hint: "choose another one, or have an admin add you under it",
  });
}

async function findDefaultUsername(tx: Tx, email: string): Promise<string> {
  const [user] = await tx.select({ username: users.username }).from(users).where(eq(users.email, email));
  return user?.username ?? deriveUsername(email);
}

/**
 * Chooses the username of a new member: the wanted one, else their username on the instance, else one derived from
 * their address; a number is appended if it is used.
 * @throws BadRequest if the wanted name is invalid or not free
 */
export async function chooseUsername(
  tx: Tx,
  workspace_id: string,
  email: string,
  wanted: string | undefined,
  told = { tellWho: true },
): Promise<string> {
  await tx.lock(`people of workspace ${workspace_id}`);
  if (wanted) {
    const username = parseUsername(wanted);
    await requireFreeUsername(tx, workspace_id, email, username, told);
    return username;
  }
  const base = await findDefaultUsername(tx, email);
  for (let number = 1; number <= MAX_CANDIDATES; number++) {
    const username = number === 1 ? base : `${base.slice(0, 46)}${number}`;
    if (!(await findUsernameHolder(tx, workspace_id, email, username))) return username;
  }
  throw new BadRequest(
    `there are too many names like ${base} in workspace ${workspace_id}: give a \`username\``,
  );
}

/** Returns another person who has or had the username. */
async function findUsernameHolder(
  tx: Tx,
  workspace_id: string,
  email: string,
  username: string,
): Promise<{ email: string; is_former: boolean } | undefined> {
  for (const [table, is_former] of [
    [workspaceMembers, false],
    [formerUsernames, true],
  ] as const) {
    const [row] = await tx
      .select({ email: table.email })
      .from(table)
      .where(
        and(
          eq(table.workspace_id, workspace_id),
          // Case-insensitive: `Ann` and `ann` would be confused, and their files collide on some file systems.
          eq(sql`lower(${table.username})`, username.toLowerCase()),
          ne(table.email, email),
        ),
      );
    if (row) return { email: row.email, is_former };
  }
  return undefined;
}

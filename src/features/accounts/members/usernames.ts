/** Names of people in one workspace. */
import { and, eq, ne, sql } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { checkUsername, usernameFromEmail } from "../../../lib/text/paths.ts";
import { formerUsernames, users } from "../../tenancy/people/user-tables.ts";
import { workspaceMembers } from "../../tenancy/workspaces/tables.ts";

/** How many names that are alike are tried. */
const MOST_TRIED = 1_000;

/**
 * To be asked before somebody gets a name in a workspace. Whose it is, is told to admins alone.
 * @throws BadRequest when it is another's, or was: what stands below `u/<name>/` is theirs
 */
export async function checkUsernameFree(
  tx: Tx,
  workspace_id: string,
  email: string,
  username: string,
  { tellWho } = { tellWho: true },
): Promise<void> {
  const taken = await whoHas(tx, workspace_id, email, username);
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
 * The name somebody gets who joins a workspace: the wanted one, or else their name on the instance or one made of their
 * address, with a number behind it where that is another's.
 * @throws BadRequest when the wanted name is no username, or not free
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
    const username = checkUsername(wanted);
    await checkUsernameFree(tx, workspace_id, email, username, told);
    return username;
  }
  const [user] = await tx.select({ username: users.username }).from(users).where(eq(users.email, email));
  const base = user?.username ?? usernameFromEmail(email);
  for (let number = 1; number <= MOST_TRIED; number++) {
    const username = number === 1 ? base : `${base.slice(0, 46)}${number}`;
    if (!(await whoHas(tx, workspace_id, email, username))) return username;
  }
  throw new BadRequest(
    `there are too many names like ${base} in workspace ${workspace_id}: give a \`username\``,
  );
}

/** Who else has the name, or had it. */
async function whoHas(
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
          // `Ann` beside `ann` would be taken for her, and their files fall together where case does not count.
          eq(sql`lower(${table.username})`, username.toLowerCase()),
          ne(table.email, email),
        ),
      );
    if (row) return { email: row.email, is_former };
  }
  return undefined;
}

/** Favorites: items a member has starred, private to them. */
import { and, eq, inArray, type SQL } from "drizzle-orm";
import type { Reader, Tx } from "../../../database/database.ts";
import { NotFound } from "../../../lib/errors.ts";
import { canRead } from "../../../platform/access/permissions.ts";
import type { Member, WorkspaceContext } from "../../../platform/app/context.ts";
import { findAcl, listItemKinds } from "../../tenancy/rights/item-kinds.ts";
import { type FavoriteKind, favorites } from "./tables.ts";

interface Favorite {
  kind: FavoriteKind;
  path: string;
}

const whereFavorite = ({ workspace_id, email }: Member, kind: FavoriteKind) =>
  and(eq(favorites.workspace_id, workspace_id), eq(favorites.email, email), eq(favorites.kind, kind));

/** Stars an item. @throws NotFound, also if the caller may not read it */
export async function starItem(ctx: WorkspaceContext, { kind, path }: Favorite): Promise<void> {
  const { member } = ctx.caller;
  const { workspace_id, email } = member;
  const entries = await findAcl(ctx.app.db.read, listItemKinds(ctx.app).get(kind), workspace_id, path);
  if (!entries || !canRead(member, path, entries)) {
    throw new NotFound(`${kind} ${path} in workspace ${workspace_id}`);
  }
  await ctx.write({ resource: path, parameters: { kind } }, async (tx) => {
    await tx.insert(favorites).values({ workspace_id, email, kind, path }).onConflictDoNothing();
  });
}

export async function unstarItem(ctx: WorkspaceContext, { kind, path }: Favorite): Promise<void> {
  await ctx.write({ resource: path, parameters: { kind } }, async (tx) => {
    await tx.delete(favorites).where(and(whereFavorite(ctx.caller.member, kind), eq(favorites.path, path)));
  });
}

/** Returns those of the given paths that the member has starred. */
export async function listStarred(
  db: Reader,
  member: Member,
  kind: FavoriteKind,
  paths: readonly string[],
): Promise<Set<string>> {
  if (paths.length === 0) return new Set();
  const rows = await db.select({ path: favorites.path }).from(favorites).where(whereFavorite(member, kind));
  const among = new Set(paths);
  return new Set(rows.map(({ path }) => path).filter((path) => among.has(path)));
}

/** Whether the caller has starred the item. */
export async function hasStarred(ctx: WorkspaceContext, { kind, path }: Favorite): Promise<boolean> {
  return (await listStarred(ctx.app.db.read, ctx.caller.member, kind, [path])).has(path);
}

/** Returns the condition that a member has starred a path, for lists. */
export function isStarred(
  db: Reader,
  member: Member,
  kind: FavoriteKind,
  path: Parameters<typeof inArray>[0],
): SQL {
  return inArray(
    path,
    db.select({ path: favorites.path }).from(favorites).where(whereFavorite(member, kind)),
  );
}

/** Moves favorites along when an item is renamed. */
export async function moveStars(
  tx: Tx,
  workspace_id: string,
  { kind, path }: Favorite,
  to: string,
): Promise<void> {
  const there = (at: string) =>
    and(eq(favorites.workspace_id, workspace_id), eq(favorites.kind, kind), eq(favorites.path, at));
  // Favorites of a deleted item that had this path are stale.
  await tx.delete(favorites).where(there(to));
  await tx.update(favorites).set({ path: to }).where(there(path));
}

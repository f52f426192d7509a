/** Items of all kinds that features declare: their grants, and the items below a path such as `f/data`. */
import { type AnyColumn, and, countDistinct, eq, type SQL, sql } from "drizzle-orm";
import { containsText, startsWith } from "../../../database/conditions.ts";
import type { Reader, Tx } from "../../../database/database.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import type { Permissions } from "../../../platform/access/permissions.ts";
import type { App } from "../../../platform/app/context.ts";
import type { ItemKind } from "../../../platform/app/item-kind.ts";
import { jobs } from "../../../platform/queue/tables.ts";

/** Returns the kinds of items by name, in alphabetical order. */
export const listItemKinds = memoizePerApp((app: App): ReadonlyMap<string, ItemKind> => {
  const kinds = app.features.flatMap(({ itemKinds = [] }) => itemKinds);
  return new Map(kinds.map((each) => [each.kind, each] as const).sort(([a], [b]) => (a < b ? -1 : 1)));
});

const whereItem = ({ table, live }: ItemKind, workspace_id: string, path: string) =>
  and(eq(table.workspace_id, workspace_id), eq(table.path, path), live);

/** Returns the grants of an item; undefined if there is no such item or kind. */
export async function findAcl(
  db: Reader,
  kind: ItemKind | undefined,
  workspace_id: string,
  path: string,
): Promise<Permissions | undefined> {
  if (!kind) return undefined;
  const [row] = await db
    .select({ extra_perms: kind.table.extra_perms })
    .from(kind.table)
    .where(whereItem(kind, workspace_id, path))
    .limit(1);
  return row?.extra_perms;
}

/** Stores the grants of an item; for a script, those of all versions. */
export async function storeAcl(
  app: App,
  tx: Tx,
  { kind, workspace_id, path }: { kind: ItemKind; workspace_id: string; path: string },
  extra_perms: Permissions,
): Promise<void> {
  await tx
    .update(kind.table)
    .set({ extra_perms })
    .where(whereItem(kind, workspace_id, path));
  tx.afterCommit(() => kind.invalidate?.(app, workspace_id, path));
}

/** Yields the items with a grant to a grantee. @param slice selects some of them */
export async function listItemsGranting(
  db: Reader,
  { table, live }: ItemKind,
  workspace_id: string,
  grantee: string,
  slice?: SQL,
): Promise<{ path: string; extra_perms: Permissions }[]> {
  const rows = await db
    .select({ path: table.path, extra_perms: table.extra_perms })
    .from(table)
    .where(
      and(
        eq(table.workspace_id, workspace_id),
        containsText(table.extra_perms, JSON.stringify(grantee)),
        live,
        slice,
      ),
    );
  const byPath = new Map(rows.map((row) => [row.path, row]));
  return [...byPath.values()].filter(({ extra_perms }) => grantee in extra_perms);
}

/** Whether anything exists below a path such as `f/data`: an item, listed or not, a draft, or a job. */
export async function isPlaceUsed(
  app: App,
  db: Reader,
  workspace_id: string,
  place: string,
): Promise<boolean> {
  if ((await findPathBelow(app, db, workspace_id, `${place}/`)) !== undefined) return true;
  const [job] = await db
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(eq(jobs.workspace_id, workspace_id), startsWith(jobs.script_path, `${place}/`)))
    .limit(1);
  return job !== undefined;
}

/**
 * Returns a path that begins with `prefix` and is in use, if there is any.
 * @param deleted includes items that are kept only for their history
 */
export async function findPathBelow(
  app: App,
  db: Reader,
  workspace_id: string,
  prefix: string,
  { deleted }: { deleted: boolean } = { deleted: false },
): Promise<string | undefined> {
  for (const { column, live } of occupiedColumnsOf(app)) {
    const [row] = await db.rows<{ path: string }>(
      sql`SELECT ${column} AS "path" FROM ${column.table}
          WHERE ${sql.identifier("workspace_id")} = ${workspace_id} AND ${startsWith(column, prefix)}
          AND ${(deleted ? undefined : live) ?? sql`1 = 1`} LIMIT 1`,
    );
    if (row) return row.path;
  }
  return undefined;
}

/** Returns the columns with paths in use: those of item kinds, and others that features declare. */
const occupiedColumnsOf = memoizePerApp((app: App): { column: AnyColumn; live?: SQL | undefined }[] =>
  app.features.flatMap(({ itemKinds = [], pathColumns = [] }) => [
    ...itemKinds.map(({ table, live }) => ({ column: table.path, live })),
    ...pathColumns.filter(({ own }) => own === "occupied"),
  ]),
);

/** Returns how many items of a kind are listed below a path such as `f/data`. */
export async function countBelow(
  db: Reader,
  { table, live, listed = live }: ItemKind,
  workspace_id: string,
  place: string,
): Promise<number> {
  const [row] = await db
    .select({ n: countDistinct(table.path) })
    .from(table)
    .where(and(eq(table.workspace_id, workspace_id), startsWith(table.path, `${place}/`), listed));
  return row?.n ?? 0;
}

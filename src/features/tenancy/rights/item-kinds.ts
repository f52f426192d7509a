/**
 * Kinds of items that have entries of their own for who may read and write them. A new kind is a line here: operations on
 * entries, the counts of folders, and names that change or go away, reach it then.
 */
import { and, countDistinct, eq, type SQL } from "drizzle-orm";
import { containsText, startsWith } from "../../../database/conditions.ts";
import type { Reader, Tx } from "../../../database/database.ts";
import { type PathTable, pathTable } from "../../../database/path-table.ts";
import type { Permissions } from "../../../platform/access/permissions.ts";
import type { App } from "../../../platform/app/context.ts";
import { resources } from "../../assets/resource-tables.ts";
import { variables } from "../../assets/variable-tables.ts";
import { apps, rawApps } from "../../code/apps/tables.ts";
import { flows } from "../../code/flows/tables.ts";
import { forgetFlow } from "../../code/flows/versions.ts";
import { scripts } from "../../code/scripts/tables.ts";
import { forgetScriptAt } from "../../code/scripts/versions.ts";
import { forgetRoutes } from "../../triggers/http/table.ts";
import { httpTriggers } from "../../triggers/http/tables.ts";
import { schedules } from "../../triggers/schedules/tables.ts";
import { websocketTriggers } from "../../triggers/websocket/tables.ts";

interface Kind {
  table: PathTable;
  /** Which rows count as there; left out, all. */
  live?: SQL | undefined;
  /** Which rows stand in lists, and are counted; left out, those that are there. */
  listed?: SQL | undefined;
  /** Forgets what is remembered of an item; called after the commit. */
  forget?: (app: App, workspace_id: string, path: string) => void;
}

const items = (table: Parameters<typeof pathTable<"extra_perms">>[0]) => pathTable(table, "extra_perms");

export const KINDS: Record<string, Kind> = {
  script: {
    table: items(scripts),
    live: eq(scripts.deleted, false),
    listed: and(eq(scripts.deleted, false), eq(scripts.archived, false)),
    forget: forgetScriptAt,
  },
  flow: { table: items(flows), listed: eq(flows.archived, false), forget: forgetFlow },
  resource: { table: items(resources) },
  variable: { table: items(variables) },
  schedule: { table: items(schedules) },
  http_trigger: { table: items(httpTriggers), forget: forgetRoutes },
  websocket_trigger: { table: items(websocketTriggers) },
  app: { table: items(apps) },
  raw_app: { table: items(rawApps) },
};

const at = ({ table, live }: Kind, workspace_id: string, path: string) =>
  and(eq(table.workspace_id, workspace_id), eq(table.path, path), live);

/** The entries of an item; undefined when there is no such item. */
export async function entriesOf(
  db: Reader,
  kind: Kind,
  workspace_id: string,
  path: string,
): Promise<Permissions | undefined> {
  const [row] = await db
    .select({ extra_perms: kind.table.extra_perms })
    .from(kind.table)
    .where(at(kind, workspace_id, path))
    .limit(1);
  return row?.extra_perms;
}

/** Stores the entries of an item, of a script with all its versions. */
export async function storeEntries(
  app: App,
  tx: Tx,
  { kind, workspace_id, path }: { kind: Kind; workspace_id: string; path: string },
  extra_perms: Permissions,
): Promise<void> {
  await tx
    .update(kind.table)
    .set({ extra_perms })
    .where(at(kind, workspace_id, path));
  tx.afterCommit(() => kind.forget?.(app, workspace_id, path));
}

/** The items whose entries name somebody. */
export async function itemsNaming(
  db: Reader,
  kind: Kind,
  workspace_id: string,
  name: string,
): Promise<{ path: string; extra_perms: Permissions }[]> {
  const { table, live } = kind;
  const rows = await db
    .select({ path: table.path, extra_perms: table.extra_perms })
    .from(table)
    .where(
      and(eq(table.workspace_id, workspace_id), containsText(table.extra_perms, JSON.stringify(name)), live),
    );
  const byPath = new Map(rows.map((row) => [row.path, row]));
  return [...byPath.values()].filter(({ extra_perms }) => name in extra_perms);
}

/** Whether any item stands below a place such as `f/data`, listed or not. */
export async function isPlaceUsed(db: Reader, workspace_id: string, place: string): Promise<boolean> {
  for (const kind of Object.values(KINDS)) {
    if ((await countAt(db, kind, workspace_id, place, { all: true })) > 0) return true;
  }
  return false;
}

/** How many items stand below a place such as `f/data`. */
export async function countAt(
  db: Reader,
  { table, live, listed }: Kind,
  workspace_id: string,
  place: string,
  { all }: { all: boolean } = { all: false },
): Promise<number> {
  const [row] = await db
    .select({ n: countDistinct(table.path) })
    .from(table)
    .where(
      and(
        eq(table.workspace_id, workspace_id),
        startsWith(table.path, `${place}/`),
        all ? live : (listed ?? live),
      ),
    );
  return row?.n ?? 0;
}

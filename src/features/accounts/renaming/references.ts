/** Where a member's name stands: the tables that hold it, and texts that mention what stands below `u/<name>/`. */
import { type AnyColumn, and, eq, type SQL, sql } from "drizzle-orm";
import { startsWith } from "../../../database/conditions.ts";
import type { Tx } from "../../../database/database.ts";
import { pathTable } from "../../../database/path-table.ts";
import { resources, resourceTypes } from "../../assets/resource-tables.ts";
import { variables } from "../../assets/variable-tables.ts";
import { apps, appVersions, rawApps } from "../../code/apps/tables.ts";
import { workspaceDependencies } from "../../code/dependencies/tables.ts";
import { drafts } from "../../code/drafts/tables.ts";
import { favorites } from "../../code/favorites/tables.ts";
import { flows, flowVersions } from "../../code/flows/tables.ts";
import { scriptImports, scripts } from "../../code/scripts/tables.ts";
import { inputs } from "../../runs/api/inputs/tables.ts";
import { webhookEndpoints } from "../../signals/webhooks/tables.ts";
import { folders } from "../../tenancy/people/folder-tables.ts";
import { workspaceSettings } from "../../tenancy/workspaces/tables.ts";
import { handlerCalls } from "../../triggers/handlers/tables.ts";
import { httpTriggers } from "../../triggers/http/tables.ts";
import { schedules } from "../../triggers/schedules/tables.ts";
import { websocketTriggers } from "../../triggers/websocket/tables.ts";
import type { Follow } from "./rewrite-json.ts";

/** What stands at a path: where one of these is, nothing else is moved to. */
const ITEMS = [
  scripts,
  flows,
  flowVersions,
  variables,
  resources,
  schedules,
  httpTriggers,
  websocketTriggers,
  apps,
  rawApps,
  drafts,
].map((table) => pathTable(table));

/** Columns that name an item by its path, behind a word or none. */
const NAMING: [column: AnyColumn, ...words: string[]][] = [
  [schedules.script_path, ""],
  [schedules.on_failure, "script/", "flow/"],
  [schedules.on_recovery, "script/", "flow/"],
  [schedules.on_success, "script/", "flow/"],
  [httpTriggers.script_path, ""],
  [httpTriggers.authentication_resource_path, "", "$var:"],
  [websocketTriggers.script_path, ""],
  [websocketTriggers.url, "$script:", "$flow:"],
  [inputs.runnable_id, ""],
  [handlerCalls.schedule_path, ""],
  [scriptImports.importer_path, ""],
];

/** What says who made it, or changed it last. */
const MADE_BY: AnyColumn[] = [
  scripts.created_by,
  flows.edited_by,
  flowVersions.created_by,
  drafts.created_by,
  resources.created_by,
  resourceTypes.created_by,
  schedules.edited_by,
  httpTriggers.edited_by,
  websocketTriggers.edited_by,
  appVersions.created_by,
  webhookEndpoints.created_by,
  folders.created_by,
  inputs.created_by,
  workspaceDependencies.created_by,
];

/** JSON that mentions paths: where it stands, what tells its rows apart, and how it is read. */
const TEXTS: { text: AnyColumn; key: AnyColumn; read: keyof Follow }[] = [
  { text: flowVersions.value, key: flowVersions.id, read: "flow" },
  { text: appVersions.value, key: appVersions.id, read: "flow" },
  { text: drafts.value, key: drafts.path, read: "flow" },
  { text: apps.policy, key: apps.path, read: "policy" },
  { text: scripts.signature, key: scripts.hash, read: "names" },
  { text: httpTriggers.signature, key: httpTriggers.path, read: "names" },
  { text: websocketTriggers.url_runnable_args, key: websocketTriggers.path, read: "references" },
  { text: websocketTriggers.initial_messages, key: websocketTriggers.path, read: "flow" },
  { text: workspaceSettings.settings, key: workspaceSettings.workspace_id, read: "names" },
  { text: resources.value, key: resources.path, read: "references" },
  { text: inputs.args, key: inputs.id, read: "references" },
  { text: schedules.args, key: schedules.path, read: "references" },
  { text: schedules.on_failure_extra_args, key: schedules.path, read: "references" },
  { text: schedules.on_recovery_extra_args, key: schedules.path, read: "references" },
  { text: schedules.on_success_extra_args, key: schedules.path, read: "references" },
];

/** Every column that follows a person's new name here, for the test that none is forgotten. */
export const FOLLOWING: readonly AnyColumn[] = [
  ...[...ITEMS, favorites].map(({ path }) => path),
  ...NAMING.map(([column]) => column),
  ...MADE_BY,
  ...TEXTS.map(({ text }) => text),
];

/** One path below `prefix` in the workspace, if there is any. */
export async function anyPathBelow(
  tx: Tx,
  workspace_id: string,
  prefix: string,
): Promise<string | undefined> {
  for (const table of ITEMS) {
    const [row] = await tx
      .select({ path: table.path })
      .from(table)
      .where(and(eq(table.workspace_id, workspace_id), startsWith(table.path, prefix)))
      .limit(1);
    if (row) return row.path;
  }
  return undefined;
}

/** Moves everything below one prefix to another, with what names it, in one statement a column. */
export async function movePaths(tx: Tx, workspace_id: string, from: string, to: string): Promise<void> {
  // Stars may stand where nothing does any more.
  await tx
    .delete(favorites)
    .where(and(eq(favorites.workspace_id, workspace_id), startsWith(favorites.path, to)));
  // So may what was imported there.
  await tx
    .delete(scriptImports)
    .where(and(eq(scriptImports.workspace_id, workspace_id), startsWith(scriptImports.importer_path, to)));
  for (const table of [...ITEMS, pathTable(favorites)])
    await movePrefix(tx, workspace_id, table.path, from, to);
  for (const [column, ...words] of NAMING) {
    for (const word of words) await movePrefix(tx, workspace_id, column, word + from, word + to);
  }
}

const rowsOf = (column: AnyColumn, workspace_id: string) =>
  sql`${sql.identifier("workspace_id")} = ${workspace_id} AND ${column} IS NOT NULL`;

async function movePrefix(
  tx: Tx,
  workspace_id: string,
  column: AnyColumn,
  from: string,
  to: string,
): Promise<void> {
  await tx.rows(
    sql`UPDATE ${column.table} SET ${sql.identifier(column.name)} = ${moved(column, from, to)}
        WHERE ${rowsOf(column, workspace_id)} AND ${startsWith(column, from)}`,
  );
}

/** The text of a column with one prefix in place of another. */
export function moved(column: AnyColumn, from: string, to: string): SQL {
  return sql`${to} || substr(${column}, ${sql.raw(String([...from].length + 1))})`;
}

/** Says that things were made by another name. */
export async function renameMakers(tx: Tx, workspace_id: string, from: string, to: string): Promise<void> {
  for (const column of MADE_BY) {
    await tx.rows(
      sql`UPDATE ${column.table} SET ${sql.identifier(column.name)} = ${to}
          WHERE ${rowsOf(column, workspace_id)} AND ${column} = ${from}`,
    );
  }
}

/** Rewrites the JSON in which paths below `u/<from>/`, or the name itself, are mentioned. */
export async function moveTexts(tx: Tx, workspace_id: string, from: string, follow: Follow): Promise<void> {
  for (const { text, key, read } of TEXTS) {
    const own = rowsOf(text, workspace_id);
    const found = await tx.rows<{ key: string | number; text: string }>(
      sql`SELECT ${key} AS "key", ${text} AS "text" FROM ${text.table} WHERE ${own} AND ${mentions(text, `u/${from}`)}`,
    );
    for (const row of found) {
      const after = follow[read](row.text);
      if (after === row.text) continue;
      await tx.rows(
        sql`UPDATE ${text.table} SET ${sql.identifier(text.name)} = ${after}
            WHERE ${own} AND ${key} = ${row.key} AND ${text} = ${row.text}`,
      );
    }
  }
}

/** Whether a text, or JSON as it is stored, holds another text. */
export function mentions(column: AnyColumn, text: string): SQL {
  return sql`replace(${column}, ${text}, '') <> ${column}`;
}

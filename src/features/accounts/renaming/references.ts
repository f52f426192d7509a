/** Renames a user in what the features declare: paths below `u/<from>/`, usernames, and JSON that mentions either. */
import { type AnyColumn, type SQL, sql } from "drizzle-orm";
import { containsText, replacePrefix, startsWith } from "../../../database/conditions.ts";
import type { Tx } from "../../../database/database.ts";
import type { App } from "../../../platform/app/context.ts";
import type { RenameParameters } from "../../../platform/app/person.ts";

/** Moves everything below `u/<from>/` to `u/<to>/`, with what names it, in one statement a column and prefix. */
export async function renamePathPrefix(app: App, tx: Tx, renaming: RenameParameters): Promise<void> {
  const { workspace_id, from, to } = renaming;
  const [before, after] = [`u/${from}/`, `u/${to}/`];
  const columns = app.features.flatMap(({ pathColumns = [] }) => pathColumns);
  for (const { column, own } of columns) {
    if (own !== "stale") continue;
    await tx.rows(
      sql`DELETE FROM ${column.table} WHERE ${whereOwnRows(column, workspace_id)} AND ${startsWith(column, after)}`,
    );
  }
  const items = app.features.flatMap(({ itemKinds = [] }) => itemKinds);
  for (const { table } of items) await renameColumnPrefix(tx, workspace_id, table.path, before, after);
  for (const { column, prefixes = [""] } of columns) {
    for (const prefix of prefixes)
      await renameColumnPrefix(tx, workspace_id, column, prefix + before, prefix + after);
  }
}

async function renameColumnPrefix(
  tx: Tx,
  workspace_id: string,
  column: AnyColumn,
  before: string,
  after: string,
): Promise<void> {
  await tx.rows(
    sql`UPDATE ${column.table} SET ${sql.identifier(column.name)} = ${replacePrefix(column, before, after)}
        WHERE ${whereOwnRows(column, workspace_id)} AND ${startsWith(column, before)}`,
  );
}

/** Gives what the user made to their new name. */
export async function renameAuthor(
  app: App,
  tx: Tx,
  { workspace_id, from, to }: RenameParameters,
): Promise<void> {
  for (const column of app.features.flatMap(({ usernameColumns = [] }) => usernameColumns)) {
    await tx.rows(
      sql`UPDATE ${column.table} SET ${sql.identifier(column.name)} = ${to}
          WHERE ${whereOwnRows(column, workspace_id)} AND ${column} = ${from}`,
    );
  }
}

/** Rewrites the JSON that mentions the user. Works on the stored text, so that the rest stays letter by letter. */
export async function rewriteMentions(app: App, tx: Tx, renaming: RenameParameters): Promise<void> {
  const { workspace_id, from, rewrite } = renaming;
  for (const { column, key, form } of app.features.flatMap(({ mentioningJson = [] }) => mentioningJson)) {
    const own = whereOwnRows(column, workspace_id);
    const found = await tx.rows<{ key: string | number; text: string }>(
      sql`SELECT ${key} AS "key", ${column} AS "text" FROM ${column.table}
          WHERE ${own} AND ${containsText(column, `u/${from}`)}`,
    );
    for (const row of found) {
      const after = rewrite[form](row.text);
      if (after === row.text) continue;
      await tx.rows(
        sql`UPDATE ${column.table} SET ${sql.identifier(column.name)} = ${after}
            WHERE ${own} AND ${key} = ${row.key} AND ${column} = ${row.text}`,
      );
    }
  }
}

function whereOwnRows(column: AnyColumn, workspace_id: string): SQL {
  return sql`${sql.identifier("workspace_id")} = ${workspace_id} AND ${column} IS NOT NULL`;
}

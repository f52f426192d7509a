/**
 * Renames a user in the columns that features declare: paths below `u/<from>/`, usernames, and JSON that mentions
 * either. The work is split into parts; each runs in one transaction and may be repeated.
 */
import { type AnyColumn, type SQL, sql } from "drizzle-orm";
import { containsText, replacePrefix, startsWith } from "../../../database/conditions.ts";
import type { Reader, Tx } from "../../../database/database.ts";
import { divideByKey, divideChange, type Part } from "../../../database/slices.ts";
import type { App } from "../../../platform/app/context.ts";
import type { MentioningJson, RenameParameters } from "../../../platform/app/person.ts";

/** Deletes rows that earlier items have left at paths below `u/<to>/`. */
export async function deleteStalePaths(app: App, tx: Tx, renaming: RenameParameters): Promise<void> {
  const { workspace_id, to } = renaming;
  for (const { column, own } of app.features.flatMap(({ pathColumns = [] }) => pathColumns)) {
    if (own !== "stale") continue;
    await tx.rows(
      sql`DELETE FROM ${column.table} WHERE ${whereOwnRows(column, workspace_id)} AND ${startsWith(column, `u/${to}/`)}`,
    );
  }
}

/** Moves everything below `u/<from>/` to `u/<to>/`, and updates references to it. */
export async function* renamePathPrefix(
  app: App,
  db: Reader,
  { workspace_id, from, to }: RenameParameters,
): AsyncGenerator<Part> {
  const [before, after] = [`u/${from}/`, `u/${to}/`];
  for (const { table } of app.features.flatMap(({ itemKinds = [] }) => itemKinds))
    yield* renameColumnPrefix(db, workspace_id, table.path, before, after);
  for (const { column, prefixes = [""] } of app.features.flatMap(({ pathColumns = [] }) => pathColumns)) {
    for (const prefix of prefixes)
      yield* renameColumnPrefix(db, workspace_id, column, prefix + before, prefix + after);
  }
}

function renameColumnPrefix(
  db: Reader,
  workspace_id: string,
  column: AnyColumn,
  before: string,
  after: string,
): AsyncGenerator<Part> {
  const change = sql`UPDATE ${column.table} SET ${sql.identifier(column.name)} = ${replacePrefix(column, before, after)}`;
  const which = sql`${whereOwnRows(column, workspace_id)} AND ${startsWith(column, before)}`;
  return divideChange(db, column.table, change, which);
}

/** Replaces the username in authorship columns. */
export async function* renameAuthor(
  app: App,
  db: Reader,
  { workspace_id, from, to }: RenameParameters,
): AsyncGenerator<Part> {
  for (const column of app.features.flatMap(({ usernameColumns = [] }) => usernameColumns)) {
    const change = sql`UPDATE ${column.table} SET ${sql.identifier(column.name)} = ${to}`;
    const which = sql`${whereOwnRows(column, workspace_id)} AND ${column} = ${from}`;
    yield* divideChange(db, column.table, change, which);
  }
}

/**
 * Rewrites JSON that mentions the user. It works on the stored text, so that the rest stays byte for byte the same.
 */
export async function* rewriteMentions(
  app: App,
  db: Reader,
  renaming: RenameParameters,
): AsyncGenerator<Part> {
  for (const place of app.features.flatMap(({ mentioningJson = [] }) => mentioningJson)) {
    const own = whereOwnRows(place.column, renaming.workspace_id);
    yield* divideByKey(db, place.key, own, (tx, slice) => rewriteMentionsIn(tx, place, renaming, slice));
  }
}

async function rewriteMentionsIn(
  tx: Tx,
  { column, key, form }: MentioningJson,
  { workspace_id, from, rewrite }: RenameParameters,
  slice: SQL,
): Promise<void> {
  const found = await tx.rows<{ key: string | number; text: string }>(
    sql`SELECT ${key} AS "key", ${column} AS "text" FROM ${column.table}
        WHERE ${slice} AND ${containsText(column, `u/${from}`)}`,
  );
  for (const row of found) {
    const after = rewrite[form](row.text);
    if (after === row.text) continue;
    await tx.rows(
      sql`UPDATE ${column.table} SET ${sql.identifier(column.name)} = ${after}
          WHERE ${whereOwnRows(column, workspace_id)} AND ${key} = ${row.key} AND ${column} = ${row.text}`,
    );
  }
}

function whereOwnRows(column: AnyColumn, workspace_id: string): SQL {
  return sql`${sql.identifier("workspace_id")} = ${workspace_id} AND ${column} IS NOT NULL`;
}

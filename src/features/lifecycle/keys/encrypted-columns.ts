/**
 * Re-encrypts values inside stored text (`$encrypted:…`) when the workspace's key is rotated, in the columns that features
 * declare. Completed jobs are not changed: they do not run again, and there are too many of them.
 */
import { type SQL, sql } from "drizzle-orm";
import { containsText } from "../../../database/conditions.ts";
import type { Tx } from "../../../database/database.ts";
import type { App } from "../../../platform/app/context.ts";
import type { EncryptedColumns } from "../../../platform/app/lifecycle.ts";

const MARK = "$encrypted:";
const ENCRYPTED = /\$encrypted:(v1:[A-Za-z0-9+/=]+)/g;

/** Encrypts a text with the new key; undefined when it does not open. @param email whose argument it may be */
export type Reencrypt = (text: string, email: string | undefined) => string | undefined;

/** To be called in the transaction that exchanges the key, while the rows still have the old id. */
export async function reencryptStored(
  app: App,
  tx: Tx,
  workspace_id: string,
  reencrypt: Reencrypt,
): Promise<void> {
  for (const { encryptedColumns = [] } of app.features) {
    for (const each of encryptedColumns) {
      // There may be many rows: they are read once for all columns, and as a rule none contains any.
      const anyText = each.columns.map((column) => containsText(column, MARK));
      const [any] = await tx.rows(
        sql`SELECT 1 FROM ${each.columns[0].table}
            WHERE ${rowsOf(each, workspace_id)} AND (${sql.join(anyText, sql` OR `)}) LIMIT 1`,
      );
      if (!any) continue;
      for (let at = 0; at < each.columns.length; at++) {
        await reencryptColumn(tx, workspace_id, each, at, reencrypt);
      }
    }
  }
}

function rowsOf({ columns, rows }: EncryptedColumns, workspace_id: string): SQL {
  return rows?.(workspace_id) ?? sql`${columns[0].table}.workspace_id = ${workspace_id}`;
}

type EncryptedRow = { text: string; email: string | null } & Record<`key${number}`, string | number>;

async function reencryptColumn(
  tx: Tx,
  workspace_id: string,
  encrypted: EncryptedColumns,
  at: number,
  reencrypt: Reencrypt,
): Promise<void> {
  const { columns, key, email } = encrypted;
  const column = columns[at]!;
  const { table } = column;
  const own = rowsOf(encrypted, workspace_id);
  const keys = key.map((each, index) => sql`${each} AS ${sql.identifier(`key${index}`)}`);
  const rows = await tx.rows<EncryptedRow>(
    sql`SELECT ${sql.join(keys, sql`, `)}, ${column} AS "text", ${email ?? sql`NULL`} AS email FROM ${table}
        WHERE ${own} AND ${containsText(column, MARK)}`,
  );
  for (const row of rows) {
    const changed = row.text.replace(ENCRYPTED, (whole, text: string) => {
      const other = reencrypt(text, row.email ?? undefined);
      return other === undefined ? whole : MARK + other;
    });
    if (changed === row.text) continue;
    const same = key.map((each, index) => sql`${each} = ${row[`key${index}`]}`);
    await tx.rows(
      sql`UPDATE ${table} SET ${sql.identifier(column.name)} = ${changed} WHERE ${own} AND ${sql.join(same, sql` AND `)}`,
    );
  }
}

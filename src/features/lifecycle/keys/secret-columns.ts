/** Columns that hold ciphertext of the workspace's key and nothing else, as features declare them. */
import { eq, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { type Reader, type Statement, statement, type Tx } from "../../../database/database.ts";
import { dialect } from "../../../database/kit.ts";
import type { App } from "../../../platform/app/context.ts";
import type { SecretColumn } from "../../../platform/app/lifecycle.ts";

/** Texts between two pauses, in which others are served. */
const BATCH_SIZE = 200;
/** Rows updated by one statement; each takes two parameters, and both databases limit their number. */
const MOST_VALUES = 500;

/** A row of such a column. */
interface Secret {
  key: string;
  value: string;
}

/** Encrypts a text with the new key; undefined when it does not open. */
type Reencrypt = (text: string) => string | undefined;

const secretColumnsOf = (app: App) => app.features.flatMap(({ secretColumns = [] }) => secretColumns);

function readSecrets(db: Reader, workspace_id: string, secret: SecretColumn): Promise<Secret[]> {
  const { column, key, where } = secret;
  return db.rows<{ key: string; value: string }>(
    sql`SELECT ${key} AS "key", ${column} AS value FROM ${column.table}
        WHERE ${column.table}.workspace_id = ${workspace_id} AND ${column} IS NOT NULL AND ${where ?? sql`1 = 1`}`,
  );
}

/** Maps old ciphertexts to new ones. */
export type ReencryptedTexts = Map<string, string>;

/** Encrypts ahead of the transaction what may be much. */
export async function prepareSecrets(
  app: App,
  workspace_id: string,
  reencrypt: Reencrypt,
): Promise<ReencryptedTexts> {
  const prepared: ReencryptedTexts = new Map();
  let count = 0;
  for (const secret of secretColumnsOf(app).filter(({ isImported }) => isImported)) {
    for (const { value } of await readSecrets(app.db.read, workspace_id, secret)) {
      const text = reencrypt(value);
      if (text !== undefined) prepared.set(value, text);
      if (++count % BATCH_SIZE === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return prepared;
}

/**
 * To be called in the transaction that exchanges the key. What does not open with the old key stays as it is: no key that
 * is known opens it.
 * @param all whether what may have come from elsewhere is re-encrypted as well
 * @returns how many of what may have come from elsewhere
 */
export async function reencryptSecrets(
  app: App,
  tx: Tx,
  workspace_id: string,
  { prepared, all, reencrypt }: { prepared: ReencryptedTexts; all: boolean; reencrypt: Reencrypt },
): Promise<number> {
  let count = 0;
  for (const secret of secretColumnsOf(app)) {
    if (secret.isImported && !all) continue;
    const changed: Secret[] = [];
    for (const { key, value } of await readSecrets(tx, workspace_id, secret)) {
      const text = prepared.get(value) ?? reencrypt(value);
      if (text !== undefined) changed.push({ key, value: text });
    }
    await storeSecrets(tx, workspace_id, secret, changed);
    if (secret.isImported) count += changed.length;
  }
  return count;
}

const namedParameter = sql.placeholder;
const updates = new Map<SecretColumn, Statement<Record<string, unknown>, unknown>>();

/** Prepared once for each column: far cheaper than a statement with a thousand parameters that has to be parsed. */
function updateOf(secret: SecretColumn): Statement<Record<string, unknown>, unknown> {
  const { column, key } = secret;
  const known = updates.get(secret);
  if (known) return known;
  const made = statement<Record<string, unknown>, unknown>((q) =>
    q
      .update(column.table as SQLiteTable)
      .set({ [column.name]: namedParameter("value") } as never)
      .where(
        sql`${column.table}.workspace_id = ${namedParameter("workspace_id")} AND ${eq(key, namedParameter("key"))}`,
      ),
  );
  updates.set(secret, made);
  return made;
}

async function storeSecrets(
  tx: Tx,
  workspace_id: string,
  secret: SecretColumn,
  changed: readonly Secret[],
): Promise<void> {
  if (dialect === "sqlite") {
    for (const { key, value } of changed) await tx.exec(updateOf(secret), { workspace_id, key, value });
    return;
  }
  const { column, key } = secret;
  for (let at = 0; at < changed.length; at += MOST_VALUES) {
    const some = changed.slice(at, at + MOST_VALUES).map((each) => sql`(${each.key}, ${each.value})`);
    await tx.rows(
      sql`UPDATE ${column.table} SET ${sql.identifier(column.name)} = changed.column2
          FROM (VALUES ${sql.join(some, sql`, `)}) AS changed
          WHERE ${column.table}.workspace_id = ${workspace_id} AND ${key} = changed.column1`,
    );
  }
}

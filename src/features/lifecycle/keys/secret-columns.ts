/** Columns that contain only ciphertext of the workspace's key, as features declare them. */
import { eq, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { prepareStatement, type Reader, type Statement, type Tx } from "../../../database/database.ts";
import { dialect } from "../../../database/kit.ts";
import { drainInBatches } from "../../../lib/async/batches.ts";
import type { App } from "../../../platform/app/context.ts";
import type { SecretColumn } from "../../../platform/app/lifecycle.ts";

/**
 * Maximum number of rows updated by one statement; each needs three parameters, and both databases limit their
 * number.
 */
const MOST_VALUES = 500;

/** A row of such a column. */
interface Secret {
  key: string;
  value: string;
}

/** A row's ciphertext to replace, unless it has changed in the meantime. */
interface Change extends Secret {
  after: string;
}

/** Encrypts a text with the new key; undefined if it cannot be decrypted. */
type Reencrypt = (text: string) => string | undefined;

const secretColumnsOf = (app: App) => app.features.flatMap(({ secretColumns = [] }) => secretColumns);

function readSecrets(
  db: Reader,
  workspace_id: string,
  { column, key, where }: SecretColumn,
  page: SQL = sql`1 = 1`,
): Promise<Secret[]> {
  return db.rows<Secret>(
    sql`SELECT ${key} AS "key", ${column} AS value FROM ${column.table}
        WHERE ${column.table}.workspace_id = ${workspace_id} AND ${column} IS NOT NULL AND ${where ?? sql`1 = 1`}
        AND ${page}`,
  );
}

/**
 * Re-encrypts secrets. Texts that the old key cannot decrypt stay unchanged: no known key decrypts them, or they are
 * re-encrypted already.
 */
function reencryptAll(secrets: readonly Secret[], reencrypt: Reencrypt): Change[] {
  return secrets.flatMap((secret) => {
    const after = reencrypt(secret.value);
    return after === undefined ? [] : [{ ...secret, after }];
  });
}

/**
 * Re-encrypts in batches, each in its own transaction. It may be repeated: values with the new key stay unchanged.
 * @returns the number of re-encrypted values in columns that imports may fill
 */
export async function reencryptSecrets(
  app: App,
  workspace_id: string,
  reencrypt: Reencrypt,
): Promise<number> {
  let count = 0;
  for (const secret of secretColumnsOf(app)) {
    let after = sql`1 = 1`;
    await drainInBatches(async (limit) => {
      const page = sql`${after} ORDER BY ${secret.key} LIMIT ${limit}`;
      const some = await readSecrets(app.db.read, workspace_id, secret, page);
      const changes = reencryptAll(some, reencrypt);
      if (changes.length > 0) await app.db.write((tx) => storeSecrets(tx, workspace_id, secret, changes));
      if (secret.isImported) count += changes.length;
      if (some.length > 0) after = sql`${secret.key} > ${some.at(-1)!.key}`;
      return some.length;
    });
  }
  return count;
}

/** Re-encrypts columns that imports cannot fill, in the transaction that replaces the key. */
export async function reencryptOwnSecrets(
  app: App,
  tx: Tx,
  workspace_id: string,
  reencrypt: Reencrypt,
): Promise<void> {
  for (const secret of secretColumnsOf(app)) {
    if (secret.isImported) continue;
    const changes = reencryptAll(await readSecrets(tx, workspace_id, secret), reencrypt);
    await storeSecrets(tx, workspace_id, secret, changes);
  }
}

const namedParameter = sql.placeholder;
const updates = new Map<SecretColumn, Statement<Record<string, unknown>, unknown>>();

/**
 * Returns the statement that updates a column. It is prepared once, which is much cheaper than parsing a statement with
 * a thousand parameters.
 */
function getUpdateStatement(secret: SecretColumn): Statement<Record<string, unknown>, unknown> {
  const { column, key } = secret;
  const known = updates.get(secret);
  if (known) return known;
  const made = prepareStatement<Record<string, unknown>, unknown>((q) =>
    q
      .update(column.table as SQLiteTable)
      .set({ [column.name]: namedParameter("after") } as never)
      .where(
        sql`${column.table}.workspace_id = ${namedParameter("workspace_id")} AND ${eq(key, namedParameter("key"))}
            AND ${column} = ${namedParameter("value")}`,
      ),
  );
  updates.set(secret, made);
  return made;
}

async function storeSecrets(
  tx: Tx,
  workspace_id: string,
  secret: SecretColumn,
  changes: readonly Change[],
): Promise<void> {
  if (dialect === "sqlite") {
    for (const change of changes) await tx.exec(getUpdateStatement(secret), { workspace_id, ...change });
    return;
  }
  const { column, key } = secret;
  for (let at = 0; at < changes.length; at += MOST_VALUES) {
    const some = changes
      .slice(at, at + MOST_VALUES)
      .map((each) => sql`(${each.key}, ${each.value}, ${each.after})`);
    await tx.rows(
      sql`UPDATE ${column.table} SET ${sql.identifier(column.name)} = changed.column3
          FROM (VALUES ${sql.join(some, sql`, `)}) AS changed
          WHERE ${column.table}.workspace_id = ${workspace_id} AND ${key} = changed.column1 AND ${column} = changed.column2`,
    );
  }
}

/**
 * Re-encrypts values inside stored text (`$encrypted:…`) when the workspace's key is rotated, in the columns that features
 * declare. Completed jobs are not changed: they do not run again, and there are too many of them.
 */
import { type SQL, sql } from "drizzle-orm";
import { containsText } from "../../../database/conditions.ts";
import type { Reader, Tx } from "../../../database/database.ts";
import { processInBatches } from "../../../lib/async/batches.ts";
import { yieldToEventLoop } from "../../../lib/async/time-slices.ts";
import type { App } from "../../../platform/app/context.ts";
import type { EncryptedColumns } from "../../../platform/app/lifecycle.ts";

const MARK = "$encrypted:";
const ENCRYPTED = /\$encrypted:(v1:[A-Za-z0-9+/=]+)/g;

/** Number of rows that one statement searches; they may be long. */
const SLICE_ROWS = 500;
/** Rows re-encrypted in one transaction. */
const BATCH_SIZE = 100;

/**
 * Encrypts a text with the new key; undefined if it cannot be decrypted.
 * @param email user whose job argument it may be
 */
export type Reencrypt = (text: string, email: string | undefined) => string | undefined;

/**
 * Re-encrypts in batches, each in its own transaction. It may be repeated: values with the new key stay unchanged.
 */
export async function reencryptStored(app: App, workspace_id: string, reencrypt: Reencrypt): Promise<void> {
  for (const { encryptedColumns = [] } of app.features) {
    for (const each of encryptedColumns) {
      for await (const slice of slicesOf(app.db.read, each, workspace_id)) {
        await reencryptSlice(app, { ...each, own: rowsOf(each, workspace_id), slice }, reencrypt);
        await yieldToEventLoop();
      }
    }
  }
}

function rowsOf({ columns, rows }: EncryptedColumns, workspace_id: string): SQL {
  return rows?.(workspace_id) ?? sql`${columns[0].table}.workspace_id = ${workspace_id}`;
}

/** Yields conditions that together select all rows of a workspace that may need re-encryption. */
async function* slicesOf(db: Reader, each: EncryptedColumns, workspace_id: string): AsyncGenerator<SQL> {
  if (each.slices) return yield* each.slices(db, workspace_id);
  const own = rowsOf(each, workspace_id);
  if (each.rows) return yield own;
  const { table } = each.columns[0];
  const key = sql.join(each.key as unknown as SQL[], sql`, `);
  for (let after = sql`1 = 1`; ; ) {
    const [end] = await db.rows<KeyRow>(
      sql`SELECT ${keyFields(each)} FROM ${table} WHERE ${own} AND ${after} ORDER BY ${key} LIMIT 1 OFFSET ${SLICE_ROWS - 1}`,
    );
    const last = end && sql`(${sql.join(keyOf(each, end).map(asParameter), sql`, `)})`;
    yield last ? sql`${own} AND ${after} AND (${key}) <= ${last}` : sql`${own} AND ${after}`;
    if (!last) return;
    after = sql`(${key}) > ${last}`;
  }
}

type KeyRow = Record<`key${number}`, string | number>;
type TextRow = { email: string | null } & Record<`text${number}`, string | null>;

const keyFields = ({ key }: EncryptedColumns): SQL =>
  sql.join(
    key.map((column, at) => sql`${column} AS ${sql.identifier(`key${at}`)}`),
    sql`, `,
  );

const keyOf = ({ key }: EncryptedColumns, row: KeyRow): (string | number)[] =>
  key.map((_, at) => row[`key${at}`]!);

const asParameter = (value: string | number): SQL => sql`${value}`;

type Slice = EncryptedColumns & { own: SQL; slice: SQL };

async function reencryptSlice(app: App, each: Slice, reencrypt: Reencrypt): Promise<void> {
  const { columns } = each;
  const anyText = columns.map((column) => containsText(column, MARK));
  // Reads only the keys, because all texts together may be large.
  const found = await app.db.read.rows<KeyRow>(
    sql`SELECT ${keyFields(each)} FROM ${columns[0].table} WHERE ${each.slice} AND (${sql.join(anyText, sql` OR `)})`,
  );
  const reencryptSome = async (some: readonly KeyRow[]) => {
    const changes: Change[] = [];
    for (const row of some)
      changes.push(...(await reencryptRow(app.db.read, each, keyOf(each, row), reencrypt)));
    if (changes.length > 0) await app.db.write((tx) => storeChanges(tx, each, changes));
    return [];
  };
  await processInBatches(found, reencryptSome, BATCH_SIZE);
}

/** A row's text to replace, unless it has changed in the meantime. */
interface Change {
  key: (string | number)[];
  at: number;
  before: string;
  after: string;
}

function whereKey(each: Slice, key: (string | number)[]): SQL {
  const same = each.key.map((column, at) => sql`${column} = ${key[at]}`);
  return sql`${each.own} AND ${sql.join(same, sql` AND `)}`;
}

async function reencryptRow(
  db: Reader,
  each: Slice,
  key: (string | number)[],
  reencrypt: Reencrypt,
): Promise<Change[]> {
  const { columns, email } = each;
  const texts = columns.map((column, at) => sql`${column} AS ${sql.identifier(`text${at}`)}`);
  const [row] = await db.rows<TextRow>(
    sql`SELECT ${sql.join(texts, sql`, `)}, ${email ?? sql`NULL`} AS email FROM ${columns[0].table} WHERE ${whereKey(each, key)}`,
  );
  if (!row) return [];
  return columns.flatMap((_, at) => {
    const before = row[`text${at}`];
    const after = before?.replace(ENCRYPTED, (whole, text: string) => {
      const other = reencrypt(text, row.email ?? undefined);
      return other === undefined ? whole : MARK + other;
    });
    return before && after && after !== before ? [{ key, at, before, after }] : [];
  });
}

async function storeChanges(tx: Tx, each: Slice, changes: readonly Change[]): Promise<void> {
  for (const { key, at, before, after } of changes) {
    const column = each.columns[at]!;
    await tx.rows(
      sql`UPDATE ${column.table} SET ${sql.identifier(column.name)} = ${after}
          WHERE ${whereKey(each, key)} AND ${column} = ${before}`,
    );
    await each.onChanged?.(tx, key);
  }
}

/**
 * Finds jobs whose arguments or result contain given JSON. This runs in code instead of SQL: SQLite has no operator
 * for it, and PostgreSQL's `jsonb` rejects the escaped NUL that stored JSON may contain.
 */
import { type AnyColumn, count, inArray, type SQL, sql } from "drizzle-orm";
import { yieldToEventLoop } from "../../../../lib/async/time-slices.ts";
import { parseSchemaJson } from "../../../../lib/json/json.ts";
import type { App } from "../../../../platform/app/context.ts";
import { jobs } from "../../../../platform/queue/tables.ts";
import { MAX_TEXT_CHARS } from "../../search/words.ts";
import { findMatches } from "./matching/match.ts";
import type { JsonCondition, JsonRow } from "./matching/match-rows.ts";

/** Bytes of JSON read and compared at once. */
const MAX_BATCH_BYTES = 1_000_000;
/** A larger row is read by `readAside`: reading 11 MB takes SQLite 50 ms. */
const MAX_READ_HERE_BYTES = 2 * MAX_BATCH_BYTES;
/** Maximum rows read at once if not all rows are read at once. */
const MAX_BATCH_ROWS = 500;
/** Maximum rows read at once if they are small, as in a slice of a scan. */
const MAX_SMALL_ROWS = 1_000;

/** Result of a search. */
export interface JsonMatches {
  ids: string[];
  /** Set if the search was stopped: creation time of the first job that was not read. */
  stopped_at?: Date;
}

/**
 * Finds up to `enough` jobs among `where` that contain the JSON, in the given order.
 * @param goesOn called before each batch except the first; false stops the search
 */
export async function filterByJson(
  app: App,
  where: SQL | undefined,
  order: SQL[],
  wanted: JsonCondition,
  enough: number,
  goesOn: () => Promise<boolean> = async () => true,
): Promise<JsonMatches> {
  const ids: string[] = [];
  let first: Date | undefined;
  for await (const { created_at, bytes, read } of planBatches(app, where, order, wanted)) {
    // A search that continues at a creation time must get beyond it.
    if (first && created_at.getTime() !== first.getTime() && !(await goesOn()))
      return { ids: ids.slice(0, enough), stopped_at: created_at };
    first ??= created_at;
    ids.push(...(await findMatches(await read(), wanted, bytes)));
    if (ids.length >= enough) break;
    await yieldToEventLoop();
  }
  return { ids: ids.slice(0, enough) };
}

interface Batch {
  /** Creation time of its first job. */
  created_at: Date;
  /** Size of its rows. */
  bytes: number;
  read(): Promise<JsonRow[]>;
}

/** Plans to read all rows at once if they are few and small, else in batches of at most MAX_BATCH_BYTES; a larger row alone. */
async function* planBatches(
  app: App,
  where: SQL | undefined,
  order: SQL[],
  wanted: JsonCondition,
): AsyncGenerator<Batch> {
  const { read } = app.db;
  const columns = {
    id: jobs.id,
    ...(wanted.terms
      ? {
          script_path: jobs.script_path,
          created_by: jobs.created_by,
          labels: jobs.labels,
          args: selectHead<string>(jobs.args).as("args"),
          result: selectHead<string | null>(jobs.result).as("result"),
        }
      : {}),
    ...(wanted.args ? { args: jobs.args } : {}),
    ...(wanted.result ? { result: jobs.result } : {}),
  };
  const selectWhere = (which: SQL | undefined) =>
    read
      .select(columns)
      .from(jobs)
      .where(which)
      .orderBy(...order);
  const readWhere = (which: SQL | undefined, size: number) => async (): Promise<JsonRow[]> =>
    size <= MAX_READ_HERE_BYTES
      ? ((await selectWhere(which)) as JsonRow[])
      : (await app.db.readAside<RawRow>(selectWhere(which).getSQL())).map(parseLabels);
  const lengths = Object.keys(columns).map(
    (name) => sql`coalesce(octet_length(${jobs[name as keyof typeof columns]}), 0)`,
  );
  const bytes = sql<number>`${sql.join(lengths, sql` + `)}`;
  const [all] = await read
    .select({ bytes: sql<number>`coalesce(sum(${bytes}), 0)`, rows: count() })
    .from(jobs)
    .where(where);
  if (Number(all?.bytes) <= MAX_BATCH_BYTES && all!.rows <= MAX_SMALL_ROWS) {
    yield { created_at: new Date(0), bytes: Number(all?.bytes), read: readWhere(where, 0) };
    return;
  }
  // Each of these statements reads all rows.
  await yieldToEventLoop();
  const sizes = await read
    .select({ id: jobs.id, created_at: jobs.created_at, bytes })
    .from(jobs)
    .where(where)
    .orderBy(...order);
  await yieldToEventLoop();
  for (const group of groupBySize(sizes)) {
    const ids = group.map(({ id }) => id);
    const weight = group.reduce((sum, row) => sum + Number(row.bytes), 0);
    yield { created_at: group[0]!.created_at, bytes: weight, read: readWhere(inArray(jobs.id, ids), weight) };
  }
}

/** A row with raw driver values. */
type RawRow = Omit<JsonRow, "labels"> & { labels?: string | string[] | null };

/** The driver returns a list as JSON text with SQLite. */
const parseLabels = (row: RawRow): JsonRow => {
  const { labels } = row;
  return { ...row, labels: typeof labels === "string" ? (parseSchemaJson(labels) as string[]) : labels };
};

/** Selects the part of a text that is searched for words. */
const selectHead = <T extends string | null>(column: AnyColumn) =>
  sql<T>`substr(${column}, 1, ${sql.raw(`${MAX_TEXT_CHARS}`)})`;

interface Sized {
  id: string;
  created_at: Date;
  bytes: number;
}

function* groupBySize(rows: readonly Sized[]): Generator<Sized[]> {
  let group: Sized[] = [];
  let weight = 0;
  for (const row of rows) {
    weight += Number(row.bytes);
    if (group.length === MAX_BATCH_ROWS || (group.length > 0 && weight > MAX_BATCH_BYTES)) {
      yield group;
      group = [];
      weight = Number(row.bytes);
    }
    group.push(row);
  }
  if (group.length > 0) yield group;
}

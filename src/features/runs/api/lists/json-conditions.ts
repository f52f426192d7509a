/**
 * Finds jobs whose arguments or result contain given JSON. This runs in code instead of SQL: SQLite has no operator
 * for it, and PostgreSQL's `jsonb` rejects the escaped NUL that stored JSON may contain.
 */
import { count, inArray, type SQL, sql } from "drizzle-orm";
import { yieldToEventLoop } from "../../../../lib/async/time-slices.ts";
import { containsJson } from "../../../../lib/json/contains.ts";
import { parseSchemaJson } from "../../../../lib/json/json.ts";
import type { App } from "../../../../platform/app/context.ts";
import { jobs } from "../../../../platform/queue/tables.ts";
import { hasTerms, type SearchedFields } from "../../search/words.ts";

/** JSON to find, wrapped in an object because null is a valid value too. */
export interface JsonCondition {
  args?: { value: unknown } | undefined;
  result?: { value: unknown } | undefined;
  /** Terms of a search (search/words.ts); a job must contain all of them. */
  terms?: readonly string[] | undefined;
}

interface JsonRow {
  id: string;
  args?: string;
  result?: string | null;
  script_path?: string | null;
  created_by?: string;
  labels?: string[] | null;
}

/** Bytes of JSON read and parsed at once. */
const MAX_BATCH_BYTES = 1_000_000;
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
  for await (const { created_at, read } of planBatches(app, where, order, wanted)) {
    // A search that continues at a creation time must get beyond it.
    if (first && created_at.getTime() !== first.getTime() && !(await goesOn()))
      return { ids: ids.slice(0, enough), stopped_at: created_at };
    first ??= created_at;
    for (const row of await read()) if (matchesJson(row, wanted)) ids.push(row.id);
    if (ids.length >= enough) break;
    await yieldToEventLoop();
  }
  return { ids: ids.slice(0, enough) };
}

interface Batch {
  /** Creation time of its first job. */
  created_at: Date;
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
    ...(wanted.args || wanted.terms ? { args: jobs.args } : {}),
    ...(wanted.result || wanted.terms ? { result: jobs.result } : {}),
    ...(wanted.terms
      ? { script_path: jobs.script_path, created_by: jobs.created_by, labels: jobs.labels }
      : {}),
  };
  const readWhere = (which: SQL | undefined) => async (): Promise<JsonRow[]> =>
    read
      .select(columns)
      .from(jobs)
      .where(which)
      .orderBy(...order);
  const { id: _id, ...texts } = columns;
  const lengths = Object.values(texts).map((column) => sql`coalesce(octet_length(${column}), 0)`);
  const bytes = sql<number>`${sql.join(lengths, sql` + `)}`;
  const [all] = await read
    .select({ bytes: sql<number>`coalesce(sum(${bytes}), 0)`, rows: count() })
    .from(jobs)
    .where(where);
  if (Number(all?.bytes) <= MAX_BATCH_BYTES && all!.rows <= MAX_SMALL_ROWS) {
    yield { created_at: new Date(0), read: readWhere(where) };
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
    yield { created_at: group[0]!.created_at, read: readWhere(inArray(jobs.id, ids)) };
  }
}

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

function matchesJson(row: JsonRow, wanted: JsonCondition): boolean {
  if (wanted.terms && !hasTerms(row as SearchedFields, wanted.terms)) return false;
  return (["args", "result"] as const).every((name) => {
    const part = wanted[name];
    if (!part) return true;
    const text = row[name];
    return typeof text === "string" && containsJson(parseSchemaJson(text), part.value);
  });
}

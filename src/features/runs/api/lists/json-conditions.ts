/**
 * Finds jobs whose arguments or result contain some JSON. It is done here and not in SQL: SQLite has no operator for
 * it, and PostgreSQL's `jsonb` rejects the escaped NUL that stored JSON may contain.
 */
import { inArray, type SQL, sql } from "drizzle-orm";
import { yieldToEventLoop } from "../../../../lib/async/yield.ts";
import { containsJson } from "../../../../lib/json/contains.ts";
import { parseSchemaJson } from "../../../../lib/json/json.ts";
import type { App } from "../../../../platform/app/context.ts";
import { jobs } from "../../../../platform/queue/tables.ts";
import { hasTerms, type SearchedFields } from "../../search/words.ts";

/** JSON to find, wrapped in an object because null is a value too. */
export interface JsonCondition {
  args?: { value: unknown } | undefined;
  result?: { value: unknown } | undefined;
  /** Terms of a search (search/words.ts), all of which the job must have. */
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
/** Rows read at once if there are more bytes than that. */
const MAX_BATCH_ROWS = 500;

/** Returns the ids of up to `enough` jobs among `where` that contain the JSON, in the given order. */
export async function filterByJson(
  app: App,
  where: SQL | undefined,
  order: SQL[],
  wanted: JsonCondition,
  enough: number,
): Promise<string[]> {
  const found: string[] = [];
  for await (const rows of readBatches(app, where, order, wanted)) {
    for (const row of rows) if (matchesJson(row, wanted)) found.push(row.id);
    if (found.length >= enough) break;
    await yieldToEventLoop();
  }
  return found.slice(0, enough);
}

/** Reads all rows at once if they are small, else in batches of at most MAX_BATCH_BYTES; a larger row alone. */
async function* readBatches(
  app: App,
  where: SQL | undefined,
  order: SQL[],
  wanted: JsonCondition,
): AsyncGenerator<JsonRow[]> {
  const { read } = app.db;
  const columns = {
    id: jobs.id,
    ...(wanted.args || wanted.terms ? { args: jobs.args } : {}),
    ...(wanted.result || wanted.terms ? { result: jobs.result } : {}),
    ...(wanted.terms
      ? { script_path: jobs.script_path, created_by: jobs.created_by, labels: jobs.labels }
      : {}),
  };
  const { id: _id, ...texts } = columns;
  const lengths = Object.values(texts).map((column) => sql`coalesce(octet_length(${column}), 0)`);
  const bytes = sql<number>`${sql.join(lengths, sql` + `)}`;
  const [all] = await read
    .select({ bytes: sql<number>`coalesce(sum(${bytes}), 0)` })
    .from(jobs)
    .where(where);
  if (Number(all?.bytes) <= MAX_BATCH_BYTES) {
    yield await read
      .select(columns)
      .from(jobs)
      .where(where)
      .orderBy(...order);
    return;
  }
  const sizes = await read
    .select({ id: jobs.id, bytes })
    .from(jobs)
    .where(where)
    .orderBy(...order);
  for (const ids of groupBySize(sizes)) {
    yield await read
      .select(columns)
      .from(jobs)
      .where(inArray(jobs.id, ids))
      .orderBy(...order);
  }
}

function* groupBySize(rows: readonly { id: string; bytes: number }[]): Generator<string[]> {
  let group: string[] = [];
  let weight = 0;
  for (const { id, bytes } of rows) {
    weight += Number(bytes);
    if (group.length === MAX_BATCH_ROWS || (group.length > 0 && weight > MAX_BATCH_BYTES)) {
      yield group;
      group = [];
      weight = Number(bytes);
    }
    group.push(id);
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

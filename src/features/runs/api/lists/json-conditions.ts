/**
 * Jobs whose arguments or result contain some JSON. They are looked at here and not by the database: SQLite has no
 * operator for it, and PostgreSQL's `jsonb` refuses the escaped NUL that stored JSON may hold.
 */
import { inArray, type SQL, sql } from "drizzle-orm";
import { pause } from "../../../../lib/async/pause.ts";
import { contains } from "../../../../lib/json/contains.ts";
import { parseFields } from "../../../../lib/json/json.ts";
import type { App } from "../../../../platform/app/context.ts";
import { jobs } from "../../../../platform/queue/tables.ts";

/** What is looked for; wrapped, since JSON's null is a value too. */
export interface Containment {
  args?: { value: unknown } | undefined;
  result?: { value: unknown } | undefined;
}

type Row = { id: string; args?: string; result?: string | null };

/** Bytes of JSON that are read and parsed at once. */
const MOST_BYTES = 1_000_000;
/** Rows that are read at once where there is more than that. */
const MOST_ROWS = 500;

/**
 * The ids of the jobs among `where` that contain what is wanted, in the order given, and no more than `enough` of them.
 */
export async function containing(
  app: App,
  where: SQL | undefined,
  order: SQL[],
  wanted: Containment,
  enough: number,
): Promise<string[]> {
  const found: string[] = [];
  for await (const rows of batchesOf(app, where, order, wanted)) {
    for (const row of rows) if (holds(row, wanted)) found.push(row.id);
    if (found.length >= enough) break;
    await pause();
  }
  return found.slice(0, enough);
}

/** All of `where` at once when it is light; else so many rows at a time as are, and a heavy one alone. */
async function* batchesOf(
  app: App,
  where: SQL | undefined,
  order: SQL[],
  wanted: Containment,
): AsyncGenerator<Row[]> {
  const { read } = app.db;
  const columns = {
    id: jobs.id,
    ...(wanted.args ? { args: jobs.args } : {}),
    ...(wanted.result ? { result: jobs.result } : {}),
  };
  const { id: _id, ...texts } = columns;
  const lengths = Object.values(texts).map((column) => sql`coalesce(octet_length(${column}), 0)`);
  const bytes = sql<number>`${sql.join(lengths, sql` + `)}`;
  const [all] = await read
    .select({ bytes: sql<number>`coalesce(sum(${bytes}), 0)` })
    .from(jobs)
    .where(where);
  if (Number(all?.bytes) <= MOST_BYTES) {
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
  for (const ids of lightGroups(sizes)) {
    yield await read
      .select(columns)
      .from(jobs)
      .where(inArray(jobs.id, ids))
      .orderBy(...order);
  }
}

function* lightGroups(rows: readonly { id: string; bytes: number }[]): Generator<string[]> {
  let group: string[] = [];
  let weight = 0;
  for (const { id, bytes } of rows) {
    weight += Number(bytes);
    if (group.length === MOST_ROWS || (group.length > 0 && weight > MOST_BYTES)) {
      yield group;
      group = [];
      weight = Number(bytes);
    }
    group.push(id);
  }
  if (group.length > 0) yield group;
}

function holds(row: Row, wanted: Containment): boolean {
  return (["args", "result"] as const).every((name) => {
    const part = wanted[name];
    if (!part) return true;
    const text = row[name];
    return typeof text === "string" && contains(parseFields(text), part.value);
  });
}

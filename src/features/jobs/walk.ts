/**
 * Walking the job table, for lists and counts, whatever they filter by.
 *
 * SQLite reads on the thread that serves requests, so no statement here looks at more than a few thousand rows, and
 * between two of them the thread serves others. Three ways lead to a page:
 * - a small set that an index knows by itself (what is queued, a job's children): only its rows are looked at;
 * - no filter at all: an index ends in the id, and pages before the wanted one are skipped there;
 * - any other filter: slices of that index one after the other, until the page is full or the table has ended.
 */
import { and, asc, count, desc, gt, gte, inArray, lt, lte, type SQL, sql } from "drizzle-orm";
import type { App } from "../../context.ts";
import { apart } from "../../database/conditions.ts";
import { pause } from "../../lib/pause.ts";
import { type Job, jobs } from "../../queue/tables.ts";
import { type Containment, containing } from "./containment.ts";

/** Rows that one statement looks at: some 2 ms when they are small. */
const SLICE = 5_000;
/** The same where their JSON is read as well. */
const READ_SLICE = 1_000;
/** Entries of an index that one statement skips: some 1 ms. */
const STRIDE = 20_000;
/** A set of more rows than this is not worth going through for each page: some 15 ms. */
const SMALL = 20_000;
/** Rows read at once. */
const CHUNK = 500;

/** Jobs that a small index knows. */
export interface IdSet {
  /** A SELECT of their ids. */
  ids: SQL;
  /** The same said of a row, in words that lead to no index; undefined when the other filters say it. */
  plain?: SQL;
}

export interface Selection {
  /** Equalities of the columns that an index which ends in the id begins with; undefined: the whole table. */
  base: SQL | undefined;
  filters: SQL | undefined;
  sets: IdSet[];
  /** What is looked for inside arguments and results. */
  containment?: Containment | undefined;
  ascending?: boolean | undefined;
  /** Aborted when nobody waits any more: the walk ends early. */
  signal?: AbortSignal | undefined;
}

/** No row has to be looked at: the index alone tells what is selected. */
function isBare({ filters, containment, sets }: Selection): boolean {
  return !filters && !containment && sets.length === 0;
}

/** The ids of one page of a selection, in its order. */
export async function pageOfIds(
  app: App,
  selection: Selection,
  { offset, limit }: { offset: number; limit: number },
): Promise<string[]> {
  if (isBare(selection)) return barePage(app, selection, offset, limit);
  const page: string[] = [];
  let skip = offset;
  for await (const slice of slicesOf(app, selection)) {
    const wanted = limit - page.length;
    if (selection.containment) {
      const ids = await containing(app, slice, orderOf(selection), selection.containment, skip + wanted);
      page.push(...ids.slice(skip));
      skip = Math.max(0, skip - ids.length);
    } else {
      const held = skip > 0 ? await countIn(app, slice) : undefined;
      if (held === undefined || held > skip) {
        page.push(...(await idsIn(app, selection, slice, skip, wanted)));
        skip = 0;
      } else skip -= held;
    }
    if (page.length >= limit) break;
  }
  return page;
}

async function barePage(app: App, selection: Selection, offset: number, limit: number): Promise<string[]> {
  let skip = offset;
  let last: string | undefined;
  for (; skip >= STRIDE; skip -= STRIDE) {
    last = await nthId(app, selection, last, STRIDE);
    if (last === undefined || selection.signal?.aborted) return [];
    await pause();
  }
  return idsIn(app, selection, and(selection.base, after(selection, last)), skip, limit);
}

/** How many jobs a selection holds. What is completed and begun meanwhile may be counted or not. */
export async function countOf(app: App, selection: Selection): Promise<number> {
  let total = 0;
  for await (const slice of slicesOf(app, selection)) total += await countIn(app, slice);
  return total;
}

/**
 * The parts of a selection, in its order: each is a condition whose rows can be gone through at once. Where a set is
 * small there is one part only.
 */
export async function* slicesOf(app: App, selection: Selection): AsyncGenerator<SQL | undefined> {
  const { base, filters, sets } = selection;
  const small = await smallOf(app, sets);
  const others = sets.filter((set) => set !== small).map((set) => set.plain);
  if (small) {
    yield and(base && apart(base), inArray(jobs.id, sql`(${small.ids})`), filters, ...others);
    return;
  }
  const length = lengthOf(selection);
  let last: string | undefined;
  for (;;) {
    const end = await nthId(app, selection, last, length);
    yield and(base, after(selection, last), upTo(selection, end), filters, ...others);
    if (end === undefined || selection.signal?.aborted) return;
    last = end;
    await pause();
  }
}

function lengthOf(selection: Selection): number {
  if (isBare(selection)) return STRIDE;
  return selection.containment ? READ_SLICE : SLICE;
}

async function smallOf(app: App, sets: IdSet[]): Promise<IdSet | undefined> {
  for (const set of sets) {
    const [row] = await app.db.read.rows<{ size: number }>(
      sql`SELECT count(*) AS size FROM (SELECT 1 FROM (${set.ids}) AS entries LIMIT ${SMALL + 1}) AS some_entries`,
    );
    if (Number(row?.size) <= SMALL) return set;
  }
  return undefined;
}

const orderOf = ({ ascending }: Selection) => (ascending ? asc(jobs.id) : desc(jobs.id));

function after({ ascending }: Selection, id: string | undefined): SQL | undefined {
  return id === undefined ? undefined : (ascending ? gt : lt)(jobs.id, id);
}

function upTo({ ascending }: Selection, id: string | undefined): SQL | undefined {
  return id === undefined ? undefined : (ascending ? lte : gte)(jobs.id, id);
}

/** The id `n` rows on; undefined when there are fewer. */
async function nthId(
  app: App,
  selection: Selection,
  last: string | undefined,
  n: number,
): Promise<string | undefined> {
  const [row] = await app.db.read
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(selection.base, after(selection, last)))
    .orderBy(orderOf(selection))
    .limit(1)
    .offset(n - 1);
  return row?.id;
}

async function idsIn(
  app: App,
  selection: Selection,
  slice: SQL | undefined,
  offset: number,
  limit: number,
): Promise<string[]> {
  const rows = await app.db.read
    .select({ id: jobs.id })
    .from(jobs)
    .where(slice)
    .orderBy(orderOf(selection))
    .limit(limit)
    .offset(offset);
  return rows.map((row) => row.id);
}

async function countIn(app: App, slice: SQL | undefined): Promise<number> {
  const [row] = await app.db.read.select({ count: count() }).from(jobs).where(slice);
  return row?.count ?? 0;
}

type Columns = Partial<typeof jobs._.columns> & { id: typeof jobs.id };

/** The rows of these ids, in their order; one that is gone meanwhile is left out. */
export async function rowsOf<C extends Columns>(
  app: App,
  columns: C,
  ids: readonly string[],
): Promise<Pick<Job, keyof C & keyof Job>[]> {
  const rows: Pick<Job, keyof C & keyof Job>[] = [];
  for (let at = 0; at < ids.length; at += CHUNK) {
    if (at > 0) await pause();
    const some = ids.slice(at, at + CHUNK);
    const found = await app.db.read.select(columns).from(jobs).where(inArray(jobs.id, some));
    const byId = new Map(found.map((row) => [row.id as string, row]));
    for (const id of some) {
      const row = byId.get(id);
      if (row) rows.push(row as unknown as Pick<Job, keyof C & keyof Job>);
    }
  }
  return rows;
}

/**
 * Walking the job table, for lists and counts, whatever they filter by.
 *
 * SQLite reads on the thread that serves requests, so no statement here looks at more than a few thousand rows, and
 * between two of them the thread serves others. Three ways lead to a page:
 * - a small set that an index knows by itself (what is queued, a job's children): only its rows are looked at;
 * - no filter at all: an index ends in the time of creation and the id, and pages before the wanted one are skipped there;
 * - any other filter: slices of that index one after the other, until the page is full, the table or the time has ended.
 *   Few may do so at once (`scans`), so that many who look for what is not there leave most of the thread to others.
 */
import { and, asc, count, desc, gt, gte, inArray, lt, lte, type SQL, sql } from "drizzle-orm";
import { apart } from "../../../../database/conditions.ts";
import { pause } from "../../../../lib/async/pause.ts";
import { perApp } from "../../../../lib/async/per-app.ts";
import { createSlots } from "../../../../lib/async/slots.ts";
import type { App } from "../../../../platform/app/context.ts";
import { type Job, jobs } from "../../../../platform/queue/tables.ts";
import type { Containment } from "./json-conditions.ts";

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
/** Who goes through many slices at once. */
const MOST_SCANS = 2;

const scans = perApp<App, ReturnType<typeof createSlots>>(() => createSlots(MOST_SCANS));

/** Jobs that a small index knows. */
export interface IdSet {
  /** A SELECT of their ids. */
  ids: SQL;
  /** The same said of a row, in words that lead to no index; undefined when the other filters say it. */
  plain?: SQL;
}

/** How long may be looked for. */
export interface Budget {
  ms: number;
  /** Set when the time was over: what was made on the far side of this moment has not been looked at. */
  reached?: Date;
}

export interface Selection {
  /**
   * Equalities of the columns that an index which ends in the time of creation and the id begins with; undefined: the whole
   * table, in the order of the ids.
   */
  base: SQL | undefined;
  /** Bounds on the time of creation, in which the same index leads. */
  within?: SQL | undefined;
  filters: SQL | undefined;
  sets: IdSet[];
  /** What is looked for inside arguments and results. */
  containment?: Containment | undefined;
  ascending?: boolean | undefined;
  /** Aborted when nobody waits any more: the walk ends early. */
  signal?: AbortSignal | undefined;
  budget?: Budget | undefined;
  /** The scan that this walk is a part of. */
  scan?: Scan | undefined;
}

/** Going through many slices, by one call. */
export interface Scan {
  /** Waits for its turn, once. @returns false when its time is over */
  goOn(): Promise<boolean>;
  end(): void;
}

export function createScan(app: App, { budget, signal }: Selection): Scan {
  let giveBack: (() => void) | undefined;
  let began = 0;
  return {
    async goOn() {
      if (!giveBack) {
        giveBack = await scans(app).take(signal);
        began = performance.now();
      }
      return !budget || performance.now() - began <= budget.ms;
    },
    end: () => giveBack?.(),
  };
}

/** Where a job stands in the order. */
export type Place = Pick<Job, "id" | "created_at">;

/** No row has to be looked at: the index alone tells what is selected. */
function isBare({ filters, containment, sets }: Selection): boolean {
  return !filters && !containment && sets.length === 0;
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
  const { base, within, filters, sets, ascending, signal, budget } = selection;
  const small = await smallOf(app, sets);
  const others = sets.filter((set) => set !== small).map((set) => set.plain);
  if (small) {
    const rest = [within && apart(within), filters, ...others];
    yield and(base && apart(base), inArray(jobs.id, sql`(${small.ids})`), ...rest);
    return;
  }
  const length = lengthOf(selection);
  const scan = selection.scan ?? createScan(app, selection);
  try {
    for (let last: Place | undefined; ; ) {
      const end = await nthPlace(app, selection, last, length);
      yield and(base, within, after(selection, last), upTo(selection, end), filters, ...others);
      if (end === undefined || signal?.aborted) return;
      last = end;
      await pause();
      if (!(await scan.goOn())) {
        // The later bound is inclusive, the earlier one is not.
        if (budget) budget.reached = new Date(end.created_at.getTime() - (ascending ? 1 : 0));
        return;
      }
    }
  } finally {
    if (scan !== selection.scan) scan.end();
  }
}

function lengthOf(selection: Selection): number {
  if (isBare(selection)) return STRIDE;
  return selection.containment ? READ_SLICE : SLICE;
}

/** Whether one of its sets is small: then there is one part only. */
export async function isSmall(app: App, { sets }: Selection): Promise<boolean> {
  return (await smallOf(app, sets)) !== undefined;
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

/** The order of a selection whose rows are in one index, or are few. */
export function orderOf({ ascending }: Selection): SQL[] {
  const to = ascending ? asc : desc;
  return [to(jobs.created_at), to(jobs.id)];
}

/** The whole table has an index of ids alone. */
function walkOrder(selection: Selection): SQL[] {
  return selection.base ? orderOf(selection) : [(selection.ascending ? asc : desc)(jobs.id)];
}

/** What comes behind a place. */
export function after(selection: Selection, place: Place | undefined): SQL | undefined {
  const { ascending, base } = selection;
  if (!place) return undefined;
  return base ? compared(ascending ? ">" : "<", place) : (ascending ? gt : lt)(jobs.id, place.id);
}

function upTo({ ascending, base }: Selection, place: Place | undefined): SQL | undefined {
  if (!place) return undefined;
  return base ? compared(ascending ? "<=" : ">=", place) : (ascending ? lte : gte)(jobs.id, place.id);
}

function compared(how: "<" | "<=" | ">" | ">=", { created_at, id }: Place): SQL {
  const moment = sql.param(created_at, jobs.created_at);
  return sql`(${jobs.created_at}, ${jobs.id}) ${sql.raw(how)} (${moment}, ${id})`;
}

/** The place `n` rows on; undefined when there are fewer. */
export async function nthPlace(
  app: App,
  selection: Selection,
  last: Place | undefined,
  n: number,
): Promise<Place | undefined> {
  const { base, within } = selection;
  const [row] = await app.db.read
    .select({ id: jobs.id, ...(base ? { created_at: jobs.created_at } : {}) })
    .from(jobs)
    .where(and(base, within, after(selection, last)))
    .orderBy(...walkOrder(selection))
    .limit(1)
    .offset(n - 1);
  return row as Place | undefined;
}

export async function countIn(app: App, slice: SQL | undefined): Promise<number> {
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

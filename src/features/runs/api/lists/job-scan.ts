/**
 * Scans the job table for lists and counts with any filter. SQLite reads on the event loop's thread, so each
 * statement reads at most a few thousand rows, and other requests are served between two statements.
 * There are three strategies:
 * - a small set that an index returns directly (queued jobs, children of a job): only its rows are read; rows whose
 *   JSON is searched are read in batches, within the same time limit as other scans;
 * - no filter: the index on creation time and id is used to skip earlier pages;
 * - any other filter: consecutive slices of that index, until the page is full, the table ends or the time limit is
 *   reached. At most MAX_CONCURRENT_SCANS run at once, which leaves most of the thread to other requests.
 */
import { and, asc, count, desc, gt, gte, inArray, lt, lte, type SQL, sql } from "drizzle-orm";
import { preventIndexUse } from "../../../../database/conditions.ts";
import { memoizePerApp } from "../../../../lib/async/per-app.ts";
import { createSlots } from "../../../../lib/async/slots.ts";
import { yieldToEventLoop } from "../../../../lib/async/time-slices.ts";
import type { App } from "../../../../platform/app/context.ts";
import { type Job, jobs } from "../../../../platform/queue/tables.ts";
import type { JsonCondition } from "./matching/match-rows.ts";

/** Rows read by one statement: about 2 ms for small rows. */
export const SLICE_ROWS = 5_000;
/** The same if JSON columns are read too. */
const JSON_SLICE_ROWS = 1_000;
/** Index entries skipped by one statement: about 1 ms. */
export const SKIP_ENTRIES = 20_000;
/** Maximum size of a small set: reading it takes about 15 ms per page. */
const SMALL_SET_ROWS = 20_000;
/** Rows fetched at once by id. */
const BATCH_SIZE = 500;
/** Scans over many slices at the same time. */
const MAX_CONCURRENT_SCANS = 2;

const scanSlotsOf = memoizePerApp<App, ReturnType<typeof createSlots>>(() =>
  createSlots(MAX_CONCURRENT_SCANS),
);

/** A set of jobs that a small index returns directly. */
export interface IdSet {
  /** A SELECT of their ids. */
  ids: SQL;
  /** The same as a condition on a row that no index serves; undefined if another filter implies it. */
  condition?: SQL;
}

/** Time limit of a scan. */
export interface ScanBudget {
  ms: number;
  /** Set if the time limit was reached: jobs beyond this creation time were not searched. */
  reached?: Date;
}

export interface JobQuery {
  /**
   * Equalities on the leading columns of an index that ends in creation time and id. Undefined: the whole table, in
   * order of ids.
   */
  base: SQL | undefined;
  /** Bounds on the creation time, served by the same index. */
  within?: SQL | undefined;
  filters: SQL | undefined;
  sets: IdSet[];
  /** JSON that arguments and results must contain. */
  containment?: JsonCondition | undefined;
  ascending?: boolean | undefined;
  /** Aborted if the caller disconnects: the scan then ends early. */
  signal?: AbortSignal | undefined;
  budget?: ScanBudget | undefined;
  /** The slot shared with the other scans of the same call. */
  scan?: ScanTurn | undefined;
}

/** A call's slot among the concurrent scans. */
export interface ScanTurn {
  /** Waits for a slot at the first call. @returns false once the time limit is reached */
  awaitTurn(): Promise<boolean>;
  release(): void;
}

export function createScanTurn(app: App, { budget, signal }: Pick<JobQuery, "budget" | "signal">): ScanTurn {
  let giveBack: (() => void) | undefined;
  let began = 0;
  return {
    async awaitTurn() {
      if (!giveBack) {
        giveBack = await scanSlotsOf(app).acquire(signal);
        began = performance.now();
      }
      return !budget || performance.now() - began <= budget.ms;
    },
    release: () => giveBack?.(),
  };
}

/** Position in the scan order. */
export type ScanPosition = Pick<Job, "id" | "created_at">;

/** Returns whether the index alone answers the query, without reading rows. */
function isUnfiltered({ filters, containment, sets }: JobQuery): boolean {
  return !filters && !containment && sets.length === 0;
}

/** Counts the jobs of a query. Jobs that complete or start in the meantime may be counted or not. */
export async function countJobs(app: App, selection: JobQuery): Promise<number> {
  let total = 0;
  for await (const slice of scanInSlices(app, selection)) total += await countSlice(app, slice);
  return total;
}

/**
 * Yields conditions that together cover the query, in its order, each cheap enough for one statement. With a small set
 * there is only one.
 */
export async function* scanInSlices(app: App, selection: JobQuery): AsyncGenerator<SQL | undefined> {
  const { base, within, filters, sets, signal } = selection;
  const small = await findSmallSet(app, sets);
  await yieldToEventLoop();
  const others = sets.filter((set) => set !== small).map((set) => set.condition);
  if (small) {
    const rest = [within && preventIndexUse(within), filters, ...others];
    yield and(base && preventIndexUse(base), inArray(jobs.id, sql`(${small.ids})`), ...rest);
    return;
  }
  const length = sliceLength(selection);
  const scan = selection.scan ?? createScanTurn(app, selection);
  try {
    for (let last: ScanPosition | undefined; ; ) {
      const end = await findNthPosition(app, selection, last, length);
      yield and(
        base,
        within,
        createPositionCondition(selection, last),
        upToPosition(selection, end),
        filters,
        ...others,
      );
      if (end === undefined || signal?.aborted) return;
      last = end;
      await yieldToEventLoop();
      if (!(await scan.awaitTurn())) return stopScan(selection, end.created_at);
    }
  } finally {
    if (scan !== selection.scan) scan.release();
  }
}

/** Records that jobs created from here on were not searched. */
export function stopScan({ budget, ascending }: JobQuery, from: Date): void {
  // `created_before` is inclusive, `created_after` exclusive.
  if (budget) budget.reached = new Date(from.getTime() - (ascending ? 1 : 0));
}

function sliceLength(selection: JobQuery): number {
  if (isUnfiltered(selection)) return SKIP_ENTRIES;
  return selection.containment ? JSON_SLICE_ROWS : SLICE_ROWS;
}

/** Whether a set that contains all selected jobs is so small that one query can read it. */
export async function isSelectionSmall(app: App, { sets }: JobQuery): Promise<boolean> {
  return (await findSmallSet(app, sets)) !== undefined;
}

async function findSmallSet(app: App, sets: IdSet[]): Promise<IdSet | undefined> {
  for (const set of sets) {
    const [row] = await app.db.read.rows<{ size: number }>(
      sql`SELECT count(*) AS size FROM (SELECT 1 FROM (${set.ids}) AS entries LIMIT ${SMALL_SET_ROWS + 1}) AS some_entries`,
    );
    if (Number(row?.size) <= SMALL_SET_ROWS) return set;
  }
  return undefined;
}

/** Returns the ORDER BY of a query whose rows are in one index, or are few. */
export function createScanOrder({ ascending }: JobQuery): SQL[] {
  const to = ascending ? asc : desc;
  return [to(jobs.created_at), to(jobs.id)];
}

/** Returns the ORDER BY of a scan. Without `base`, only the primary key has this order. */
function createWalkOrder(selection: JobQuery): SQL[] {
  return selection.base ? createScanOrder(selection) : [(selection.ascending ? asc : desc)(jobs.id)];
}

/** Returns the condition for rows after a position. */
export function createPositionCondition(
  selection: JobQuery,
  place: ScanPosition | undefined,
): SQL | undefined {
  const { ascending, base } = selection;
  if (!place) return undefined;
  return base ? comparePosition(ascending ? ">" : "<", place) : (ascending ? gt : lt)(jobs.id, place.id);
}

function upToPosition({ ascending, base }: JobQuery, place: ScanPosition | undefined): SQL | undefined {
  if (!place) return undefined;
  return base ? comparePosition(ascending ? "<=" : ">=", place) : (ascending ? lte : gte)(jobs.id, place.id);
}

function comparePosition(how: "<" | "<=" | ">" | ">=", { created_at, id }: ScanPosition): SQL {
  const moment = sql.param(created_at, jobs.created_at);
  return sql`(${jobs.created_at}, ${jobs.id}) ${sql.raw(how)} (${moment}, ${id})`;
}

/** Finds the position `n` rows further; undefined if there are fewer. */
export async function findNthPosition(
  app: App,
  selection: JobQuery,
  last: ScanPosition | undefined,
  n: number,
): Promise<ScanPosition | undefined> {
  const { base, within } = selection;
  const [row] = await app.db.read
    .select({ id: jobs.id, ...(base ? { created_at: jobs.created_at } : {}) })
    .from(jobs)
    .where(and(base, within, createPositionCondition(selection, last)))
    .orderBy(...createWalkOrder(selection))
    .limit(1)
    .offset(n - 1);
  return row as ScanPosition | undefined;
}

export async function countSlice(app: App, slice: SQL | undefined): Promise<number> {
  const [row] = await app.db.read.select({ count: count() }).from(jobs).where(slice);
  return row?.count ?? 0;
}

type Columns = Record<string, (typeof jobs)["_"]["columns"][keyof Job] | SQL> & { id: typeof jobs.id };
type RowOf<C extends Columns> = {
  [Name in keyof C]: C[Name] extends SQL<infer Value> ? Value : Name extends keyof Job ? Job[Name] : unknown;
};

/** Reads the rows of these ids, in their order; deleted ones are left out. */
export async function readRows<C extends Columns>(
  app: App,
  columns: C,
  ids: readonly string[],
): Promise<RowOf<C>[]> {
  const rows: RowOf<C>[] = [];
  for (let at = 0; at < ids.length; at += BATCH_SIZE) {
    if (at > 0) await yieldToEventLoop();
    const some = ids.slice(at, at + BATCH_SIZE);
    const found = await app.db.read.select(columns).from(jobs).where(inArray(jobs.id, some));
    const byId = new Map(found.map((row) => [row.id as string, row]));
    for (const id of some) {
      const row = byId.get(id);
      if (row) rows.push(row as unknown as RowOf<C>);
    }
  }
  return rows;
}

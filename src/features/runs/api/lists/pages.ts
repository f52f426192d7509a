/** Pages of a job query, by creation time. */
import { and, eq, inArray, type SQL } from "drizzle-orm";
import { yieldToEventLoop } from "../../../../lib/async/time-slices.ts";
import type { App } from "../../../../platform/app/context.ts";
import { jobs } from "../../../../platform/queue/tables.ts";
import { workspaces } from "../../../tenancy/workspaces/tables.ts";
import {
  countSlice,
  createPositionCondition,
  createScanOrder,
  createScanTurn,
  findNthPosition,
  isSelectionSmall,
  type JobQuery,
  type ScanPosition,
  scanInSlices,
  stopScan,
} from "./job-scan.ts";
import { filterByJson } from "./json-conditions.ts";
import type { JsonCondition } from "./matching/match-rows.ts";

/** Index entries skipped by one statement: about 1 ms. */
const SKIP_ENTRIES = 20_000;
/** Positions read at once when workspaces are merged. */
const BATCH_SIZE = 200;

interface PageWindow {
  offset: number;
  limit: number;
}

/** Lists the ids of one page of a query, in its order. */
export async function listPageOfIds(app: App, selection: JobQuery, window: PageWindow): Promise<string[]> {
  const { base, filters, containment, sets } = selection;
  if (!base && !(await isSelectionSmall(app, selection)))
    return listPageOfAllWorkspaces(app, selection, window);
  if (!filters && !containment && sets.length === 0) return listUnfilteredPage(app, selection, window);
  if (containment) return listPageByJson(app, selection, containment, window);
  const page: string[] = [];
  let skip = window.offset;
  for await (const slice of scanInSlices(app, selection)) {
    const wanted = window.limit - page.length;
    const held = skip > 0 ? await countSlice(app, slice) : undefined;
    if (held === undefined || held > skip) {
      const places = await readPositions(app, selection, slice, { offset: skip, limit: wanted });
      page.push(...places.map(({ id }) => id));
      skip = 0;
    } else skip -= held;
    if (page.length >= window.limit) break;
  }
  return page;
}

/** Lists a page of the jobs that contain some JSON, or some words. */
async function listPageByJson(
  app: App,
  selection: JobQuery,
  containment: JsonCondition,
  { offset, limit }: PageWindow,
): Promise<string[]> {
  const found: string[] = [];
  const scan = selection.scan ?? createScanTurn(app, selection);
  const order = createScanOrder(selection);
  try {
    for await (const slice of scanInSlices(app, { ...selection, scan })) {
      const missing = offset + limit - found.length;
      const part = await filterByJson(app, slice, order, containment, missing, scan.awaitTurn);
      found.push(...part.ids);
      if (part.stopped_at) stopScan(selection, part.stopped_at);
      if (part.stopped_at || found.length >= offset + limit) break;
    }
  } finally {
    if (scan !== selection.scan) scan.release();
  }
  return found.slice(offset);
}

async function listUnfilteredPage(
  app: App,
  selection: JobQuery,
  { offset, limit }: PageWindow,
): Promise<string[]> {
  let skip = offset;
  let last: ScanPosition | undefined;
  for (; skip >= SKIP_ENTRIES; skip -= SKIP_ENTRIES) {
    last = await findNthPosition(app, selection, last, SKIP_ENTRIES);
    if (last === undefined || selection.signal?.aborted) return [];
    await yieldToEventLoop();
  }
  const rest = and(selection.base, selection.within, createPositionCondition(selection, last));
  const places = await readPositions(app, selection, rest, { offset: skip, limit });
  return places.map(({ id }) => id);
}

async function readPositions(
  app: App,
  selection: JobQuery,
  slice: SQL | undefined,
  { offset, limit }: PageWindow,
): Promise<ScanPosition[]> {
  return app.db.read
    .select({ id: jobs.id, created_at: jobs.created_at })
    .from(jobs)
    .where(slice)
    .orderBy(...createScanOrder(selection))
    .limit(limit)
    .offset(offset);
}

/** Lists a page over all workspaces. Each is scanned in its own order, and the results are merged. */
async function listPageOfAllWorkspaces(
  app: App,
  selection: JobQuery,
  { offset, limit }: PageWindow,
): Promise<string[]> {
  const page: string[] = [];
  let skip = offset;
  for await (const { id } of mergeWorkspaces(app, selection)) {
    if (skip > 0) skip--;
    else if (page.push(id) >= limit) break;
  }
  return page;
}

async function* mergeWorkspaces(app: App, selection: JobQuery): AsyncGenerator<ScanPosition> {
  const all = await app.db.read.select({ id: workspaces.id }).from(workspaces);
  const sign = selection.ascending ? 1 : -1;
  const compare = (a: ScanPosition, b: ScanPosition) =>
    sign * (a.created_at.getTime() - b.created_at.getTime() || (a.id < b.id ? -1 : 1));
  const scan = createScanTurn(app, selection);
  const streams = all.map(({ id }) =>
    walkPositions(app, { ...selection, base: eq(jobs.workspace_id, id), scan }),
  );
  let heads: { place: ScanPosition; from: AsyncGenerator<ScanPosition> }[] = [];
  const advance = async (from: AsyncGenerator<ScanPosition>) => {
    const { value, done } = await from.next();
    if (!done) heads.push({ place: value, from });
  };
  try {
    for (const stream of streams) await advance(stream);
    while (heads.length > 0 && !selection.budget?.reached) {
      const first = heads.reduce((a, b) => (compare(a.place, b.place) <= 0 ? a : b));
      yield first.place;
      heads = heads.filter((head) => head !== first);
      await advance(first.from);
    }
    const { budget } = selection;
    // Heads of other workspaces that were not yielded must be found by the continued search.
    if (budget?.reached) {
      const times = [budget.reached, ...heads.map(({ place }) => place.created_at)].map(Number);
      budget.reached = new Date(selection.ascending ? Math.min(...times) : Math.max(...times));
    }
  } finally {
    for (const stream of streams) await stream.return(undefined);
    scan.release();
  }
}

async function* walkPositions(app: App, selection: JobQuery): AsyncGenerator<ScanPosition> {
  for await (const slice of scanInSlices(app, selection)) {
    if (selection.containment) {
      const { containment } = selection;
      const order = createScanOrder(selection);
      const goesOn = selection.scan?.awaitTurn;
      const { ids, stopped_at } = await filterByJson(app, slice, order, containment, Infinity, goesOn);
      for (let at = 0; at < ids.length; at += BATCH_SIZE) {
        const some = ids.slice(at, at + BATCH_SIZE);
        yield* await readPositions(app, selection, inArray(jobs.id, some), { offset: 0, limit: BATCH_SIZE });
      }
      if (stopped_at) return stopScan(selection, stopped_at);
      continue;
    }
    for (let last: ScanPosition | undefined; ; ) {
      const some = await readPositions(app, selection, and(slice, createPositionCondition(selection, last)), {
        offset: 0,
        limit: BATCH_SIZE,
      });
      yield* some;
      if (some.length < BATCH_SIZE) break;
      last = some.at(-1);
      await yieldToEventLoop();
    }
  }
}

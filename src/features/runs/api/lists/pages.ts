/** Pages of a selection of jobs, by the time of their creation. */
import { and, eq, inArray, type SQL } from "drizzle-orm";
import { pause } from "../../../../lib/async/pause.ts";
import type { App } from "../../../../platform/app/context.ts";
import { jobs } from "../../../../platform/queue/tables.ts";
import { workspaces } from "../../../tenancy/workspaces/tables.ts";
import {
  after,
  countIn,
  createScan,
  isSmall,
  nthPlace,
  orderOf,
  type Place,
  type Selection,
  slicesOf,
} from "./job-scan.ts";
import { containing } from "./json-conditions.ts";

/** Entries of an index that one statement skips: some 1 ms. */
const STRIDE = 20_000;
/** Places read at once where workspaces are merged. */
const CHUNK = 200;

interface Window {
  offset: number;
  limit: number;
}

/** The ids of one page of a selection, in its order. */
export async function pageOfIds(app: App, selection: Selection, window: Window): Promise<string[]> {
  const { base, filters, containment, sets } = selection;
  if (!base && !(await isSmall(app, selection))) return pageOfAll(app, selection, window);
  if (!filters && !containment && sets.length === 0) return barePage(app, selection, window);
  const page: string[] = [];
  let skip = window.offset;
  for await (const slice of slicesOf(app, selection)) {
    const wanted = window.limit - page.length;
    if (containment) {
      const ids = await containing(app, slice, orderOf(selection), containment, skip + wanted);
      page.push(...ids.slice(skip));
      skip = Math.max(0, skip - ids.length);
    } else {
      const held = skip > 0 ? await countIn(app, slice) : undefined;
      if (held === undefined || held > skip) {
        const places = await placesIn(app, selection, slice, { offset: skip, limit: wanted });
        page.push(...places.map(({ id }) => id));
        skip = 0;
      } else skip -= held;
    }
    if (page.length >= window.limit) break;
  }
  return page;
}

async function barePage(app: App, selection: Selection, { offset, limit }: Window): Promise<string[]> {
  let skip = offset;
  let last: Place | undefined;
  for (; skip >= STRIDE; skip -= STRIDE) {
    last = await nthPlace(app, selection, last, STRIDE);
    if (last === undefined || selection.signal?.aborted) return [];
    await pause();
  }
  const rest = and(selection.base, selection.within, after(selection, last));
  const places = await placesIn(app, selection, rest, { offset: skip, limit });
  return places.map(({ id }) => id);
}

async function placesIn(
  app: App,
  selection: Selection,
  slice: SQL | undefined,
  { offset, limit }: Window,
): Promise<Place[]> {
  return app.db.read
    .select({ id: jobs.id, created_at: jobs.created_at })
    .from(jobs)
    .where(slice)
    .orderBy(...orderOf(selection))
    .limit(limit)
    .offset(offset);
}

/** A page of all workspaces together: each has its own order, and these are merged. */
async function pageOfAll(app: App, selection: Selection, { offset, limit }: Window): Promise<string[]> {
  const page: string[] = [];
  let skip = offset;
  for await (const { id } of merged(app, selection)) {
    if (skip > 0) skip--;
    else if (page.push(id) >= limit) break;
  }
  return page;
}

async function* merged(app: App, selection: Selection): AsyncGenerator<Place> {
  const all = await app.db.read.select({ id: workspaces.id }).from(workspaces);
  const sign = selection.ascending ? 1 : -1;
  const compare = (a: Place, b: Place) =>
    sign * (a.created_at.getTime() - b.created_at.getTime() || (a.id < b.id ? -1 : 1));
  const scan = createScan(app, selection);
  const streams = all.map(({ id }) => placesOf(app, { ...selection, base: eq(jobs.workspace_id, id), scan }));
  let heads: { place: Place; from: AsyncGenerator<Place> }[] = [];
  const advance = async (from: AsyncGenerator<Place>) => {
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
    // What stands at the head of another workspace is not told of: it is to be found by who goes on from here.
    if (budget?.reached) {
      const times = [budget.reached, ...heads.map(({ place }) => place.created_at)].map(Number);
      budget.reached = new Date(selection.ascending ? Math.min(...times) : Math.max(...times));
    }
  } finally {
    for (const stream of streams) await stream.return(undefined);
    scan.end();
  }
}

async function* placesOf(app: App, selection: Selection): AsyncGenerator<Place> {
  for await (const slice of slicesOf(app, selection)) {
    if (selection.containment) {
      const { containment } = selection;
      const ids = await containing(app, slice, orderOf(selection), containment, Infinity);
      for (let at = 0; at < ids.length; at += CHUNK) {
        const some = ids.slice(at, at + CHUNK);
        yield* await placesIn(app, selection, inArray(jobs.id, some), { offset: 0, limit: CHUNK });
      }
      continue;
    }
    for (let last: Place | undefined; ; ) {
      const some = await placesIn(app, selection, and(slice, after(selection, last)), {
        offset: 0,
        limit: CHUNK,
      });
      yield* some;
      if (some.length < CHUNK) break;
      last = some.at(-1);
      await pause();
    }
  }
}

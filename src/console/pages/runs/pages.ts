/** Pages of the run list, from the list of jobs or, with words to find, from the search. */
import { callOperation, sendRequest } from "../../api/call.ts";
import type { Job } from "../../api/interface.d.ts";
import { type Filters, toQuery } from "./filters.ts";

export const PAGE_SIZE = 100;
const SEARCHED_UNTIL_HEADER = "searched-until";

/** Start of a page of runs. */
export interface PageStart {
  /** Creation time; runs of this time may be on the page before too. Empty: the newest. */
  before: string;
  /** Runs from there on that are left out. */
  skipped: number;
}

export interface Page {
  rows: Job[];
  /** Undefined: no older runs exist. */
  next?: PageStart;
  /** Set if the time for a search was over: runs created by then were not looked at yet. */
  reached?: string;
}

const NEWEST: PageStart = { before: "", skipped: 0 };

export function readPage(
  workspace: string,
  filters: Filters,
  place = NEWEST,
  signal?: AbortSignal,
): Promise<Page> {
  return filters.text === ""
    ? listRuns(workspace, filters, place, signal)
    : searchRuns(workspace, filters, place, signal);
}

const from = ({ before }: PageStart) => (before === "" ? {} : { created_before: before });
const beyond = (reached: string): Partial<Page> => ({ next: { before: reached, skipped: 0 }, reached });

async function listRuns(
  workspace: string,
  filters: Filters,
  place: PageStart,
  signal: AbortSignal | undefined,
): Promise<Page> {
  const page = Math.floor(place.skipped / PAGE_SIZE) + 1;
  const query = { ...toQuery(filters), per_page: PAGE_SIZE, page, ...from(place) };
  const response = await sendRequest("GET /w/{workspace}/jobs/list", { workspace, query }, signal);
  const rows = (await response.json()) as Job[];
  const reached = response.headers.get(SEARCHED_UNTIL_HEADER);
  if (reached) return { rows, ...beyond(reached) };
  if (rows.length < PAGE_SIZE) return { rows };
  // Thousands of iterations may have one creation time: a page of such runs continues at the same time.
  const before = rows.at(-1)!.created_at;
  const same = rows.filter(({ created_at }) => created_at === before).length;
  const earlier = before === place.before ? (page - 1) * PAGE_SIZE : 0;
  return { rows, next: { before, skipped: earlier + same } };
}

async function searchRuns(
  workspace: string,
  filters: Filters,
  place: PageStart,
  signal: AbortSignal | undefined,
): Promise<Page> {
  const words = { search_query: filters.text, pagination_offset: place.skipped, include_args: false };
  const query = { ...toQuery(filters), ...words, ...from(place) };
  const { hits, searched_until } = await callOperation(
    "GET /srch/w/{workspace}/index/search/job",
    { workspace, query },
    signal,
  );
  const rows = hits.map(({ document }) => document);
  if (searched_until) return { rows, ...beyond(searched_until) };
  if (rows.length < PAGE_SIZE) return { rows };
  return { rows, next: { before: place.before, skipped: place.skipped + rows.length } };
}

/**
 * Searches jobs by words. Completed jobs are found in the full-text index (search/indexer.ts). Jobs that it does not
 * contain are read and searched, as for lists with JSON filters: unfinished jobs, those that completed just now, and
 * those older than the index. Each part returns the most recently created jobs first, and the parts are merged in
 * that order. If the time limit is reached, the result ends where the first part stopped. Without an index all jobs
 * are read.
 */
import { and, inArray, lte, type SQL, sql } from "drizzle-orm";
import { preventIndexUse } from "../../../../database/conditions.ts";
import { yieldToEventLoop } from "../../../../lib/async/time-slices.ts";
import * as z from "../../../../lib/zod/z.ts";
import type { App } from "../../../../platform/app/context.ts";
import {
  isoTimestamp,
  type Operation,
  operation,
  queryBoolean,
  queryInteger,
  responds,
} from "../../../../platform/http/operation.ts";
import { jobs } from "../../../../platform/queue/tables.ts";
import {
  columnsWithArguments,
  JobRecord,
  lightColumns,
  toJobSummary,
  toJobSummaryWithArguments,
} from "../../job/records.ts";
import { findIndexed } from "../../search/index-query.ts";
import { readSearchProgress } from "../../search/indexer.ts";
import { parseTerms } from "../../search/words.ts";
import { createJobQuery, mixedFilters, UNFINISHED_JOBS } from "./filters.ts";
import {
  createScanTurn,
  type IdSet,
  type JobQuery,
  readRows,
  type ScanBudget,
  type ScanTurn,
} from "./job-scan.ts";
import { filterByJson } from "./json-conditions.ts";
import { addPendingApprovals } from "./list-operations.ts";
import { listPageOfIds } from "./pages.ts";

const SEARCH_TIMEOUT_MS = 5_000;
const PAGE_SIZE = 100;

const { order_desc: _, all_workspaces: __, ...searchFilters } = mixedFilters;

const searchJobs = operation({
  name: "searchJobsIndex",
  method: "GET",
  path: "/srch/w/{workspace}/index/search/job",
  access: "member",
  scope: { domain: "indexer", action: "read", many: true },
  summary:
    "Find jobs by words of their arguments, result, path, labels, creator or id, newest first; with filters as for lists",
  query: z.object({
    search_query: z.string().max(1_000),
    pagination_offset: queryInteger.min(0).default(0),
    ...searchFilters,
    include_args: queryBoolean.default(true),
  }),
  responds: responds.json(
    z.object({
      query_parse_errors: z.array(z.string()),
      /** Jobs that contain all words, without results; without arguments too if `include_args` is false. */
      hits: z.array(z.object({ document: JobRecord })),
      /**
       * Set if the time limit was reached: jobs created up to then were not searched. Pass it as `created_before` to
       * continue.
       */
      searched_until: isoTimestamp.optional(),
    }),
  ),
  run: async (ctx, { workspace, query }) => {
    const { search_query, pagination_offset: offset, include_args, ...filters } = query;
    const { ids, reached } = await findJobs(ctx.app, {
      selection: createJobQuery(ctx, workspace, filters, undefined),
      terms: parseTerms(search_query),
      wanted: offset + PAGE_SIZE,
      workspace,
      created_before: filters.created_before,
      created_after: filters.created_after,
    });
    const records = await readRecords(ctx.app, ids.slice(offset), include_args);
    return {
      query_parse_errors: [],
      hits: records.map((document) => ({ document })),
      ...(reached ? { searched_until: reached.toISOString() } : {}),
    };
  },
});

async function readRecords(app: App, ids: string[], withArguments: boolean): Promise<JobRecord[]> {
  const records = withArguments
    ? (await readRows(app, columnsWithArguments, ids)).map(toJobSummaryWithArguments)
    : (await readRows(app, lightColumns, ids)).map(toJobSummary);
  return addPendingApprovals(app, records);
}

interface Search {
  selection: JobQuery;
  terms: readonly string[];
  /** Maximum number of jobs to find. */
  wanted: number;
  workspace: string;
  created_before: Date | undefined;
  created_after: Date | undefined;
}

interface Found {
  ids: string[];
  /** Set if the time limit was reached: not all jobs created up to then were searched. */
  reached?: Date | undefined;
}

/** Finds the first jobs of a query that contain all terms, up to `wanted`, within the time limit. */
async function findJobs(app: App, search: Search): Promise<Found> {
  const { selection, wanted } = search;
  const turn = createScanTurn(app, { ...selection, budget: { ms: SEARCH_TIMEOUT_MS } });
  try {
    const progress = app.settings.get("job_search_index") > 0 ? await readSearchProgress(app.db) : undefined;
    if (!progress) return await scanJobs(app, search, turn);
    const recent = await scanJobs(app, search, turn, completedSince(progress.completed_at));
    const indexed = await readIndex(app, search, turn, progress.oldest);
    // Indexed rows may have been deleted in the meantime.
    const now = await readSearchProgress(app.db);
    if (!now) return await scanJobs(app, search, turn);
    const { oldest } = now;
    const { rows, reached } = await merge(app, wanted, [recent, indexed]);
    // Jobs in neither part were created before this.
    const end = reached ?? rows[wanted - 1]?.created_at;
    const isComplete = !oldest || (end && end > oldest);
    if (isComplete) return { ids: rows.map(({ id }) => id), reached };
    const bound = and(selection.within, lte(jobs.created_at, oldest));
    const older = await scanJobs(app, { ...search, selection: { ...selection, within: bound } }, turn);
    const all = await merge(app, wanted, [recent, indexed, older]);
    return { ids: all.rows.map(({ id }) => id), reached: all.reached };
  } finally {
    turn.release();
  }
}

/** Merges the parts' results: the newest jobs, up to the point that all parts have reached. */
async function merge(app: App, wanted: number, parts: readonly Found[]) {
  const ends = parts.flatMap(({ reached }) => (reached ? [reached.getTime()] : []));
  const end = ends.length > 0 ? new Date(Math.max(...ends)) : undefined;
  const ids = [...new Set(parts.flatMap((part) => part.ids))];
  const rows = (await readRows(app, { id: jobs.id, created_at: jobs.created_at }, ids))
    .filter(({ created_at }) => !end || created_at > end)
    .sort((a, b) => b.created_at.getTime() - a.created_at.getTime() || (a.id < b.id ? 1 : -1))
    .slice(0, wanted);
  return { rows, reached: rows.length < wanted ? end : undefined };
}

/** Searches jobs by reading them. @param set the jobs to read; undefined: all */
async function scanJobs(
  app: App,
  { selection, terms, wanted }: Search,
  turn: ScanTurn,
  set?: IdSet,
): Promise<Found> {
  const budget: ScanBudget = { ms: SEARCH_TIMEOUT_MS };
  const sets = set ? [...selection.sets, set] : selection.sets;
  const { args, result } = selection.containment ?? {};
  const part = { ...selection, sets, containment: { args, result, terms }, budget, scan: turn };
  const ids = await listPageOfIds(app, part, { offset: 0, limit: wanted });
  return { ids, reached: ids.length < wanted ? budget.reached : undefined };
}

/** Searches the index. @param oldest jobs created up to then need not be found */
async function readIndex(
  app: App,
  { selection, terms, wanted, workspace, created_before, created_after }: Search,
  turn: ScanTurn,
  oldest: Date | null,
): Promise<Found> {
  const { base, within, filters, sets, containment, signal } = selection;
  // The jobs are read by id, so no other index may be chosen for a filter.
  const rest = [base, within, filters].map((part) => part && preventIndexUse(part));
  const condition = and(...rest, ...sets.map((set) => set.condition ?? inSet(set)));
  const after = new Date(Math.max(created_after?.getTime() ?? 0, oldest?.getTime() ?? 0));
  const query = { workspace_id: workspace, terms, condition, created_before, created_after: after };
  const found: string[] = [];
  let isOver = !(await turn.awaitTurn());
  for await (const { ids, reached } of findIndexed(app, query)) {
    const meeting = containment
      ? await filterByJson(app, inArray(jobs.id, ids), [], containment, Number.POSITIVE_INFINITY)
      : { ids };
    const isMeeting = new Set(meeting.ids);
    found.push(...ids.filter((id) => isMeeting.has(id)));
    if (found.length >= wanted || !reached || signal?.aborted) break;
    isOver ||= !(await turn.awaitTurn());
    // A search that continues must get beyond its starting point.
    if (isOver && !(created_before && reached >= created_before)) return { ids: found, reached };
    await yieldToEventLoop();
  }
  return { ids: found };
}

const at = (moment: Date) => sql.param(moment, jobs.completed_at);
const inSet = ({ ids }: IdSet): SQL => sql`${jobs.id} IN (${ids})`;

/** Selects the completed jobs that the index does not contain yet. */
function completedSince(moment: Date): IdSet {
  const since = sql`${jobs.state} = 'completed' AND ${jobs.completed_at} >= ${at(moment)}`;
  return {
    ids: sql`${UNFINISHED_JOBS.ids} UNION ALL SELECT ${jobs.id} FROM ${jobs} WHERE ${since}`,
    condition: sql`(${jobs.state} <> 'completed' OR ${jobs.completed_at} >= ${at(moment)})`,
  };
}

export const searchOperations: Operation[] = [searchJobs];

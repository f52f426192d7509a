/**
 * Searches jobs for words, newest first: unfinished jobs and those that completed just now by reading them, as lists
 * with JSON filters do, then those in the full-text index (search/indexer.ts), then older ones by reading them. Without
 * an index all jobs are read.
 */
import { and, inArray, type SQL, sql } from "drizzle-orm";
import { z } from "zod";
import type { WorkspaceContext } from "../../../../platform/app/context.ts";
import {
  isoTimestamp,
  type Operation,
  operation,
  queryInteger,
  responds,
} from "../../../../platform/http/operation.ts";
import { jobs } from "../../../../platform/queue/tables.ts";
import { JobRecord, lightColumns, toJobSummaryWithArguments } from "../../job/records.ts";
import { findIndexed } from "../../search/index-query.ts";
import { readSearchProgress } from "../../search/indexer.ts";
import { parseTerms } from "../../search/words.ts";
import { createJobQuery, mixedFilters, UNFINISHED_JOBS } from "./filters.ts";
import { type IdSet, type JobQuery, readRows, type ScanBudget } from "./job-scan.ts";
import { filterByJson } from "./json-conditions.ts";
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
  }),
  responds: responds.json(
    z.object({
      query_parse_errors: z.array(z.string()),
      /** Jobs that have all words, with arguments and without results. */
      hits: z.array(z.object({ document: JobRecord })),
      /** Set if the time was over: older jobs were not searched. Continue with it as `created_before`. */
      searched_until: isoTimestamp.optional(),
    }),
  ),
  run: async (ctx, { workspace, query }) => {
    const { search_query, pagination_offset: offset, ...filters } = query;
    const selection = createJobQuery(ctx, workspace, filters, undefined);
    const { ids, reached } = await findJobs(ctx, selection, parseTerms(search_query), offset + PAGE_SIZE);
    const rows = await readRows(ctx.app, { ...lightColumns, args: jobs.args }, ids.slice(offset));
    return {
      query_parse_errors: [],
      hits: rows.map((row) => ({ document: toJobSummaryWithArguments(row) })),
      ...(reached ? { searched_until: reached.toISOString() } : {}),
    };
  },
});

/** Finds the first jobs of a query that have all terms, up to `wanted`. */
async function findJobs(
  { app }: WorkspaceContext,
  selection: JobQuery,
  terms: readonly string[],
  wanted: number,
): Promise<{ ids: string[]; reached?: Date | undefined }> {
  const found = new Set<string>();
  const scan = async (set?: IdSet): Promise<Date | undefined> => {
    const budget: ScanBudget = { ms: SEARCH_TIMEOUT_MS };
    const sets = set ? [...selection.sets, set] : selection.sets;
    const { args, result } = selection.containment ?? {};
    const part = { ...selection, sets, containment: { args, result, terms }, budget };
    for (const id of await listPageOfIds(app, part, { offset: 0, limit: wanted })) found.add(id);
    return found.size < wanted ? budget.reached : undefined;
  };
  const page = (reached?: Date) => ({ ids: [...found].slice(0, wanted), reached });

  const progress = app.settings.get("job_search_index") > 0 ? await readSearchProgress(app.db) : undefined;
  if (!progress) return page(await scan());
  const reached = await scan(completedSince(progress.completed_at));
  if (reached || found.size >= wanted) return page(reached);

  const { base, within, filters, sets, containment, signal } = selection;
  const condition = and(base, within, filters, ...sets.map((set) => set.condition ?? inSet(set)));
  for await (const ids of findIndexed(app, terms, condition, signal)) {
    const meeting = containment ? await filterIds(ids, containment) : ids;
    for (const id of meeting) found.add(id);
    if (found.size >= wanted) return page();
  }
  return page(progress.oldest ? await scan(completedBefore(progress.oldest)) : undefined);

  function filterIds(ids: string[], wantedJson: NonNullable<JobQuery["containment"]>): Promise<string[]> {
    return filterByJson(app, inArray(jobs.id, ids), [], wantedJson, Number.POSITIVE_INFINITY);
  }
}

const at = (moment: Date) => sql.param(moment, jobs.completed_at);
const inSet = ({ ids }: IdSet): SQL => sql`${jobs.id} IN (${ids})`;

/** The jobs that the index does not hold yet. */
function completedSince(moment: Date): IdSet {
  const since = sql`${jobs.state} = 'completed' AND ${jobs.completed_at} >= ${at(moment)}`;
  return {
    ids: sql`${UNFINISHED_JOBS.ids} UNION ALL SELECT ${jobs.id} FROM ${jobs} WHERE ${since}`,
    condition: sql`(${jobs.state} <> 'completed' OR ${jobs.completed_at} >= ${at(moment)})`,
  };
}

/** The jobs that the index holds no more. */
function completedBefore(moment: Date): IdSet {
  const before = sql`${jobs.state} = 'completed' AND ${jobs.completed_at} <= ${at(moment)}`;
  return { ids: sql`SELECT ${jobs.id} FROM ${jobs} WHERE ${before}`, condition: sql`(${before})` };
}

export const searchOperations: Operation[] = [searchJobs];

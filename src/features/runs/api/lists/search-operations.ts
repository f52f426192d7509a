/**
 * Searches jobs for words. No index is kept: the search reads jobs as lists with JSON filters do, newest first, until a
 * page is full or the time is over. So it costs runs nothing, finds what job records show and nothing else, and what is
 * deleted is found no more.
 */
import { z } from "zod";
import { BadRequest } from "../../../../lib/errors.ts";
import {
  isoTimestamp,
  type Operation,
  operation,
  queryInteger,
  responds,
} from "../../../../platform/http/operation.ts";
import { jobs } from "../../../../platform/queue/tables.ts";
import { JobRecord, lightColumns, toJobSummaryWithArguments } from "../../job/records.ts";
import { createJobQuery } from "./filters.ts";
import { readRows, type ScanBudget } from "./job-scan.ts";
import { listPageOfIds } from "./pages.ts";

const SEARCH_TIMEOUT_MS = 5_000;
const MAX_WORDS = 20;
const PAGE_SIZE = 100;

const searchJobs = operation({
  name: "searchJobsIndex",
  method: "GET",
  path: "/srch/w/{workspace}/index/search/job",
  access: "member",
  scope: { domain: "indexer", action: "read", many: true },
  summary: "Find jobs by words of their arguments, result, path, creator or id, newest first",
  query: z.object({
    search_query: z.string().max(1_000),
    pagination_offset: queryInteger.min(0).default(0),
    created_before: isoTimestamp.optional(),
    created_after: isoTimestamp.optional(),
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
    const words = parseWords(query.search_query);
    const { created_before, created_after, pagination_offset: offset } = query;
    const budget: ScanBudget = { ms: SEARCH_TIMEOUT_MS };
    const selection = {
      ...createJobQuery(ctx, workspace, { created_before, created_after }, undefined),
      containment: { words },
      budget,
    };
    const ids = await listPageOfIds(ctx.app, selection, { offset, limit: PAGE_SIZE });
    const rows = await readRows(ctx.app, { ...lightColumns, args: jobs.args }, ids);
    const isCut = budget.reached !== undefined && ids.length < PAGE_SIZE;
    return {
      query_parse_errors: [],
      hits: rows.map((row) => ({ document: toJobSummaryWithArguments(row) })),
      ...(isCut ? { searched_until: budget.reached } : {}),
    };
  },
});

/** Splits a query into words and quoted phrases, in lower case. @throws BadRequest for none, and for too many */
function parseWords(text: string): string[] {
  const found = [...text.matchAll(/"([^"]+)"|([^\s"]+)/g)].map(([, phrase, word]) => phrase ?? word!);
  if (found.length === 0) throw new BadRequest("query field `search_query`: there is no word to search for");
  if (found.length > MAX_WORDS) {
    throw new BadRequest(`query field \`search_query\`: more than ${MAX_WORDS} words; quote a phrase`);
  }
  return found.map((word) => word.toLowerCase());
}

export const searchOperations: Operation[] = [searchJobs];

/** Lists jobs by creation time. `job-scan.ts` describes how pages are read. */
import * as z from "../../../../lib/zod/z.ts";
import type { App, WorkspaceContext } from "../../../../platform/app/context.ts";
import {
  type Operation,
  operation,
  pagingFields,
  queryBoolean,
  queryInteger,
  ResponseWithHeaders,
  responds,
  toLimitOffset,
} from "../../../../platform/http/operation.ts";
import { isFrame, type JobKind } from "../../../../platform/queue/states.ts";
import { countPendingApprovals } from "../../flows/status/pending-approvals.ts";
import {
  columnsWithArguments,
  JobRecord,
  lightColumns,
  toJobSummary,
  toJobSummaryWithArguments,
} from "../../job/records.ts";
import {
  commonFilters,
  concurrencyKey,
  createJobQuery,
  type Filters,
  type JobPhase,
  mixedFilters,
  queueFilters,
} from "./filters.ts";
import { readRows, type ScanBudget } from "./job-scan.ts";
import { listPageOfIds } from "./pages.ts";
import { groupJobsByTarget, JobGroup } from "./selected-groups.ts";

const base = "/w/{workspace}/jobs" as const;

/** Lists reveal many jobs, so a token that may only run one does not suffice. */
const many = { domain: "jobs", action: "read", many: true } as const;

type PageQuery = Filters & { page: number; per_page: number; include_args?: boolean | undefined };

/** Time limit of a list's search: enough for some millions of rows. */
const SEARCH_TIMEOUT_MS = 5_000;
/** Largest page with arguments, each of which may be some 90 kB long. */
const MOST_WITH_ARGUMENTS = 10_000;
/**
 * Header of a page that is not full because the time limit was reached: jobs beyond this creation time were not
 * searched. To continue, pass it as `created_before` (with ascending order as `created_after`).
 */
const SEARCHED_UNTIL_HEADER = "searched-until";

/** Lists the ids of a full page without a time limit, because the caller acts on all of them. */
function listIds(
  ctx: WorkspaceContext,
  workspace: string,
  query: PageQuery,
  half: JobPhase,
): Promise<string[]> {
  return listPageOfIds(ctx.app, createJobQuery(ctx, workspace, query, half), toLimitOffset(query));
}

/** Adds the number of pending approvals to records of waiting flows. */
export async function addPendingApprovals(app: App, rows: JobRecord[]): Promise<JobRecord[]> {
  const flows = rows.filter(({ running, job_kind }) => running && isFrame(job_kind as JobKind));
  const awaited = await countPendingApprovals(
    app,
    flows.map(({ id }) => id),
  );
  for (const row of flows) row.suspend = awaited.get(row.id);
  return rows;
}

/** Lists a page of job summaries. */
async function listSummaries(
  ctx: WorkspaceContext,
  workspace: string,
  query: PageQuery,
  half: JobPhase,
): Promise<ResponseWithHeaders<JobRecord[]>> {
  const budget: ScanBudget = { ms: SEARCH_TIMEOUT_MS };
  const selection = { ...createJobQuery(ctx, workspace, query, half), budget };
  const ids = await listPageOfIds(ctx.app, selection, toLimitOffset(query));
  const records = query.include_args
    ? (await readRows(ctx.app, columnsWithArguments, ids)).map(toJobSummaryWithArguments)
    : (await readRows(ctx.app, lightColumns, ids)).map(toJobSummary);
  const { reached } = budget;
  return new ResponseWithHeaders(
    await addPendingApprovals(ctx.app, records),
    reached && ids.length < query.per_page ? { [SEARCHED_UNTIL_HEADER]: reached.toISOString() } : {},
  );
}

export const listJobs = operation({
  name: "listJobs",
  method: "GET",
  path: `${base}/list`,
  access: "member",
  scope: many,
  summary: "List jobs, queued and completed, newest first",
  query: z.object({ ...pagingFields, ...mixedFilters, include_args: queryBoolean.optional() }),
  responds: responds.json(z.array(JobRecord), "jobs without results; with arguments where asked for"),
  run: (ctx, { workspace, query }) => listSummaries(ctx, workspace, query, undefined),
});

const listQueue = operation({
  name: "listQueue",
  method: "GET",
  path: `${base}/queue/list`,
  access: "member",
  scope: many,
  summary: "List the jobs that are not completed, newest first",
  // Existing command-line clients request the whole queue as one page.
  query: z
    .object({
      ...pagingFields,
      per_page: queryInteger.min(1).max(100_000).default(1000),
      ...queueFilters,
      include_args: queryBoolean.optional(),
    })
    .refine(({ include_args, per_page }) => !include_args || per_page <= MOST_WITH_ARGUMENTS, {
      path: ["per_page"],
      message: `must be at most ${MOST_WITH_ARGUMENTS} with include_args`,
    }),
  responds: responds.json(z.array(JobRecord), "jobs with arguments where asked for"),
  run: async (ctx, { workspace, query }) => {
    const { value, headers } = await listSummaries(ctx, workspace, query, "unfinished");
    return new ResponseWithHeaders(
      value.map((job) => ({ ...job, args: job.args ?? null })),
      headers,
    );
  },
});

const listCompletedJobs = operation({
  name: "listCompletedJobs",
  method: "GET",
  path: `${base}/completed/list`,
  access: "member",
  scope: many,
  summary: "List the completed jobs, newest first",
  query: z.object({ ...pagingFields, ...commonFilters, include_args: queryBoolean.optional() }),
  responds: responds.json(z.array(JobRecord), "jobs without results; with arguments where asked for"),
  run: (ctx, { workspace, query }) => listSummaries(ctx, workspace, query, "completed"),
});

/** A page may have as many ids as the operations that take ids accept. */
const idPaging = { ...pagingFields, per_page: queryInteger.min(1).max(100_000).default(10_000) };
const key = { concurrency_key: concurrencyKey };

const listFilteredJobsUuids = operation({
  name: "listFilteredJobsUuids",
  method: "GET",
  path: `${base}/list_filtered_uuids`,
  access: "admin",
  scope: many,
  summary: "List the ids of the jobs that match a filter",
  query: z.object({ ...idPaging, ...mixedFilters, ...key }),
  responds: responds.json(z.array(z.string())),
  run: (ctx, { workspace, query }) => listIds(ctx, workspace, query, undefined),
});

const listFilteredQueueUuids = operation({
  name: "listFilteredQueueUuids",
  method: "GET",
  path: `${base}/queue/list_filtered_uuids`,
  access: "admin",
  scope: many,
  summary: "List the ids of the unfinished jobs that match a filter",
  query: z.object({ ...idPaging, ...queueFilters, ...key }),
  responds: responds.json(z.array(z.string())),
  run: (ctx, { workspace, query }) => listIds(ctx, workspace, query, "unfinished"),
});

const listSelectedJobGroups = operation({
  name: "listSelectedJobGroups",
  method: "POST",
  path: `${base}/list_selected_job_groups`,
  access: "member",
  scope: many,
  summary: "Group jobs by script or flow, with the argument schemas, to run them again",
  body: z.array(z.uuid().toLowerCase()).max(10_000),
  responds: responds.json(z.array(JobGroup)),
  run: (ctx, { workspace, body }) => groupJobsByTarget(ctx, workspace, body),
});

export const listOperations: Operation[] = [
  listJobs,
  listQueue,
  listCompletedJobs,
  listFilteredJobsUuids,
  listFilteredQueueUuids,
  listSelectedJobGroups,
];

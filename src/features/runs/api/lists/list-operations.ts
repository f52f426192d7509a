/** Listing jobs, by the time of their creation. Which ways lead to a page is told in walk.ts. */
import { z } from "zod";
import type { App, WorkspaceContext } from "../../../../platform/app/context.ts";
import {
  Answered,
  type Operation,
  operation,
  paging,
  responds,
  toWindow,
  wholeNumber,
} from "../../../../platform/http/operation.ts";
import { isFrame, type JobKind } from "../../../../platform/queue/states.ts";
import { awaitedBy } from "../../flows/status/pending-approvals.ts";
import { JobRecord, lightColumns, toSummary } from "../../job/records.ts";
import {
  commonFilters,
  concurrencyKey,
  type Filters,
  type Half,
  mixedFilters,
  queueFilters,
  selectionOf,
} from "./filters.ts";
import { type Budget, rowsOf } from "./job-scan.ts";
import { pageOfIds } from "./pages.ts";
import { groupsOf, JobGroup } from "./selected-groups.ts";

const base = "/w/{workspace}/jobs" as const;

/** Lists tell of many jobs at once, which the right to run one does not include. */
const many = { domain: "jobs", action: "read", many: true } as const;

type Page = Filters & { page: number; per_page: number };

/** How long a list looks for what its filters select: some millions of rows. */
const SEARCH_MS = 5_000;
/**
 * Says that the time was over before the page was full: nothing beyond this moment has been looked at. Whoever asks
 * again with it as `created_before` (`created_after` where the oldest come first) goes on from there.
 */
const SEARCHED_UNTIL = "searched-until";

/** All of a page, however long it takes: something is to be done with these. */
function idsOf(ctx: WorkspaceContext, workspace: string, query: Page, half: Half): Promise<string[]> {
  return pageOfIds(ctx.app, selectionOf(ctx, workspace, query, half), toWindow(query));
}

/** Records of flows that wait say for how many approvals. */
async function withSuspended(app: App, rows: JobRecord[]): Promise<JobRecord[]> {
  const flows = rows.filter(({ running, job_kind }) => running && isFrame(job_kind as JobKind));
  const awaited = await awaitedBy(
    app,
    flows.map(({ id }) => id),
  );
  for (const row of flows) row.suspend = awaited.get(row.id);
  return rows;
}

/** A page of records as lists show them. */
async function summariesOf(
  ctx: WorkspaceContext,
  workspace: string,
  query: Page,
  half: Half,
): Promise<Answered<JobRecord[]>> {
  const budget: Budget = { ms: SEARCH_MS };
  const selection = { ...selectionOf(ctx, workspace, query, half), budget };
  const ids = await pageOfIds(ctx.app, selection, toWindow(query));
  const rows = await rowsOf(ctx.app, lightColumns, ids);
  const { reached } = budget;
  return new Answered(
    await withSuspended(ctx.app, rows.map(toSummary)),
    reached && ids.length < query.per_page ? { [SEARCHED_UNTIL]: reached.toISOString() } : {},
  );
}

export const listJobs = operation({
  name: "listJobs",
  method: "GET",
  path: `${base}/list`,
  access: "member",
  scope: many,
  summary: "List jobs, queued and completed, newest first",
  query: z.object({ ...paging, ...mixedFilters }),
  responds: responds.json(z.array(JobRecord), "jobs without arguments and results"),
  run: (ctx, { workspace, query }) => summariesOf(ctx, workspace, query, undefined),
});

const listQueue = operation({
  name: "listQueue",
  method: "GET",
  path: `${base}/queue/list`,
  access: "member",
  scope: many,
  summary: "List the jobs that are not completed, newest first",
  // Existing command lines ask for the whole queue in one page.
  query: z.object({ ...paging, per_page: wholeNumber.min(1).max(100_000).default(1000), ...queueFilters }),
  responds: responds.json(z.array(JobRecord), "jobs without arguments"),
  run: async (ctx, { workspace, query }) => {
    const { value, headers } = await summariesOf(ctx, workspace, query, "unfinished");
    return new Answered(
      value.map((job) => ({ ...job, args: null })),
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
  query: z.object({ ...paging, ...commonFilters }),
  responds: responds.json(z.array(JobRecord), "jobs without arguments and results"),
  run: (ctx, { workspace, query }) => summariesOf(ctx, workspace, query, "completed"),
});

/** Ids are asked for to do something with all of them: a page is what one such call takes. */
const idPaging = { ...paging, per_page: wholeNumber.min(1).max(100_000).default(10_000) };
const key = { concurrency_key: concurrencyKey };

const listFilteredJobsUuids = operation({
  name: "listFilteredJobsUuids",
  method: "GET",
  path: `${base}/list_filtered_uuids`,
  access: "admin",
  scope: many,
  summary: "List the ids of the jobs that a filter selects",
  query: z.object({ ...idPaging, ...mixedFilters, ...key }),
  responds: responds.json(z.array(z.string())),
  run: (ctx, { workspace, query }) => idsOf(ctx, workspace, query, undefined),
});

const listFilteredQueueUuids = operation({
  name: "listFilteredQueueUuids",
  method: "GET",
  path: `${base}/queue/list_filtered_uuids`,
  access: "admin",
  scope: many,
  summary: "List the ids of the jobs that are not completed and that a filter selects",
  query: z.object({ ...idPaging, ...queueFilters, ...key }),
  responds: responds.json(z.array(z.string())),
  run: (ctx, { workspace, query }) => idsOf(ctx, workspace, query, "unfinished"),
});

const listSelectedJobGroups = operation({
  name: "listSelectedJobGroups",
  method: "POST",
  path: `${base}/list_selected_job_groups`,
  access: "member",
  scope: many,
  summary: "Group jobs by what they ran, with the argument schemas, to run them again",
  body: z.array(z.uuid().toLowerCase()).max(10_000),
  responds: responds.json(z.array(JobGroup)),
  run: (ctx, { workspace, body }) => groupsOf(ctx, workspace, body),
});

export const listOperations: Operation[] = [
  listJobs,
  listQueue,
  listCompletedJobs,
  listFilteredJobsUuids,
  listFilteredQueueUuids,
  listSelectedJobGroups,
];

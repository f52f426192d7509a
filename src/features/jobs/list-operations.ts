/** Listing jobs. Which ways lead to a page is told in walk.ts. */
import { z } from "zod";
import type { WorkspaceContext } from "../../context.ts";
import { type Operation, operation, paging, responds, toWindow, wholeNumber } from "../../http/operation.ts";
import {
  commonFilters,
  concurrencyKey,
  type Filters,
  type Half,
  mixedFilters,
  queueFilters,
  selectionOf,
} from "./filters.ts";
import { JobRecord, lightColumns, toSummary } from "./records.ts";
import { groupsOf, JobGroup } from "./selected-groups.ts";
import { pageOfIds, rowsOf } from "./walk.ts";

const base = "/w/{workspace}/jobs" as const;

/** Lists tell of many jobs at once, which the right to run one does not include. */
const many = { domain: "jobs", action: "read", many: true } as const;

type Page = Filters & { page: number; per_page: number };

function idsOf(ctx: WorkspaceContext, workspace: string, query: Page, half: Half): Promise<string[]> {
  return pageOfIds(ctx.app, selectionOf(ctx, workspace, query, half), toWindow(query));
}

/** A page of records as lists show them. */
export async function summariesOf(
  ctx: WorkspaceContext,
  workspace: string,
  query: Page,
  half: Half,
): Promise<JobRecord[]> {
  const ids = await idsOf(ctx, workspace, query, half);
  return (await rowsOf(ctx.app, lightColumns, ids)).map(toSummary);
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
    const found = await summariesOf(ctx, workspace, query, "unfinished");
    return found.map((job) => ({ ...job, args: null }));
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

/** Concurrency groups: the jobs that share a concurrency key. */
import * as z from "../../../../lib/zod/z.ts";
import type { WorkspaceContext } from "../../../../platform/app/context.ts";
import {
  isoTimestamp,
  type Operation,
  operation,
  queryInteger,
  responds,
} from "../../../../platform/http/operation.ts";
import { JobRecord, lightColumns, toJobSummary } from "../../job/records.ts";
import { canReadJob } from "../../submit/job-rights.ts";
import { listActiveGroups, pruneConcurrencyGroup, readConcurrencyKey } from "./concurrency-groups.ts";
import {
  concurrencyKey,
  createJobQuery,
  createUnguardedQuery,
  type Filters,
  mixedFilters,
} from "./filters.ts";
import { readRows } from "./job-scan.ts";
import { listPageOfIds } from "./pages.ts";

const ObscuredJob = z.object({
  typ: z.enum(["QueuedJob", "CompletedJob"]),
  started_at: isoTimestamp.optional(),
  duration_ms: z.number().optional(),
});

const ExtendedJobs = z.object({
  jobs: z.array(JobRecord),
  obscured_jobs: z.array(ObscuredJob),
  omitted_obscured_jobs: z.boolean(),
});

/** Filters that reveal only times. With any other filter, an obscured job in the result would reveal more. */
const TIME_FILTERS = new Set([
  "concurrency_key",
  "order_desc",
  "running",
  ...Object.keys(mixedFilters).filter((name) => /_(before|after)/.test(name)),
]);

const listExtendedJobs = operation({
  name: "listExtendedJobs",
  method: "GET",
  path: "/w/{workspace}/concurrency_groups/list_jobs",
  access: "member",
  summary: "List jobs; for jobs of a concurrency key that the caller may not see, only their times",
  query: z.object({
    ...mixedFilters,
    concurrency_key: concurrencyKey,
    row_limit: queryInteger.min(1).max(10_000).default(1000),
  }),
  responds: responds.json(ExtendedJobs),
  run: (ctx, { workspace, query: { row_limit, ...filters } }) =>
    listWithObscured(ctx, workspace, filters, row_limit),
});

async function listWithObscured(
  ctx: WorkspaceContext,
  workspace: string,
  filters: Filters,
  limit: number,
): Promise<z.input<typeof ExtendedJobs>> {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  const omitted = !filters.concurrency_key || !given.every(([name]) => TIME_FILTERS.has(name));
  const select = omitted ? createJobQuery : createUnguardedQuery;
  const ids = await listPageOfIds(ctx.app, select(ctx, workspace, filters, undefined), { offset: 0, limit });
  const rows = await readRows(ctx.app, lightColumns, ids);
  const open = rows.filter((job) => canReadJob(ctx.caller, job));
  const obscured = rows.filter((job) => !canReadJob(ctx.caller, job)).map(toJobSummary);
  return {
    jobs: open.map(toJobSummary),
    obscured_jobs: obscured.map(({ type, started_at, duration_ms }) => ({
      typ: type,
      started_at,
      duration_ms,
    })),
    omitted_obscured_jobs: omitted,
  };
}

const listConcurrencyGroups = operation({
  name: "listConcurrencyGroups",
  method: "GET",
  path: "/concurrency_groups/list",
  access: "superAdmin",
  summary: "List the concurrency keys of running and waiting jobs",
  responds: responds.json(
    z.array(z.object({ concurrency_key: z.string(), workspace_id: z.string(), total_running: z.number() })),
  ),
  run: (ctx) => listActiveGroups(ctx.app),
});

/** `key_path`, because a key may contain slashes. */
const deleteConcurrencyGroup = operation({
  name: "deleteConcurrencyGroup",
  method: "DELETE",
  path: "/concurrency_groups/prune/{key_path}",
  access: "superAdmin",
  summary: "Remove a concurrency key from completed jobs, so that blocked jobs may start",
  query: z.object({ workspace_id: z.string().optional() }),
  responds: responds.json(z.object({ message: z.string() }), "how many jobs were forgotten"),
  audit: { operation: "concurrency_groups.prune", action_kind: "Delete" },
  run: async (ctx, { key_path, query }) => ({
    message: await pruneConcurrencyGroup(ctx, key_path, query.workspace_id),
  }),
});

const getConcurrencyKey = operation({
  name: "getConcurrencyKey",
  method: "GET",
  path: "/concurrency_groups/{job_id}/key",
  access: "user",
  allowsWorkspaceTokens: true,
  summary: "Read the concurrency key of a job; null without one",
  responds: responds.json(z.string().nullable()),
  run: (ctx, { job_id }) => readConcurrencyKey(ctx, job_id),
});

export const concurrencyGroupOperations: Operation[] = [
  listExtendedJobs,
  listConcurrencyGroups,
  deleteConcurrencyGroup,
  getConcurrencyKey,
];

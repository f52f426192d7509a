/** Groups of jobs that share a concurrency key: who runs, who ran, and forgetting that they did. */
import { z } from "zod";
import type { WorkspaceContext } from "../../../../platform/app/context.ts";
import {
  moment,
  type Operation,
  operation,
  responds,
  wholeNumber,
} from "../../../../platform/http/operation.ts";
import { JobRecord, lightColumns, toSummary } from "../../job/records.ts";
import { mayRead } from "../../submit/service.ts";
import { keyOfJob, listGroups, pruneGroup } from "./concurrency-groups.ts";
import { concurrencyKey, type Filters, mixedFilters, selectionOf, unguardedSelection } from "./filters.ts";
import { rowsOf } from "./job-scan.ts";
import { pageOfIds } from "./pages.ts";

const ObscuredJob = z.object({
  typ: z.enum(["QueuedJob", "CompletedJob"]),
  started_at: moment.optional(),
  duration_ms: z.number().optional(),
});

const ExtendedJobs = z.object({
  jobs: z.array(JobRecord),
  obscured_jobs: z.array(ObscuredJob),
  omitted_obscured_jobs: z.boolean(),
});

/** What says nothing of a job but when it ran: with any other filter, what is obscured would tell of itself. */
const TIMING = new Set([
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
  summary: "List jobs; of those of a concurrency key that the caller may not see, only when they ran",
  query: z.object({
    ...mixedFilters,
    concurrency_key: concurrencyKey,
    row_limit: wholeNumber.min(1).max(10_000).default(1000),
  }),
  responds: responds.json(ExtendedJobs),
  run: (ctx, { workspace, query: { row_limit, ...filters } }) => extended(ctx, workspace, filters, row_limit),
});

async function extended(
  ctx: WorkspaceContext,
  workspace: string,
  filters: Filters,
  limit: number,
): Promise<z.input<typeof ExtendedJobs>> {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  const omitted = !filters.concurrency_key || !given.every(([name]) => TIMING.has(name));
  const select = omitted ? selectionOf : unguardedSelection;
  const ids = await pageOfIds(ctx.app, select(ctx, workspace, filters, undefined), { offset: 0, limit });
  const rows = await rowsOf(ctx.app, lightColumns, ids);
  const open = rows.filter((job) => mayRead(ctx.caller, job));
  const obscured = rows.filter((job) => !mayRead(ctx.caller, job)).map(toSummary);
  return {
    jobs: open.map(toSummary),
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
  summary: "List the concurrency keys of jobs that run or wait",
  responds: responds.json(
    z.array(z.object({ concurrency_key: z.string(), workspace_id: z.string(), total_running: z.number() })),
  ),
  run: (ctx) => listGroups(ctx.app),
});

/** A key may hold slashes, hence the name. */
const deleteConcurrencyGroup = operation({
  name: "deleteConcurrencyGroup",
  method: "DELETE",
  path: "/concurrency_groups/prune/{key_path}",
  access: "superAdmin",
  summary: "Forget which jobs of a key have run, so that those that wait may begin",
  query: z.object({ workspace_id: z.string().optional() }),
  responds: responds.json(z.object({ message: z.string() }), "how many jobs were forgotten"),
  audit: { operation: "concurrency_groups.prune", action_kind: "Delete" },
  run: async (ctx, { key_path, query }) => ({ message: await pruneGroup(ctx, key_path, query.workspace_id) }),
});

const getConcurrencyKey = operation({
  name: "getConcurrencyKey",
  method: "GET",
  path: "/concurrency_groups/{job_id}/key",
  access: "user",
  bound: true,
  summary: "Read the concurrency key of a job; null when it has none",
  responds: responds.json(z.string().nullable()),
  run: (ctx, { job_id }) => keyOfJob(ctx, job_id),
});

export const concurrencyGroupOperations: Operation[] = [
  listExtendedJobs,
  listConcurrencyGroups,
  deleteConcurrencyGroup,
  getConcurrencyKey,
];

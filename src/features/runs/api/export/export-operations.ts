/** Taking jobs to another instance, a page at a time: what is queued there runs, what is completed is its history. */
import { and, eq } from "drizzle-orm";
import { z } from "zod";
import { inPieces } from "../../../../lib/async/batches.ts";
import { pause } from "../../../../lib/async/pause.ts";
import { createPacer } from "../../../../lib/async/time-slices.ts";
import { BadRequest, Forbidden, InvalidInput } from "../../../../lib/errors.ts";
import { MAX_JSON_DEPTH, refuseDeep } from "../../../../lib/json/depth.ts";
import { parseJson } from "../../../../lib/json/json.ts";
import { explain } from "../../../../lib/validation-messages.ts";
import type { WorkspaceContext } from "../../../../platform/app/context.ts";
import { checked, readText } from "../../../../platform/http/input.ts";
import {
  type Operation,
  operation,
  paging,
  responds,
  toWindow,
} from "../../../../platform/http/operation.ts";
import { jobLogs, jobs, type NewJob } from "../../../../platform/queue/tables.ts";
import { workspaceMembers } from "../../../tenancy/workspaces/tables.ts";
import { readLog } from "../../job/logs.ts";
import { findJob } from "../../submit/service.ts";
import { QUEUED, selectionOf } from "../lists/filters.ts";
import { pageOfIds } from "../lists/pages.ts";
import {
  ExportedCompletedJob,
  ExportedQueuedJob,
  toCompletedRow,
  toExported,
  toQueuedRow,
} from "./exported.ts";

const base = "/w/{workspace}/jobs" as const;

const exporting = {
  method: "GET",
  access: "admin",
  scope: { domain: "jobs", action: "read", many: true },
  query: z.object(paging),
  responds: responds.raw("application/json", "an array of whole jobs, oldest first"),
} as const;

const exportCompletedJobs = operation({
  ...exporting,
  name: "exportCompletedJobs",
  path: `${base}/completed/export`,
  summary: "Read completed jobs with everything they hold, to import them elsewhere",
  run: async (ctx, { workspace, query }) => {
    const selection = selectionOf(ctx, workspace, { order_desc: false }, "completed");
    return jobsResponse(ctx, workspace, await pageOfIds(ctx.app, selection, toWindow(query)));
  },
});

/** Running jobs are not among them: they come to their end here. */
const exportQueuedJobs = operation({
  ...exporting,
  name: "exportQueuedJobs",
  path: `${base}/queue/export`,
  summary: "Read the jobs that wait to be run with everything they hold, to import them elsewhere",
  run: async (ctx, { workspace, query }) => {
    const selection = { ...selectionOf(ctx, workspace, { order_desc: false }, undefined), sets: [QUEUED] };
    return jobsResponse(ctx, workspace, await pageOfIds(ctx.app, selection, toWindow(query)));
  },
});

/** A JSON array that is written one job after the other: results and logs may be large. */
function jobsResponse(ctx: WorkspaceContext, workspace: string, ids: readonly string[]): Response {
  const pieces = jsonPieces(ctx, workspace, ids);
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await pieces.next();
      if (done) return controller.close();
      // What is told must be on disk.
      await ctx.app.db.settled();
      controller.enqueue(encoder.encode(value));
    },
    cancel: () => pieces.return(undefined).then(() => undefined),
  });
  return new Response(body, { headers: { "content-type": "application/json" } });
}

/** Characters that are written before others are served, and for how many the reading of a job counts. */
const AT_ONCE = 500_000;
const EACH = 10_000;

async function* jsonPieces(
  { app }: WorkspaceContext,
  workspace: string,
  ids: readonly string[],
): AsyncGenerator<string, undefined> {
  let before = "[";
  let written = 0;
  for (const id of ids) {
    const job = await findJob(app, workspace, id);
    if (!job) continue;
    const text = toExported(job, job.state === "completed" ? await readLog(app, job) : undefined);
    yield `${before}${text}`;
    before = ",\n";
    // Whoever reads fast enough would keep the thread for as long as there are jobs.
    written += text.length + EACH;
    if (written < AT_ONCE) continue;
    written = 0;
    await pause();
  }
  yield before === "[" ? "[]" : "]";
}

const importing = {
  method: "POST",
  access: "admin",
  scope: { domain: "jobs", action: "write" },
  audit: { operation: "jobs.import", action_kind: "Create" },
  responds: responds.text("how many were imported"),
} as const;

const importCompletedJobs = operation({
  ...importing,
  name: "importCompletedJobs",
  reads: { "application/json": z.array(ExportedCompletedJob) },
  path: `${base}/completed/import`,
  summary: "Store completed jobs that were exported; an id that is known already is left as it is",
  run: async (ctx, { workspace }) => {
    const list = await readJobs(ctx, ExportedCompletedJob);
    return store(
      ctx,
      list.map((job) => ({ row: toCompletedRow(workspace, job), logs: job.logs })),
    );
  },
});

const importQueuedJobs = operation({
  ...importing,
  name: "importQueuedJobs",
  reads: { "application/json": z.array(ExportedQueuedJob) },
  path: `${base}/queue/import`,
  summary: "Queue jobs that were exported; an id that is known already is left as it is",
  run: async (ctx, { workspace }) => {
    const list = await readJobs(ctx, ExportedQueuedJob);
    await refuseUnfit(ctx, workspace, list);
    const answer = await store(
      ctx,
      list.map((job) => ({ row: toQueuedRow(workspace, job), logs: undefined })),
    );
    ctx.app.queue.wake();
    return answer;
  },
});

/** The array, and the record around what was given: an object that may stand around what was sent. */
const AROUND_VALUES = 3;

/** Reads the body itself, since arguments may hold an escaped NUL and numbers of any length. */
async function readJobs<S extends z.ZodType>(ctx: WorkspaceContext, schema: S): Promise<z.output<S>[]> {
  const text = await readText(ctx.request, ctx.app.settings.get("request_size_limit_mb") * 1_000_000);
  refuseDeep(text, "the body", MAX_JSON_DEPTH + AROUND_VALUES);
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (cause) {
    throw new BadRequest(`the body is not JSON: ${(cause as Error).message}`);
  }
  if (!Array.isArray(value)) return checked("body", z.array(schema), value) as z.output<S>[];
  const pace = createPacer();
  const list: z.output<S>[] = [];
  for (const [at, given] of value.entries()) {
    await pace();
    list.push(checkedAt(at, schema, given));
  }
  return list;
}

/** The first that is wrong is told of: of many, the others are not looked at. */
function checkedAt<S extends z.ZodType>(at: number, schema: S, given: unknown): z.output<S> {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const issues = result.error.issues.map((issue) => ({ ...issue, path: [at, ...issue.path] }));
  const around: unknown[] = [];
  around[at] = given;
  throw new InvalidInput(explain("body", new z.ZodError(issues as z.core.$ZodIssue[]), around));
}

const RUNNABLE = ["script", "preview", "dependencies"];

/**
 * A queued job will run as somebody: who is no super admin imports only what members of the workspace asked for.
 * @throws BadRequest for a kind of job that does not run here, Forbidden for another's identity
 */
async function refuseUnfit(
  ctx: WorkspaceContext,
  workspace: string,
  list: readonly ExportedQueuedJob[],
): Promise<void> {
  const unfit = list.find((job) => !RUNNABLE.includes(job.job_kind));
  if (unfit) {
    throw new BadRequest(`job ${unfit.id} is a ${unfit.job_kind}: only ${RUNNABLE.join(", ")} can be queued`);
  }
  if (ctx.caller.identity.super_admin) return;
  const members = await ctx.app.db.read
    .select({ username: workspaceMembers.username, email: workspaceMembers.email })
    .from(workspaceMembers)
    .where(and(eq(workspaceMembers.workspace_id, workspace), eq(workspaceMembers.disabled, false)));
  const identities = new Set(members.map(({ username, email }) => `u/${username}\n${email}`));
  const foreign = list.find((job) => !identities.has(`${job.permissioned_as}\n${job.email}`));
  if (foreign) {
    throw new Forbidden(
      `job ${foreign.id} would run as ${foreign.permissioned_as} (${foreign.email}), who is no member of workspace ${workspace}`,
      { hint: "add the member first, or have a super admin import the jobs" },
    );
  }
}

/** Jobs that are stored in one transaction: each has some fifty parameters. */
const MOST_AT_ONCE = 200;

async function store(
  ctx: WorkspaceContext,
  list: readonly { row: NewJob; logs: string | null | undefined }[],
): Promise<string> {
  const storeSome = (some: typeof list) =>
    ctx.write({ resource: `${some.length} jobs` }, async (tx) => {
      const rows = some.map(({ row }) => row);
      const stored = await tx.insert(jobs).values(rows).onConflictDoNothing().returning({ id: jobs.id });
      const ids = new Set(stored.map(({ id }) => id));
      for (const { row, logs } of some) {
        // An id that stands twice in the list is stored once, as it stands first.
        if (logs && ids.delete(row.id))
          await tx.insert(jobLogs).values({ job_id: row.id, seq: 0, content: logs });
      }
      return stored;
    });
  const imported = (await inPieces(list, storeSome, MOST_AT_ONCE)).length;
  const known = list.length - imported;
  return `imported ${imported} jobs${known > 0 ? `; ${known} were known already and left as they are` : ""}`;
}

export const exportOperations: Operation[] = [
  exportCompletedJobs,
  importCompletedJobs,
  exportQueuedJobs,
  importQueuedJobs,
];

/** Moves jobs to another instance, page by page: queued jobs to run there, completed ones as history. */
import { and, eq } from "drizzle-orm";
import { processInBatches } from "../../../../lib/async/batches.ts";
import { createTimeSlices, yieldToEventLoop } from "../../../../lib/async/time-slices.ts";
import { BadRequest, Forbidden, InvalidInput } from "../../../../lib/errors.ts";
import { MAX_JSON_DEPTH, requireJsonDepth } from "../../../../lib/json/depth.ts";
import { parseJson } from "../../../../lib/json/json.ts";
import { splitLongArray } from "../../../../lib/json/long-json.ts";
import { describeIssues } from "../../../../lib/validation-messages.ts";
import * as z from "../../../../lib/zod/z.ts";
import type { WorkspaceContext } from "../../../../platform/app/context.ts";
import { parseWithSchema, readText } from "../../../../platform/http/input.ts";
import {
  type Operation,
  operation,
  pagingFields,
  responds,
  toLimitOffset,
} from "../../../../platform/http/operation.ts";
import { jobLogs, jobs, type NewJob } from "../../../../platform/queue/tables.ts";
import { requireAllowedTag } from "../../../tenancy/tokens/scopes.ts";
import { workspaceMembers } from "../../../tenancy/workspaces/tables.ts";
import { isOpenTag, throwTagNotAllowed } from "../../job/custom-tags.ts";
import { readLog } from "../../job/logs.ts";
import { indexImported } from "../../search/indexer.ts";
import { findJob } from "../../submit/find-and-cancel.ts";
import { createJobQuery, QUEUED_JOBS } from "../lists/filters.ts";
import { listPageOfIds } from "../lists/pages.ts";
import {
  ExportedCompletedJob,
  ExportedQueuedJob,
  formatExportedJob,
  toCompletedRow,
  toQueuedRow,
} from "./job-format.ts";

const base = "/w/{workspace}/jobs" as const;

const exporting = {
  method: "GET",
  access: "admin",
  scope: { domain: "jobs", action: "read", many: true },
  query: z.object(pagingFields),
  responds: responds.raw("application/json", "an array of whole jobs, oldest first"),
} as const;

const exportCompletedJobs = operation({
  ...exporting,
  name: "exportCompletedJobs",
  path: `${base}/completed/export`,
  summary: "Export completed jobs, to import them elsewhere",
  run: async (ctx, { workspace, query }) => {
    const selection = createJobQuery(ctx, workspace, { order_desc: false }, "completed");
    return jobsResponse(ctx, workspace, await listPageOfIds(ctx.app, selection, toLimitOffset(query)));
  },
});

/** Running jobs are left out: they complete here. */
const exportQueuedJobs = operation({
  ...exporting,
  name: "exportQueuedJobs",
  path: `${base}/queue/export`,
  summary: "Export queued jobs, to import them elsewhere",
  run: async (ctx, { workspace, query }) => {
    const selection = {
      ...createJobQuery(ctx, workspace, { order_desc: false }, undefined),
      sets: [QUEUED_JOBS],
    };
    return jobsResponse(ctx, workspace, await listPageOfIds(ctx.app, selection, toLimitOffset(query)));
  },
});

/** Streams a JSON array job by job, because results and logs may be large. */
function jobsResponse(ctx: WorkspaceContext, workspace: string, ids: readonly string[]): Response {
  const pieces = writeJsonPieces(ctx, workspace, ids);
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await pieces.next();
      if (done) return controller.close();
      // Responses contain flushed data only.
      await ctx.app.db.readBarrier();
      controller.enqueue(encoder.encode(value));
    },
    cancel: () => pieces.return(undefined).then(() => undefined),
  });
  return new Response(body, { headers: { "content-type": "application/json" } });
}

/** Characters written before other requests are served, and the characters that reading one job is counted as. */
const YIELD_AFTER_CHARS = 500_000;
const CHARS_PER_JOB = 10_000;

async function* writeJsonPieces(
  { app }: WorkspaceContext,
  workspace: string,
  ids: readonly string[],
): AsyncGenerator<string, undefined> {
  let before = "[";
  let written = 0;
  for (const id of ids) {
    const job = await findJob(app, workspace, id);
    if (!job) continue;
    const text = formatExportedJob(job, job.state === "completed" ? await readLog(app, job) : undefined);
    yield `${before}${text}`;
    before = ",\n";
    // Without this, a fast reader would block the event loop until the last job.
    written += text.length + CHARS_PER_JOB;
    if (written < YIELD_AFTER_CHARS) continue;
    written = 0;
    await yieldToEventLoop();
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
  summary: "Import completed jobs; existing ids are skipped",
  run: async (ctx, { workspace }) => {
    const list = await readExportedJobs(ctx, ExportedCompletedJob);
    return storeJobs(
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
  summary: "Import and queue exported jobs; existing ids are skipped",
  run: async (ctx, { workspace }) => {
    const list = await readExportedJobs(ctx, ExportedQueuedJob);
    await requireImportable(ctx, workspace, list);
    const answer = await storeJobs(
      ctx,
      list.map((job) => ({ row: toQueuedRow(workspace, job), logs: undefined })),
    );
    ctx.app.queue.wake();
    return answer;
  },
});

/** JSON levels around a value: the job's record, and an object around the value. */
const RECORD_DEPTH = 2;

/** Parses the body itself, because arguments may contain an escaped NUL and numbers of any length. */
async function readExportedJobs<S extends z.ZodType>(
  ctx: WorkspaceContext,
  schema: S,
): Promise<z.output<S>[]> {
  const text = await readText(ctx.request, ctx.app.settings.get("request_size_limit_mb") * 1_000_000);
  try {
    const elements = await splitLongArray(text);
    if (!elements) return parseWithSchema("body", z.array(schema), parseBounded(text)) as z.output<S>[];
    const pace = createTimeSlices();
    const list: z.output<S>[] = [];
    for (const [at, given] of elements.entries()) {
      await pace();
      list.push(parseElement(at, schema, parseBounded(given)));
    }
    return list;
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new BadRequest(`the body is not JSON: ${cause.message}`);
  }
}

function parseBounded(text: string): unknown {
  requireJsonDepth(text, "the body", MAX_JSON_DEPTH + RECORD_DEPTH);
  return parseJson(text);
}

/** Reports the first invalid element only; the rest is not validated. */
function parseElement<S extends z.ZodType>(at: number, schema: S, given: unknown): z.output<S> {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const issues = result.error.issues.map((issue) => ({ ...issue, path: [at, ...issue.path] }));
  const around: unknown[] = [];
  around[at] = given;
  throw new InvalidInput(describeIssues("body", new z.ZodError(issues as z.core.$ZodIssue[]), around));
}

const QUEUEABLE_KINDS = ["script", "preview", "dependencies"];

/**
 * Requires that the jobs can be queued here. Only a super admin may import jobs that run as users who are not
 * members, or have not joined yet, and jobs whose tag is reserved for others.
 * @throws BadRequest for a kind of job that cannot be queued, Forbidden for another user's identity or a tag
 */
async function requireImportable(
  ctx: WorkspaceContext,
  workspace: string,
  list: readonly ExportedQueuedJob[],
): Promise<void> {
  const unfit = list.find((job) => !QUEUEABLE_KINDS.includes(job.job_kind));
  if (unfit) {
    throw new BadRequest(
      `job ${unfit.id} is a ${unfit.job_kind}: only ${QUEUEABLE_KINDS.join(", ")} can be queued`,
    );
  }
  const { identity } = ctx.caller;
  for (const { tag } of list) {
    requireAllowedTag(identity, tag);
    if (!identity.super_admin && !isOpenTag(ctx.app, workspace, { tag })) throwTagNotAllowed(workspace, tag);
  }
  if (identity.super_admin) return;
  const members = await ctx.app.db.read
    .select({ username: workspaceMembers.username, email: workspaceMembers.email })
    .from(workspaceMembers)
    .where(
      and(
        eq(workspaceMembers.workspace_id, workspace),
        eq(workspaceMembers.disabled, false),
        eq(workspaceMembers.unasked, false),
      ),
    );
  const identities = new Set(members.map(({ username, email }) => `u/${username}\n${email}`));
  const foreign = list.find((job) => !identities.has(`${job.permissioned_as}\n${job.email}`));
  if (foreign) {
    throw new Forbidden(
      `job ${foreign.id} would run as ${foreign.permissioned_as} (${foreign.email}), who has not joined workspace ${workspace}`,
      { hint: "have them join first, or have a super admin import the jobs" },
    );
  }
}

/** Jobs stored in one transaction: each has about fifty parameters. */
const BATCH_SIZE = 200;

async function storeJobs(
  ctx: WorkspaceContext,
  list: readonly { row: NewJob; logs: string | null | undefined }[],
): Promise<string> {
  const storeSome = (some: typeof list) =>
    ctx.write({ resource: `${some.length} jobs` }, async (tx) => {
      const rows = some.map(({ row }) => row);
      const stored = await tx.insert(jobs).values(rows).onConflictDoNothing().returning({ id: jobs.id });
      const ids = new Set(stored.map(({ id }) => id));
      for (const { row, logs } of some) {
        // An id that occurs twice in the list is stored once, with its first job.
        if (logs && ids.delete(row.id))
          await tx.insert(jobLogs).values({ job_id: row.id, seq: 0, content: logs });
      }
      const isStored = new Set(stored.map(({ id }) => id));
      await indexImported(
        ctx.app,
        tx,
        rows.filter(({ id }) => isStored.delete(id)),
      );
      return stored;
    });
  const imported = (await processInBatches(list, storeSome, BATCH_SIZE)).length;
  const known = list.length - imported;
  return `imported ${imported} jobs${known > 0 ? `; ${known} were known already and left as they are` : ""}`;
}

export const exportOperations: Operation[] = [
  exportCompletedJobs,
  importCompletedJobs,
  exportQueuedJobs,
  importQueuedJobs,
];

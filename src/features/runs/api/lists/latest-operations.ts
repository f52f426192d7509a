/** Reads the latest run of each of some scripts and flows. */
import { and, desc, eq, inArray, lte, ne, notInArray, or } from "drizzle-orm";
import { yieldToEventLoop } from "../../../../lib/async/time-slices.ts";
import * as z from "../../../../lib/zod/z.ts";
import type { App, WorkspaceContext } from "../../../../platform/app/context.ts";
import { type Operation, operation, responds } from "../../../../platform/http/operation.ts";
import { isScriptRun, type JobState, SCRIPT_RUN_KINDS } from "../../../../platform/queue/states.ts";
import { type Job, jobs } from "../../../../platform/queue/tables.ts";
import { JobRecord, lightColumns, toJobSummary } from "../../job/records.ts";
import { canReadJob, selectVisibleJobs } from "../../submit/job-rights.ts";
import { isNoAttempt } from "./filters.ts";
import {
  createScanOrder,
  createScanTurn,
  type JobQuery,
  readRows,
  type ScanBudget,
  scanInSlices,
} from "./job-scan.ts";
import { addPendingApprovals } from "./list-operations.ts";

const MOST_ITEMS = 1_000;
/** Jobs of each path that are looked at first, the newest ones; most paths need no more. */
const NEWEST_JOBS = 2;
/** Time for reading on, where these are no runs that the caller may see. */
const SEARCH_TIMEOUT_MS = 2_000;
/** Paths of one statement: about 1 ms. */
const BATCH_SIZE = 50;

const Runnable = z.object({ kind: z.enum(["script", "flow"]), path: z.string().min(1).max(1_000) });
type Runnable = z.output<typeof Runnable>;

const columns = {
  id: jobs.id,
  kind: jobs.kind,
  parent_job: jobs.parent_job,
  state: jobs.state,
  scheduled_for: jobs.scheduled_for,
  concurrency_blocked: jobs.concurrency_blocked,
  created_at: jobs.created_at,
  permissioned_as: jobs.permissioned_as,
  email: jobs.email,
  started_by: jobs.started_by,
  script_path: jobs.script_path,
  visible_to_owner: jobs.visible_to_owner,
  tag: jobs.tag,
};
type Found = Pick<Job, keyof typeof columns>;

/** Reads the newest jobs of each path, of every kind, the newest first. */
async function readNewest(app: App, workspace: string, paths: string[], limit: number): Promise<Found[]> {
  const found: Found[] = [];
  for (let at = 0; at < paths.length; at += BATCH_SIZE) {
    if (at > 0) await yieldToEventLoop();
    const [first, ...others] = paths.slice(at, at + BATCH_SIZE).map((path) => {
      const newest = app.db.read
        .select(columns)
        .from(jobs)
        .where(and(eq(jobs.workspace_id, workspace), eq(jobs.script_path, path)))
        .orderBy(desc(jobs.created_at), desc(jobs.id))
        .limit(limit)
        .as("newest");
      return app.db.read.select().from(newest);
    });
    if (!first) break;
    found.push(...(await others.reduce((all, each) => all.unionAll(each) as never, first)));
  }
  return found.sort((a, b) => b.created_at.getTime() - a.created_at.getTime() || (a.id < b.id ? 1 : -1));
}

/** Finds the retried runs of scripts whose attempts are among some jobs. */
async function findRetriedRuns(app: App, found: Found[]): Promise<Set<string | null>> {
  const parents = new Set(found.flatMap(({ parent_job }) => parent_job ?? []));
  const rows = await readRows(app, { id: jobs.id, kind: jobs.kind }, [...parents]);
  return new Set(rows.filter(({ kind }) => kind === "singlestepflow").map(({ id }) => id));
}

const keyOf = ({ kind, path }: Runnable) => `${kind} ${path}`;

const NOT_BEGUN: JobState[] = ["planned", "held"];

/**
 * Whether a job is one of the runs so far: planned ones and those that were asked for a later time are not. A job that
 * waits for its concurrency limit is one, although it is postponed.
 */
const isRun = ({ state, scheduled_for, concurrency_blocked }: Found, now: Date): boolean =>
  !NOT_BEGUN.includes(state) && (state !== "queued" || concurrency_blocked || scheduled_for <= now);

/** Returns the rule of `isRun` as an SQL condition. */
const runsSoFar = (now: Date) =>
  and(
    notInArray(jobs.state, NOT_BEGUN),
    or(ne(jobs.state, "queued"), eq(jobs.concurrency_blocked, true), lte(jobs.scheduled_for, now)),
  );

/** Finds the latest run of each item that the caller may see. */
async function findLatest(ctx: WorkspaceContext, workspace: string, items: Runnable[]): Promise<string[]> {
  const latest = new Map<string, string>();
  const read = new Map<string, number>();
  const now = ctx.app.clock();
  const paths = [...new Set(items.map(({ path }) => path))];
  const newest = await readNewest(ctx.app, workspace, paths, NEWEST_JOBS);
  const retried = await findRetriedRuns(ctx.app, newest);
  for (const job of newest) {
    const path = job.script_path!;
    read.set(path, (read.get(path) ?? 0) + 1);
    if (retried.has(job.parent_job)) continue;
    const key = `${isScriptRun(job.kind) ? "script" : job.kind} ${path}`;
    if (isRun(job, now) && !latest.has(key) && canReadJob(ctx.caller, job)) latest.set(key, job.id);
  }
  const missing = items.filter((item) => !latest.has(keyOf(item)) && read.get(item.path) === NEWEST_JOBS);
  await searchOlder(ctx, workspace, missing, latest);
  return items.flatMap((item) => latest.get(keyOf(item)) ?? []);
}

/** Adds the latest run of each item among all jobs of its path, in slices, as long as there is time. */
async function searchOlder(
  ctx: WorkspaceContext,
  workspace: string,
  items: Runnable[],
  latest: Map<string, string>,
): Promise<void> {
  const { app, caller } = ctx;
  const { signal } = ctx.request;
  const budget: ScanBudget = { ms: SEARCH_TIMEOUT_MS };
  const scan = createScanTurn(app, { budget, signal });
  try {
    for (const item of items) {
      const base = and(eq(jobs.workspace_id, workspace), eq(jobs.script_path, item.path));
      const kinds = item.kind === "script" ? SCRIPT_RUN_KINDS : [item.kind];
      const filters = and(
        inArray(jobs.kind, kinds),
        isNoAttempt,
        runsSoFar(app.clock()),
        selectVisibleJobs(caller),
      );
      const selection: JobQuery = { base, filters, sets: [], signal, budget, scan };
      for await (const slice of scanInSlices(app, selection)) {
        const [found] = await app.db.read
          .select({ id: jobs.id })
          .from(jobs)
          .where(slice)
          .orderBy(...createScanOrder(selection))
          .limit(1);
        if (!found) continue;
        latest.set(keyOf(item), found.id);
        break;
      }
      if (budget.reached || signal.aborted) return;
    }
  } finally {
    scan.release();
  }
}

const listLatestRuns = operation({
  name: "listLatestRuns",
  method: "POST",
  path: "/w/{workspace}/jobs/latest",
  access: "member",
  scope: { domain: "jobs", action: "read", many: true },
  summary:
    "Read the latest run so far of each of some scripts and flows, also those that were steps of a flow",
  body: z.array(Runnable).max(MOST_ITEMS),
  responds: responds.json(
    z.array(JobRecord),
    "jobs without arguments and results; none for what has not run",
  ),
  run: async (ctx, { workspace, body }) => {
    const ids = await findLatest(ctx, workspace, body);
    const records = (await readRows(ctx.app, lightColumns, [...new Set(ids)])).map(toJobSummary);
    return addPendingApprovals(ctx.app, records);
  },
});

export const latestOperations: Operation[] = [listLatestRuns];

/** Reads the latest run of each of some scripts and flows. */
import { and, desc, eq } from "drizzle-orm";
import { z } from "zod";
import { yieldToEventLoop } from "../../../../lib/async/yield.ts";
import type { App, WorkspaceContext } from "../../../../platform/app/context.ts";
import { type Operation, operation, responds } from "../../../../platform/http/operation.ts";
import { type Job, jobs } from "../../../../platform/queue/tables.ts";
import { JobRecord, lightColumns, toJobSummary } from "../../job/records.ts";
import { canReadJob } from "../../submit/job-rights.ts";
import { readRows } from "./job-scan.ts";
import { addPendingApprovals } from "./list-operations.ts";

const MOST_ITEMS = 1_000;
/** Jobs of a path that are looked at, the newest first: at once, and where that did not suffice. */
const NEWEST_JOBS = 2;
const MORE_JOBS = 100;
/** Paths of one statement: about 1 ms. */
const BATCH_SIZE = 50;

const Runnable = z.object({ kind: z.enum(["script", "flow"]), path: z.string().min(1).max(1_000) });
type Runnable = z.output<typeof Runnable>;

const columns = {
  id: jobs.id,
  kind: jobs.kind,
  state: jobs.state,
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

const keyOf = ({ kind, path }: Runnable) => `${kind} ${path}`;

/** Finds the latest run of each item that the caller may see. A planned run has not begun. */
async function findLatest(ctx: WorkspaceContext, workspace: string, items: Runnable[]): Promise<string[]> {
  const latest = new Map<string, string>();
  let missing = items;
  for (const limit of [NEWEST_JOBS, MORE_JOBS]) {
    const paths = [...new Set(missing.map(({ path }) => path))];
    const found = await readNewest(ctx.app, workspace, paths, limit);
    const read = new Map<string, number>();
    for (const job of found) {
      const path = job.script_path!;
      read.set(path, (read.get(path) ?? 0) + 1);
      const key = `${job.kind} ${path}`;
      const hasBegun = job.state !== "planned" && job.state !== "held";
      if (hasBegun && !latest.has(key) && canReadJob(ctx.caller, job)) latest.set(key, job.id);
    }
    missing = missing.filter((item) => !latest.has(keyOf(item)) && read.get(item.path) === limit);
  }
  return items.flatMap((item) => latest.get(keyOf(item)) ?? []);
}

const listLatestRuns = operation({
  name: "listLatestRuns",
  method: "POST",
  path: "/w/{workspace}/jobs/latest",
  access: "member",
  scope: { domain: "jobs", action: "read", many: true },
  summary: "Read the latest run of each of some scripts and flows, also those that were steps of a flow",
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

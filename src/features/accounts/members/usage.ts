/**
 * Sums up executions per user: for each completed job, flows excluded, its seconds rounded down plus one. Queries cover
 * six hours each, since SQLite runs them on the thread that serves requests.
 */
import { and, eq, gte, isNotNull, lt, notInArray, sql } from "drizzle-orm";
import { yieldToEventLoop } from "../../../lib/async/time-slices.ts";
import type { App } from "../../../platform/app/context.ts";
import { FRAME_KINDS } from "../../../platform/queue/states.ts";
import { jobs } from "../../../platform/queue/tables.ts";
import { workspaceMembers } from "../../tenancy/workspaces/tables.ts";

const HOUR_MS = 3_600_000;
const SLICE_MS = 6 * HOUR_MS;
const WEEK_MS = 7 * 24 * HOUR_MS;

interface UsageFilter {
  workspace_id?: string;
  email?: string;
}

/** Returns executions by e-mail, of jobs completed in the interval. */
async function sumExecutions(
  app: App,
  from: Date,
  to: Date,
  { workspace_id, email }: UsageFilter,
): Promise<Map<string, number>> {
  const sums = new Map<string, number>();
  for (let at = from.getTime(); at < to.getTime(); at += SLICE_MS) {
    const rows = await app.db.read
      .select({
        email: jobs.email,
        executions: sql<number>`sum((${jobs.duration_ms} + 1000) / 1000)`,
      })
      .from(jobs)
      .where(
        and(
          // A literal, because the partial index of completed jobs has a literal condition.
          sql`${jobs.state} = 'completed'`,
          gte(jobs.completed_at, new Date(at)),
          lt(jobs.completed_at, new Date(Math.min(at + SLICE_MS, to.getTime()))),
          isNotNull(jobs.started_at),
          // Frames of flows only wait for steps, which are counted themselves.
          notInArray(jobs.kind, [...FRAME_KINDS]),
          workspace_id === undefined ? undefined : eq(jobs.workspace_id, workspace_id),
          email === undefined ? undefined : eq(jobs.email, email),
        ),
      )
      .groupBy(jobs.email);
    for (const row of rows) sums.set(row.email, (sums.get(row.email) ?? 0) + Number(row.executions));
    await yieldToEventLoop();
  }
  return sums;
}

/** Returns the executions of every member in the last seven days. */
export async function listUsage(
  app: App,
  workspace_id: string,
): Promise<{ email: string; executions: number }[]> {
  const now = app.clock();
  const from = new Date(now.getTime() - WEEK_MS);
  const sums = await sumExecutions(app, from, new Date(now.getTime() + 1), { workspace_id });
  const members = await app.db.read
    .select({ email: workspaceMembers.email })
    .from(workspaceMembers)
    .where(eq(workspaceMembers.workspace_id, workspace_id))
    .orderBy(workspaceMembers.email);
  return members.map(({ email }) => ({ email, executions: sums.get(email) ?? 0 }));
}

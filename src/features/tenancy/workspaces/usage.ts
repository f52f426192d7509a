/**
 * How much is run, by workspace, person and month. Counting happens in memory; now and then what has come together is
 * stored, in one transaction, never on a job's way. A server that is killed loses the count of the last seconds.
 */
import { and, eq, sql } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { perApp } from "../../../lib/async/per-app.ts";
import type { Service } from "../../../lib/async/start-stop.ts";
import type { App } from "../../../platform/app/context.ts";
import { createPeriodicTask } from "../../../platform/loops/periodic-task.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { workspaceUsage } from "./tables.ts";

const FLUSH_MS = 10_000;

type Row = typeof workspaceUsage.$inferSelect;

const countedOf = perApp<App, Map<string, Row>>(() => new Map());

/** Such as `2030-01`, in UTC. */
function monthOf(moment: Date): string {
  return moment.toISOString().slice(0, 7);
}

/** Counts a job that was run to its end: one execution for every second that it has begun. */
export function countJob(
  app: App,
  { workspace_id, email }: Pick<Job, "workspace_id" | "email">,
  ms: number,
): void {
  const month = monthOf(app.clock());
  count(app, { workspace_id, email, month, jobs: 1, executions: Math.floor(ms / 1000) + 1 });
}

function count(app: App, more: Row): void {
  const counted = countedOf(app);
  const key = `${more.workspace_id}\n${more.month}\n${more.email}`;
  const row = counted.get(key);
  if (!row) {
    counted.set(key, more);
    return;
  }
  row.jobs += more.jobs;
  row.executions += more.executions;
}

/** What was counted for a workspace that is gone is not stored any more. */
export function forgetUsage(app: App, workspace_id: string): void {
  const counted = countedOf(app);
  for (const [key, row] of counted) if (row.workspace_id === workspace_id) counted.delete(key);
}

/** Stores what was counted since the last time. What cannot be stored now is counted on. */
export async function storeUsage(app: App): Promise<void> {
  const counted = countedOf(app);
  // In one order for all, so that two servers never wait for each other.
  const rows = [...counted].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  counted.clear();
  if (rows.length === 0) return;
  try {
    await app.db.write(async (tx) => {
      for (const row of rows) await add(tx, row);
    });
  } catch (cause) {
    for (const row of rows) count(app, row);
    throw cause;
  }
}

async function add(tx: Tx, row: Row): Promise<void> {
  const { workspace_id, month, email } = workspaceUsage;
  await tx
    .insert(workspaceUsage)
    .values(row)
    .onConflictDoUpdate({
      target: [workspace_id, month, email],
      set: {
        jobs: sql`${workspaceUsage.jobs} + ${row.jobs}`,
        executions: sql`${workspaceUsage.executions} + ${row.executions}`,
      },
    });
}

/** Stores what was counted, now and then, and once more at the end. */
export function createUsage(app: App): Service {
  const flush = () => storeUsage(app);
  return createPeriodicTask(app, {
    failure: "the count of executions could not be stored yet",
    first_ms: FLUSH_MS,
    interval_ms: FLUSH_MS,
    run: flush,
    last: flush,
  });
}

/** Executions of this month, those that are not stored yet included. */
export async function usageOf(app: App, of: { workspace_id: string } | { email: string }): Promise<number> {
  const month = monthOf(app.clock());
  const [column, value] =
    "email" in of ? [workspaceUsage.email, of.email] : [workspaceUsage.workspace_id, of.workspace_id];
  const [row] = await app.db.read
    .select({ executions: sql<number>`coalesce(sum(${workspaceUsage.executions}), 0)` })
    .from(workspaceUsage)
    .where(and(eq(workspaceUsage.month, month), eq(column, value)));
  let executions = Number(row?.executions ?? 0);
  for (const counted of countedOf(app).values()) {
    const isMeant = "email" in of ? counted.email === of.email : counted.workspace_id === of.workspace_id;
    if (isMeant && counted.month === month) executions += counted.executions;
  }
  return executions;
}

/**
 * Counts executions per workspace, user and month. Counts are collected in memory and flushed periodically in one
 * transaction, never while a job completes. A killed server loses the counts of the last 10 seconds.
 */
import { and, eq, sql } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import type { Service } from "../../../lib/async/service.ts";
import type { App } from "../../../platform/app/context.ts";
import { createPeriodicTask } from "../../../platform/loops/periodic-task.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { workspaceUsage } from "./tables.ts";

const FLUSH_INTERVAL_MS = 10_000;

type Row = typeof workspaceUsage.$inferSelect;

const pendingUsage = memoizePerApp<App, Map<string, Row>>(() => new Map());

const DAY_MS = 86_400_000;
/** A day, counted from 1970, and its month: every job is counted, and most on the day of the last one. */
let last = { day: -1, month: "" };

/** Formats a month, such as `2030-01`, in UTC. */
function formatMonth(moment: Date): string {
  const day = Math.floor(moment.getTime() / DAY_MS);
  if (day !== last.day) last = { day, month: moment.toISOString().slice(0, 7) };
  return last.month;
}

/** Counts a completed job: one execution for every started second of run time. */
export function countJobUsage(
  app: App,
  { workspace_id, email }: Pick<Job, "workspace_id" | "email">,
  ms: number,
): void {
  const month = formatMonth(app.clock());
  addPendingUsage(app, { workspace_id, email, month, jobs: 1, executions: Math.floor(ms / 1000) + 1 });
}

function addPendingUsage(app: App, more: Row): void {
  const counted = pendingUsage(app);
  const key = `${more.workspace_id}\n${more.month}\n${more.email}`;
  const row = counted.get(key);
  if (!row) {
    counted.set(key, more);
    return;
  }
  row.jobs += more.jobs;
  row.executions += more.executions;
}

/** Discards unflushed counts of a deleted workspace. */
export function discardPendingUsage(app: App, workspace_id: string): void {
  const counted = pendingUsage(app);
  for (const [key, row] of counted) if (row.workspace_id === workspace_id) counted.delete(key);
}

/** Stores the counts collected since the last flush. On failure they are kept for the next one. */
export async function flushUsage(app: App): Promise<void> {
  const counted = pendingUsage(app);
  // Always in the same order, to avoid deadlocks between servers.
  const rows = [...counted].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  counted.clear();
  if (rows.length === 0) return;
  try {
    await app.db.write(async (tx) => {
      for (const row of rows) await addStoredUsage(tx, row);
    });
  } catch (cause) {
    for (const row of rows) addPendingUsage(app, row);
    throw cause;
  }
}

async function addStoredUsage(tx: Tx, row: Row): Promise<void> {
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

/** Flushes usage periodically, and once more at shutdown. */
export function createUsageFlusher(app: App): Service {
  const flush = () => flushUsage(app);
  return createPeriodicTask(app, {
    failure_message: "the count of executions could not be stored yet",
    first_delay_ms: FLUSH_INTERVAL_MS,
    interval_ms: FLUSH_INTERVAL_MS,
    run: flush,
    after_stop: flush,
  });
}

/** Returns this month's executions, including unflushed ones. */
export async function getMonthlyUsage(
  app: App,
  of: { workspace_id: string } | { email: string },
): Promise<number> {
  const month = formatMonth(app.clock());
  const [column, value] =
    "email" in of ? [workspaceUsage.email, of.email] : [workspaceUsage.workspace_id, of.workspace_id];
  const [row] = await app.db.read
    .select({ executions: sql<number>`coalesce(sum(${workspaceUsage.executions}), 0)` })
    .from(workspaceUsage)
    .where(and(eq(workspaceUsage.month, month), eq(column, value)));
  let executions = Number(row?.executions ?? 0);
  for (const counted of pendingUsage(app).values()) {
    const isMeant = "email" in of ? counted.email === of.email : counted.workspace_id === of.workspace_id;
    if (isMeant && counted.month === month) executions += counted.executions;
  }
  return executions;
}

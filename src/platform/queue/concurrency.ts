/**
 * Concurrency limits: of the jobs with one key in a workspace, at most `concurrent_limit` run or have begun within the
 * window. A job that is claimed beyond that gives way: it goes back to the queue, marked, and is due again when a place
 * is free. Those that gave way go first, by priority and then in the order they came.
 */
import { and, asc, desc, eq, gt, inArray, notInArray, or, type SQL, sql } from "drizzle-orm";
import type { Tx } from "../../database/database.ts";
import { type Job, jobs } from "./tables.ts";

/** When a place that only the end of a job frees is looked for again, should that end never be told. */
const FALLBACK_MS = 3_600_000;
/** Most waiting jobs that are given a time at once. */
const MAX_SETTLED = 100;

type Limited = Pick<
  Job,
  "workspace_id" | "concurrency_key" | "concurrent_limit" | "concurrency_time_window_s"
>;

/**
 * Puts those of the claimed jobs back that have to wait.
 * @returns those that may begin
 */
export async function giveWay(tx: Tx, claimed: Job[], now: Date): Promise<Job[]> {
  if (claimed.every((job) => job.concurrency_key === null)) return claimed;
  const waiting = new Set<string>();
  // In one order for all, so that two workers never wait for each other.
  for (const group of groupsOf(claimed)) {
    for (const job of await heldBack(tx, group, now)) waiting.add(job.id);
  }
  return claimed.filter((job) => !waiting.has(job.id));
}

/** Whether a job that cannot wait in the queue may begin. Those that wait there go first. */
export async function hasPlace(tx: Tx, of: Limited, now: Date): Promise<boolean> {
  if (of.concurrency_key === null) return true;
  await tx.lock(lockName(of));
  const [before] = await waitingOf(tx, of, 1);
  return !before && (await placesTaken(tx, of, now)).length < (of.concurrent_limit ?? 1);
}

function groupsOf(claimed: Job[]): Job[][] {
  const groups = new Map<string, Job[]>();
  for (const job of claimed) {
    if (job.concurrency_key === null) continue;
    const name = lockName(job);
    groups.set(name, [...(groups.get(name) ?? []), job]);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}

async function heldBack(tx: Tx, group: Job[], now: Date): Promise<Job[]> {
  const [first] = group as [Job];
  await tx.lock(lockName(first));
  const ids = group.map((job) => job.id);
  let taken = (await placesTaken(tx, first, now, notInArray(jobs.id, ids))).length;
  const [before] = await waitingOf(tx, first, 1);
  const begins: Job[] = [];
  const waits: Job[] = [];
  for (const job of group.sort(firstCome)) {
    const isNext = job.concurrency_blocked || !before;
    if (isNext && taken < (job.concurrent_limit ?? 1)) {
      taken++;
      begins.push(job);
    } else waits.push(job);
  }
  if (waits.length === 0 && begins.every((job) => !job.concurrency_blocked)) return waits;
  await mark(tx, begins, { concurrency_blocked: false });
  await mark(tx, waits, {
    state: "queued",
    worker: null,
    started_at: null,
    last_ping: null,
    concurrency_blocked: true,
    scheduled_for: new Date(now.getTime() + FALLBACK_MS),
  });
  await settlePlaces(tx, first, now);
  return waits;
}

async function mark(tx: Tx, group: Job[], values: Partial<Job>): Promise<void> {
  if (group.length === 0) return;
  const ids = group.map((job) => job.id);
  await tx.update(jobs).set(values).where(inArray(jobs.id, ids));
}

function firstCome(a: Job, b: Job): number {
  return (
    Number(b.concurrency_blocked) - Number(a.concurrency_blocked) ||
    b.priority - a.priority ||
    (a.id < b.id ? -1 : 1)
  );
}

/**
 * Says to the jobs that wait for a place of this key when the next one is free. Called in the transaction in which a
 * job of the key leaves the queue or ends.
 */
export async function settlePlaces(tx: Tx, of: Limited, now: Date): Promise<void> {
  if (of.concurrency_key === null) return;
  await tx.lock(lockName(of));
  const limit = of.concurrent_limit ?? 1;
  // One that somebody claims or cancels just now holds its row and waits for this lock: it settles the places again.
  const waiting = await passingLocked(waitingOf(tx, of, Math.min(limit, MAX_SETTLED)));
  if (waiting.length === 0) return;
  const taken = await placesTaken(tx, of, now);
  const window_ms = (of.concurrency_time_window_s ?? 0) * 1000;
  const freedAt = taken
    .filter((job) => job.state !== "running")
    .map((job) => job.started_at!.getTime() + window_ms)
    .sort((a, b) => a - b);
  let free = limit - taken.length;
  for (const job of waiting) {
    const at = free-- > 0 ? job.created_at.getTime() : (freedAt.shift() ?? now.getTime() + FALLBACK_MS);
    await tx
      .update(jobs)
      .set({ scheduled_for: new Date(at) })
      .where(eq(jobs.id, job.id));
  }
}

function ofKey(of: Limited): SQL | undefined {
  return and(eq(jobs.workspace_id, of.workspace_id), eq(jobs.concurrency_key, of.concurrency_key ?? ""));
}

function placesTaken(tx: Tx, of: Limited, now: Date, that?: SQL) {
  const since = new Date(now.getTime() - (of.concurrency_time_window_s ?? 0) * 1000);
  return tx
    .select({ state: jobs.state, started_at: jobs.started_at })
    .from(jobs)
    .where(and(ofKey(of), or(sql`${jobs.state} = 'running'`, gt(jobs.started_at, since)), that));
}

function waitingOf(tx: Tx, of: Limited, most: number) {
  return tx
    .select({ id: jobs.id, created_at: jobs.created_at })
    .from(jobs)
    .where(and(ofKey(of), sql`${jobs.state} = 'queued'`, eq(jobs.concurrency_blocked, true)))
    .orderBy(desc(jobs.priority), asc(jobs.id))
    .limit(most);
}

/** Takes the rows for this transaction and passes over those that another holds; SQLite has one writer anyway. */
export function passingLocked<Q extends PromiseLike<unknown>>(query: Q): Q {
  const lockable = query as Q & { for?(strength: "update", config: { skipLocked: true }): Q };
  return lockable.for?.("update", { skipLocked: true }) ?? query;
}

function lockName(of: Limited): string {
  return `concurrency ${of.workspace_id} ${of.concurrency_key}`;
}

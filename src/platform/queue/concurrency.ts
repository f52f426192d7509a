/**
 * Concurrency limits: of the jobs with one key in a workspace, at most `concurrent_limit` run or have started within
 * the time window. Claimed jobs beyond the limit return to the queue as blocked and become due when a slot is free.
 * Blocked jobs go first, by priority and age.
 */
import { and, asc, desc, eq, gt, inArray, not, notInArray, type SQL, sql } from "drizzle-orm";
import { preventIndexUse } from "../../database/conditions.ts";
import type { Tx } from "../../database/database.ts";
import { type Job, jobs } from "./tables.ts";

/** Recheck delay for a slot that only a job's completion frees, in case that completion is never reported. */
const FALLBACK_DELAY_MS = 3_600_000;
/** Most blocked jobs rescheduled at once. */
const RESCHEDULE_BATCH_SIZE = 100;

type ConcurrencyLimit = Pick<
  Job,
  "workspace_id" | "concurrency_key" | "concurrent_limit" | "concurrency_time_window_s"
>;

/**
 * Returns claimed jobs that exceed their concurrency limit to the queue, marked `concurrency_blocked`.
 * @returns the jobs that may start now
 */
export async function enforceConcurrencyLimits(tx: Tx, claimed: Job[], now: Date): Promise<Job[]> {
  if (claimed.every((job) => job.concurrency_key === null)) return claimed;
  const waiting = new Set<string>();
  // Sorted locks, so that two workers never deadlock.
  for (const group of groupByLimit(claimed)) {
    for (const job of await blockExcessJobs(tx, group, now)) waiting.add(job.id);
  }
  return claimed.filter((job) => !waiting.has(job.id));
}

/** Whether a job that cannot wait in the queue may start. Blocked jobs in the queue go first. */
export async function hasConcurrencySlot(tx: Tx, of: ConcurrencyLimit, now: Date): Promise<boolean> {
  if (of.concurrency_key === null) return true;
  await tx.lock(lockName(of));
  const [before] = await selectBlockedJobs(tx, of, 1);
  return !before && (await selectOccupiedSlots(tx, of, now)).length < (of.concurrent_limit ?? 1);
}

function groupByLimit(claimed: Job[]): Job[][] {
  const groups = new Map<string, Job[]>();
  for (const job of claimed) {
    if (job.concurrency_key === null) continue;
    const name = lockName(job);
    groups.set(name, [...(groups.get(name) ?? []), job]);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}

async function blockExcessJobs(tx: Tx, group: Job[], now: Date): Promise<Job[]> {
  const [first] = group as [Job];
  await tx.lock(lockName(first));
  const ids = group.map((job) => job.id);
  let taken = (await selectOccupiedSlots(tx, first, now, notInArray(jobs.id, ids))).length;
  const [before] = await selectBlockedJobs(tx, first, 1);
  const begins: Job[] = [];
  const waits: Job[] = [];
  for (const job of group.sort(compareClaimOrder)) {
    const isNext = job.concurrency_blocked || !before;
    if (isNext && taken < (job.concurrent_limit ?? 1)) {
      taken++;
      begins.push(job);
    } else waits.push(job);
  }
  if (waits.length === 0 && begins.every((job) => !job.concurrency_blocked)) return waits;
  await updateJobs(tx, begins, { concurrency_blocked: false });
  await updateJobs(tx, waits, {
    state: "queued",
    worker: null,
    started_at: null,
    last_ping: null,
    concurrency_blocked: true,
    scheduled_for: new Date(now.getTime() + FALLBACK_DELAY_MS),
  });
  await rescheduleBlockedJobs(tx, first, now);
  return waits;
}

async function updateJobs(tx: Tx, group: Job[], values: Partial<Job>): Promise<void> {
  if (group.length === 0) return;
  const ids = group.map((job) => job.id);
  await tx.update(jobs).set(values).where(inArray(jobs.id, ids));
}

function compareClaimOrder(a: Job, b: Job): number {
  return (
    Number(b.concurrency_blocked) - Number(a.concurrency_blocked) ||
    b.priority - a.priority ||
    (a.id < b.id ? -1 : 1)
  );
}

/**
 * Sets the due times of a key's blocked jobs to when the next slots become free. Call it in the transaction in which a
 * job of the key leaves the queue or completes.
 */
export async function rescheduleBlockedJobs(tx: Tx, of: ConcurrencyLimit, now: Date): Promise<void> {
  if (of.concurrency_key === null) return;
  await tx.lock(lockName(of));
  const limit = of.concurrent_limit ?? 1;
  // A job being claimed or canceled right now holds its row lock and waits for this lock; it reschedules itself
  // afterwards.
  const waiting = await skipLocked(selectBlockedJobs(tx, of, Math.min(limit, RESCHEDULE_BATCH_SIZE)));
  if (waiting.length === 0) return;
  const taken = await selectOccupiedSlots(tx, of, now);
  const window_ms = (of.concurrency_time_window_s ?? 0) * 1000;
  const freedAt = taken
    .filter((job) => job.state !== "running")
    .map((job) => job.started_at!.getTime() + window_ms)
    .sort((a, b) => a - b);
  let free = limit - taken.length;
  for (const job of waiting) {
    const at = free-- > 0 ? job.created_at.getTime() : (freedAt.shift() ?? now.getTime() + FALLBACK_DELAY_MS);
    await tx
      .update(jobs)
      .set({ scheduled_for: new Date(at) })
      .where(eq(jobs.id, job.id));
  }
}

/**
 * Splits jobs that are about to leave the queue together into those that must reschedule the blocked jobs of their
 * key, and the others. The first job of each key leaves last: until then it stays due, so that the key's other jobs
 * still get their turn if this process ends.
 */
export function splitForRemoval(leaving: Job[]): { firsts: Job[]; others: Job[] } {
  const firsts = groupByLimit(leaving).map((group) => group.sort(compareClaimOrder)[0]!);
  const isFirst = new Set(firsts.map(({ id }) => id));
  return { firsts, others: leaving.filter(({ id }) => !isFirst.has(id)) };
}

function matchesLimit(of: ConcurrencyLimit): SQL {
  return and(eq(jobs.workspace_id, of.workspace_id), eq(jobs.concurrency_key, of.concurrency_key ?? ""))!;
}

/** Selects the jobs that occupy slots, by two reads that indexes serve: the group may have a long history. */
async function selectOccupiedSlots(tx: Tx, of: ConcurrencyLimit, now: Date, that?: SQL) {
  const since = new Date(now.getTime() - (of.concurrency_time_window_s ?? 0) * 1000);
  const fields = { state: jobs.state, started_at: jobs.started_at };
  const isRunning = sql`${jobs.state} = 'running'`;
  const running = await tx
    .select(fields)
    .from(jobs)
    .where(and(isRunning, preventIndexUse(matchesLimit(of)), that));
  const recent = await tx
    .select(fields)
    .from(jobs)
    .where(and(matchesLimit(of), gt(jobs.started_at, since), preventIndexUse(not(isRunning)), that));
  return [...running, ...recent];
}

function selectBlockedJobs(tx: Tx, of: ConcurrencyLimit, maximum: number) {
  return tx
    .select({ id: jobs.id, created_at: jobs.created_at })
    .from(jobs)
    .where(and(matchesLimit(of), sql`${jobs.state} = 'queued' AND ${jobs.concurrency_blocked}`))
    .orderBy(desc(jobs.priority), asc(jobs.id))
    .limit(maximum);
}

/** Locks the selected rows and skips rows locked by others; on SQLite, which has a single writer, it does nothing. */
export function skipLocked<Q extends PromiseLike<unknown>>(query: Q): Q {
  const lockable = query as Q & { for?(strength: "update", config: { skipLocked: true }): Q };
  return lockable.for?.("update", { skipLocked: true }) ?? query;
}

function lockName(of: ConcurrencyLimit): string {
  return `concurrency ${of.workspace_id} ${of.concurrency_key}`;
}

/**
 * This process's worker: claim → run → complete.
 *
 * On SQLite it does not poll: submitted jobs and completed ones wake it, and a timer is set for the next scheduled job.
 * On PostgreSQL other servers submit too, so a slow poll finds jobs whose wake-up was lost.
 * While jobs are short it claims a little ahead of its slots, so that processes do not idle during a commit; while they
 * are long, only what can start at once.
 */
import { and, eq, sql } from "drizzle-orm";
import { pollUntil, StopRequest, sleep } from "../../../lib/async/sleep.ts";
import { TransientMap } from "../../../lib/collections/transient.ts";
import type { App } from "../../../platform/app/context.ts";
import { createAlarm } from "../../../platform/loops/alarm.ts";
import { createPeriodicTask } from "../../../platform/loops/periodic-task.ts";
import { claimJobs, findNextDueTime, MAX_CLAIM_BYTES } from "../../../platform/queue/claim.ts";
import { getLogFields } from "../../../platform/queue/log-fields.ts";
import type { LocalWorker } from "../../../platform/queue/queue.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { type ActiveJob, createJobHeartbeats } from "./job-heartbeats.ts";
import type { JobSlot } from "./job-slot.ts";
import { RELEASED, runJob } from "./run-job.ts";
import { recordStart } from "./run-time.ts";

/** Jobs claimed ahead may keep a slot busy for about this long. */
const CLAIM_AHEAD_MS = 100;
/** Nothing is claimed ahead while every slot has run the same job for this long. */
const STALL_THRESHOLD_MS = 50;
const MAX_AHEAD_PER_SLOT = 128;
const MAX_CLAIM = 256;
/**
 * Maximum number of completed jobs whose outcome waits for the database, beyond the number of slots. More would mean
 * that the database cannot keep up.
 */
const MAX_COMPLETING = 1_024;
/** Jobs that wait for a build or for a lock without a slot. The runner limits the processes that they wait for. */
const MAX_BUILDING = 256;
/** Jobs that wait here behind long ones return to the queue after this time: another server's worker may be free. */
const RELEASE_AFTER_MS = 250;
const RELEASE_INTERVAL_MS = 100;
const POLL_INTERVAL_MS = 1_000;
/** Wait after a failed claim, and while the machine lacks resources to start a process. */
const RETRY_INTERVAL_MS = 1_000;
/** Time to store outcomes at shutdown. */
const STORE_TIMEOUT_MS = 5_000;

export interface Worker {
  start(): Promise<void>;
  /** Claims no new jobs and waits up to `grace_ms` for running ones. The others are stopped and return to the queue. */
  stop(grace_ms: number): Promise<void>;
  activeCount(): number;
  /** Work done since the start. */
  stats(): { executed: number; last: { id: string; workspace_id: string } | undefined };
}

/** Tags of the jobs that a worker takes, read at each use; undefined: all. */
export interface TagFilter {
  /** Of jobs claimed from the queue. */
  claimed: () => string[] | undefined;
  /** Of jobs dispatched by this process. */
  dispatched: () => string[] | undefined;
}

export function createWorker(app: App, tags: TagFilter): Worker {
  const { db, queue, config } = app;
  const active = new TransientMap<ActiveJob>();
  /** Jobs in `active` that have finished running and whose outcome is being stored; they occupy no slot. */
  let ended = 0;
  /** Jobs in `active` that wait for a build or for a lock. */
  let building = 0;
  let executed = 0;
  let last: { id: string; workspace_id: string } | undefined;
  let accepting = false;
  let claiming = false;
  let wakeAgain = false;
  /** Whether the last claim returned as many jobs as it requested; then the next claim needs no check. */
  let more = false;
  /** Whether a wake-up arrived since the last claim. */
  let unseen = false;
  let idle: (() => void) | undefined;
  const alarm = createAlarm(() => app.clock(), wake);
  const inMs = (ms: number) => new Date(app.clock().getTime() + ms);

  /** Number of jobs that may wait here for a slot. */
  function ahead(): number {
    const isStalled = app.runner.stalledMs() > STALL_THRESHOLD_MS;
    const limit = isStalled ? 0 : Math.floor(CLAIM_AHEAD_MS / Math.max(app.runner.averageMs(), 0.1));
    return config.workers * Math.min(MAX_AHEAD_PER_SLOT, limit);
  }

  function room(): number {
    if (app.runner.shortageReason() !== undefined) return 0;
    const aside = ended + Math.min(building, MAX_BUILDING);
    const before = active.size - Math.min(aside, MAX_COMPLETING);
    return config.workers + ahead() - before - queue.reservedSlots();
  }

  const consumer: LocalWorker = {
    freeSlots: (tag) => (accepting && (tags.dispatched()?.includes(tag) ?? true) ? room() : 0),
    accept: take,
    wake,
    has: (job_id) => active.has(job_id),
    cancel: (job_id) => active.get(job_id)?.controller.abort(),
  };

  function take(job: Job, isBound: boolean): void {
    const held = active.get(job.id);
    if (held) {
      // It was requeued while it still runs here. This worker holds the row again, and the current run completes it.
      held.next_claim = job;
      return;
    }
    const controller = new StopRequest();
    active.set(job.id, { job, isBound, controller });
    void runHeld(job, controller);
  }

  async function runHeld(job: Job, controller: StopRequest): Promise<void> {
    recordStart(app, job);
    executed++;
    last = job;
    const waited = (job.started_at ?? job.scheduled_for).getTime() - job.scheduled_for.getTime();
    app.meters.queueWait.observe(Math.max(0, waited) / 1000);
    let hasEnded = false;
    const slot: JobSlot = {
      yield() {
        building++;
        if (unseen) look();
        return () => {
          building--;
        };
      },
      end() {
        hasEnded = true;
        ended++;
        if (unseen) look();
      },
    };
    try {
      await runJob(app, job, controller, slot);
    } catch (cause) {
      const about = { ...getLogFields(job), error: String(cause), stack: (cause as Error).stack };
      app.log.error(about, "a job could not be completed");
    }
    const again = active.get(job.id)?.next_claim;
    active.delete(job.id);
    if (hasEnded) ended--;
    if (again) takeAgain(again);
    if (active.size === 0) idle?.();
    if (unseen) look();
  }

  /** Runs a job that was claimed again while an earlier run of it ended here without completing it. */
  function takeAgain(job: Job): void {
    const isMine = sql`${jobs.state} = 'running' AND ${jobs.worker} = ${queue.worker}`;
    db.read
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(eq(jobs.id, job.id), isMine))
      .then(([row]) => row && take(job, false))
      .catch((cause) =>
        app.log.error({ ...getLogFields(job), error: String(cause) }, "a claimed job is left to the rescuer"),
      );
  }

  function wake(): void {
    unseen = true;
    look();
  }

  function look(): void {
    if (!accepting) return;
    if (app.runner.shortageReason() !== undefined) {
      alarm.setBefore(inMs(RETRY_INTERVAL_MS));
      return;
    }
    if (claiming) {
      wakeAgain = true;
      return;
    }
    // As long as enough jobs wait here, the next claim is delayed and takes many; each end of a job calls this again.
    if (room() < Math.max(1, ahead() / 4)) return;
    claiming = true;
    claim()
      .catch((cause) => {
        app.log.error(
          { error: String(cause), again_in_ms: RETRY_INTERVAL_MS },
          "queued jobs could not be claimed",
        );
        alarm.setBefore(inMs(RETRY_INTERVAL_MS));
      })
      .finally(() => {
        claiming = false;
        if (wakeAgain) {
          wakeAgain = false;
          look();
        }
      });
  }

  /** Bytes of arguments per job in the last claim. */
  let typical_bytes = 1;

  async function claim(): Promise<void> {
    unseen = false;
    if (!more && !(await anythingDue())) return;
    // Jobs with large arguments are claimed a few at a time, because a claim reads and writes them whole.
    const limit = Math.min(room(), MAX_CLAIM, Math.max(1, Math.floor(MAX_CLAIM_BYTES / typical_bytes)));
    if (limit <= 0) {
      unseen = true;
      return;
    }
    const claimed = await db.write(async (tx) => {
      const jobs = await claimJobs(tx, {
        worker: queue.worker,
        limit,
        now: app.clock(),
        tags: tags.claimed(),
      });
      // In the commit, not after it: a cancellation in the same commit must find the job.
      tx.afterCommit(() => {
        for (const job of jobs) take(job, false);
      });
      if (jobs.length > 0)
        typical_bytes = 1 + jobs.reduce((sum, { args }) => sum + args.length, 0) / jobs.length;
      return jobs.length;
    });
    more = claimed === limit;
    if (claimed === 0) {
      if (db.dialect === "sqlite") wakeAgain = true;
      // Another worker is claiming the due jobs.
      else alarm.set(inMs(POLL_INTERVAL_MS));
      return;
    }
    unseen = true;
    // Slots are left, so nothing more is due: check once more to set the timer.
    wakeAgain ||= room() > 0;
  }

  /** Whether a job is due, which avoids empty claims. Otherwise sets the timer for the next one. */
  async function anythingDue(): Promise<boolean> {
    const due = await findNextDueTime(db.read, tags.claimed());
    alarm.clear();
    if (due && due <= app.clock()) return true;
    if (due) alarm.set(due);
    if (db.dialect === "postgres") alarm.setBefore(inMs(POLL_INTERVAL_MS));
    return false;
  }

  /** Returns jobs claimed ahead that cannot start to the queue. Jobs that only this worker can run stay. */
  function shed(): void {
    if (app.runner.stalledMs() < RELEASE_AFTER_MS) return;
    for (const job_id of app.runner.waitingJobs()) {
      const held = active.get(job_id);
      if (held && !held.isBound) held.controller.abort(RELEASED);
    }
  }

  const signs = createJobHeartbeats(app, active, () => {
    if (db.dialect === "postgres") wake();
  });
  const shedding = createPeriodicTask(app, {
    failure_message: "stalled jobs could not be returned to the queue",
    first_delay_ms: RELEASE_INTERVAL_MS,
    interval_ms: RELEASE_INTERVAL_MS,
    run: async () => shed(),
  });

  return {
    async start() {
      accepting = true;
      queue.attachWorker(consumer);
      await signs.start();
      // A worker that runs alone (one command) has no other worker to release jobs to.
      if (db.channel && !queue.runsAlone) await shedding.start();
      wake();
    },
    async stop(grace_ms) {
      accepting = false;
      alarm.clear();
      await shedding.stop();
      const promised = () => claiming || queue.reservedSlots() > 0;
      await pollUntil(() => !promised(), STORE_TIMEOUT_MS);
      if (active.size > 0) {
        const done = new AbortController();
        idle = () => done.abort();
        await sleep(grace_ms, done.signal);
      }
      // Stops the script processes. Jobs that were running end as released and are requeued by `runJob`.
      await app.runner.stop();
      for (const { controller } of active.values()) controller.abort(RELEASED);
      // Outcomes that cannot be stored now are left to the rescuer of the next start.
      await pollUntil(() => active.size === 0 && !promised(), STORE_TIMEOUT_MS);
      await signs.stop();
      queue.attachWorker(undefined);
    },
    activeCount: () => active.size,
    stats: () => ({ executed, last: last && { id: last.id, workspace_id: last.workspace_id } }),
  };
}

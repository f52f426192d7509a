/**
 * The worker of this process: claim → run → finish.
 *
 * It never polls a database of its own: submitting wakes it, a finished job makes it look again, and a timer is set
 * for the next scheduled job. On PostgreSQL other processes submit too, so a slow poll looks for what no wake-up told.
 *
 * While jobs are short it claims a little ahead of the pool's slots, so that children do not idle during a commit; as
 * soon as they are not, it claims only what can begin at once.
 */
import { and, eq, sql } from "drizzle-orm";
import { sleep, sleepWhileNot } from "../../../lib/async/sleep.ts";
import type { App } from "../../../platform/app/context.ts";
import { createAlarm } from "../../../platform/loops/alarm.ts";
import { createPeriodicTask } from "../../../platform/loops/periodic-task.ts";
import { claimJobs, nextDue } from "../../../platform/queue/claim.ts";
import { aboutJob } from "../../../platform/queue/log-fields.ts";
import type { Consumer } from "../../../platform/queue/queue.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { type Active, createSigns } from "./job-heartbeats.ts";
import { RELEASED, runJob } from "./run-job.ts";
import { noteStart } from "./run-time.ts";

/** Work claimed ahead may keep a slot busy for about this long. */
const AHEAD_MS = 100;
/** Arguments of the jobs of one claim, in bytes. */
const CLAIM_BYTES = 16_000_000;
/** While every slot has been busy with the same job for so long, nothing is claimed ahead. */
const HELD_UP_MS = 50;
const MAX_AHEAD_PER_SLOT = 128;
const MAX_CLAIM = 256;
/** Ends that may be on their way to the database beside what runs: more of them show that it does not keep up. */
const MAX_STORING = 1_024;
/**
 * What waits here behind jobs that turned out to be long goes back to the queue after this: on PostgreSQL another worker
 * may be free.
 */
const STALLED_MS = 250;
const SHED_EVERY_MS = 100;
const POSTGRES_POLL_MS = 1_000;
/** After a claim that failed, and while the machine lacks what a process takes. */
const RETRY_MS = 1_000;
/** How long the ends of jobs may take to be stored at shutdown. */
const STORE_MS = 5_000;

export interface Worker {
  start(): Promise<void>;
  /** Takes no new jobs, lets running ones end for `grace_ms`, then stops them: they go back to the queue. */
  stop(grace_ms: number): Promise<void>;
  active(): number;
  /** What it has done since the start. */
  work(): { executed: number; last: { id: string; workspace_id: string } | undefined };
}

/** Which tags' jobs a worker takes, at any time; undefined: all. */
export interface TakenTags {
  /** From the queue. */
  claimed: () => string[] | undefined;
  /** From those who submit jobs in this process. */
  handed: () => string[] | undefined;
}

export function createWorker(app: App, tags: TakenTags): Worker {
  const { db, queue, config } = app;
  const active = new Map<string, Active>();
  /** Of these, what has run and whose end is being stored: it takes no slot. */
  let ended = 0;
  let executed = 0;
  let last: { id: string; workspace_id: string } | undefined;
  let accepting = false;
  let claiming = false;
  let wakeAgain = false;
  /** The last claim took all it asked for: there is more, and no need to look. */
  let more = false;
  /** Something may be queued that was not looked at since. */
  let unseen = false;
  let idle: (() => void) | undefined;
  const alarm = createAlarm(() => app.clock(), wake);
  const inMs = (ms: number) => new Date(app.clock().getTime() + ms);

  /** Jobs that may wait here for a slot. */
  function ahead(): number {
    const isStalled = app.runner.stalledMs() > HELD_UP_MS;
    const most = isStalled ? 0 : Math.floor(AHEAD_MS / Math.max(app.runner.averageMs(), 0.1));
    return config.workers * Math.min(MAX_AHEAD_PER_SLOT, most);
  }

  function room(): number {
    if (app.runner.shortage() !== undefined) return 0;
    const before = Math.max(active.size - ended, active.size - MAX_STORING);
    return config.workers + ahead() - before - queue.reserved();
  }

  const consumer: Consumer = {
    room: (tag) => (accepting && (tags.handed()?.includes(tag) ?? true) ? room() : 0),
    take,
    wake,
    has: (job_id) => active.has(job_id),
    cancel: (job_id) => active.get(job_id)?.controller.abort(),
  };

  function take(job: Job, isBound: boolean): void {
    const held = active.get(job.id);
    if (held) {
      // It was put back while it runs here: the row is this worker's again, and so is the end of what runs.
      held.again = job;
      return;
    }
    const controller = new AbortController();
    active.set(job.id, { job, isBound, controller });
    noteStart(app, job);
    executed++;
    last = job;
    const waited = (job.started_at ?? job.scheduled_for).getTime() - job.scheduled_for.getTime();
    app.meters.queueWait.observe(Math.max(0, waited) / 1000);
    let hasEnded = false;
    const end = () => {
      hasEnded = true;
      ended++;
      if (unseen) look();
    };
    runJob(app, job, controller.signal, end)
      .catch((cause) =>
        app.log.error(
          { ...aboutJob(job), error: String(cause), stack: (cause as Error).stack },
          "a job could not be finished",
        ),
      )
      .finally(() => {
        const again = active.get(job.id)?.again;
        active.delete(job.id);
        if (hasEnded) ended--;
        if (again) takeAgain(again);
        if (active.size === 0) idle?.();
        if (unseen) look();
      });
  }

  /** A job that was claimed while a run of it came to its end here, where that end is not the job's. */
  function takeAgain(job: Job): void {
    const isMine = sql`${jobs.state} = 'running' AND ${jobs.worker} = ${queue.worker}`;
    db.read
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(eq(jobs.id, job.id), isMine))
      .then(([row]) => row && take(job, false))
      .catch((cause) =>
        app.log.error({ ...aboutJob(job), error: String(cause) }, "a claimed job is left to the rescuer"),
      );
  }

  function wake(): void {
    unseen = true;
    look();
  }

  function look(): void {
    if (!accepting) return;
    if (app.runner.shortage() !== undefined) {
      alarm.setBefore(inMs(RETRY_MS));
      return;
    }
    if (claiming) {
      wakeAgain = true;
      return;
    }
    // While enough waits here, jobs are claimed many at a time: the end of one that runs looks again.
    if (room() < Math.max(1, ahead() / 4)) return;
    claiming = true;
    claim()
      .catch((cause) => {
        app.log.error({ error: String(cause), again_in_ms: RETRY_MS }, "queued jobs could not be claimed");
        alarm.setBefore(inMs(RETRY_MS));
      })
      .finally(() => {
        claiming = false;
        if (wakeAgain) {
          wakeAgain = false;
          look();
        }
      });
  }

  /** Of the arguments of the jobs that were claimed last. */
  let typical_bytes = 1;

  async function claim(): Promise<void> {
    unseen = false;
    if (!more && !(await anythingDue())) return;
    // Jobs with large arguments are claimed a few at a time: a claim reads and writes them whole.
    const limit = Math.min(room(), MAX_CLAIM, Math.max(1, Math.floor(CLAIM_BYTES / typical_bytes)));
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
      // With the commit, not after it: a cancel in the same commit must find what it cancels.
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
      // Another worker is taking what is due.
      else alarm.set(inMs(POSTGRES_POLL_MS));
      return;
    }
    unseen = true;
    // Less than there is room for: what is left is not due yet, and a timer is set for it.
    wakeAgain ||= room() > 0;
  }

  /** Looks before it claims: an empty claim would be a transaction for nothing. Sets the timer for what is due later. */
  async function anythingDue(): Promise<boolean> {
    const due = await nextDue(db.read, tags.claimed());
    alarm.clear();
    if (due && due <= app.clock()) return true;
    if (due) alarm.set(due);
    if (db.dialect === "postgres") alarm.setBefore(inMs(POSTGRES_POLL_MS));
    return false;
  }

  /** Puts back what was taken ahead and cannot begin. What no other worker could run has to wait. */
  function shed(): void {
    if (app.runner.stalledMs() < STALLED_MS) return;
    for (const job_id of app.runner.waiting()) {
      const held = active.get(job_id);
      if (held && !held.isBound) held.controller.abort(RELEASED);
    }
  }

  const signs = createSigns(app, active, () => {
    if (db.dialect === "postgres") wake();
  });
  const shedding = createPeriodicTask(app, {
    failure: "jobs that cannot begin could not be given back",
    first_ms: SHED_EVERY_MS,
    interval_ms: SHED_EVERY_MS,
    run: async () => shed(),
  });

  return {
    async start() {
      accepting = true;
      queue.attach(consumer);
      await signs.start();
      // A command works by itself: there may be nobody else.
      if (db.channel && !queue.alone) await shedding.start();
      wake();
    },
    async stop(grace_ms) {
      accepting = false;
      alarm.clear();
      await shedding.stop();
      const promised = () => claiming || queue.reserved() > 0;
      await sleepWhileNot(() => !promised(), STORE_MS);
      if (active.size > 0) {
        const done = new AbortController();
        idle = () => done.abort();
        await sleep(grace_ms, done.signal);
      }
      // Ends the children; what still ran comes back as released and is put back by runJob.
      await app.runner.stop();
      for (const { controller } of active.values()) controller.abort(RELEASED);
      // What cannot be stored now is left to the rescuer of the next start.
      await sleepWhileNot(() => active.size === 0 && !promised(), STORE_MS);
      await signs.stop();
      queue.attach(undefined);
    },
    active: () => active.size,
    work: () => ({ executed, last: last && { id: last.id, workspace_id: last.workspace_id } }),
  };
}

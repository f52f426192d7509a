/**
 * Assigns runs to children, at most one running job per slot. A child with quick jobs receives further runs in advance
 * (prefetching), so that it does not idle while the server reads its answer: if all slots are busy, and if it is
 * expected to start them within a moment. Very short jobs therefore stay in few processes, which saves context
 * switches, and other jobs use all slots.
 *
 * A child that is blocked by its job cannot return what it was sent. While a slot is free, a child is therefore sent at
 * most 16 runs, after a long unbroken series of very quick ones, and no run of which another job is the parent: that
 * job may wait for it. For the same reason none is sent to a child whose jobs use their tokens.
 *
 * A run whose version must be built first waits for that without a slot (`job/builds.ts`).
 */
import type { StopRequest } from "../../lib/async/sleep.ts";
import { TransientSet } from "../../lib/collections/transient.ts";
import type { ChildPool } from "./child-pool.ts";
import { matchesKey } from "./child-pool.ts";
import type { RuntimeFiles } from "./files/runtime-files.ts";
import type { VersionFiles } from "./files/version-files.ts";
import { createBuilds } from "./job/builds.ts";
import type { Prefetch } from "./job/prefetch.ts";
import { type Prefetched, QueuedRun, type RunHolder } from "./job/queued-run.ts";
import type { RunContext } from "./job/run-context.ts";
import { JobRun } from "./job-run.ts";
import type { Child } from "./process/child.ts";
import { findInterpreter } from "./programs/interpreter.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";
import type { Runner, RunnerOptions, RunOutcome, RunRequest } from "./types.ts";

/** Average run time in milliseconds assumed before jobs have been measured. */
const INITIAL_AVERAGE_MS = 40;
/** A prefetched job is taken back if the job before it has run for this long. */
const RECALL_AFTER_MS = 20;
/** While another slot is free, a run is prefetched only if the child is expected to start it within this time. */
const MAX_BACKLOG_MS = 2;
/** Interval at which prefetched runs are checked. */
const RECALL_CHECK_MS = 10;

export interface Dispatcher {
  /** Runs a job as soon as a slot is free. Resolves when the job has ended. */
  run(request: RunRequest, stop: StopRequest): Promise<RunOutcome>;
  readonly running: Pick<TransientSet<JobRun>, "size" | "values">;
  /** Ends runs that exceeded their timeout. */
  checkTimes(now: number): void;
  /** Ensures that no matching process takes another job. */
  retire(match: Parameters<Runner["retire"]>[0]): void;
  maskSecret: Runner["maskSecret"];
  freeSlots(): number;
  averageMs(): number;
  stalledMs(): number;
  waitingJobs(): string[];
  /** Ends all runs as released, so that they can be requeued. */
  stop(): void;
}

interface DispatcherOptions {
  options: RunnerOptions;
  pool: ChildPool;
  files: VersionFiles;
  /** Known once the runner has started. */
  runtime: () => RuntimeFiles;
  sandbox: () => Sandbox;
}

export function createDispatcher({ options, pool, runtime, files, sandbox }: DispatcherOptions): Dispatcher {
  const running = new TransientSet<JobRun>();
  const waiting: QueuedRun[] = [];
  const builds = createBuilds({ files, log: options.log, onShortage: pool.shortage.report });
  let stopped = false;
  let averageMs = INITIAL_AVERAGE_MS;
  let lastBegan = 0;
  let checking: ReturnType<typeof setTimeout> | undefined;
  const context: RunContext<JobRun> = {
    options,
    files,
    get runtime() {
      return runtime();
    },
    interpreter: (version) => findInterpreter(version, sandbox()),
    takeBlank: pool.takeBlank,
    onShortage: pool.shortage.report,
    onReturned: requeue,
    onFinished,
  };
  /** Holds the runs that wait here. */
  const queue: RunHolder = {
    cancelRun(run) {
      waiting.splice(waiting.indexOf(run), 1);
      run.resolve({ kind: "canceled" });
    },
  };
  /** Holds the runs that were sent to children in advance. */
  const children: RunHolder = {
    cancelRun: ({ request }) =>
      running
        .values()
        .find(({ prefetch }) => prefetch.includes(request.job_id))
        ?.recall(),
  };

  function keyOf(request: RunRequest): string {
    const { version, permissioned_as, email, started_by = "", variant = "" } = request;
    const shared = sandbox().confinesFiles ? (request.shared ?? "") : "";
    return `${version.workspace_id}\n${version.id}\n${permissioned_as}\n${email}\n${started_by}\n${variant}\n${shared}`;
  }

  function pump(): void {
    for (let run = waiting[0]; run !== undefined; run = waiting[0]) {
      const isFree = running.size < options.concurrency;
      if (running.size > 0 && prefetch(run, isFree)) {
        waiting.shift();
        continue;
      }
      if (!isFree) return;
      waiting.shift();
      begin(run);
    }
  }

  /**
   * Sends a run in advance to the child of its key with the smallest backlog.
   * @param isFree whether another slot is free
   * @returns false if no child can take it
   */
  function prefetch(run: QueuedRun, isFree: boolean): boolean {
    if (isFree && run.request.has_parent) return false;
    let best: JobRun | undefined;
    let least = isFree ? MAX_BACKLOG_MS : RECALL_AFTER_MS;
    const now = performance.now();
    for (const job of running.values()) {
      const backlog = job.key === run.key ? job.backlogMs(now, isFree) : undefined;
      if (backlog === undefined || backlog >= least) continue;
      best = job;
      least = backlog;
    }
    if (!best?.sendAhead(run)) return false;
    run.holder = children;
    lookAfterRuns();
    return true;
  }

  /** Schedules the check for prefetched runs that wait behind a long job. */
  function lookAfterRuns(): void {
    checking ??= setTimeout(() => {
      checking = undefined;
      if (recallLate(performance.now())) lookAfterRuns();
    }, RECALL_CHECK_MS);
  }

  /** Takes back prefetched runs that wait behind a long job. @returns whether any run is still prefetched */
  function recallLate(now: number): boolean {
    let isAhead = false;
    for (const job of running.values()) {
      if (job.prefetch.runs.length === 0) continue;
      isAhead = true;
      if (now - job.since > RECALL_AFTER_MS) job.recall();
    }
    return isAhead;
  }

  function begin(run: QueuedRun): void {
    const isShared = run.request.version.isolation === "shared";
    const job = createJob(run, undefined);
    job.start(isShared ? pool.takeIdle(run.key) : undefined);
  }

  /** Follows a run that was already sent to its child. */
  function follow(job: JobRun, child: Child): void {
    const first = job.prefetch.runs.shift()!;
    const next = createJob(first.run, job.prefetch);
    next.retired = job.retired;
    next.adopt(child, first);
    if (stopped) next.stop({ kind: "released" });
    else if (first.run.stop.aborted) next.cancelRun();
  }

  function createJob(run: QueuedRun, prefetch: Prefetch | undefined): JobRun {
    const job = new JobRun(context, run, prefetch);
    lastBegan = job.began;
    run.holder = job;
    running.add(job);
    return job;
  }

  function onFinished(job: JobRun, outcome: RunOutcome, child: Child | undefined, reusable: boolean): void {
    averageMs += (performance.now() - job.began - averageMs) / 16;
    running.delete(job);
    release(job, child, reusable);
    job.run.resolve(outcome);
    pump();
  }

  /** Keeps or discards a child after its job has ended. */
  function release(job: JobRun, child: Child | undefined, reusable: boolean): void {
    if (!child) return;
    if (reusable && job.prefetch.runs.length > 0) {
      // Even if the child has exited: it may have answered some, which is not read yet.
      follow(job, child);
      return;
    }
    const mayGoOn = reusable && !child.exited && !stopped;
    if (mayGoOn && !job.retired && !child.output.secrets.isFull) pool.keep(child);
    else pool.discard(child);
    requeue(job.prefetch.takeBack(child, job.prefetch.runs.length));
  }

  /** Requeues prefetched runs that did not start, at the front of the queue. */
  function requeue(returned: Prefetched[]): void {
    for (const { run } of returned.reverse()) {
      run.holder = queue;
      if (run.stop.aborted) run.resolve({ kind: "canceled" });
      else if (stopped) run.resolve({ kind: "released" });
      else waiting.unshift(run);
    }
    pump();
  }

  async function buildFirst(run: QueuedRun): Promise<void> {
    const outcome = await builds.waitFor(run);
    if (outcome) run.resolve(outcome);
    else if (run.stop.aborted) run.resolve({ kind: "canceled" });
    else if (stopped) run.resolve({ kind: "released" });
    else enqueue(run);
  }

  function enqueue(run: QueuedRun): void {
    run.holder = queue;
    waiting.push(run);
    pump();
  }

  return {
    running,
    run(request, stop) {
      if (stopped) return Promise.resolve({ kind: "released" });
      // It may have been stopped while it was prepared; later, `onAbort` takes it out of the queue.
      if (stop.aborted) return Promise.resolve({ kind: "canceled" });
      return new Promise((resolve) => {
        const run = new QueuedRun(request, keyOf(request), stop, resolve);
        if (files.needsBuild(request.version)) void buildFirst(run);
        else enqueue(run);
      });
    },
    checkTimes(now) {
      for (const job of running.values()) job.checkDeadline(now);
      builds.checkTimes(now);
    },
    retire(match) {
      pool.retire(match);
      for (const job of running.values()) if (matchesKey(job.key, match)) job.retired = true;
    },
    maskSecret(job_id, secret) {
      for (const job of running.values()) {
        if (job.job_id !== job_id && !job.prefetch.includes(job_id)) continue;
        job.mask(secret);
        return true;
      }
      return false;
    },
    freeSlots: () => Math.max(0, options.concurrency - running.size - waiting.length),
    averageMs: () => averageMs,
    stalledMs: () => (running.size < options.concurrency ? 0 : performance.now() - lastBegan),
    waitingJobs: () =>
      waiting.flatMap(({ request }) => (request.shared === undefined ? [request.job_id] : [])),
    stop() {
      stopped = true;
      clearTimeout(checking);
      builds.stop();
      for (const run of waiting.splice(0)) run.resolve({ kind: "released" });
      // Their runs behind follow, or are returned.
      for (const job of running.values()) job.stop({ kind: "released" });
    },
  };
}

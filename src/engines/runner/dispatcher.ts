/**
 * Assigns runs to children, at most one running job per slot. If all slots are busy, a child with quick jobs receives
 * further runs in advance (prefetching), so that it does not idle while the server reads its answer.
 */
import type { ChildPool } from "./child-pool.ts";
import { matchesKey } from "./child-pool.ts";
import type { RuntimeFiles } from "./files/runtime-files.ts";
import type { VersionFiles } from "./files/version-files.ts";
import type { Prefetch } from "./job/prefetch.ts";
import type { Prefetched, QueuedRun } from "./job/queued-run.ts";
import { JobRun } from "./job-run.ts";
import type { Child } from "./process/child.ts";
import { findInterpreter } from "./programs/interpreter.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";
import type { Runner, RunnerOptions, RunOutcome, RunRequest } from "./types.ts";

/** Average run time in milliseconds assumed before jobs have been measured. */
const INITIAL_AVERAGE_MS = 40;
/** A prefetched job is taken back if the job before it has run for this long. */
const RECALL_AFTER_MS = 20;

export interface Dispatcher {
  /** Runs a job as soon as a slot is free. Resolves when the job has ended. */
  run(request: RunRequest, signal: AbortSignal): Promise<RunOutcome>;
  readonly running: ReadonlySet<JobRun>;
  /** Ends runs that exceeded their timeout, and takes back prefetched jobs that wait behind long ones. */
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
  const running = new Set<JobRun>();
  const waiting: QueuedRun[] = [];
  let stopped = false;
  let averageMs = INITIAL_AVERAGE_MS;
  let lastBegan = 0;

  function keyOf(request: RunRequest): string {
    const { version, permissioned_as, email, started_by = "", variant = "" } = request;
    const shared = sandbox().confinesFiles ? (request.shared ?? "") : "";
    return `${version.workspace_id}\n${version.id}\n${permissioned_as}\n${email}\n${started_by}\n${variant}\n${shared}`;
  }

  function pump(): void {
    while (running.size < options.concurrency && waiting.length > 0) begin(waiting.shift()!);
    while (waiting.length > 0 && prefetch(waiting[0]!)) waiting.shift();
  }

  /**
   * Sends a run in advance to the child of its key that has the fewest prefetched runs.
   * @returns false if no child can take it
   */
  function prefetch(run: QueuedRun): boolean {
    let best: JobRun | undefined;
    for (const job of running) {
      if (job.key !== run.key || !job.mayPrefetch) continue;
      if (best === undefined || job.prefetch.runs.length < best.prefetch.runs.length) best = job;
    }
    if (!best?.sendAhead(run)) return false;
    const { prefetch } = best;
    run.cancel = () => [...running].find((job) => job.prefetch === prefetch)?.recall();
    return true;
  }

  function begin(run: QueuedRun): void {
    if (run.signal.aborted) {
      run.resolve({ kind: "canceled" });
      return;
    }
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
    if (first.run.signal.aborted) first.run.cancel();
  }

  function createJob(run: QueuedRun, prefetch: Prefetch | undefined): JobRun {
    const began = performance.now();
    lastBegan = began;
    const job: JobRun = new JobRun({
      request: run.request,
      prefetch,
      options,
      key: run.key,
      runtime: runtime(),
      files,
      interpreter: (version) => findInterpreter(version, sandbox()),
      takeBlank: (tool) => pool.takeBlank(run.request.shared, tool),
      onShortage: pool.shortage.report,
      onReturned: requeue,
      onFinished(outcome, child, reusable) {
        averageMs += (performance.now() - began - averageMs) / 16;
        running.delete(job);
        release(job, child, reusable);
        run.resolve(outcome);
        pump();
      },
    });
    run.cancel = () => job.stop({ kind: "canceled" });
    running.add(job);
    return job;
  }

  /** Keeps or discards a child after its job has ended. */
  function release(job: JobRun, child: Child | undefined, reusable: boolean): void {
    if (!child) return;
    const mayGoOn = reusable && !child.exited && !stopped;
    if (mayGoOn && job.prefetch.runs.length > 0) {
      follow(job, child);
      return;
    }
    if (mayGoOn && !job.retired && !child.output.secrets.isFull) pool.keep(child);
    else pool.discard(child);
    requeue(job.prefetch.takeBack(child, job.prefetch.runs.length));
  }

  /** Requeues prefetched runs that did not start, at the front of the queue. */
  function requeue(returned: Prefetched[]): void {
    for (const { run } of returned.reverse()) {
      setDequeue(run);
      if (run.signal.aborted) run.resolve({ kind: "canceled" });
      else waiting.unshift(run);
    }
    pump();
  }

  /** Makes a cancellation remove the run from the queue. */
  function setDequeue(run: QueuedRun): void {
    run.cancel = () => {
      waiting.splice(waiting.indexOf(run), 1);
      run.resolve({ kind: "canceled" });
    };
  }

  return {
    running,
    run(request, signal) {
      if (stopped) return Promise.resolve({ kind: "released" });
      return new Promise((resolve) => {
        const abort = () => run.cancel();
        const run: QueuedRun = {
          request,
          key: keyOf(request),
          signal,
          resolve(outcome) {
            signal.removeEventListener("abort", abort);
            resolve(outcome);
          },
          cancel: abort,
        };
        setDequeue(run);
        signal.addEventListener("abort", abort, { once: true });
        waiting.push(run);
        pump();
      });
    },
    checkTimes(now) {
      for (const job of running) {
        job.checkDeadline(now);
        if (job.prefetch.runs.length > 0 && now - job.since > RECALL_AFTER_MS) job.recall();
      }
    },
    retire(match) {
      pool.retire(match);
      for (const job of running) if (matchesKey(job.key, match)) job.retired = true;
    },
    maskSecret(job_id, secret) {
      for (const job of running) {
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
      for (const { resolve } of waiting.splice(0)) resolve({ kind: "released" });
      for (const job of [...running]) {
        for (const { run } of job.prefetch.runs.splice(0)) run.resolve({ kind: "released" });
        job.stop({ kind: "released" });
      }
    },
  };
}

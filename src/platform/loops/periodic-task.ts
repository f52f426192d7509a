/**
 * A background task that runs one pass at a time and sleeps until the next due time, a wake-up, or the end of its
 * interval.
 *
 * - Passes of one task never overlap. All wake-ups during a pass are served by one further pass, so a row committed
 *   before `wake` is always seen.
 * - A pass receives a single `now`: it selects what is due by then, and returns the next due time. Asking the clock
 *   twice would miss what becomes due in between.
 * - A failed pass is logged and retried with backoff (`BACKOFF`).
 * - Intervals use the monotonic clock, and due times are rechecked at least every `MAX_TIMER_MS` (`alarm.ts`). A
 *   changed clock or a sleeping machine delays a task no longer than that.
 * - A leader task runs only on the leading server; `wake` on any server wakes it there.
 *
 * All periodic work uses this task, and no other file sets an interval for it (a test checks this). `leader_task` makes
 * it run on one server of a PostgreSQL database (cluster/leadership.ts). Features declare their tasks as `loops`;
 * server/app.ts starts them in order and stops them in reverse (lib/async/service.ts).
 */

import type { Database } from "../../database/database.ts";
import { type Backoff, computeBackoffMs } from "../../lib/async/retry.ts";
import { createService, type Service } from "../../lib/async/service.ts";
import { sleep } from "../../lib/async/sleep.ts";
import type { Log } from "../../lib/logging/log.ts";
import { createAlarm } from "./alarm.ts";
import type { Leader } from "./leader.ts";

/**
 * Default interval where servers share a database: another server may have stored work, or crashed, without waking this
 * one.
 */
const CLUSTER_INTERVAL_MS = 5_000;
const BACKOFF: Backoff = { first_ms: 1_000, max_ms: 10_000 };

export interface TaskOptions {
  /**
   * Runs one pass: processes what is due.
   * @param now read from the app's clock once for the whole pass
   * @param stopping aborted when the task stops; long passes should return early
   * @returns the next due time, possibly in the past; undefined if none is known
   */
  run(now: Date, stopping: AbortSignal): Promise<Date | undefined> | Promise<void>;
  /** Log message of a failed pass. */
  failure_message: string;
  /** Longest sleep; default 5 s where servers share a database, else unlimited. */
  interval_ms?: number;
  /** Delay of the first pass after the start, or after the election for leader tasks; default none. */
  first_delay_ms?: number;
  /** Delay after a wake-up, so that a burst of wake-ups shares one pass. */
  debounce_ms?: number;
  /** `start` resolves after the first pass and rejects if it fails. */
  runs_on_start?: boolean;
  /** Runs in `stop`, after the last pass. Failures are logged like those of a pass. */
  after_stop?: () => Promise<void>;
  /** Makes it a leader task with this cluster-wide name. */
  leader_task?: string;
}

export interface PeriodicTask extends Service {
  /** Requests a pass as soon as possible. */
  wake(): void;
  /** Requests a pass at that time; an earlier one that is already due stays. */
  wakeAt(moment: Date): void;
  /** Whether no pass is running, requested or scheduled. */
  isIdle(): boolean;
}

/** The parts of the app that a task uses. */
interface TaskApp {
  clock: () => Date;
  log: Pick<Log, "error">;
  db?: Pick<Database, "channel">;
  /** Omitted if no other process uses the database. */
  leader?: Leader;
}

export function createPeriodicTask(app: TaskApp, task: TaskOptions): PeriodicTask {
  const { debounce_ms = 0, leader_task } = task;
  const interval_ms = task.interval_ms ?? (app.db?.channel ? CLUSTER_INTERVAL_MS : Number.POSITIVE_INFINITY);
  const leader = leader_task === undefined ? undefined : app.leader;
  let stopping: AbortSignal | undefined;
  let running: Promise<void> | undefined;
  let isAsked = false;
  /** Earliest `wakeAt` time requested during the current pass. */
  let earliest = Number.POSITIVE_INFINITY;
  let failures = 0;
  let isSet = false;
  let interval: ReturnType<typeof setTimeout> | undefined;
  const alarm = createAlarm(() => app.clock(), wakeHere);

  function wake(): void {
    if (leader_task !== undefined && leader && !leader.isLeader()) leader.wake(leader_task);
    else wakeHere();
  }

  function wakeHere(): void {
    if (!stopping || stopping.aborted) return;
    if (leader && !leader.isLeader()) rest();
    else {
      isAsked = true;
      running ??= runAll(stopping);
    }
  }

  function beginWith(sleep_ms: number | undefined): void {
    if (sleep_ms === undefined) wakeHere();
    else {
      clearTimeout(interval);
      if (sleep_ms !== Number.POSITIVE_INFINITY) interval = setTimeout(wakeHere, sleep_ms);
    }
  }

  function rest(): void {
    alarm.clear();
    clearTimeout(interval);
    isSet = false;
  }

  async function runAll(signal: AbortSignal): Promise<void> {
    rest();
    earliest = Number.POSITIVE_INFINITY;
    if (debounce_ms > 0) await sleep(debounce_ms, signal);
    else await undefined;
    let next: Date | undefined;
    while (isAsked && !signal.aborted) {
      isAsked = false;
      next = await runOnce(signal);
    }
    running = undefined;
    if (signal.aborted) return;
    setNext(Math.min(next?.getTime() ?? Number.POSITIVE_INFINITY, earliest));
  }

  async function runOnce(signal: AbortSignal): Promise<Date | undefined> {
    try {
      const next = (await task.run(app.clock(), signal)) ?? undefined;
      failures = 0;
      return next;
    } catch (cause) {
      logFailure(cause);
      return new Date(app.clock().getTime() + computeBackoffMs(BACKOFF, ++failures));
    }
  }

  function logFailure(cause: unknown): void {
    app.log.error({ error: String(cause) }, task.failure_message);
  }

  function setNext(moment: number): void {
    if (moment !== Number.POSITIVE_INFINITY) alarm.set(new Date(moment));
    if (interval_ms !== Number.POSITIVE_INFINITY) interval = setTimeout(wakeHere, interval_ms);
    isSet = moment !== Number.POSITIVE_INFINITY;
  }

  const service = createService(async (signal) => {
    stopping = signal;
    isAsked = false;
    leader?.onWake(leader_task!, (reason) => {
      if (reason === "elected" && !running) beginWith(task.first_delay_ms);
      else wakeHere();
    });
    if (task.runs_on_start) await task.run(app.clock(), signal);
    if (!signal.aborted) beginWith(task.first_delay_ms ?? (task.runs_on_start ? interval_ms : undefined));
    return async () => {
      leader?.onWake(leader_task!, undefined);
      rest();
      await running;
      await task.after_stop?.().catch(logFailure);
      stopping = undefined;
    };
  });

  return {
    ...service,
    wake,
    wakeAt(moment) {
      if (!stopping || stopping.aborted) return;
      if (running) {
        earliest = Math.min(earliest, moment.getTime());
        return;
      }
      isSet = true;
      alarm.setBefore(moment);
    },
    isIdle: () => !running && !isAsked && !isSet,
  };
}

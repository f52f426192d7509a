/**
 * The one loop of everything that is done now and then: run, then sleep until the next is due, somebody wakes it, or the
 * interval is over.
 *
 * - Of one task no two runs overlap. Whoever wakes it during a run is served by the next one, and so are all others who
 *   wake it meanwhile: what was stored before `wake` is seen by a run that begins after it.
 * - A run is given one `now`: what it asks for first is due by then, what it returns is when the next is. A run that asked
 *   the clock twice would overlook what becomes due in between.
 * - A run that fails is logged and done again, after a delay that grows (`BACKOFF`).
 * - Intervals are counted, and moments are looked up on the clock at least every `MAX_TIMER_MS` (`alarm.ts`): a clock that
 *   is set, or a machine that slept, makes a task no later than that.
 * - A task of the leader runs on the server that leads, and is woken there whoever wakes it.
 */

import type { Database } from "../../database/database.ts";
import { type Backoff, backoffMs } from "../../lib/async/retry.ts";
import { sleep } from "../../lib/async/sleep.ts";
import { createService, type Service } from "../../lib/async/start-stop.ts";
import type { Log } from "../../lib/logging/log.ts";
import { createAlarm } from "./alarm.ts";
import type { Leader } from "./leader.ts";

/** Where servers share a database, another may have stored something, or be gone with what it began, and wake nobody here. */
const SHARED_INTERVAL_MS = 5_000;
const BACKOFF: Backoff = { first_ms: 1_000, max_ms: 10_000 };

export interface Task {
  /**
   * Does what is due.
   * @param now asked of the app's clock once, for the whole run
   * @param stopping aborted when the task is to stop: a run that lasts leaves off
   * @returns when the next is due, which may be over already; undefined when nothing is known of
   */
  run(now: Date, stopping: AbortSignal): Promise<Date | undefined> | Promise<void>;
  /** What the log says when a run fails. */
  failure: string;
  /** The longest sleep; by itself 5 s where servers share the database, and no end to it elsewhere. */
  interval_ms?: number;
  /** The sleep before the first run, from the start or, of a task of the leader, from the election; absent: none. */
  first_ms?: number;
  /** Whoever wakes is often followed by others: so many milliseconds are waited for them. */
  debounce_ms?: number;
  /** `start` resolves after the first run, and fails if that does. */
  starts_with_run?: boolean;
  /** Done by `stop`, once no run is under way. Its failure is logged as a run's is. */
  last?: () => Promise<void>;
  /** Set: the task is the leader's, and this its name among the servers of the database. */
  of_leader?: string;
}

export interface PeriodicTask extends Service {
  /** Asks for a run soon. */
  wake(): void;
  /** Asks for a run at that moment; one that is to come earlier stands. */
  wakeAt(moment: Date): void;
  /** No run is under way, asked for, or set for a moment. */
  isIdle(): boolean;
}

/** What a task needs of the app it runs in. */
interface TaskApp {
  clock: () => Date;
  log: Pick<Log, "error">;
  db?: Pick<Database, "channel">;
  /** Left out: the process has the database for itself. */
  leader?: Leader;
}

export function createPeriodicTask(app: TaskApp, task: Task): PeriodicTask {
  const { debounce_ms = 0, of_leader } = task;
  const interval_ms = task.interval_ms ?? (app.db?.channel ? SHARED_INTERVAL_MS : Number.POSITIVE_INFINITY);
  const leader = of_leader === undefined ? undefined : app.leader;
  let stopping: AbortSignal | undefined;
  let running: Promise<void> | undefined;
  let isAsked = false;
  /** Of those that were asked for while a run was under way. */
  let earliest = Number.POSITIVE_INFINITY;
  let failures = 0;
  let isSet = false;
  let interval: ReturnType<typeof setTimeout> | undefined;
  const alarm = createAlarm(() => app.clock(), wakeHere);

  function wake(): void {
    if (of_leader !== undefined && leader && !leader.isLeader()) leader.wake(of_leader);
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
      return new Date(app.clock().getTime() + backoffMs(BACKOFF, ++failures));
    }
  }

  function logFailure(cause: unknown): void {
    app.log.error({ error: String(cause) }, task.failure);
  }

  function setNext(moment: number): void {
    if (moment !== Number.POSITIVE_INFINITY) alarm.set(new Date(moment));
    if (interval_ms !== Number.POSITIVE_INFINITY) interval = setTimeout(wakeHere, interval_ms);
    isSet = moment !== Number.POSITIVE_INFINITY;
  }

  const service = createService(async (signal) => {
    stopping = signal;
    isAsked = false;
    leader?.onWake(of_leader!, (reason) => {
      if (reason === "elected" && !running) beginWith(task.first_ms);
      else wakeHere();
    });
    if (task.starts_with_run) await task.run(app.clock(), signal);
    if (!signal.aborted) beginWith(task.first_ms ?? (task.starts_with_run ? interval_ms : undefined));
    return async () => {
      leader?.onWake(of_leader!, undefined);
      rest();
      await running;
      await task.last?.().catch(logFailure);
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

/**
 * A timer for a point in wall-clock time. Timers ignore changes of the clock and sleeping machines, so an alarm
 * rechecks the clock at least every `MAX_TIMER_MS`. That bounds how late it rings.
 */

/** Longest timer duration, and upper limit of other waits on the clock. */
export const MAX_TIMER_MS = 10_000;
/** Larger backward steps count as the clock being set back; smaller ones are measurement error. */
const MIN_SETBACK_MS = 1_000;

export interface Alarm {
  /** Sets the alarm to `moment`, unless it is already set to an earlier time. */
  setBefore(moment: Date): void;
  /** Sets the alarm to `moment`, replacing any earlier setting. */
  set(moment: Date): void;
  clear(): void;
}

/** Creates an alarm. @param ring called once per setting; also soon after the clock was set back */
export function createAlarm(clock: () => Date, ring: () => void): Alarm {
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Unix time in milliseconds. */
  let due = Number.POSITIVE_INFINITY;
  /** Difference between wall clock and monotonic clock when the timer was set. */
  let origin = 0;

  function clear(): void {
    clearTimeout(timer);
    due = Number.POSITIVE_INFINITY;
  }

  function arm(now: number): void {
    clearTimeout(timer);
    timer = setTimeout(look, Math.min(Math.max(due - now, 0), MAX_TIMER_MS));
  }

  function look(): void {
    const now = clock().getTime();
    const was_set_back = now - performance.now() < origin - MIN_SETBACK_MS;
    if (now < due && !was_set_back) arm(now);
    else {
      clear();
      ring();
    }
  }

  function set(moment: Date): void {
    due = moment.getTime();
    const now = clock().getTime();
    origin = now - performance.now();
    arm(now);
  }

  return {
    set,
    setBefore(moment) {
      if (moment.getTime() < due) set(moment);
    },
    clear,
  };
}

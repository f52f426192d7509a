/**
 * Ringing at a moment of the wall clock. Timers count seconds and know nothing of a clock that is set, nor of a machine
 * that slept: an alarm looks at the clock at least every `MAX_TIMER_MS`, so that is how late it can be.
 */

/** The longest timer. Also a bound for whatever else waits for a moment. */
export const MAX_TIMER_MS = 10_000;
/** A clock that went back by more than this was set; less is what it takes to read two clocks. */
const STEP_MS = 1_000;

export interface Alarm {
  /** Rings at that moment, or at the one that it is set to already, whichever is earlier. */
  setBefore(moment: Date): void;
  /** Rings at that moment; what it was set to before counts no more. */
  set(moment: Date): void;
  clear(): void;
}

/** @param ring called once for each time that it was set; soon, too, when the clock was set back meanwhile */
export function createAlarm(clock: () => Date, ring: () => void): Alarm {
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Milliseconds since 1970. */
  let due = Number.POSITIVE_INFINITY;
  /** The wall clock's lead over the counted one when the timer was set. */
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
    const was_set_back = now - performance.now() < origin - STEP_MS;
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

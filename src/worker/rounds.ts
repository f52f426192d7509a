/**
 * What the roles that do what is due have in common: look, do what was found, and sleep until the next is due, or until
 * somebody wakes them.
 *
 * - Of one role no two looks run at once. Who asks for one while one runs is served by the next, and so are all others
 *   who ask meanwhile: what was stored before `wake` is seen by a look that begins after it.
 * - A look is given one `now`: what it asks for first is due by then, what it answers is when the next is. A look that
 *   asked the clock twice would overlook what becomes due in between.
 * - A look that fails is logged and tried again a second later.
 * - On PostgreSQL another server may have stored something, or be gone with what it had begun, without waking anybody
 *   here: the sleep is a short one.
 */
import type { App } from "../context.ts";
import { rest } from "../lib/pause.ts";

const POSTGRES_POLL_MS = 5_000;
const AFTER_FAULT_MS = 1_000;
/** A clock that is set forward, or a machine that slept, is noticed so soon: timers know nothing of either. */
const LONGEST_TIMER_MS = 60_000;

export interface Rounds {
  /** Begins with a look. */
  start(): void;
  /** Asks for a look soon. */
  wake(): void;
  /** Asks for a look at that moment; one that is to come earlier stands. */
  wakeAt(moment: Date): void;
  /** Resolves once the look that runs is over; none follows. */
  stop(): Promise<void>;
}

export interface Role {
  /**
   * Does what is due.
   * @param now asked of the app's clock once, for the whole look
   * @param stopping given when the role is to stop: a look that lasts leaves off
   * @returns when the next is due, which may be over already; undefined when nothing is known of
   */
  look(now: Date, stopping: AbortSignal): Promise<Date | undefined>;
  /** What the log says when a look fails. */
  failure: string;
  /** The longest sleep in milliseconds; by itself 5 s on PostgreSQL, and no end to it on SQLite. */
  longest_ms?: number;
  /** Whoever wakes is often followed by others: so many milliseconds are waited for them. */
  together_ms?: number;
}

export function createRounds(app: App, role: Role): Rounds {
  const { longest_ms = app.db.dialect === "postgres" ? POSTGRES_POLL_MS : Infinity, together_ms = 0 } = role;
  const stopping = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** When the timer goes off, in milliseconds of the app's clock. */
  let wakes_at = Infinity;
  let running: Promise<void> | undefined;
  let asked = false;

  function wake(): void {
    if (stopping.signal.aborted) return;
    asked = true;
    running ??= run();
  }

  async function run(): Promise<void> {
    clearTimeout(timer);
    wakes_at = Infinity;
    if (together_ms > 0) await rest(together_ms, stopping.signal);
    else await undefined;
    let next: number | undefined;
    while (asked && !stopping.signal.aborted) {
      asked = false;
      next = await look();
    }
    running = undefined;
    sleepUntil(Math.min(next ?? Infinity, wakes_at, app.clock().getTime() + longest_ms));
  }

  async function look(): Promise<number | undefined> {
    try {
      return (await role.look(app.clock(), stopping.signal))?.getTime();
    } catch (cause) {
      app.log.error({ error: String(cause) }, role.failure);
      return app.clock().getTime() + AFTER_FAULT_MS;
    }
  }

  function sleepUntil(moment: number): void {
    wakes_at = moment;
    clearTimeout(timer);
    if (stopping.signal.aborted || moment === Infinity) return;
    const ms = moment - app.clock().getTime();
    timer = setTimeout(wake, Math.min(Math.max(ms, 0), LONGEST_TIMER_MS));
  }

  return {
    start: wake,
    wake,
    wakeAt(moment) {
      if (moment.getTime() >= wakes_at) return;
      if (running) wakes_at = moment.getTime();
      else sleepUntil(moment.getTime());
    },
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await running;
    },
  };
}

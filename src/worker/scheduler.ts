/** Starts what schedules run when they are due. */
import { asc, isNotNull, lte } from "drizzle-orm";
import type { App } from "../context.ts";
import { runSchedule } from "../features/schedules/run.ts";
import { schedulerOf } from "../features/schedules/service.ts";
import { schedules } from "../features/schedules/tables.ts";

/** A timer for a far future would overflow (2^31 ms); it is set again anyway. */
const LONGEST_TIMER_MS = 3_600_000;
/** Another server may have been told of a schedule, or be gone with one that is due. */
const POSTGRES_POLL_MS = 5_000;
const AFTER_FAULT_MS = 1_000;
const MOST_AT_ONCE = 100;

export function createScheduler(app: App): { start(): void; stop(): Promise<void> } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let busy: Promise<void> = Promise.resolve();
  let waiting = false;
  let stopping = false;

  async function look(): Promise<void> {
    waiting = false;
    const due = await app.db.read
      .select()
      .from(schedules)
      .where(lte(schedules.next_at, app.clock()))
      .orderBy(asc(schedules.next_at))
      .limit(MOST_AT_ONCE);
    const done = await Promise.allSettled(due.map((row) => runSchedule(app, row)));
    for (const each of done) if (each.status === "rejected") throw each.reason;
    const [next] = await app.db.read
      .select({ next_at: schedules.next_at })
      .from(schedules)
      .where(isNotNull(schedules.next_at))
      .orderBy(asc(schedules.next_at))
      .limit(1);
    if (next?.next_at) wakeIn(next.next_at.getTime() - app.clock().getTime());
  }

  /** Another look soon; those that are asked for meanwhile are this one. */
  function wake(): void {
    if (waiting || stopping) return;
    waiting = true;
    busy = busy.then(look).catch((cause) => {
      app.log.error({ error: String(cause) }, "schedules that are due could not be started");
      wakeIn(AFTER_FAULT_MS);
    });
  }

  function wakeIn(ms: number): void {
    clearTimeout(timer);
    if (stopping) return;
    const most = app.db.dialect === "postgres" ? POSTGRES_POLL_MS : LONGEST_TIMER_MS;
    timer = setTimeout(wake, Math.min(Math.max(ms, 0), most));
  }

  let poll: ReturnType<typeof setInterval> | undefined;
  return {
    start() {
      schedulerOf(app).wake = wake;
      if (app.db.dialect === "postgres") poll = setInterval(wake, POSTGRES_POLL_MS);
      wake();
    },
    async stop() {
      stopping = true;
      schedulerOf(app).wake = () => {};
      clearTimeout(timer);
      clearInterval(poll);
      await busy;
    },
  };
}

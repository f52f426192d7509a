/** Starts the handlers that ends of jobs ask for. */
import { asc, lte } from "drizzle-orm";
import type { App } from "../context.ts";
import { callHandler } from "../features/handlers/call.ts";
import { handlersOf } from "../features/handlers/outbox.ts";
import { handlerCalls } from "../features/handlers/tables.ts";

/** Another server may have stored a row and be gone. */
const POSTGRES_POLL_MS = 5_000;
const LONGEST_TIMER_MS = 3_600_000;
const AFTER_FAULT_MS = 1_000;
const MOST_AT_ONCE = 100;

export function createHandlerCaller(app: App): { start(): void; stop(): Promise<void> } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let busy: Promise<void> = Promise.resolve();
  let waiting = false;
  let stopping = false;

  async function look(): Promise<void> {
    waiting = false;
    if (stopping) return;
    const due = await app.db.read
      .select()
      .from(handlerCalls)
      .where(lte(handlerCalls.next_at, app.clock()))
      .orderBy(asc(handlerCalls.next_at), asc(handlerCalls.job_id))
      .limit(MOST_AT_ONCE);
    for (const call of due) await callHandler(app, call);
    const [next] = await app.db.read
      .select({ next_at: handlerCalls.next_at })
      .from(handlerCalls)
      .orderBy(asc(handlerCalls.next_at))
      .limit(1);
    wakeIn(next ? next.next_at.getTime() - app.clock().getTime() : LONGEST_TIMER_MS);
  }

  /** Another look soon; those that are asked for meanwhile are this one. */
  function wake(): void {
    if (waiting || stopping) return;
    waiting = true;
    busy = busy.then(look).catch((cause) => {
      app.log.error({ error: String(cause) }, "handlers that are due could not be started");
      wakeIn(AFTER_FAULT_MS);
    });
  }

  function wakeIn(ms: number): void {
    clearTimeout(timer);
    if (stopping) return;
    const most = app.db.dialect === "postgres" ? POSTGRES_POLL_MS : LONGEST_TIMER_MS;
    timer = setTimeout(wake, Math.min(Math.max(ms, 0), most));
  }

  return {
    start() {
      handlersOf(app).wake = wake;
      wake();
    },
    async stop() {
      stopping = true;
      handlersOf(app).wake = () => {};
      clearTimeout(timer);
      await busy;
    },
  };
}

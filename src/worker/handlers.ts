/** Starts the handlers that ends of jobs ask for. */
import { asc, lte } from "drizzle-orm";
import type { App } from "../context.ts";
import { callHandler } from "../features/handlers/call.ts";
import { handlersOf } from "../features/handlers/outbox.ts";
import { handlerCalls } from "../features/handlers/tables.ts";
import { createRounds } from "./rounds.ts";

const MOST_AT_ONCE = 100;

export function createHandlerCaller(app: App): { start(): void; stop(): Promise<void> } {
  const { next_at, job_id } = handlerCalls;
  const rounds = createRounds(app, {
    failure: "handlers that are due could not be started",
    async look(now, stopping) {
      const due = await app.db.read
        .select()
        .from(handlerCalls)
        .where(lte(next_at, now))
        .orderBy(asc(next_at), asc(job_id))
        .limit(MOST_AT_ONCE);
      for (const call of due) {
        if (stopping.aborted) return undefined;
        await callHandler(app, call);
      }
      const [next] = await app.db.read.select({ next_at }).from(handlerCalls).orderBy(asc(next_at)).limit(1);
      return next?.next_at;
    },
  });
  return {
    start() {
      handlersOf(app).wake = rounds.wake;
      rounds.start();
    },
    async stop() {
      handlersOf(app).wake = () => {};
      await rounds.stop();
    },
  };
}

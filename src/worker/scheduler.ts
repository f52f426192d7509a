/** Starts what schedules run when they are due. */
import { asc, isNotNull, lte } from "drizzle-orm";
import type { App } from "../context.ts";
import { runSchedule } from "../features/schedules/run.ts";
import { schedulerOf } from "../features/schedules/service.ts";
import { schedules } from "../features/schedules/tables.ts";
import { createRounds } from "./rounds.ts";

const MOST_AT_ONCE = 100;

export function createScheduler(app: App): { start(): void; stop(): Promise<void> } {
  const { next_at } = schedules;
  const rounds = createRounds(app, {
    failure: "schedules that are due could not be started",
    async look(now) {
      // What is due is left to the next start: nothing is begun any more, and nothing is put off for that.
      if (!app.accepting) return undefined;
      const due = await app.db.read
        .select()
        .from(schedules)
        .where(lte(next_at, now))
        .orderBy(asc(next_at))
        .limit(MOST_AT_ONCE);
      const done = await Promise.allSettled(due.map((row) => runSchedule(app, row)));
      for (const each of done) if (each.status === "rejected") throw each.reason;
      const [next] = await app.db.read
        .select({ next_at })
        .from(schedules)
        .where(isNotNull(next_at))
        .orderBy(asc(next_at))
        .limit(1);
      return next?.next_at ?? undefined;
    },
  });
  return {
    start() {
      schedulerOf(app).wake = rounds.wake;
      rounds.start();
    },
    async stop() {
      schedulerOf(app).wake = () => {};
      await rounds.stop();
    },
  };
}

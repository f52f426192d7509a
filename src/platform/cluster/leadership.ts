/**
 * Which of the servers that share a PostgreSQL does what is done once for all of them: schedules, pruning, ends of tokens,
 * alerts. A lease on one row, renewed by heartbeat.
 *
 * - A leader that stops resigns and says so (NOTIFY): another takes over at once.
 * - One that is killed, or cut off from the database, is taken over from when its lease ends: within `LEASE_MS`.
 * - A leader that could not renew its lease in time knows by its own count of seconds, and does nothing more. What it is in
 *   the middle of then may overlap with its successor's: tasks of the leader hold their rows as they would without one.
 */
import { and, eq, lte, or } from "drizzle-orm";
import type { Service } from "../../lib/async/start-stop.ts";
import type { App } from "../app/context.ts";
import type { Leader } from "../loops/leader.ts";
import { createPeriodicTask } from "../loops/periodic-task.ts";
import { leaders } from "./tables.ts";

/** How long a leader that says nothing stays the leader, at most. */
export const LEASE_MS = 15_000;
const HEARTBEAT_MS = 5_000;
const NAME = "instance";
const TOPIC_WAKE = "lead";
const TOPIC_RESIGNED = "resigned";

/** The leader of a database that one process has for itself. */
export const ALWAYS_LEADER: Leader = { isLeader: () => true, wake() {}, onWake() {} };

export interface Leadership extends Leader, Service {}

/** Takes part in the election, from `start` to `stop`. Until then nobody leads here. */
export function createLeadership(app: App): Leadership {
  const tasks = new Map<string, (reason: "woken" | "elected") => void>();
  const server = app.queue.worker;
  /** Milliseconds of `performance.now()`; counted from before the row was written, so that it ends here first. */
  let leads_until = 0;
  const isLeader = () => performance.now() < leads_until;

  app.relay.on(TOPIC_WAKE, (task) => {
    if (isLeader()) tasks.get(task!)?.("woken");
  });

  /** Takes the lease if it is free, or renews it. @returns when the next may take it */
  async function campaign(now: Date): Promise<Date | undefined> {
    const began = performance.now();
    const held_until = new Date(now.getTime() + LEASE_MS);
    const held = await app.db.write((tx) =>
      tx
        .insert(leaders)
        .values({ name: NAME, server, held_until })
        .onConflictDoUpdate({
          target: leaders.name,
          set: { server, held_until },
          setWhere: or(eq(leaders.server, server), lte(leaders.held_until, now)),
        })
        .returning({ server: leaders.server }),
    );
    if (held.length === 0) {
      leads_until = 0;
      const [other] = await app.db.read.select().from(leaders).where(eq(leaders.name, NAME));
      return other?.held_until;
    }
    const wasLeader = isLeader();
    leads_until = began + LEASE_MS;
    if (!wasLeader) {
      app.log.debug({ server }, "this server leads from now on");
      for (const run of [...tasks.values()]) run("elected");
    }
    return undefined;
  }

  async function resign(): Promise<void> {
    if (!isLeader()) return;
    leads_until = 0;
    await app.db.write((tx) =>
      tx.delete(leaders).where(and(eq(leaders.name, NAME), eq(leaders.server, server))),
    );
    app.relay.tell(TOPIC_RESIGNED);
  }

  const task = createPeriodicTask(app, {
    run: campaign,
    failure: "the leader of the servers could not be elected",
    interval_ms: HEARTBEAT_MS,
    last: resign,
  });
  app.relay.on(TOPIC_RESIGNED, task.wake);
  app.relay.onGap(task.wake);
  return {
    start: task.start,
    stop: task.stop,
    isLeader,
    wake: (name) => app.relay.tell(TOPIC_WAKE, name),
    onWake(name, run) {
      if (run) tasks.set(name, run);
      else tasks.delete(name);
    },
  };
}

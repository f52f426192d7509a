/**
 * Leader election: one of the servers that share a PostgreSQL database runs the tasks that must run once: schedules,
 * pruning, token expiry, alerts. The leader holds a lease on one row and renews it by heartbeat.
 *
 * - A leader that stops resigns and publishes it, so that another takes over at once.
 * - When a leader is killed or loses the database, another takes over once the lease expires, within `LEADER_LEASE_MS`.
 * - A leader that cannot renew in time notices by its own monotonic clock and starts nothing more. Work in progress may
 *   overlap with its successor's, so leader tasks still lock their rows.
 */
import { and, eq, lte, or } from "drizzle-orm";
import type { Service } from "../../lib/async/service.ts";
import type { App } from "../app/context.ts";
import type { Leader } from "../loops/leader.ts";
import { createPeriodicTask } from "../loops/periodic-task.ts";
import { leaders } from "./tables.ts";

/** Longest time that a silent leader stays the leader. */
export const LEADER_LEASE_MS = 15_000;
const RENEWAL_INTERVAL_MS = 5_000;
const LEADER_ROW = "instance";
const TOPIC_WAKE = "lead";
const TOPIC_RESIGNED = "resigned";

/** The leader of a database that only one process uses. */
export const ALWAYS_LEADER: Leader = { isLeader: () => true, wake() {}, onWake() {} };

export interface Leadership extends Leader, Service {}

/** Takes part in the election from `start` to `stop`. Before `start`, this server never leads. */
export function createLeadership(app: App): Leadership {
  const tasks = new Map<string, (reason: "woken" | "elected") => void>();
  const server = app.queue.worker;
  /** In `performance.now()` time, counted from before the row is written, so that the lease expires here first. */
  let leads_until = 0;
  const isLeader = () => performance.now() < leads_until;

  app.bus.subscribe(TOPIC_WAKE, (task) => {
    if (isLeader()) tasks.get(task!)?.("woken");
  });

  /**
   * Acquires the lease if it is free, or renews it.
   * @returns when another server's lease expires, undefined if this one leads
   */
  async function campaign(now: Date): Promise<Date | undefined> {
    const began = performance.now();
    const held_until = new Date(now.getTime() + LEADER_LEASE_MS);
    const held = await app.db.write((tx) =>
      tx
        .insert(leaders)
        .values({ name: LEADER_ROW, server, held_until })
        .onConflictDoUpdate({
          target: leaders.name,
          set: { server, held_until },
          setWhere: or(eq(leaders.server, server), lte(leaders.held_until, now)),
        })
        .returning({ server: leaders.server }),
    );
    if (held.length === 0) {
      leads_until = 0;
      const [other] = await app.db.read.select().from(leaders).where(eq(leaders.name, LEADER_ROW));
      return other?.held_until;
    }
    const wasLeader = isLeader();
    leads_until = began + LEADER_LEASE_MS;
    if (!wasLeader) {
      app.log.debug({ server }, "this server became the leader");
      for (const run of [...tasks.values()]) run("elected");
    }
    return undefined;
  }

  async function resign(): Promise<void> {
    if (!isLeader()) return;
    leads_until = 0;
    await app.db.write((tx) =>
      tx.delete(leaders).where(and(eq(leaders.name, LEADER_ROW), eq(leaders.server, server))),
    );
    app.bus.publish(TOPIC_RESIGNED);
  }

  const task = createPeriodicTask(app, {
    run: campaign,
    failure_message: "the leader election failed",
    interval_ms: RENEWAL_INTERVAL_MS,
    after_stop: resign,
  });
  app.bus.subscribe(TOPIC_RESIGNED, task.wake);
  app.bus.onMissed(task.wake);
  return {
    start: task.start,
    stop: task.stop,
    isLeader,
    wake: (name) => app.bus.publish(TOPIC_WAKE, name),
    onWake(name, run) {
      if (run) tasks.set(name, run);
      else tasks.delete(name);
    },
  };
}

/**
 * Connects all enabled WebSocket triggers. Among several servers a trigger is leased by one: its id is on the row, with
 * its last heartbeat. A trigger whose lease has expired is taken over.
 *
 * A message passes `websocket-connection.ts` (over platform/outgoing/websocket.ts), `websocket-inbox.ts` (order,
 * parallel runs) and ../trigger-jobs.ts, which submits the job.
 */
import { and, eq, isNull, lte, or } from "drizzle-orm";
import type { App } from "../../../../platform/app/context.ts";
import { createPeriodicTask, type PeriodicTask } from "../../../../platform/loops/periodic-task.ts";
import { getListener } from "../service.ts";
import { type WebsocketTrigger, websocketTriggers } from "../tables.ts";
import { createLeaseCondition } from "../trigger-jobs.ts";
import { startConnection } from "./websocket-connection.ts";

const LEASE_MS = 15_000;
/** Interval of heartbeats, and of the search for triggers without a server. */
const HEARTBEAT_MS = 4_000;

interface OpenConnection {
  row: WebsocketTrigger;
  close(): Promise<void>;
}

const triggerKey = ({ workspace_id, path }: WebsocketTrigger) => `${workspace_id}/${path}`;

export function createWebsocketListener(app: App): PeriodicTask {
  const { db } = app;
  const server = app.queue.worker;
  const kept = new Map<string, OpenConnection>();
  const task = createPeriodicTask(app, {
    failure_message: "WebSocket triggers could not be polled",
    after_stop: letGo,
    async run(now, stopping) {
      await look(stopping);
      // On SQLite there is only one server, which is woken by every change: without triggers it need not poll.
      const isAlone = db.dialect === "sqlite" && kept.size === 0;
      return isAlone ? undefined : new Date(now.getTime() + HEARTBEAT_MS);
    },
  });

  async function look(stopping: AbortSignal): Promise<void> {
    const rows = await db.read.select().from(websocketTriggers).where(eq(websocketTriggers.enabled, true));
    const wanted = new Map(rows.map((row) => [triggerKey(row), row]));
    for (const [key, one] of kept) {
      const isOurs = isSame(one.row, wanted.get(key)) && (await sayAlive(one.row));
      if (isOurs) continue;
      kept.delete(key);
      await one.close();
    }
    for (const [key, row] of wanted) {
      if (!kept.has(key) && !stopping.aborted && (await hold(row))) {
        kept.set(key, { row, close: startConnection(app, { row, server }) });
      }
    }
  }

  /** Whether the trigger is unchanged since it was leased, and still leased by this server. */
  function isSame(row: WebsocketTrigger, now: WebsocketTrigger | undefined): boolean {
    return now?.server_id === server && now.edited_at.getTime() === row.edited_at.getTime();
  }

  async function sayAlive(row: WebsocketTrigger): Promise<boolean> {
    const said = await db.write((tx) =>
      tx
        .update(websocketTriggers)
        .set({ last_server_ping: app.clock() })
        .where(createLeaseCondition({ row, server }))
        .returning({ path: websocketTriggers.path }),
    );
    return said.length > 0;
  }

  /** Leases a trigger. If several servers try at once, one succeeds. */
  async function hold(row: WebsocketTrigger): Promise<boolean> {
    const now = app.clock();
    const { server_id, last_server_ping: ping } = websocketTriggers;
    const isFree = or(isNull(server_id), isNull(ping), lte(ping, new Date(now.getTime() - LEASE_MS)));
    const taken = await db.write((tx) =>
      tx
        .update(websocketTriggers)
        .set({ server_id: server, last_server_ping: now })
        .where(
          and(
            eq(websocketTriggers.workspace_id, row.workspace_id),
            eq(websocketTriggers.path, row.path),
            eq(websocketTriggers.edited_at, row.edited_at),
            eq(websocketTriggers.enabled, true),
            // On SQLite the data directory has one process: any other server on the row is gone.
            db.dialect === "sqlite" ? undefined : isFree,
          ),
        )
        .returning({ path: websocketTriggers.path }),
    );
    return taken.length > 0;
  }

  /** Closes all connections, then releases the leases. If that fails, they expire. */
  async function letGo(): Promise<void> {
    if (kept.size === 0) return;
    await Promise.allSettled([...kept.values()].map(({ close }) => close()));
    kept.clear();
    await db.write((tx) =>
      tx
        .update(websocketTriggers)
        .set({ server_id: null, last_server_ping: null })
        .where(eq(websocketTriggers.server_id, server)),
    );
  }

  getListener(app).wake = task.wake;
  return task;
}

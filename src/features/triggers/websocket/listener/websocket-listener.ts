/**
 * Listens for all WebSocket triggers that are switched on. Of several servers on one database one holds a trigger: its
 * name stands on the row, together with when it last said that it is alive. One that says nothing for too long is taken
 * over from.
 */
import { and, eq, isNull, lte, or } from "drizzle-orm";
import type { App } from "../../../../platform/app/context.ts";
import { createPeriodicTask, type PeriodicTask } from "../../../../platform/loops/periodic-task.ts";
import { isHeld } from "../messages.ts";
import { listenerOf } from "../service.ts";
import { type WebsocketTrigger, websocketTriggers } from "../tables.ts";
import { keepConnected } from "./websocket-connection.ts";

const LEASE_MS = 15_000;
/** Whoever holds a trigger says so this often; whoever does not looks whether one is free. */
const HEARTBEAT_MS = 4_000;

interface Kept {
  row: WebsocketTrigger;
  close(): Promise<void>;
}

const keyOf = ({ workspace_id, path }: WebsocketTrigger) => `${workspace_id}/${path}`;

export function createWebsocketListener(app: App): PeriodicTask {
  const { db } = app;
  const server = app.queue.worker;
  const kept = new Map<string, Kept>();
  const task = createPeriodicTask(app, {
    failure: "WebSocket triggers could not be looked after",
    last: letGo,
    async run(now, stopping) {
      await look(stopping);
      // Alone on its database a server hears of every change, and has nobody to tell that it is alive.
      const isAlone = db.dialect === "sqlite" && kept.size === 0;
      return isAlone ? undefined : new Date(now.getTime() + HEARTBEAT_MS);
    },
  });

  async function look(stopping: AbortSignal): Promise<void> {
    const rows = await db.read.select().from(websocketTriggers).where(eq(websocketTriggers.enabled, true));
    const wanted = new Map(rows.map((row) => [keyOf(row), row]));
    for (const [key, one] of kept) {
      const isOurs = isSame(one.row, wanted.get(key)) && (await sayAlive(one.row));
      if (isOurs) continue;
      kept.delete(key);
      await one.close();
    }
    for (const [key, row] of wanted) {
      if (!kept.has(key) && !stopping.aborted && (await hold(row))) {
        kept.set(key, { row, close: keepConnected(app, { row, server }) });
      }
    }
  }

  /** As it was when it was taken, and still this server's. */
  function isSame(row: WebsocketTrigger, now: WebsocketTrigger | undefined): boolean {
    return now?.server_id === server && now.edited_at.getTime() === row.edited_at.getTime();
  }

  async function sayAlive(row: WebsocketTrigger): Promise<boolean> {
    const said = await db.write((tx) =>
      tx
        .update(websocketTriggers)
        .set({ last_server_ping: app.clock() })
        .where(isHeld({ row, server }))
        .returning({ path: websocketTriggers.path }),
    );
    return said.length > 0;
  }

  /** Of all who try at once, one gets it. */
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
            // One process has the data directory: whoever stands there is gone.
            db.dialect === "sqlite" ? undefined : isFree,
          ),
        )
        .returning({ path: websocketTriggers.path }),
    );
    return taken.length > 0;
  }

  /** Ends all connections, then gives the triggers back. Where that fails, their leases end by themselves. */
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

  listenerOf(app).wake = task.wake;
  return task;
}

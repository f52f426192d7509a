/**
 * Reads that may take long, on a thread and a connection of their own, because bun:sqlite is synchronous: the event loop
 * serves others meanwhile. One runs at a time. The thread is started by the first and ends when none has come for a
 * while.
 */
import type { SQL } from "drizzle-orm";
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import { waitAtMost } from "../../lib/async/sleep.ts";
import { Internal } from "../../lib/errors.ts";

export interface AsideRequest {
  id: number;
  path: string;
  text: string;
  parameters: unknown[];
}

export interface AsideReply {
  id: number;
  rows?: unknown[];
  error?: string;
}

/** Time without a read after which the thread ends. */
const IDLE_MS = 60_000;
/** Most that the end of the server waits for a read. */
const MAX_WAIT_MS = 5_000;

/** Located like the thread that analyses scripts. */
const PROGRAM = import.meta.url.includes("$bunfs")
  ? "./src/database/sqlite/aside-thread.ts"
  : new URL("aside-thread.ts", import.meta.url).href;

export interface AsideReader {
  /** Runs a query and returns its rows, as the driver has them. @throws Internal if it fails */
  rows<R>(query: SQL): Promise<R[]>;
  close(): Promise<void>;
}

interface PendingRead {
  resolve: (rows: unknown[]) => void;
  reject: (cause: Error) => void;
}

interface Thread {
  worker: Worker;
  pending: Map<number, PendingRead>;
  closed: PromiseWithResolvers<void>;
}

/** @param path of the database file, which exists */
export function createAsideReader(path: string): AsideReader {
  const dialect = new SQLiteSyncDialect();
  let thread: Thread | undefined;
  let last_id = 0;
  let idle: ReturnType<typeof setTimeout> | undefined;

  function start(): Thread {
    const started: Thread = {
      worker: new Worker(PROGRAM),
      pending: new Map(),
      closed: Promise.withResolvers(),
    };
    const { worker, pending, closed } = started;
    worker.onmessage = ({ data }: MessageEvent<AsideReply | "closed">) => {
      if (data === "closed") return closed.resolve();
      const { id, rows, error } = data;
      const { resolve, reject } = pending.get(id)!;
      pending.delete(id);
      if (pending.size === 0 && thread === started) rest(worker);
      if (rows) resolve(rows);
      else reject(new Internal(`a read of the database failed: ${error}`));
    };
    worker.onerror = ({ message }) => {
      if (thread === started) thread = undefined;
      closed.resolve();
      for (const { reject } of pending.values())
        reject(new Internal(`the thread that reads the database failed: ${message}`));
      pending.clear();
    };
    return started;
  }

  /** An idle thread must not keep the process alive. */
  function rest(worker: Worker): void {
    worker.unref();
    idle = setTimeout(() => void end(), IDLE_MS);
    idle.unref();
  }

  async function end(): Promise<void> {
    const ending = thread;
    thread = undefined;
    clearTimeout(idle);
    if (!ending) return;
    ending.worker.postMessage("close");
    await waitAtMost(MAX_WAIT_MS, ending.closed.promise);
    ending.worker.terminate();
  }

  return {
    rows<R>(query: SQL): Promise<R[]> {
      const { sql: text, params: parameters } = dialect.sqlToQuery(query);
      clearTimeout(idle);
      thread ??= start();
      const { worker, pending } = thread;
      worker.ref();
      const id = ++last_id;
      return new Promise((resolve, reject) => {
        pending.set(id, { resolve: resolve as (rows: unknown[]) => void, reject });
        worker.postMessage({ id, path, text, parameters } satisfies AsideRequest);
      });
    },
    close: end,
  };
}

/**
 * Long reads on a separate thread and connection: bun:sqlite is synchronous, so they would block the event loop. One
 * read runs at a time. The first read starts the thread, which ends after some idle time.
 * A SQLite statement cannot be interrupted from outside its thread. If a statement exceeds its time limit, its thread
 * is abandoned until the statement ends, and the next read starts a new thread. The number of abandoned threads is
 * bounded.
 */
import type { SQL } from "drizzle-orm";
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import { waitAtMost, withTimeout } from "../../lib/async/sleep.ts";
import { createSlots } from "../../lib/async/slots.ts";
import { Internal, Unavailable } from "../../lib/errors.ts";
import { type AsideOptions, createTimeoutError, READ_LIMIT_MS } from "../read-limit.ts";

export interface AsideRequest {
  path: string;
  text: string;
  parameters: unknown[];
}

/** Place of a text that was sent before the reply: a message that is a text takes no time, while texts inside one do. */
export type LongText = [row: number, column: string];

export interface AsideReply {
  rows?: Record<string, unknown>[];
  texts?: LongText[];
  error?: string;
}

/** Idle time after which the thread ends. */
const IDLE_MS = 60_000;
/** Longest time that a shutdown waits for a running read. */
const MAX_WAIT_MS = 5_000;
/** Maximum number of abandoned threads: each keeps one processor busy. */
const MAX_LEFT = 2;

/** Located like the thread that analyses scripts. */
const PROGRAM = import.meta.url.includes("$bunfs")
  ? "./src/database/sqlite/aside-thread.ts"
  : new URL("aside-thread.ts", import.meta.url).href;

export interface AsideReader {
  /**
   * Runs a query and returns its rows with raw driver values.
   * @throws Unavailable when the time limit expires, or while too many abandoned reads are running
   * @throws Internal if the query fails
   */
  rows<R>(query: SQL, options?: AsideOptions): Promise<R[]>;
  close(): Promise<void>;
}

interface Thread {
  worker: Worker;
  /** Runs one read on the thread and waits for its reply. @throws Internal if the thread fails */
  read(request: AsideRequest): Promise<AsideReply>;
  /** Ends the thread after its current statement and resolves when it has ended. */
  end(): Promise<void>;
}

function startThread(): Thread {
  const worker = new Worker(PROGRAM);
  const ended = Promise.withResolvers<void>();
  let pending: PromiseWithResolvers<AsideReply> | undefined;
  let texts: string[] = [];
  worker.onmessage = ({ data }: MessageEvent<AsideReply | "closed" | string>) => {
    if (data === "closed") return ended.resolve();
    if (typeof data === "string") return texts.push(data);
    for (const [index, [row, column]] of data.texts?.entries() ?? []) data.rows![row]![column] = texts[index];
    texts = [];
    pending?.resolve(data);
  };
  worker.onerror = ({ message }) => {
    ended.resolve();
    pending?.reject(new Internal(`the thread that reads the database failed: ${message}`));
  };
  return {
    worker,
    read(request) {
      pending = Promise.withResolvers();
      worker.postMessage(request);
      return pending.promise;
    },
    async end() {
      worker.postMessage("close");
      await ended.promise;
      worker.terminate();
    },
  };
}

/** Creates the reader of long queries on a SQLite file. @param path of the database file, which exists */
export function createAsideReader(path: string): AsideReader {
  const dialect = new SQLiteSyncDialect();
  const slots = createSlots(1);
  let thread: Thread | undefined;
  /** Threads that end after their current statement. */
  const ending = new Map<Thread, Promise<void>>();
  let idle: ReturnType<typeof setTimeout> | undefined;
  let state: "open" | "closing" | "closed" = "open";

  /** Stops giving reads to this thread. */
  function retire(): void {
    const retired = thread;
    thread = undefined;
    clearTimeout(idle);
    if (!retired) return;
    retired.worker.unref();
    const gone = retired.end().then(() => void ending.delete(retired));
    ending.set(retired, gone);
  }

  /** An idle thread must not keep the process alive. */
  function rest(): void {
    thread?.worker.unref();
    idle = setTimeout(retire, IDLE_MS);
    idle.unref();
  }

  async function run(request: AsideRequest, timeout_ms: number): Promise<unknown[]> {
    if (state === "closed") throw new Internal("the database is closed");
    if (ending.size >= MAX_LEFT) {
      const message = "reading the database is not possible now: earlier reads take longer than they may";
      throw new Unavailable(message, { hint: "try again later" });
    }
    clearTimeout(idle);
    thread ??= startThread();
    thread.worker.ref();
    let reply: AsideReply;
    try {
      reply = await withTimeout(timeout_ms, thread.read(request), () => createTimeoutError(timeout_ms));
    } catch (cause) {
      retire();
      throw cause;
    }
    rest();
    if (reply.rows) return reply.rows;
    throw new Internal(`a read of the database failed: ${reply.error}`);
  }

  return {
    rows<R>(query: SQL, { timeout_ms = READ_LIMIT_MS }: AsideOptions = {}): Promise<R[]> {
      if (state !== "open") return Promise.reject(new Internal("the database is closed"));
      const { sql: text, params: parameters } = dialect.sqlToQuery(query);
      return slots.run(() => run({ path, text, parameters }, timeout_ms)) as Promise<R[]>;
    },
    async close() {
      state = "closing";
      const closing = slots.run(async () => {
        retire();
        await Promise.all(ending.values());
      });
      await waitAtMost(MAX_WAIT_MS, closing);
      state = "closed";
      retire();
      for (const { worker } of ending.keys()) worker.terminate();
    },
  };
}

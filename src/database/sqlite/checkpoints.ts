/**
 * Checkpoints of the write-ahead log: they copy its pages into the database file, on a thread of their own, because
 * copying and flushing megabytes would block the event loop for a tenth of a second.
 *
 * A checkpoint leaves what is written meanwhile, and SQLite reuses the log only once all of it has been copied. So a
 * first checkpoint runs beside the writes, and a second, short one while the writes wait (without blocking the event
 * loop).
 */
import type { Database as SqliteFile } from "bun:sqlite";

export interface CheckpointRequest {
  path: string;
}

export interface CheckpointReply {
  error?: string;
}

/** Pages in the log (40 MB) after which it is copied into the database file. */
const CHECKPOINT_PAGES = 10_000;
/** Commits between two looks at the log. */
const COMMITS_PER_LOOK = 16;

/** Most that writes wait for a checkpoint, and the end of the server; it goes on beside them. */
const MAX_WAIT_MS = 5_000;

/** Located like the thread that analyses scripts. */
const PROGRAM = import.meta.url.includes("$bunfs")
  ? "./src/database/sqlite/checkpoint-thread.ts"
  : new URL("checkpoint-thread.ts", import.meta.url).href;

export interface Checkpoints {
  /**
   * Call after each commit; starts a checkpoint when the log has grown.
   * @param isLong the commit has written much
   */
  afterCommit(isLong: boolean): void;
  /** Set while the next write has to wait. */
  hold(): Promise<void> | undefined;
  /** Copies all that the log holds by now. */
  run(): Promise<void>;
  close(): Promise<void>;
}

/** @param connection of the event loop, whose log is looked at */
export function createCheckpoints(connection: SqliteFile, path: string): Checkpoints {
  const counts = connection.prepare("PRAGMA wal_checkpoint(NOOP)");
  let thread: Worker | undefined;
  let commits = 0;
  let running: Promise<void> | undefined;
  let holding: Promise<void> | undefined;
  /** Pages in the log that start the next checkpoint: more if a reader kept the last one from completing. */
  let due_at = CHECKPOINT_PAGES;

  /** Pages in the log, and those of them that have been copied. */
  function readCounts(): { pages: number; copied: number } {
    const [, pages, copied] = (counts.values()[0] ?? []) as number[];
    return { pages: pages ?? 0, copied: copied ?? 0 };
  }

  function ask(request: CheckpointRequest | "close"): Promise<void> {
    const worker = thread ?? new Worker(PROGRAM);
    thread = worker;
    worker.unref();
    return new Promise((resolve) => {
      // A checkpoint that fails is repeated when the log has grown further: nothing is lost.
      worker.onmessage = () => resolve();
      worker.onerror = () => {
        thread = undefined;
        resolve();
      };
      worker.postMessage(request);
    });
  }

  async function checkpoint(): Promise<void> {
    await ask({ path });
    const { pages, copied } = readCounts();
    if (copied < pages) {
      const rest = ask({ path });
      holding = limitWait(rest);
      await holding;
      holding = undefined;
      await rest;
    }
    const after = readCounts();
    due_at = after.copied < after.pages ? after.pages + CHECKPOINT_PAGES : CHECKPOINT_PAGES;
  }

  function start(): Promise<void> {
    running ??= checkpoint().finally(() => {
      running = undefined;
    });
    return running;
  }

  return {
    afterCommit(isLong) {
      if (++commits % COMMITS_PER_LOOK !== 0 && !isLong) return;
      if (running === undefined && readCounts().pages > due_at) start().catch(() => {});
    },
    hold: () => holding,
    run: start,
    async close() {
      if (running) await limitWait(running);
      if (thread === undefined) return;
      await limitWait(ask("close"));
      thread.terminate();
    },
  };
}

function limitWait(work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(end, MAX_WAIT_MS);
    work.then(end, end);
  });
}

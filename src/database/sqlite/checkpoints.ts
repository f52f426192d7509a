/**
 * Checkpoints of the write-ahead log: they copy its pages into the database file, on a thread of their own, because
 * copying and flushing megabytes would block the event loop for a tenth of a second.
 *
 * A checkpoint leaves what is written meanwhile, and SQLite reuses the log only once all of it has been copied. So
 * checkpoints run beside the writes until little is left, and a last, short one while the writes wait (without blocking
 * the event loop).
 */
import type { Database as SqliteFile } from "bun:sqlite";
import { waitAtMost } from "../../lib/async/sleep.ts";
import { createPageCount, readVersion } from "./log-size.ts";

export interface CheckpointRequest {
  path: string;
}

export interface CheckpointReply {
  /** Pages of the log that are in the database file by now. */
  copied?: number;
  error?: string;
}

/** Pages in the log (40 MB) after which it is copied into the database file. */
const CHECKPOINT_PAGES = 10_000;
/** Checkpoints that run beside the writes, each of which copies what was written during the one before. */
const MAX_ROUNDS = 6;
/** Pages that may be left to the last one, for which the writes wait. */
const HELD_PAGES = 500;
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
   * Call after each commit; starts a checkpoint when the log has grown. It never throws: the writes are committed.
   * @param isLong the commit has written much
   */
  afterCommit(isLong: boolean): void;
  /** Whether one runs, which keeps the disk busy. */
  isRunning(): boolean;
  /** Set while the next write has to wait. */
  hold(): Promise<void> | undefined;
  /** Copies all that the log holds by now. */
  run(): Promise<void>;
  close(): Promise<void>;
}

/**
 * @param connections those of the event loop: the one that writes, and the one by which the log is looked at
 * @param version of SQLite
 */
export function createCheckpoints(
  connections: { writer: SqliteFile; reader: SqliteFile },
  path: string,
  version: string = readVersion(connections.reader),
): Checkpoints {
  const readPages = createPageCount(connections, path, version);
  let thread: Worker | undefined;
  let commits = 0;
  let running: Promise<void> | undefined;
  let holding: Promise<void> | undefined;
  /** Pages in the log that start the next checkpoint: more if a reader kept the last one from completing. */
  let due_at = CHECKPOINT_PAGES;

  /** Pages that the log had copied at the end of the last checkpoint. */
  let copied = 0;

  function ask(request: CheckpointRequest | "close"): Promise<void> {
    const worker = thread ?? new Worker(PROGRAM);
    thread = worker;
    worker.unref();
    return new Promise((resolve) => {
      // A checkpoint that fails is repeated when the log has grown further: nothing is lost.
      worker.onmessage = ({ data }: MessageEvent<CheckpointReply>) => {
        copied = data.copied ?? 0;
        resolve();
      };
      worker.onerror = () => {
        thread = undefined;
        resolve();
      };
      worker.postMessage(request);
    });
  }

  async function checkpoint(): Promise<void> {
    await ask({ path });
    for (let round = 1; round < MAX_ROUNDS && readPages() - copied > HELD_PAGES; round++) await ask({ path });
    if (copied < readPages()) {
      const rest = ask({ path });
      holding = waitAtMost(MAX_WAIT_MS, rest);
      await holding;
      holding = undefined;
      await rest;
    }
    const pages = readPages();
    due_at = copied < pages ? pages + CHECKPOINT_PAGES : CHECKPOINT_PAGES;
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
      try {
        if (running === undefined && readPages() > due_at) start().catch(reportError);
      } catch (cause) {
        reportError(cause);
      }
    },
    isRunning: () => running !== undefined,
    hold: () => holding,
    async run() {
      // A running one may have passed what was written since it began.
      if (running) await running.catch(() => {});
      await start();
    },
    async close() {
      if (running) await waitAtMost(MAX_WAIT_MS, running);
      if (thread === undefined) return;
      await waitAtMost(MAX_WAIT_MS, ask("close"));
      thread.terminate();
    },
  };
}

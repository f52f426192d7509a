/**
 * Checkpoints of the write-ahead log: they copy its pages into the database file. They run on a separate thread,
 * because copying and flushing megabytes would block the event loop for about 100 ms.
 * A checkpoint does not copy pages written while it runs, and SQLite reuses the log only after all pages were copied.
 * So checkpoints run concurrently with writes until few pages are left; then one short checkpoint runs while writes
 * wait (without blocking the event loop).
 */
import type { Database as SqliteFile } from "bun:sqlite";
import { waitAtMost } from "../../lib/async/sleep.ts";
import { createPageCount, readVersion } from "./log-size.ts";

export interface CheckpointRequest {
  path: string;
}

export interface CheckpointReply {
  /** Number of the log's pages that have been copied into the database file. */
  copied?: number;
  error?: string;
}

/** Number of log pages (40 MB) that triggers a checkpoint. */
const CHECKPOINT_PAGES = 10_000;
/** Maximum number of concurrent checkpoints in a row; each copies what was written during the previous one. */
const MAX_ROUNDS = 6;
/** Number of pages that the final checkpoint, which blocks writes, may copy. */
const HELD_PAGES = 500;
/** The log's size is read every this many commits. */
const COMMITS_PER_LOOK = 16;

/** Longest time that writes, or a shutdown, wait for a checkpoint; it continues in the background. */
const MAX_WAIT_MS = 5_000;

/** Located like the thread that analyses scripts. */
const PROGRAM = import.meta.url.includes("$bunfs")
  ? "./src/database/sqlite/checkpoint-thread.ts"
  : new URL("checkpoint-thread.ts", import.meta.url).href;

export interface Checkpoints {
  /**
   * Call it after each commit. Starts a checkpoint if the log has grown enough. It never throws, since the writes are
   * committed.
   * @param isLong whether the commit wrote much data
   */
  afterCommit(isLong: boolean): void;
  /** Whether a checkpoint is running, which keeps the disk busy. */
  isRunning(): boolean;
  /** Returns a promise for the next write to wait for; undefined if it need not wait. */
  hold(): Promise<void> | undefined;
  /** Copies all pages that the log holds now. */
  run(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Creates the service that copies the write-ahead log into the database file.
 * @param connections the event loop's connections: the writer, and the reader that reads the log's size
 * @param version SQLite's version
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
  /**
   * Number of log pages that triggers the next checkpoint. It is raised if a reader prevented the last checkpoint
   * from completing.
   */
  let due_at = CHECKPOINT_PAGES;

  /** Number of log pages copied when the last checkpoint ended. */
  let copied = 0;

  function ask(request: CheckpointRequest | "close"): Promise<void> {
    const worker = thread ?? new Worker(PROGRAM);
    thread = worker;
    worker.unref();
    return new Promise((resolve) => {
      // A failed checkpoint is repeated when the log has grown further; no data is lost.
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
      // A checkpoint that is already running may miss pages written since it began.
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

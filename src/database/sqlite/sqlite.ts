/**
 * SQLite in WAL mode with one writer and one reader connection. Acknowledged writes are on disk.
 *
 * `write` is a group commit: writes that arrive while the disk is busy run one after another in one transaction, and all
 * resolve after the shared commit. Drizzle's `transaction()` is not used: it is synchronous and would commit before an
 * async body ends.
 *
 * `synchronous=FULL` equals `NORMAL` plus a flush of the write-ahead log in each COMMIT (https://sqlite.org/pragma.html
 * #pragma_synchronous). Instead, COMMIT runs under NORMAL, then the log is flushed (`log-flush.ts`), and then the writes
 * resolve. Nobody learns of a write before the flush: the writer waits, and so do readers (`readBarrier`). Only jobs that
 * this process runs start before it (`tx.beforeFlush`).
 */
import { Database as SqliteFile } from "bun:sqlite";
import type { Awaitable } from "../../lib/async/awaitable.ts";
import { Internal, Unavailable } from "../../lib/errors.ts";
import {
  countCommit,
  countFailure,
  createCommitStats,
  type Database,
  runEffects,
  type Tx,
  type WriteOptions,
} from "../database.ts";
import { createAsideReader } from "./aside.ts";
import { createCheckpoints } from "./checkpoints.ts";
import { createLogFlush } from "./log-flush.ts";
import { type CommittedBatch, type PendingWrite, settleBatch } from "./pending-write.ts";
import { configureConnection, createReader, openForReading } from "./statements.ts";
import { toStorageError } from "./storage-error.ts";
import { createTransaction, MAX_BATCH_MS } from "./transaction.ts";

/**
 * A commit waits for more writes while each turn of the event loop brings some: up to this number, and for this long. A
 * write that comes alone does not wait.
 */
const GATHERED_WRITES = 64;
const GATHER_MS = 3;

/** A flush for so many writes runs on another thread: meanwhile the event loop prepares those of the next commit. */
const MANY_WRITES = 16;

/** Delay of the flush after a write that may share one, or a lazy write, if no other write causes one. */
const SHARED_FLUSH_MS = 20;

/** Log pages after which a commit runs the checkpoint itself, because the checkpoint thread lags far behind. */
const LAST_RESORT_PAGES = 200_000;

/** Page caches. New rows are adjacent in the table and its indexes, so that writing touches few pages. */
const WRITER_CACHE_KB = 4_096;
const READER_CACHE_KB = 16_384;

/** Free pages released per step: some milliseconds of the writer's time. */
const SHRINK_PAGES = 200;
/** The file is truncated after this many released pages, because large truncations take long. */
const TRUNCATE_PAGES = 2_000;
/** Free pages kept for new data: the larger of this number and this share of all pages. */
const SPARE = { pages: 250, share: 1 / 8 };

export interface SqliteOptions {
  path: string;
  /** Maximum database size in bytes; 0 means no limit. */
  max_bytes: number;
}

export function openSqlite(options: SqliteOptions): Database {
  const writer = new SqliteFile(options.path, { create: true, readwrite: true });
  // Effective only on a new, empty file, before its journal mode is set; older files never shrink.
  writer.run("PRAGMA auto_vacuum = INCREMENTAL");
  configureConnection(writer, WRITER_CACHE_KB);
  writer.run(`PRAGMA wal_autocheckpoint = ${LAST_RESORT_PAGES}`);
  if (options.max_bytes > 0) {
    const { page_size } = writer.query("PRAGMA page_size").get() as { page_size: number };
    writer.run(`PRAGMA max_page_count = ${Math.max(1, Math.floor(options.max_bytes / page_size))}`);
  }
  const reader = openForReading(options.path, READER_CACHE_KB);

  const number = (pragma: string) =>
    (reader.query(`PRAGMA ${pragma}`).values()[0] as [number] | undefined)?.[0] ?? 0;
  const canShrink = number("auto_vacuum") === 2; // INCREMENTAL
  const vacuum = writer.prepare(`PRAGMA incremental_vacuum(${SHRINK_PAGES})`);
  /** Released pages that the file still contains. */
  let cuttable = 0;
  const aside = createAsideReader(options.path);
  const checkpoints = createCheckpoints({ writer, reader }, options.path);

  const counters = createCommitStats();
  const transaction = createTransaction(writer, counters);
  let queue: PendingWrite[] = [];
  let flushing: Promise<void> | undefined;
  /** Set after a failed flush: log and disk may differ until a restart. */
  let broken: Unavailable | undefined;
  const listeners: ((cause: Error) => void)[] = [];
  let closed = false;
  let syncing: Promise<void> | undefined;
  /** Batches that are committed and not on disk. */
  const unflushed: CommittedBatch[] = [];
  /** Whether anything was committed since the last flush. */
  let isDirty = false;
  /** A requested flush. */
  let requested: PromiseWithResolvers<void> | undefined;
  const log = createLogFlush(`${options.path}-wal`, (cause) => {
    const message = "the disk refused to flush the database's log: nothing more is stored until a restart";
    // SQLite's own code for a failed flush, which distinguishes it from errors of other files.
    broken = new Unavailable(message, { cause: Object.assign(cause, { code: "SQLITE_IOERR_FSYNC" }) });
    counters.broken = broken;
    for (const listener of listeners) listener(broken);
    return broken;
  });

  let flushSoon: ReturnType<typeof setTimeout> | undefined;
  function flushLater(): void {
    isDirty = true;
    flushSoon ??= setTimeout(() => {
      flushSoon = undefined;
      if (isDirty) requestFlush().catch(() => {});
    }, SHARED_FLUSH_MS);
  }

  /** Flushes what is committed, before the next commit. @throws (rejects) if the flush fails */
  function requestFlush(): Promise<void> {
    requested ??= Promise.withResolvers();
    schedule();
    return requested.promise;
  }

  /** Flushes what is committed and settles it. @param count number of writes in the last commit */
  async function flushLog(count: number): Promise<void> {
    syncing = log.flush(count < MANY_WRITES && !checkpoints.isRunning());
    if (syncing) await syncing;
    syncing = undefined;
    isDirty = false;
    for (const batch of unflushed.splice(0)) settleBatch(batch);
    requested?.resolve();
    requested = undefined;
  }

  /** Rejects what a failed flush has left. */
  function rejectUnflushed(error: unknown): void {
    for (const { writes } of unflushed.splice(0)) for (const { reject } of writes) reject(error);
    requested?.reject(error);
    requested = undefined;
  }

  function schedule(): void {
    flushing ??= new Promise<void>((resolve) => {
      const commit = () =>
        commitQueue()
          .catch(reportError)
          .then(() => {
            flushing = undefined;
            if (queue.length > 0 || requested) schedule();
            resolve();
          });
      const gathered_by = performance.now() + GATHER_MS;
      /** Waits until no more writes join. @param seen number of writes that waited one turn of the event loop ago */
      const gather = (seen: number) => {
        const grows = queue.length > seen && queue.length < GATHERED_WRITES;
        if (grows && performance.now() < gathered_by) setImmediate(gather, queue.length);
        else void commit();
      };
      setImmediate(gather, 1);
    });
  }

  async function commitQueue(): Promise<void> {
    if (requested) {
      // Not part of the commit, which may fail or have to wait.
      const flushed = broken ? Promise.reject(broken) : flushLog(1);
      await flushed.catch(rejectUnflushed);
      if (queue.length === 0) return;
    }
    const arrived = queue;
    queue = [];
    /** The writes included in this commit. */
    let writes = arrived;
    let isLong = false;
    const held = checkpoints.hold();
    if (held) await held;
    const began = performance.now();
    try {
      if (broken) throw broken;
      const count = await transaction.run(arrived);
      if (count < arrived.length) {
        writes = arrived.slice(0, count);
        queue = arrived.slice(count).concat(queue);
      }
      const batch = { writes, ...transaction.commit() };
      isLong = performance.now() - began > MAX_BATCH_MS;
      // From here on the writes are committed; only a failed flush may still reject them.
      const isLazy = writes.every(({ lazy }) => lazy);
      if (!isLazy) unflushed.push(batch);
      runEffects(batch.beforeFlush);
      if (isLazy) settleBatch(batch);
      if (writes.every(({ lazy, sharesFlush }) => lazy || sharesFlush)) flushLater();
      else await flushLog(count);
      countCommit(counters, count, began);
    } catch (cause) {
      transaction.rollBack();
      const error = toStorageError(cause);
      countFailure(counters, error);
      for (const { reject } of writes) reject(error);
      if (broken) rejectUnflushed(error);
      return;
    }
    checkpoints.afterCommit(isLong);
  }

  function enqueue<T>(work: (tx: Tx) => Awaitable<T>, options: WriteOptions = {}): Promise<T> {
    if (closed) return Promise.reject(new Internal("the database is closed"));
    const { lazy = false, sharesFlush = false } = options;
    return new Promise<T>((resolve, reject) => {
      const settle = { resolve: resolve as (value: unknown) => void, reject };
      queue.push({ work, ...settle, lazy, sharesFlush, outcome: undefined });
      schedule();
    });
  }

  return {
    dialect: "sqlite",
    channel: undefined,
    read: createReader(reader),
    readAside: aside.rows,
    write: enqueue,
    async shrink() {
      if (!canShrink) return false;
      const spare = Math.max(SPARE.pages, number("page_count") * SPARE.share);
      const more = number("freelist_count") > spare + SHRINK_PAGES;
      if (more) cuttable += (await enqueue(async () => vacuum.all())).length;
      if (cuttable > (more ? TRUNCATE_PAGES : 0)) {
        // The checkpoint truncates the file.
        await checkpoints.run();
        cuttable = 0;
      }
      return more;
    },
    freeMemory() {
      for (const connection of [writer, reader]) connection.run("PRAGMA shrink_memory");
    },
    // After a failed flush, data that was read may be lost on restart.
    readBarrier() {
      if (broken) return Promise.reject(broken);
      return syncing ?? (unflushed.length > 0 ? requestFlush() : undefined);
    },
    onBroken: (listener) => void listeners.push(listener),
    stats: () => ({ ...counters }),
    async close() {
      if (closed) return;
      closed = true;
      clearTimeout(flushSoon);
      while (flushing) await flushing;
      if (unflushed.length > 0) await flushLog(MANY_WRITES).catch(rejectUnflushed);
      await Promise.all([checkpoints.close(), aside.close()]);
      log.close();
      reader.close();
      writer.run("PRAGMA wal_checkpoint(TRUNCATE)");
      writer.close();
    },
  };
}

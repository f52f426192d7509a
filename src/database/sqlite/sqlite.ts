/**
 * SQLite: one writer connection, one reader connection, WAL, and what is acknowledged is on disk.
 *
 * `write` is a group commit: closures that arrive while the disk is busy run one after another, each in its own
 * savepoint, inside one transaction; one that fails rolls back alone; all are answered after the one commit.
 * bun:sqlite is synchronous, so a closure that awaits only `tx` is finished within microtasks and nothing else gets
 * between. Drizzle's own `transaction()` is not used: it is synchronous and would commit before an async body ends.
 *
 * `synchronous=FULL` is `NORMAL` plus a flush of the write-ahead log in each COMMIT (https://sqlite.org/pragma.html
 * #pragma_synchronous). That flush takes most of a commit's time and would hold up the thread that serves requests, so
 * it is done here instead: COMMIT under NORMAL, then fdatasync of the log on another thread, and only then the answers.
 * Nobody learns of a write before it is flushed: its closure's caller waits, and so does whoever read it (`settled`).
 */
import { SQLiteError, Database as SqliteFile } from "bun:sqlite";
import { closeSync, fdatasync, openSync } from "node:fs";
import { DrizzleQueryError } from "drizzle-orm";
import { Internal, StorageFull, Unavailable } from "../../lib/errors.ts";
import {
  countCommit,
  countFailure,
  type Database,
  newCommitStats,
  runEffects,
  type Tx,
  type WriteOptions,
} from "../database.ts";
import { readerOf } from "./statements.ts";

interface Pending {
  work: (tx: Tx) => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (cause: unknown) => void;
  lazy: boolean;
}

/**
 * After so many milliseconds of closures a batch is committed, and what else has come goes with the next: closures leave
 * the thread to nobody else between them.
 */
const BATCH_MS = 10;

/** What nobody waits for is flushed after this, if nothing else has been meanwhile. */
const LAZY_FLUSH_MS = 50;

/** Pages of the write-ahead log after which SQLite copies it into the database file. */
const CHECKPOINT_PAGES = 10_000;

/** Free pages given back at once: some milliseconds of the writer's time. */
const SHRINK_PAGES = 200;
/** The file is cut after this many: cutting off much at once takes long. */
const CUT_PAGES = 2_000;
/** Free pages left for what is stored next: the larger of this many and this share of all. */
const SPARE_PAGES = 250;
const SPARE_SHARE = 1 / 8;
/** What `PRAGMA auto_vacuum` calls INCREMENTAL. */
const INCREMENTAL = 2;

export interface SqliteOptions {
  path: string;
  /** The database may grow to this many bytes; 0 means as far as the disk goes. */
  max_bytes: number;
}

export function openSqlite(options: SqliteOptions): Database {
  const writer = new SqliteFile(options.path, { create: true, readwrite: true });
  // Heard only by a file that is new and empty, before its journal mode is set: one that is older never shrinks.
  writer.run("PRAGMA auto_vacuum = INCREMENTAL");
  configure(writer);
  writer.run(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  if (options.max_bytes > 0) {
    const { page_size } = writer.query("PRAGMA page_size").get() as { page_size: number };
    writer.run(`PRAGMA max_page_count = ${Math.max(1, Math.floor(options.max_bytes / page_size))}`);
  }
  const reader = new SqliteFile(options.path, { readwrite: true });
  configure(reader);
  reader.run("PRAGMA query_only = ON");

  const begin = writer.prepare("BEGIN IMMEDIATE");
  const commit = writer.prepare("COMMIT");
  const rollback = writer.prepare("ROLLBACK");
  const savepoint = writer.prepare("SAVEPOINT one");
  const release = writer.prepare("RELEASE one");
  const rollbackTo = writer.prepare("ROLLBACK TO one");

  const number = (pragma: string) =>
    (reader.query(`PRAGMA ${pragma}`).values()[0] as [number] | undefined)?.[0] ?? 0;
  const canShrink = number("auto_vacuum") === INCREMENTAL;
  const vacuum = writer.prepare(`PRAGMA incremental_vacuum(${SHRINK_PAGES})`);
  /** Pages the log has let go, which the file still has. */
  let cuttable = 0;

  const write = readerOf(writer);
  let effects: (() => void)[] = [];
  const tx: Tx = Object.assign(write, {
    afterCommit: (effect: () => void) => {
      effects.push(effect);
    },
    lock: async () => {},
    share: async () => {},
  });

  const counters = newCommitStats();
  let queue: Pending[] = [];
  let flushing: Promise<void> | undefined;
  /** Set once the disk refused a flush: what is in the log and what is on disk may differ until a restart. */
  let broken: Unavailable | undefined;
  const hearers: ((cause: Error) => void)[] = [];
  let closed = false;

  let log: number | undefined;
  let syncing: Promise<void> | undefined;
  const flushLog = () =>
    new Promise<void>((resolve, reject) => {
      log ??= openSync(`${options.path}-wal`, "r+");
      fdatasync(log, (cause) => {
        if (!cause) return resolve();
        const message =
          "the disk refused to flush the database's log: nothing more is stored until a restart";
        // As SQLite calls it where it flushes itself: so it is told from what other files come to.
        broken = new Unavailable(message, { cause: Object.assign(cause, { code: "SQLITE_IOERR_FSYNC" }) });
        counters.broken = broken;
        for (const hear of hearers) hear(broken);
        reject(broken);
      });
    });

  let flushSoon: ReturnType<typeof setTimeout> | undefined;
  function flushLater(): void {
    flushSoon ??= setTimeout(() => {
      flushSoon = undefined;
      enqueue(async () => {}).catch(() => {});
    }, LAZY_FLUSH_MS);
  }

  function schedule(): void {
    flushing ??= new Promise<void>((resolve) => {
      setImmediate(() => {
        flush()
          .catch(reportError)
          .then(() => {
            flushing = undefined;
            if (queue.length > 0) schedule();
            resolve();
          });
      });
    });
  }

  async function flush(): Promise<void> {
    const arrived = queue;
    queue = [];
    /** What of it goes with this commit. */
    let batch: Pending[] = arrived;
    const settled: (() => void)[] = [];
    effects = [];
    let after: (() => void)[] = [];
    const began = performance.now();
    try {
      if (broken) throw broken;
      begin.run();
      let count = 0;
      do await runOne(arrived[count++]!, settled, arrived.length === 1);
      while (count < arrived.length && performance.now() - began < BATCH_MS);
      if (count < arrived.length) {
        batch = arrived.slice(0, count);
        queue = arrived.slice(count).concat(queue);
      }
      commit.run();
      after = effects;
      if (batch.every(({ lazy }) => lazy)) flushLater();
      else {
        syncing = flushLog();
        await syncing;
        syncing = undefined;
      }
      countCommit(counters, batch.length, began);
    } catch (cause) {
      if (writer.inTransaction) rollback.run();
      const error = toStorageError(cause);
      countFailure(counters, error);
      for (const pending of batch) pending.reject(error);
      return;
    }
    for (const settle of settled) settle();
    runEffects(after);
  }

  /** A closure that is alone needs no savepoint: what it fails with rolls the whole transaction back. */
  async function runOne(pending: Pending, settled: (() => void)[], alone: boolean): Promise<void> {
    const effectsBefore = effects.length;
    if (!alone) savepoint.run();
    try {
      const value = await pending.work(tx);
      if (!alone) release.run();
      settled.push(() => pending.resolve(value));
    } catch (cause) {
      effects.length = effectsBefore;
      // A full disk makes SQLite roll the whole transaction back by itself; then nobody's work may count.
      if (alone || !writer.inTransaction) throw cause;
      rollbackTo.run();
      release.run();
      const error = toStorageError(cause);
      countFailure(counters, error);
      settled.push(() => pending.reject(error));
    }
  }

  function enqueue<T>(work: (tx: Tx) => Promise<T>, { lazy = false }: WriteOptions = {}): Promise<T> {
    if (closed) return Promise.reject(new Internal("the database is closed"));
    return new Promise<T>((resolve, reject) => {
      queue.push({ work, resolve: resolve as (value: unknown) => void, reject, lazy });
      schedule();
    });
  }

  return {
    dialect: "sqlite",
    channel: undefined,
    read: readerOf(reader),
    write: enqueue,
    async shrink() {
      if (!canShrink) return false;
      const spare = Math.max(SPARE_PAGES, number("page_count") * SPARE_SHARE);
      const more = number("freelist_count") > spare + SHRINK_PAGES;
      if (more) cuttable += (await enqueue(async () => vacuum.all())).length;
      if (cuttable > (more ? CUT_PAGES : 0)) {
        // The file itself is cut when the log is copied into it. A passive copy waits for nobody.
        reader.run("PRAGMA wal_checkpoint(PASSIVE)");
        cuttable = 0;
      }
      return more;
    },
    // What was read may be gone after the restart.
    settled: () => (broken ? Promise.reject(broken) : syncing),
    onBroken: (hear) => void hearers.push(hear),
    stats: () => ({ ...counters }),
    async close() {
      if (closed) return;
      closed = true;
      clearTimeout(flushSoon);
      while (flushing) await flushing;
      if (log !== undefined) closeSync(log);
      reader.close();
      writer.run("PRAGMA wal_checkpoint(TRUNCATE)");
      writer.close();
    },
  };
}

function configure(connection: SqliteFile): void {
  connection.run("PRAGMA busy_timeout = 5000");
  connection.run("PRAGMA journal_mode = WAL");
  connection.run("PRAGMA synchronous = NORMAL");
  connection.run("PRAGMA foreign_keys = ON");
  connection.run("PRAGMA temp_store = MEMORY");
  connection.run("PRAGMA cache_size = -16384");
}

/**
 * Gives a failed statement or commit its name: a full disk is the operator's to mend, anything else is ours. What a
 * closure throws of its own stays what it is. Drizzle's wrapper is taken off first, since its message carries the
 * statement's parameters.
 */
function toStorageError(thrown: unknown): unknown {
  if (!(thrown instanceof DrizzleQueryError || thrown instanceof SQLiteError)) return thrown;
  const cause = thrown instanceof DrizzleQueryError ? thrown.cause : thrown;
  const code = (cause as { code?: string } | undefined)?.code ?? "";
  if (code.startsWith("SQLITE_FULL") || code.startsWith("SQLITE_IOERR")) {
    return new StorageFull(`nothing was stored: the database could not be written (${code})`, {
      cause,
      hint: "free some disk space, or raise the database's size limit",
    });
  }
  return new Internal("the database refused a statement", { cause });
}

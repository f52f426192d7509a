/**
 * Database access: `read` for queries outside transactions, which see committed data only, and `write` for
 * transactions. A write does no I/O except through `tx`.
 */
import type { SQL } from "drizzle-orm";
import type { BaseSQLiteDatabase } from "drizzle-orm/sqlite-core";
import type { Awaitable } from "../lib/async/awaitable.ts";
import { StorageFull } from "../lib/errors.ts";
import { BATCH_SIZE_BUCKETS, DURATION_BUCKETS_S, Histogram } from "../lib/logging/meters.ts";
import type { Dialect } from "./kit.ts";
import type { AsideOptions } from "./read-limit.ts";

/** The query builder, restricted to what both dialects share. Awaiting a query runs it. */
export type QueryBuilder = Omit<
  BaseSQLiteDatabase<"async", unknown>,
  "transaction" | "run" | "all" | "get" | "values"
>;

interface BuiltQuery {
  prepare(): { execute(values?: Record<string, unknown>): unknown };
  toSQL(): { sql: string; params: unknown[] };
}

/**
 * A query built once and run often; its SQL is generated on first use. Result values are raw driver values, so select
 * only text and number columns.
 */
export interface Statement<P, R> {
  readonly build: (queries: QueryBuilder) => BuiltQuery;
  /** The result if a row was changed. SQLite then counts changes, at half the cost of returning rows. */
  readonly resultOfChange: ((parameters: P) => R) | undefined;
  /** Whether PostgreSQL may run it later, with others; until then it counts as having changed a row. */
  readonly isBatched: boolean;
  /** Number of rows it affects. */
  readonly affectedRows: (parameters: P) => number;
  readonly _: (parameters: P) => R;
}

/**
 * Declares a statement for the hot path, with placeholders (`sql.placeholder("name")`) instead of values. `P` is the
 * record of placeholders, `R` the result.
 * @param resultOfChange for a statement that changes at most one row and returns it: the result if it did
 */
export function prepareStatement<P extends Record<string, unknown>, R>(
  build: Statement<P, R>["build"],
  resultOfChange?: R extends readonly unknown[] ? (parameters: P) => R : never,
): Statement<P, R> {
  return { build, resultOfChange, isBatched: false, affectedRows: () => 1, _: undefined as never };
}

/**
 * Declares a statement that touches exactly one row and can be batched with those of concurrent writes on PostgreSQL
 * (group commit). If it affected no row, the whole write is rolled back and retried unbatched.
 * @param resultOfChange its result if it changes a row, returned before it runs
 * @param affectedRows number of rows that an `insert … select` of several rows inserts
 */
export function prepareBatchedStatement<P extends Record<string, unknown>, R>(
  build: Statement<P, R>["build"],
  resultOfChange: (parameters: P) => R,
  affectedRows: (parameters: P) => number = () => 1,
): Statement<P, R> {
  return { build, resultOfChange, isBatched: true, affectedRows, _: undefined as never };
}

export interface Reader extends QueryBuilder {
  /** Runs a declared statement; on SQLite the result is there at once. */
  exec<P extends Record<string, unknown>, R>(statement: Statement<P, R>, parameters: P): Awaitable<R>;
  /** Runs SQL text that the builder cannot express and returns rows. Both dialects must accept it. */
  rows<R>(query: SQL): Promise<R[]>;
}

/** Rows of a log to which many writes add, stored at the end of a transaction. */
export interface LogInsert<T> {
  /** Stores rows, given in the order in which they were added. */
  insert(tx: Reader, rows: readonly T[]): Awaitable<unknown>;
}

export interface Tx extends Reader {
  /**
   * Adds a row to a log: on SQLite at the end of the commit, together with the rows of its other writes. Nothing in the
   * transaction reads it.
   */
  addToLog<T>(log: LogInsert<T>, row: T): Awaitable<unknown>;
  /** Registers an effect to run after the commit only, such as waking a waiter. */
  afterCommit(effect: () => void): void;
  /**
   * Registers an effect to run after the commit too, but on SQLite before its flush, and so before all `afterCommit`: a
   * power failure may still undo the write. For starting a job: its outcome is flushed later. Who tells of the job before
   * that awaits `readBarrier`.
   */
  beforeFlush(effect: () => void): void;
  /**
   * Takes an exclusive lock on `name` until the end of the transaction, to guard rules over rows that do not exist yet.
   * Does nothing on SQLite, which has a single writer.
   */
  lock(name: string): Promise<void>;
  /**
   * Takes a shared lock on `name`, which excludes `lock` until the end of the transaction. Meant for the hot path:
   * batched writes take it together.
   */
  lockShared(name: string): Promise<void>;
}

export interface CommitStats {
  commits: number;
  writes: number;
  /** Writes per commit, and seconds per commit including the flush, unless it is shared with a later one. */
  batch: Histogram;
  seconds: Histogram;
  broken: Error | undefined;
  /** When a write last failed for lack of space, in `performance.now()` milliseconds. */
  full_at: number | undefined;
}

/** Creates the figures of a newly opened database. */
export function createCommitStats(): CommitStats {
  return {
    commits: 0,
    writes: 0,
    batch: new Histogram(BATCH_SIZE_BUCKETS),
    seconds: new Histogram(DURATION_BUCKETS_S),
    broken: undefined,
    full_at: undefined,
  };
}

/** Counts a failed write. */
export function countFailure(stats: CommitStats, error: unknown): void {
  if (error instanceof StorageFull) stats.full_at = performance.now();
}

/** Counts a commit that began at `began` (`performance.now()` milliseconds). */
export function countCommit(stats: CommitStats, writes: number, began: number): void {
  stats.commits++;
  stats.writes += writes;
  stats.batch.observe(writes);
  stats.seconds.observe((performance.now() - began) / 1000);
}

/** Messaging between the processes that share a database. */
export interface NotificationChannel {
  /** Sends a text of less than 8,000 bytes to all listeners. @throws if the database is unreachable */
  notify(name: string, text: string): Promise<void>;
  /**
   * Subscribes to a channel, including this process's own messages.
   * @param gap called when the connection is restored after a loss: messages may have been missed
   */
  listen(name: string, listener: (text: string) => void, gap: () => void): Promise<{ stop(): Promise<void> }>;
  /** Resolves when all writes started so far have ended, successfully or not. */
  awaitWrites(): Promise<void>;
  /** Subscribes to writes with unknown outcome: the commit may have happened, but its effects did not run. */
  onUncertain(listener: () => void): void;
}

export interface WriteOptions {
  /**
   * Resolves at the commit without waiting for the disk. A crash of the process cannot undo it, but a power failure
   * can. Use it for data that only repeats what is on disk. Its effects may come before those of earlier writes.
   */
  lazy?: boolean | undefined;
  /**
   * On SQLite, resolves at the flush of a later write, or after some milliseconds. Use it if the caller waits for the
   * later write anyway.
   */
  sharesFlush?: boolean | undefined;
}

export interface Database {
  readonly dialect: Dialect;
  /** Undefined if no other process shares the database. */
  readonly channel: NotificationChannel | undefined;
  readonly read: Reader;
  /**
   * Runs a SELECT that may take long and returns its rows with raw driver values. It sees committed data only. On
   * SQLite it runs on a separate thread, one query at a time, so that the event loop is not blocked.
   * @throws Unavailable when the time limit expires
   */
  readAside<R>(query: SQL, options?: AsideOptions): Promise<R[]>;
  /**
   * Runs `work` in a transaction and resolves once it is committed and on disk. If `work` throws, its changes and
   * effects are dropped and the error is rethrown; other writes of the batch are unaffected. On PostgreSQL `work` may
   * run again after a conflict, so it must be idempotent.
   * @throws StorageFull if the disk or the quota is full
   */
  write<T>(work: (tx: Tx) => Awaitable<T>, options?: WriteOptions): Promise<T>;
  /**
   * Read barrier: resolves once everything read so far is flushed to disk (except lazy writes); undefined if it already
   * is. Await it before responding, so that no client sees a change that a power failure could undo.
   */
  readBarrier(): Promise<void> | undefined;
  /**
   * Returns some free pages to the file system; PostgreSQL does so automatically.
   * @returns whether more can be returned
   */
  shrink(): Promise<boolean>;
  /** Frees memory that only makes later reads and writes faster. PostgreSQL's is the database server's. */
  freeMemory(): void;
  /** Called once when no write is possible until a restart. */
  onBroken(listener: (cause: Error) => void): void;
  /** Commit figures for metrics; `broken` is the reason why writes fail until a restart. */
  stats(): CommitStats;
  close(): Promise<void>;
}

/**
 * Runs all effects of a commit. The commit stands, so a failing effect is reported as an uncaught error and not to the
 * writer.
 */
export function runEffects(effects: readonly (() => void)[]): void {
  for (const effect of effects) {
    try {
      effect();
    } catch (cause) {
      reportError(cause);
    }
  }
}

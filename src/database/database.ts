/**
 * Two ways into the database, and no third: `read` for a query outside any transaction (it sees only what is
 * committed), and `write` for a transaction. No I/O but `tx` inside a write.
 */
import type { SQL } from "drizzle-orm";
import type { BaseSQLiteDatabase } from "drizzle-orm/sqlite-core";
import { StorageFull } from "../lib/errors.ts";
import { BATCH, Histogram, SECONDS } from "../lib/logging/meters.ts";
import type { Dialect } from "./kit.ts";

/** The query builder; what is awaited from it runs. Only what both dialects share: see design §4. */
export type Queries = Omit<
  BaseSQLiteDatabase<"async", unknown>,
  "transaction" | "run" | "all" | "get" | "values"
>;

interface Built {
  prepare(): { execute(values?: Record<string, unknown>): unknown };
  toSQL(): { sql: string; params: unknown[] };
}

/**
 * A query built once and run often: its SQL is made at the first use. What it returns comes as the database gives it:
 * name only columns of text and numbers there.
 */
export interface Statement<P, R> {
  readonly build: (queries: Queries) => Built;
  /** Of a shared statement: what it answers once it has changed its row. */
  readonly answer: ((parameters: P) => R) | undefined;
  /** How many rows it changes then. */
  readonly changes: (parameters: P) => number;
  readonly _: (parameters: P) => R;
}

/**
 * Declares a statement for the hot path: placeholders (`sql.placeholder("name")`) instead of values, so that its SQL
 * is made once. `P` is the record of placeholders, `R` what it resolves to.
 */
export function statement<P extends Record<string, unknown>, R>(
  build: Statement<P, R>["build"],
): Statement<P, R> {
  return { build, answer: undefined, changes: () => 1, _: undefined as never };
}

/**
 * Declares a statement that as a rule inserts, updates or finds exactly one row, so that many writes of PostgreSQL can
 * share one that does so for all of them. There it is answered before it has run; where there was no such row after all,
 * its write is dropped and done once more, and is then told so.
 * @param answer what it answers when there is its row
 * @param changes how many rows an `insert … select` of many inserts
 */
export function sharedStatement<P extends Record<string, unknown>, R>(
  build: Statement<P, R>["build"],
  answer: (parameters: P) => R,
  changes: (parameters: P) => number = () => 1,
): Statement<P, R> {
  return { build, answer, changes, _: undefined as never };
}

export interface Reader extends Queries {
  /** Runs a declared statement. */
  exec<P extends Record<string, unknown>, R>(statement: Statement<P, R>, parameters: P): Promise<R>;
  /** Runs SQL text and answers rows; for what the builder cannot say. Both dialects must accept the text. */
  rows<R>(query: SQL): Promise<R[]>;
}

export interface Tx extends Reader {
  /** Runs after the commit and only then: wake a waiter, send on a stream. */
  afterCommit(effect: () => void): void;
  /**
   * Waits until no other transaction holds `name`, and holds it to this one's end: for a rule over rows that do not
   * exist yet. SQLite has one writer, so there is never anyone to wait for.
   */
  lock(name: string): Promise<void>;
  /**
   * Waits until no other transaction holds `name` by `lock`, and keeps all from holding it so to this one's end; any number
   * may do this at the same time. For the hot path: a write that is shared takes it with the others.
   */
  share(name: string): Promise<void>;
}

export interface CommitStats {
  commits: number;
  writes: number;
  /** Writes in a commit, and seconds it took, flush included. */
  batch: Histogram;
  seconds: Histogram;
  broken: Error | undefined;
  /** When a write last found no room, in milliseconds of `performance.now()`. */
  full_at: number | undefined;
}

/** Figures of a database that has just been opened. */
export function newCommitStats(): CommitStats {
  return {
    commits: 0,
    writes: 0,
    batch: new Histogram(BATCH),
    seconds: new Histogram(SECONDS),
    broken: undefined,
    full_at: undefined,
  };
}

/** Counts what a write failed with. */
export function countFailure(stats: CommitStats, error: unknown): void {
  if (error instanceof StorageFull) stats.full_at = performance.now();
}

/** Counts a commit that began at `began`, milliseconds of `performance.now()`. */
export function countCommit(stats: CommitStats, writes: number, began: number): void {
  stats.commits++;
  stats.writes += writes;
  stats.batch.observe(writes);
  stats.seconds.observe((performance.now() - began) / 1000);
}

/** How the processes that share a database reach each other. */
export interface Channel {
  /** Sends text of fewer than 8,000 bytes to all who listen. @throws when the database cannot be reached */
  notify(name: string, text: string): Promise<void>;
  /**
   * Hears what is sent from now on, also what this process sends.
   * @param gap called whenever the connection is there again after it was lost: something may have been missed
   */
  listen(name: string, hear: (text: string) => void, gap: () => void): Promise<{ stop(): Promise<void> }>;
  /** Resolves when the writes that this process has begun by now are over, whether they were stored or not. */
  written(): Promise<void>;
  /** Calls back when a write was lost on its way: it may have been committed, and what was to follow was not done. */
  onUncertain(hear: () => void): void;
}

export interface WriteOptions {
  /**
   * Resolves with the commit, which the end of this process does not undo, and does not wait for the disk: a power failure
   * can take back what was written so in the last moments. For what says again what is on disk already.
   */
  lazy?: boolean | undefined;
}

export interface Database {
  readonly dialect: Dialect;
  /** Undefined when no other process shares it. */
  readonly channel: Channel | undefined;
  readonly read: Reader;
  /**
   * Runs `work` in a transaction and resolves once it is committed, on disk. When `work` throws, its changes and
   * effects are dropped and the error is passed on; other writes of the same batch are not touched. On PostgreSQL `work`
   * may be run again, its changes and effects dropped, when others were in the way.
   * @throws StorageFull when the disk or the quota is full
   */
  write<T>(work: (tx: Tx) => Promise<T>, options?: WriteOptions): Promise<T>;
  /**
   * What has been read so far is on disk once this resolves, but for lazy writes; undefined when it is already. Awaited before what was read
   * is answered, so that nobody is told of a change that a power failure could take back.
   */
  settled(): Promise<void> | undefined;
  /**
   * Gives a little of the space that deleted rows have left back to the file system; PostgreSQL does that by itself.
   * @returns whether there is more to give
   */
  shrink(): Promise<boolean>;
  /** Calls back once when nothing can be stored any more until a restart. */
  onBroken(hear: (cause: Error) => void): void;
  /** Commit figures for metrics; `broken` is why nothing more is stored until a restart. */
  stats(): CommitStats;
  close(): Promise<void>;
}

/**
 * Runs what was to happen after a commit, all of it. The commit stands whatever an effect does, so its failure is none
 * of the writer's: it goes where uncaught errors go.
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

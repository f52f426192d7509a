/**
 * The transactions of a group commit on SQLite. If one of their writes fails, the transaction is rolled back and all run
 * again, each in its own savepoint, so that the failing one is rolled back alone: savepoints cost a third of a job's
 * statements, and few writes fail. bun:sqlite is synchronous, so a write that awaits only `tx` finishes within microtasks
 * and nothing interleaves. Drizzle's `transaction()` is not used: it is synchronous and would commit before an async body
 * ends.
 */
import type { Database as SqliteFile } from "bun:sqlite";
import { isPending } from "../../lib/async/awaitable.ts";
import { type CommitStats, countFailure, type Tx } from "../database.ts";
import type { PendingWrite } from "./pending-write.ts";
import { createReader } from "./statements.ts";
import { toStorageError } from "./storage-error.ts";

/**
 * Maximum duration of a batch in milliseconds; further writes go into the next one. Writes do not yield the event loop
 * between them.
 */
const MAX_BATCH_MS = 10;

/** The writes of one commit. */
export interface Committed {
  batch: PendingWrite[];
  /** What `Tx.afterCommit` was given. */
  after: (() => void)[];
  /** When the commit began, in milliseconds of `performance.now()`. */
  began: number;
  /** Whether the commit wrote much data. */
  isLong: boolean;
}

/** Writes of which none was stored. */
export interface RolledBack {
  batch: PendingWrite[];
  failure: unknown;
}

export interface Transactions {
  /**
   * Runs writes one after another in one transaction and commits it: as many as fit into MAX_BATCH_MS, at least one,
   * from the first on. The log is not flushed yet.
   * @param onCommit called as soon as the commit returns: nobody reads what was written before it is noted as unflushed
   * @returns the writes if they could not be committed
   */
  run(arrived: PendingWrite[], onCommit: (committed: Committed) => void): Promise<RolledBack | undefined>;
}

/** @param counters count the writes that fail alone */
export function createTransactions(writer: SqliteFile, counters: CommitStats): Transactions {
  const begin = writer.prepare("BEGIN IMMEDIATE");
  const commit = writer.prepare("COMMIT");
  const rollback = writer.prepare("ROLLBACK");
  const savepoint = writer.prepare("SAVEPOINT one");
  const release = writer.prepare("RELEASE one");
  const rollbackTo = writer.prepare("ROLLBACK TO one");

  let effects: (() => void)[] = [];
  const tx: Tx = Object.assign(createReader(writer), {
    afterCommit: (effect: () => void) => {
      effects.push(effect);
    },
    lock: async () => {},
    lockShared: async () => {},
  });

  /**
   * Runs writes without savepoints, for at most MAX_BATCH_MS.
   * @returns how many ran; undefined if one failed: the transaction was restarted, and all must run again
   * @throws if there was only one write: its failure rolls back the whole transaction
   */
  async function runTogether(arrived: PendingWrite[], began: number): Promise<number | undefined> {
    let count = 0;
    try {
      do {
        const pending = arrived[count]!;
        const made = pending.work(tx);
        pending.outcome = { value: isPending(made) ? await made : made };
      } while (++count < arrived.length && performance.now() - began < MAX_BATCH_MS);
      return count;
    } catch (cause) {
      // On a full disk SQLite rolls back the whole transaction, so no write may succeed.
      if (arrived.length === 1 || !writer.inTransaction) throw cause;
      rollback.run();
      effects = [];
      begin.run();
      return undefined;
    }
  }

  /** Runs writes, each in its own savepoint, for at most MAX_BATCH_MS. @returns how many ran */
  async function runApart(arrived: PendingWrite[], began: number): Promise<number> {
    let count = 0;
    do await runOne(arrived[count]!);
    while (++count < arrived.length && performance.now() - began < MAX_BATCH_MS);
    return count;
  }

  async function runOne(pending: PendingWrite): Promise<void> {
    const effectsBefore = effects.length;
    savepoint.run();
    try {
      pending.outcome = { value: await pending.work(tx) };
      release.run();
    } catch (cause) {
      effects.length = effectsBefore;
      if (!writer.inTransaction) throw cause;
      rollbackTo.run();
      release.run();
      const failure = toStorageError(cause);
      countFailure(counters, failure);
      pending.outcome = { failure };
    }
  }

  return {
    async run(arrived, onCommit) {
      effects = [];
      const began = performance.now();
      let batch = arrived;
      try {
        begin.run();
        const count = (await runTogether(arrived, began)) ?? (await runApart(arrived, began));
        if (count < arrived.length) batch = arrived.slice(0, count);
        commit.run();
      } catch (failure) {
        if (writer.inTransaction) rollback.run();
        return { batch, failure };
      }
      onCommit({ batch, after: effects, began, isLong: performance.now() - began > MAX_BATCH_MS });
      return undefined;
    },
  };
}

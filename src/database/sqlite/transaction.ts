/**
 * Transactions of many writes. The writes of a batch run one after another. If one fails, the transaction is rolled
 * back and all run again, each in its own savepoint, so that the failing one is rolled back alone: savepoints cost a
 * third of a job's statements, and few writes fail. bun:sqlite is synchronous, so a write that awaits only `tx`
 * finishes within microtasks and nothing interleaves. The rows that writes add to a log are inserted after all of them;
 * in a savepoint of its own, a write inserts its rows itself.
 */
import type { Database as SqliteFile } from "bun:sqlite";
import { isPending } from "../../lib/async/awaitable.ts";
import { type CommitStats, countFailure, type LogInsert, type Tx } from "../database.ts";
import type { Effects, PendingWrite } from "./pending-write.ts";
import { createReader } from "./statements.ts";
import { toStorageError } from "./storage-error.ts";

/**
 * Maximum duration of a batch in milliseconds; further writes go into the next one. Writes do not yield the event loop
 * between them.
 */
export const MAX_BATCH_MS = 10;

export interface Transaction {
  /**
   * Begins a transaction and runs the first of these writes, for at most MAX_BATCH_MS.
   * @returns how many ran
   * @throws if none could; the caller then calls `rollBack`
   */
  run(arrived: PendingWrite[]): Promise<number>;
  /** Commits, without a flush. @returns what the writes registered */
  commit(): Effects;
  /** Rolls back what an error has left open. */
  rollBack(): void;
}

export function createTransaction(writer: SqliteFile, stats: CommitStats): Transaction {
  const begin = writer.prepare("BEGIN IMMEDIATE");
  const commit = writer.prepare("COMMIT");
  const rollback = writer.prepare("ROLLBACK");
  const savepoint = writer.prepare("SAVEPOINT one");
  const release = writer.prepare("RELEASE one");
  const rollbackTo = writer.prepare("ROLLBACK TO one");

  let beforeFlush: (() => void)[] = [];
  let afterCommit: (() => void)[] = [];
  /** Rows to insert before the commit; undefined while each write inserts its own. */
  let added: Map<LogInsert<unknown>, unknown[]> | undefined;
  const tx: Tx = Object.assign(createReader(writer), {
    beforeFlush: (effect: () => void) => {
      beforeFlush.push(effect);
    },
    afterCommit: (effect: () => void) => {
      afterCommit.push(effect);
    },
    addToLog: <T>(log: LogInsert<T>, row: T) => {
      if (!added) return log.insert(tx, [row]);
      const rows = added.get(log as LogInsert<unknown>);
      if (rows) rows.push(row);
      else added.set(log as LogInsert<unknown>, [row]);
      return undefined;
    },
    lock: async () => {},
    lockShared: async () => {},
  });

  function start(): void {
    beforeFlush = [];
    afterCommit = [];
    begin.run();
  }

  /**
   * Runs writes without savepoints, for at most MAX_BATCH_MS.
   * @returns how many ran; undefined if one failed: the transaction was restarted, and all must run again
   * @throws if there was only one write: its failure rolls back the whole transaction
   */
  async function runTogether(arrived: PendingWrite[], began: number): Promise<number | undefined> {
    let count = 0;
    const rowsOf = new Map<LogInsert<unknown>, unknown[]>();
    added = rowsOf;
    try {
      do {
        const pending = arrived[count]!;
        const made = pending.work(tx);
        pending.outcome = { value: isPending(made) ? await made : made };
      } while (++count < arrived.length && performance.now() - began < MAX_BATCH_MS);
      for (const [log, rows] of rowsOf) await log.insert(tx, rows);
      return count;
    } catch (cause) {
      // On a full disk SQLite rolls back the whole transaction, so no write may succeed.
      if (arrived.length === 1 || !writer.inTransaction) throw cause;
      rollback.run();
      start();
      return undefined;
    } finally {
      added = undefined;
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
    const before = { flush: beforeFlush.length, commit: afterCommit.length };
    savepoint.run();
    try {
      pending.outcome = { value: await pending.work(tx) };
      release.run();
    } catch (cause) {
      beforeFlush.length = before.flush;
      afterCommit.length = before.commit;
      if (!writer.inTransaction) throw cause;
      rollbackTo.run();
      release.run();
      const failure = toStorageError(cause);
      countFailure(stats, failure);
      pending.outcome = { failure };
    }
  }

  return {
    async run(arrived) {
      const began = performance.now();
      start();
      return (await runTogether(arrived, began)) ?? (await runApart(arrived, began));
    },
    commit() {
      commit.run();
      return { beforeFlush, afterCommit };
    },
    rollBack() {
      if (writer.inTransaction) rollback.run();
    },
  };
}

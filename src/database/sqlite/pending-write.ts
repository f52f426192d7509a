import type { Awaitable } from "../../lib/async/awaitable.ts";
import { runEffects, type Tx } from "../database.ts";

/** A write that waits for its commit. */
export interface PendingWrite {
  readonly work: (tx: Tx) => Awaitable<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (cause: unknown) => void;
  readonly lazy: boolean;
  readonly sharesFlush: boolean;
  /** What `work` returned, or why it was rolled back alone; undefined if it has not run yet. */
  outcome: { value: unknown } | { failure: unknown } | undefined;
}

/** What the writes of a transaction registered. */
export interface Effects {
  readonly beforeFlush: readonly (() => void)[];
  readonly afterCommit: readonly (() => void)[];
}

/** Writes that were committed together. */
export interface CommittedBatch extends Effects {
  readonly writes: readonly PendingWrite[];
}

/** Settles writes that are on disk, or are lazy, and runs their effects. */
export function settleBatch({ writes, afterCommit }: CommittedBatch): void {
  for (const { outcome, resolve, reject } of writes) {
    if (outcome && "failure" in outcome) reject(outcome.failure);
    else resolve(outcome?.value);
  }
  runEffects(afterCommit);
}

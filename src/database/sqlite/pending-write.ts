import type { Awaitable } from "../../lib/async/awaitable.ts";
import type { Tx } from "../database.ts";

/** A write that waits for its commit. */
export interface PendingWrite {
  readonly work: (tx: Tx) => Awaitable<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (cause: unknown) => void;
  readonly lazy: boolean;
  /** What `work` returned, or why it was rolled back alone; undefined if it has not run yet. */
  outcome: { value: unknown } | { failure: unknown } | undefined;
}

/** Settles a write whose commit is on disk. */
export function settleWrite({ outcome, resolve, reject }: PendingWrite): void {
  if (outcome && "failure" in outcome) reject(outcome.failure);
  else resolve(outcome?.value);
}

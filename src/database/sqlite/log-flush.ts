/**
 * Flushes the write-ahead log to disk: in place where the disk is fast, since waking another thread and being woken by it
 * costs more processor time than the rest of a commit, and on another thread where it is not, since a flush in place
 * blocks the event loop.
 */
import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs";

/** Shorter than the event loop is blocked by other work. */
const IN_PLACE_MS = 1;
/** Weight of the last flush in the average. */
const WEIGHT = 1 / 8;
/** A flush counts as at most this long, so that one stall of a fast disk is forgotten after some flushes. */
const MAX_COUNTED_MS = 20;

export interface LogFlush {
  /**
   * Flushes what was written so far; undefined: it is done.
   * @param isBusy the disk has other work for the moment, so that a flush in place would take long
   * @throws (or rejects with) what `onFailure` returns
   */
  flush(isBusy?: boolean): Promise<void> | undefined;
  close(): void;
}

/**
 * Opens the log, so that no flush fails for want of a descriptor once writes are committed.
 * @param path of the log, which exists once a connection has read
 * @param in_place_ms flushes that usually take at most this long run in place
 */
export function createLogFlush(
  path: string,
  onFailure: (cause: Error) => Error,
  in_place_ms: number = IN_PLACE_MS,
): LogFlush {
  const descriptor = openSync(path, "r+");
  /** Average duration in milliseconds. The first flushes show on another thread how fast the disk is. */
  let average = 2 * IN_PLACE_MS;

  function count(began: number): void {
    average += (Math.min(performance.now() - began, MAX_COUNTED_MS) - average) * WEIGHT;
  }

  function flushInPlace(began: number): void {
    try {
      fdatasyncSync(descriptor);
    } catch (cause) {
      throw onFailure(cause as Error);
    }
    count(began);
  }

  return {
    flush(isBusy = false) {
      const began = performance.now();
      if (average <= in_place_ms && !isBusy) {
        flushInPlace(began);
        return undefined;
      }
      return new Promise<void>((resolve, reject) => {
        fdatasync(descriptor, (cause) => {
          if (!isBusy) count(began);
          if (cause) reject(onFailure(cause));
          else resolve();
        });
      });
    },
    close: () => closeSync(descriptor),
  };
}

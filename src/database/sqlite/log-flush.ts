/**
 * Flushes the write-ahead log to disk. On a fast disk a flush for few writes runs on the event loop, because switching to
 * another thread and back costs more processor time than the rest of their commit. On a slow disk, and for many writes,
 * it runs on another thread, so that the event loop is not blocked.
 */
import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs";

/** Flushes up to this duration run on the event loop; other work blocks it for longer. */
const IN_PLACE_MS = 1;
/** Weight of the last flush in the average. */
const WEIGHT = 1 / 8;
/** A flush counts as at most this long, so that one stall of a fast disk is forgotten after some flushes. */
const MAX_COUNTED_MS = 20;

export interface LogFlush {
  /**
   * Flushes everything written so far. Returns undefined if it is done on return.
   * @param mayBlock whether it may run on the event loop, if the disk is fast
   * @throws (or rejects with) what `onFailure` returns
   */
  flush(mayBlock?: boolean): Promise<void> | undefined;
  close(): void;
}

/**
 * Opens the log in advance, so that no flush fails for lack of a file descriptor.
 * @param path the log's path; the log exists once a connection has read
 * @param in_place_ms flushes that usually take at most this long run on the event loop
 */
export function createLogFlush(
  path: string,
  onFailure: (cause: Error) => Error,
  in_place_ms: number = IN_PLACE_MS,
): LogFlush {
  const descriptor = openSync(path, "r+");
  /** Average duration in milliseconds. The first flushes run on another thread, to measure the disk. */
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
    flush(mayBlock = true) {
      const began = performance.now();
      if (average <= in_place_ms && mayBlock) {
        flushInPlace(began);
        return undefined;
      }
      return new Promise<void>((resolve, reject) => {
        fdatasync(descriptor, (cause) => {
          if (mayBlock) count(began);
          if (cause) reject(onFailure(cause));
          else resolve();
        });
      });
    },
    close: () => closeSync(descriptor),
  };
}

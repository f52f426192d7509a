/** The time limit of long reads (`Database.readAside`), on either database. */
import { Unavailable } from "../lib/errors.ts";

export interface AsideOptions {
  /** Statement timeout in milliseconds. Default: 10 s. */
  timeout_ms?: number;
}

export const READ_LIMIT_MS = 10_000;

/** Creates the error for a statement that exceeded its timeout. */
export function createTimeoutError(timeout_ms: number, cause?: unknown): Unavailable {
  const message = `reading the database took longer than the ${timeout_ms / 1000} s it may`;
  return new Unavailable(message, {
    cause,
    hint: "narrow the query, such as by the time of creation, or try again when the server is less busy",
  });
}

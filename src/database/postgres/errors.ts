/** Converts errors of PostgreSQL and its client, for statements and commits, into the project's errors. */
import { DrizzleQueryError } from "drizzle-orm";
import { BadRequest, Internal, StorageFull, SvcError } from "../../lib/errors.ts";

/**
 * A batched statement affected no row although its result was returned already: the write must run again, unbatched.
 */
export class BatchMismatch extends Error {}

/** Whether an error is SQLSTATE 40P01, deadlock_detected. */
export function isDeadlock(thrown: unknown): boolean {
  const { errno, cause } = thrown as { errno?: string; cause?: { errno?: string } };
  return (errno ?? cause?.errno) === "40P01";
}

/** Whether an error, or one of its causes, is SQLSTATE 55P03, lock_not_available, as by a lock timeout. */
export function isLockTimeout(thrown: unknown): boolean {
  for (let at = thrown; at instanceof Error; at = at.cause) {
    if ((at as { errno?: unknown }).errno === "55P03") return true;
  }
  return false;
}

/** Whether an error is SQLSTATE 57014, query_canceled, as by a statement timeout. */
export function isCanceled(thrown: unknown): boolean {
  const { errno, cause } = thrown as { errno?: string; cause?: { errno?: string } };
  return (errno ?? cause?.errno) === "57014";
}

/**
 * Converts an error of a statement or commit into the project's error class. Errors thrown by the caller's own code
 * pass unchanged.
 */
export function toStorageError(thrown: unknown): unknown {
  if (thrown instanceof SvcError) return thrown;
  const cause = thrown instanceof DrizzleQueryError ? thrown.cause : thrown;
  if (cause instanceof BatchMismatch) return cause;
  const code = (cause as { errno?: string; code?: string } | undefined)?.errno ?? "";
  // SQLSTATE 53100 is disk_full (class 53: insufficient resources).
  if (code === "53100") {
    return new StorageFull("nothing was stored: the database server's disk is full", { cause });
  }
  // character_not_in_repertoire, untranslatable_character: PostgreSQL cannot store NUL in texts.
  if (code === "22021" || code === "22P05") return new BadRequest("text must not contain the character NUL");
  // Not imported: that would load the client at the start of every server.
  if (thrown instanceof DrizzleQueryError || thrown instanceof Bun.SQL.PostgresError)
    return new Internal("the database rejected a statement", { cause });
  return thrown;
}

/**
 * Classifies database errors: outages, which end by themselves so that work can be retried, and statements that would
 * fail again.
 */
import { StorageFull, Unavailable } from "../lib/errors.ts";

/** Codes of Bun's PostgreSQL client for failed and lost connections. */
const CONNECTION_ERROR = /^ERR_POSTGRES_(CONNECTION|IDLE|LIFETIME)_/;

/**
 * SQLSTATEs (https://www.postgresql.org/docs/current/errcodes-appendix.html) of a server that is temporarily unusable:
 * - connection exceptions (08), no admission (28, 3D000), a standby (25006), a serialization failure or deadlock
 *   (40001, 40P01), insufficient resources (53), stopping, crashed or starting (57P01 to 57P03), and system errors
 *   (58).
 */
const OUTAGE_SQLSTATE = /^(08...|28...|3D000|25006|40001|40P01|53...|57P0[123]|58...)$/;

/** SQLite's error codes for its file and disk; errors of other files do not count. */
const SQLITE_FILE_ERROR = /^SQLITE_(BUSY|LOCKED|IOERR|FULL|CANTOPEN|PROTOCOL|READONLY)/;

/** Whether an error, or one of its causes, means that the database or its disk is unusable for now. */
export function isOutage(thrown: unknown): boolean {
  for (let at = thrown; at instanceof Error; at = at.cause) {
    if (at instanceof StorageFull) return true;
    const { code, errno } = at as { code?: unknown; errno?: unknown };
    if (typeof code === "string" && (CONNECTION_ERROR.test(code) || SQLITE_FILE_ERROR.test(code)))
      return true;
    if (typeof errno === "string" && OUTAGE_SQLSTATE.test(errno)) return true;
  }
  return false;
}

/**
 * Whether an error is transient: the same work may succeed later, unchanged. The database is unusable for now,
 * conflicts persisted, or the server is shutting down.
 */
export function isTransient(thrown: unknown): boolean {
  return thrown instanceof Unavailable || isOutage(thrown);
}

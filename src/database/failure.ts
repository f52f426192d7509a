/**
 * Telling an outage of the database from a statement that it refuses. The first passes: what was to be done is done
 * once the database is back, however long that takes. The second would be refused again.
 */
import { StorageFull, Unavailable } from "../lib/errors.ts";

/** What Bun's client says of a connection that could not be made, or is gone. */
const CONNECTION = /^ERR_POSTGRES_(CONNECTION|IDLE|LIFETIME)_/;

/**
 * SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html) of a server that cannot do anything for us
 * now: connection exceptions (08), no admission (28, 3D000), a standby (25006), one transaction ended for the sake of
 * another (40001, 40P01), insufficient resources (53), stopping, crashed or starting (57P01 to 57P03), system errors (58).
 */
const SQLSTATE = /^(08...|28...|3D000|25006|40001|40P01|53...|57P0[123]|58...)$/;

/** What SQLite says of its file, and of the disk it is on. What other files have come to is none of the database's. */
const FILE = /^SQLITE_(BUSY|LOCKED|IOERR|FULL|CANTOPEN|PROTOCOL|READONLY)/;

/** Whether the database, or the disk that it is on, cannot be used for now. Causes are looked at too. */
export function isOutage(thrown: unknown): boolean {
  for (let at = thrown; at instanceof Error; at = at.cause) {
    if (at instanceof StorageFull) return true;
    const { code, errno } = at as { code?: unknown; errno?: unknown };
    if (typeof code === "string" && (CONNECTION.test(code) || FILE.test(code))) return true;
    if (typeof errno === "string" && SQLSTATE.test(errno)) return true;
  }
  return false;
}

/**
 * Whether the same may go through a little later, with nothing changed about it: the database cannot be used for now,
 * others were first again and again, or the server is shutting down. What is to be done is done then, and nothing is
 * given up for it.
 */
export function isPassing(thrown: unknown): boolean {
  return thrown instanceof Unavailable || isOutage(thrown);
}

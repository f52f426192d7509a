import { SQLiteError } from "bun:sqlite";
import { DrizzleQueryError } from "drizzle-orm";
import { Internal, StorageFull } from "../../lib/errors.ts";

/**
 * Classifies an error of a statement or commit: StorageFull for the operator, Internal for everything else. Errors
 * thrown by the write itself pass unchanged. Drizzle's wrapper is removed, because its message contains the parameters.
 */
export function toStorageError(thrown: unknown): unknown {
  if (!(thrown instanceof DrizzleQueryError || thrown instanceof SQLiteError)) return thrown;
  const cause = thrown instanceof DrizzleQueryError ? thrown.cause : thrown;
  const code = (cause as { code?: string } | undefined)?.code ?? "";
  if (code.startsWith("SQLITE_FULL") || code.startsWith("SQLITE_IOERR")) {
    return new StorageFull(`nothing was stored: the database could not be written (${code})`, {
      cause,
      hint: "free some disk space, or raise the database's size limit",
    });
  }
  return new Internal("the database rejected a statement", { cause });
}

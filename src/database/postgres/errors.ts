/** What PostgreSQL and the client say when a statement or a commit fails, as errors of ours. */
import { SQL as PostgresClient } from "bun";
import { DrizzleQueryError } from "drizzle-orm";
import { BadRequest, Internal, StorageFull, SvcError } from "../../lib/errors.ts";

/** A shared statement that was answered before it ran has changed no row: the write must be told so, and begin again. */
export class Contradicted extends Error {}

/** SQLSTATE 40P01: deadlock_detected. */
export function isDeadlock(thrown: unknown): boolean {
  const { errno, cause } = thrown as { errno?: string; cause?: { errno?: string } };
  return (errno ?? cause?.errno) === "40P01";
}

/** Gives a failed statement or commit its name. What a closure throws of its own stays what it is. */
export function toStorageError(thrown: unknown): unknown {
  if (thrown instanceof SvcError) return thrown;
  const cause = thrown instanceof DrizzleQueryError ? thrown.cause : thrown;
  if (cause instanceof Contradicted) return cause;
  const code = (cause as { errno?: string; code?: string } | undefined)?.errno ?? "";
  // SQLSTATE class 53: insufficient resources (53100 is disk_full).
  if (code === "53100") {
    return new StorageFull("nothing was stored: the database server's disk is full", { cause });
  }
  // character_not_in_repertoire, untranslatable_character: a text with the character NUL, which PostgreSQL cannot keep.
  if (code === "22021" || code === "22P05") return new BadRequest("a text must not hold the character NUL");
  if (thrown instanceof DrizzleQueryError || thrown instanceof PostgresClient.PostgresError)
    return new Internal("the database refused a statement", { cause });
  return thrown;
}

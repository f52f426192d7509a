/** Number of pages in the write-ahead log. */
import type { Database as SqliteFile } from "bun:sqlite";
import { statSync } from "node:fs";

/** First version whose `wal_checkpoint(NOOP)` returns the number of pages; older versions would run a checkpoint. */
const FIRST_WITH_NOOP = [3, 51];
/** Sizes of the log's header, and of the header of each page in it (https://sqlite.org/fileformat2.html#walformat). */
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** Returns the version of SQLite used by this process; on macOS, the system's. */
export function readVersion(connection: SqliteFile): string {
  const { version } = connection.query("SELECT sqlite_version() AS version").get() as { version: string };
  return version;
}

function hasNoop(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > FIRST_WITH_NOOP[0]! || (major === FIRST_WITH_NOOP[0] && minor >= FIRST_WITH_NOOP[1]!);
}

/**
 * Creates a function that returns the number of pages in the log.
 * @param connections the writer, and the reader that queries the log
 */
export function createPageCount(
  connections: { writer: SqliteFile; reader: SqliteFile },
  path: string,
  version: string,
): () => number {
  const { writer, reader } = connections;
  if (hasNoop(version)) {
    const counts = reader.prepare("PRAGMA wal_checkpoint(NOOP)");
    return () => (counts.values()[0] as number[] | undefined)?.[1] ?? 0;
  }
  // The log is truncated when it restarts, so its file size shows how much it holds.
  writer.run("PRAGMA journal_size_limit = 0");
  const { page_size } = reader.query("PRAGMA page_size").get() as { page_size: number };
  return () => Math.floor((statSync(`${path}-wal`).size - HEADER_BYTES) / (page_size + FRAME_HEADER_BYTES));
}

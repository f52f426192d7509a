/** Interfaces of the databases for backup (Snapshot) and restore (RestoreTarget). Types only. */
import type { Cell, TableHead } from "./format.ts";

/** Consistent view of a database, unaffected by concurrent writes. */
export interface Snapshot {
  migrations: string[];
  tables: TableHead[];
  /** Yields all rows of a table, with cells in column order. */
  rows(head: TableHead): AsyncIterable<Cell[]>;
  close(): Promise<void>;
}

/** Database being restored; nothing is visible before `commit`. */
export interface RestoreTarget {
  table(head: TableHead): Promise<void>;
  row(cells: Cell[]): Promise<void>;
  /** Applies the remaining migrations and makes everything visible atomically. */
  commit(): Promise<void>;
  /** Discards everything; does nothing after a commit. */
  abort(): Promise<void>;
}

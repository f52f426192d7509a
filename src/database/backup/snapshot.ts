/** What a backup asks of a database, and what a restore does to one. Types only. */
import type { Cell, TableHead } from "./format.ts";

/** One moment of a database, however long it is looked at and whatever is written meanwhile. */
export interface Snapshot {
  migrations: string[];
  tables: TableHead[];
  /** All rows of a table, cells in the order of its columns. */
  rows(head: TableHead): AsyncIterable<Cell[]>;
  close(): Promise<void>;
}

/** A database that is being filled; nobody sees any of it before `commit`. */
export interface Filling {
  table(head: TableHead): Promise<void>;
  row(cells: Cell[]): Promise<void>;
  /** Brings the schema up to date and makes all of it visible at once. */
  commit(): Promise<void>;
  /** Leaves everything as it was. Safe after a commit. */
  abort(): Promise<void>;
}

/** Messages between the server and the thread that reads a table. */

export interface TableRequest {
  format: "parquet" | "csv";
  /** Size of the file in bytes. */
  size: number;
  /** Field separator of a CSV file. */
  separator: string;
  /** Whether to count the rows instead of reading some. */
  counts: boolean;
  offset: number;
  limit: number;
  sort_col?: string | undefined;
  sort_desc: boolean;
  search_col?: string | undefined;
  search_term?: string | undefined;
}

export interface TableColumn {
  name: string;
  datatype: string;
  values: unknown[];
}

export type TableAnswer = { count: number } | { columns: TableColumn[] };

/** Messages of the thread: it requests byte ranges, and sends one result. */
export type FromThread =
  | { kind: "read"; id: number; start: number; end: number }
  | { kind: "done"; answer: TableAnswer }
  | { kind: "failed"; message: string };

export type MessageToThread =
  | { kind: "start"; request: TableRequest }
  | { kind: "bytes"; id: number; bytes: ArrayBuffer };

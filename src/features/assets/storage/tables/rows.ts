/** Rows of Parquet and CSV files, in batches. Filtering, sorting and paging use bounded memory. */
import { Readable } from "node:stream";
import { parse as parseCsv } from "csv-parse";
import { parquetMetadataAsync, parquetReadObjects, parquetSchema } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import type { TableAnswer, TableRequest } from "./protocol.ts";

/** Reads a byte range of the file. @param end exclusive */
export type PartReader = (start: number, end: number) => Promise<ArrayBuffer>;

type Row = Record<string, unknown>;

interface Table {
  columns: { name: string; datatype: string }[];
  /** Number of rows, if the format stores it. */
  count: number | undefined;
  batches(from: number): AsyncGenerator<Row[]>;
}

const BATCH_ROWS = 5_000;
const PART_BYTES = 1_000_000;
/** Maximum size of a CSV record; an unclosed quote would make a record as long as the file. */
const MAX_RECORD_BYTES = 1_000_000;
/** Maximum size of a Parquet row group, decompressed. */
const MAX_GROUP_BYTES = 256_000_000;
/** A row group is decoded as a whole for each batch of its rows. */
const PARQUET_BATCH_ROWS = 50_000;

export async function readRows(read: PartReader, request: TableRequest): Promise<TableAnswer> {
  const table =
    request.format === "parquet" ? await openParquet(read, request) : await openCsv(read, request);
  const isNarrowed = Boolean(request.search_col && request.search_term);
  if (request.counts && !isNarrowed && table.count !== undefined) return { count: table.count };
  const names = new Set(table.columns.map(({ name }) => name));
  for (const column of [request.sort_col, isNarrowed ? request.search_col : undefined]) {
    if (column && !names.has(column)) throw new Error(`there is no column ${column}`);
  }
  if (request.counts) {
    let count = 0;
    for await (const rows of table.batches(0)) count += rows.filter((row) => isWanted(row, request)).length;
    return { count };
  }
  const rows = await readPage(table, request, isNarrowed);
  return {
    columns: table.columns.map((column) => ({
      ...column,
      values: rows.map((row) => row[column.name] ?? null),
    })),
  };
}

async function readPage(table: Table, request: TableRequest, isNarrowed: boolean): Promise<Row[]> {
  const { offset, limit, sort_col } = request;
  const skips = !isNarrowed && !sort_col;
  const enough = skips ? limit : offset + limit;
  let kept: Row[] = [];
  for await (const rows of table.batches(skips ? offset : 0)) {
    for (const row of rows) if (isWanted(row, request)) kept.push(row);
    if (sort_col) kept.sort((a, b) => compare(a[sort_col], b[sort_col]) * (request.sort_desc ? -1 : 1));
    else if (kept.length >= enough) break;
    kept = kept.slice(0, enough);
  }
  return skips ? kept.slice(0, limit) : kept.slice(offset, enough);
}

function isWanted(row: Row, { search_col, search_term }: TableRequest): boolean {
  if (!search_col || !search_term) return true;
  const value = row[search_col];
  return (
    value !== null && value !== undefined && toText(value).toLowerCase().includes(search_term.toLowerCase())
  );
}

const toText = (value: unknown) => (typeof value === "object" ? JSON.stringify(value) : String(value));

/** Orders numbers by value and all other values as text; missing values come last. */
function compare(a: unknown, b: unknown): number {
  const missing = Number(a === null || a === undefined) - Number(b === null || b === undefined);
  if (missing !== 0) return missing;
  if (typeof a === "number" && typeof b === "number") return a - b;
  const [left, right] = [toText(a), toText(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

async function openParquet(read: PartReader, { size }: TableRequest): Promise<Table> {
  const file = { byteLength: size, slice: (start: number, end = size) => read(start, end) };
  const metadata = await parquetMetadataAsync(file);
  const count = Number(metadata.num_rows);
  if (metadata.row_groups.some(({ total_byte_size }) => total_byte_size > MAX_GROUP_BYTES))
    throw new Error(
      `a row group of the file has more than ${MAX_GROUP_BYTES / 1_000_000} MB when it is decompressed`,
    );
  const columns = parquetSchema(metadata).children.map(({ element }) => ({
    name: element.name,
    datatype: String(element.logical_type?.type ?? element.converted_type ?? element.type ?? "STRUCT"),
  }));
  return {
    columns,
    count,
    async *batches(from) {
      for (let at = from; at < count; at += PARQUET_BATCH_ROWS) {
        const rowEnd = Math.min(count, at + PARQUET_BATCH_ROWS);
        const rows = await parquetReadObjects({ file, metadata, compressors, rowStart: at, rowEnd });
        yield rows.map((row) => toPlain(row) as Row);
      }
    },
  };
}

async function openCsv(read: PartReader, { size, separator }: TableRequest): Promise<Table> {
  async function* records(): AsyncGenerator<string[]> {
    async function* parts() {
      for (let at = 0; at < size; at += PART_BYTES) {
        yield Buffer.from(await read(at, Math.min(size, at + PART_BYTES)));
      }
    }
    const options = {
      delimiter: separator,
      bom: true,
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: MAX_RECORD_BYTES,
    };
    yield* Readable.from(parts()).pipe(parseCsv(options));
  }
  const [names = []] = await take(records(), 1);
  return {
    columns: names.map((name) => ({ name, datatype: "String" })),
    count: undefined,
    async *batches(from) {
      let batch: Row[] = [];
      let seen = -1;
      for await (const values of records()) {
        // The first record contains the column names.
        if (seen++ < from) continue;
        batch.push(Object.fromEntries(names.map((name, at) => [name, values[at] ?? null])));
        if (batch.length < BATCH_ROWS) continue;
        yield batch;
        batch = [];
      }
      yield batch;
    },
  };
}

async function take<T>(from: AsyncGenerator<T>, count: number): Promise<T[]> {
  const found: T[] = [];
  for await (const each of from) if (found.push(each) >= count) break;
  return found;
}

/** Converts values without a JSON form: integers beyond 2^53 to text, bytes to base64. */
function toPlain(value: unknown): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (Array.isArray(value)) return value.map(toPlain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, toPlain(each)]));
}

/** Lists pages of tables in the object storage, and counts their rows. */
import { Readable } from "node:stream";
import * as z from "../../../lib/zod/z.ts";
import {
  type Operation,
  operation,
  queryBoolean,
  queryInteger,
  responds,
} from "../../../platform/http/operation.ts";
import { parseFileKey } from "./object-store.ts";
import { openStore } from "./service.ts";
import type { TableAnswer } from "./tables/protocol.ts";
import { readTable } from "./tables/read-table.ts";

const base = "/w/{workspace}/job_helpers" as const;
const MAX_ROWS = 1_000;

const Search = z.object({
  storage: z.string().optional(),
  search_col: z.string().optional(),
  search_term: z.string().optional(),
});
const Page = Search.extend({
  offset: queryInteger.min(0).max(1_000_000).default(0),
  limit: queryInteger.min(1).max(MAX_ROWS).default(100),
  sort_col: z.string().optional(),
  sort_desc: queryBoolean.default(false),
});
const Table = z.object({
  columns: z.array(z.object({ name: z.string(), datatype: z.string(), values: z.array(z.unknown()) })),
});

type Columns = Extract<TableAnswer, { columns: unknown }>;

const loadParquetPreview = operation({
  name: "loadParquetPreview",
  method: "GET",
  path: `${base}/load_parquet_preview/{path}`,
  access: "member",
  summary: "Read some rows of a stored Parquet file, by column",
  query: Page,
  responds: responds.json(Table),
  run: async (ctx, { path, query }) => {
    const file = await (await openStore(ctx, query)).get(parseFileKey(path));
    return (await readTable(
      file,
      { ...query, format: "parquet", separator: "", counts: false },
      ctx.request.signal,
    )) as Columns;
  },
});

const csv_separator = z.string().length(1).default(",");

const loadCsvPreview = operation({
  name: "loadCsvPreview",
  method: "GET",
  path: `${base}/load_csv_preview/{path}`,
  access: "member",
  summary: "Read some rows of a stored CSV file, by column; its first line names the columns",
  query: Page.extend({ csv_separator }),
  responds: responds.json(Table),
  run: async (ctx, { path, query: { csv_separator: separator, ...query } }) => {
    const file = await (await openStore(ctx, query)).get(parseFileKey(path));
    return (await readTable(
      file,
      { ...query, format: "csv", separator, counts: false },
      ctx.request.signal,
    )) as Columns;
  },
});

const loadTableCount = operation({
  name: "loadTableRowCount",
  method: "GET",
  path: `${base}/load_table_count/{path}`,
  access: "member",
  summary: "Count the rows of a stored Parquet or CSV file",
  query: Search.extend({ csv_separator }),
  responds: responds.json(z.object({ count: z.number() })),
  run: async (ctx, { path, query: { csv_separator: separator, ...query } }) => {
    const key = parseFileKey(path);
    const file = await (await openStore(ctx, query)).get(key);
    const format = /\.(csv|tsv)$/i.test(key) ? "csv" : "parquet";
    const page = { offset: 0, limit: 0, sort_desc: false, counts: true };
    return (await readTable(file, { ...query, ...page, format, separator }, ctx.request.signal)) as {
      count: number;
    };
  },
});

/** Number of rows converted at once. */
const CSV_ROWS = 20_000;

const downloadParquetAsCsv = operation({
  name: "fileDownloadParquetAsCsv",
  method: "GET",
  path: `${base}/download_s3_parquet_file_as_csv`,
  access: "member",
  summary: "Download a stored Parquet file as CSV",
  query: z.object({ file_key: z.string(), storage: z.string().optional() }),
  responds: responds.raw("text/csv", "the rows, below a line with the names of the columns"),
  run: async (ctx, { query }) => {
    const file = await (await openStore(ctx, query)).get(parseFileKey(query.file_key));
    const { signal } = ctx.request;
    const page = async (offset: number) => {
      const some = { offset, limit: CSV_ROWS, sort_desc: false, counts: false } as const;
      const { columns } = (await readTable(
        file,
        { ...some, format: "parquet", separator: "" },
        signal,
      )) as Columns;
      return columns;
    };
    // An error in the first page is returned as the error of the call.
    const first = await page(0);
    async function* lines() {
      yield formatCsvLine(first.map(({ name }) => name));
      let columns = first;
      for (let offset = 0; ; columns = await page(offset)) {
        const rows = columns[0]?.values.length ?? 0;
        yield Array.from({ length: rows }, (_, at) =>
          formatCsvLine(columns.map(({ values }) => values[at])),
        ).join("");
        offset += CSV_ROWS;
        if (rows < CSV_ROWS) return;
      }
    }
    return new Response(Readable.toWeb(Readable.from(lines())) as unknown as ReadableStream, {
      headers: { "content-type": "text/csv; charset=utf-8" },
    });
  },
});

/** Formats values as a line of CSV (RFC 4180). Objects and arrays are written as JSON, null as an empty field. */
function formatCsvLine(values: readonly unknown[]): string {
  const cells = values.map((value) => {
    const text = typeof value === "object" && value !== null ? JSON.stringify(value) : String(value ?? "");
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  return `${cells.join(",")}\r\n`;
}

export const tableOperations: Operation[] = [
  loadParquetPreview,
  loadCsvPreview,
  loadTableCount,
  downloadParquetAsCsv,
];

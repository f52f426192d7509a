/** Pages and counts of tables in the object storage. */
import { z } from "zod";
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

export const tableOperations: Operation[] = [loadParquetPreview, loadCsvPreview, loadTableCount];

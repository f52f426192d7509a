/** Pages and counts of Parquet and CSV files, in a folder of the server and in a bucket. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { parquetWriteBuffer } from "hyparquet-writer";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";
import { type Bucket, startBucket } from "../../../support/peers/bucket.ts";

let server: TestServer;
let bucket: Bucket;
let ask: Ask;
let token: string;

const ROWS = 12_000;
const numbers = Array.from({ length: ROWS }, (_, at) => (at * 7919) % ROWS);

beforeAll(async () => {
  [server, bucket] = await Promise.all([
    startTestServer({ max_upload_mb: 20, allowed_targets: "127.0.0.1" }),
    startBucket(),
  ]);
  ({ ask, token } = await server.workspace());
  const resource = { path: "u/admin/bucket", value: bucket.resource, resource_type: "s3" };
  await expectOk(ask("POST", "/w/acme/resources/create", resource));
  const storage = {
    type: "FilesystemStorage",
    secondary_storage: { bucket: { type: "S3Storage", s3_resource_path: "$res:u/admin/bucket" } },
  };
  await expectOk(
    ask("POST", "/w/acme/workspaces/edit_large_file_storage_config", { large_file_storage: storage }),
  );
  const parquet = parquetWriteBuffer({
    columnData: [
      { name: "n", data: numbers, type: "INT32" },
      { name: "name", data: numbers.map((n) => `Row ${n}`), type: "STRING" },
      { name: "big", data: numbers.map((n) => 9007199254740993n + BigInt(n)), type: "INT64" },
    ],
    rowGroupSize: 5_000,
  });
  const csv = `name,n\n"Smith, ""Jo""",3\nÄnne,1\nbo,\n`;
  for (const choice of ["", "bucket"]) {
    await upload("t/numbers.parquet", parquet, choice);
    await upload("t/people.csv", csv, choice);
  }
  await upload("t/semicolons.csv", "a;b\n1;2\n");
  await upload("t/noise.parquet", "no parquet at all, whatever its name says");
  await upload("t/empty.csv", "");
}, 60_000);
afterAll(async () => {
  await server.stop();
  await bucket.stop();
});

const h = "/w/acme/job_helpers";

async function upload(key: string, body: string | ArrayBuffer, storage = "") {
  const url = `${server.url}/api${h}/upload_s3_file?file_key=${key}&storage=${storage}`;
  const answer = await fetch(url, { method: "POST", body, headers: { authorization: `Bearer ${token}` } });
  expect(answer.status).toBeLessThan(300);
}
const load = async (what: string, query = "") =>
  (await expectOk(ask("GET", `${h}/load_${what}?${query}`))).json();
const valuesOf = (answer: any, name: string) =>
  answer.columns.find((column: any) => column.name === name).values;

describe.each(["", "bucket"])("a table in storage %p", (storage) => {
  const at = `storage=${storage}`;

  test("of Parquet is downloaded as CSV", async () => {
    const url = `${h}/download_s3_parquet_file_as_csv?${at}&file_key=`;
    const { text, headers } = await expectOk(ask("GET", `${url}t/numbers.parquet`));
    expect(headers.get("content-type")).toStartWith("text/csv");
    const lines = text.split("\r\n");
    expect(lines).toHaveLength(ROWS + 2);
    expect([lines[0], lines[2]]).toEqual(["n,name,big", "7919,Row 7919,9007199254748912"]);
    expect((await ask("GET", `${url}t/people.csv`)).status).toBe(400);
    expect((await ask("GET", `${url}t/none.parquet`)).status).toBe(404);
  });

  test("of Parquet is read by page and counted", async () => {
    const page = await load("parquet_preview/t/numbers.parquet", `${at}&offset=4999&limit=3`);
    expect(page.columns.map(({ name }: any) => name)).toEqual(["n", "name", "big"]);
    expect(valuesOf(page, "n")).toEqual(numbers.slice(4999, 5002));
    expect(valuesOf(page, "big")[0]).toBe(String(9007199254740993n + BigInt(numbers[4999]!)));
    expect(await load("table_count/t/numbers.parquet", at)).toEqual({ count: ROWS });
  });

  test("of Parquet is searched and sorted", async () => {
    const sorted = await load("parquet_preview/t/numbers.parquet", `${at}&sort_col=n&offset=2&limit=3`);
    expect(valuesOf(sorted, "n")).toEqual([2, 3, 4]);
    const last = await load("parquet_preview/t/numbers.parquet", `${at}&sort_col=n&sort_desc=true&limit=2`);
    expect(valuesOf(last, "name")).toEqual(["Row 11999", "Row 11998"]);
    const search = `${at}&search_col=name&search_term=row%201199`;
    const found = await load("parquet_preview/t/numbers.parquet", `${search}&sort_col=n&limit=3`);
    expect(valuesOf(found, "n")).toEqual([1199, 11990, 11991]);
    expect(await load("table_count/t/numbers.parquet", search)).toEqual({ count: 11 });
  });

  test("of CSV is read, sorted and counted", async () => {
    const page = await load("csv_preview/t/people.csv", at);
    expect(page).toEqual({
      columns: [
        { name: "name", datatype: "String", values: ['Smith, "Jo"', "Änne", "bo"] },
        { name: "n", datatype: "String", values: ["3", "1", ""] },
      ],
    });
    expect(valuesOf(await load("csv_preview/t/people.csv", `${at}&offset=1&limit=1`), "name")).toEqual([
      "Änne",
    ]);
    expect(await load("table_count/t/people.csv", at)).toEqual({ count: 3 });
  });
});

test("a CSV file may have another separator, or be empty", async () => {
  const page = await load("csv_preview/t/semicolons.csv", "csv_separator=%3B");
  expect([valuesOf(page, "a"), valuesOf(page, "b")]).toEqual([["1"], ["2"]]);
  expect(await load("csv_preview/t/empty.csv")).toEqual({ columns: [] });
  expect(await load("table_count/t/empty.csv")).toEqual({ count: 0 });
});

test.each([
  ["another format", "parquet_preview/t/noise.parquet", "", 400, "cannot be read as parquet"],
  ["an unknown column", "parquet_preview/t/numbers.parquet", "sort_col=x", 400, "no column x"],
  ["no file", "parquet_preview/t/none.parquet", "", 404, "t/none.parquet"],
  ["a path that leaves the folder", "csv_preview/t/..%2F..%2Fx", "", 400, "cannot be a file key"],
])("%s is rejected", async (_, what, query, status, says) => {
  const answer = await ask("GET", `${h}/load_${what}?${query}`);
  expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(says)]);
});

test("the server handles other requests while a file is read", async () => {
  const reads = Array.from({ length: 5 }, () => load("parquet_preview/t/numbers.parquet", "sort_col=name"));
  expect((await ask("GET", "/version")).status).toBe(200);
  for (const page of await Promise.all(reads)) expect(valuesOf(page, "n")[0]).toBe(0);
});

test("a small file with huge contents is refused, and the server stays", async () => {
  const frame = Bun.zstdCompressSync(new Uint8Array(2 ** 26));
  const data = ["one", "two"];
  const file = parquetWriteBuffer({
    columnData: [{ name: "a", data, type: "STRING" }],
    codec: "ZSTD",
    compressors: { ZSTD: () => new Uint8Array(Buffer.concat(Array<Uint8Array>(48).fill(frame))) },
  });
  expect(file.byteLength).toBeLessThan(1_000_000);
  await upload("t/grows.parquet", file);
  const before = process.memoryUsage.rss();
  const read = await ask("GET", `${h}/load_parquet_preview/t/grows.parquet`);
  // On a busy machine the limit of time may be the first.
  expect([read.status, read.text]).toEqual([
    400,
    expect.stringMatching(/too much memory|longer than the limit/),
  ]);
  expect(process.memoryUsage.rss() - before).toBeLessThan(2_000_000_000);
  expect((await load("parquet_preview/t/numbers.parquet", "limit=1")).columns).toHaveLength(3);
}, 60_000);

/** The files of the server's own log. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
const log_dir = mkdtempSync(join(tmpdir(), "svc-log-"));
const OLD = [
  '{"level":"info","time":"2020-01-01T05:10:00.000Z","msg":"Begun here"}',
  '{"level":"error","time":"2020-01-01T05:50:00.000Z","msg":"here it broke"}',
];

beforeAll(async () => {
  mkdirSync(join(log_dir, "web-1"));
  writeFileSync(join(log_dir, "web-1/2020-01-01T05.log"), `${OLD.join("\n")}\n`);
  writeFileSync(join(log_dir, "web-1/other.txt"), "not a log");
  server = await startTestServer({ log_dir, log_level: "debug" });
});
afterAll(async () => {
  await server.stop();
  rmSync(log_dir, { recursive: true });
});

const get = async (path: string) => (await expectOk(server.operator("GET", path))).json();

test("the files are listed, newest first, with their numbers of lines", async () => {
  const files = await get("/service_logs/list_files");
  expect(files).toHaveLength(2);
  expect(files[0].log_ts > "2026").toBe(true);
  expect(files[1]).toMatchObject({
    hostname: "web-1",
    log_ts: "2020-01-01T05:00:00.000Z",
    file_path: "web-1/2020-01-01T05.log",
    ok_lines: 1,
    err_lines: 1,
    json_fmt: true,
  });
  expect(await get("/service_logs/list_files?with_error=true&before=2020-01-02T00:00:00Z")).toHaveLength(1);
  expect(await get("/service_logs/list_files?after=2020-01-01T06:00:00Z")).toHaveLength(1);
});

test("a file is read as it is, and nothing else of the machine", async () => {
  const read = (path: string) => server.operator("GET", `/service_logs/get_log_file/${path}`);
  expect((await expectOk(read("web-1/2020-01-01T05.log"))).text).toBe(`${OLD.join("\n")}\n`);
  const [own] = await get("/service_logs/list_files");
  expect((await expectOk(read(own.file_path))).text).toContain('"level":"debug"');
  for (const path of ["web-1/other.txt", "..%2f..%2fetc%2fpasswd", "..%2fx%2f2020-01-01T05.log"]) {
    expect((await read(path)).status).toBe(400);
  }
  expect((await read("web-2/2020-01-01T05.log")).status).toBe(404);
});

test("lines are found by words, host and time", async () => {
  const search = (more: string) =>
    get(`/srch/index/search/service_logs?mode=server&hostname=web-1&search_query=${more}`);
  expect((await search("HERE")).hits.map(({ line }: any) => line)).toEqual(OLD);
  expect((await search("here%20broke")).hits).toHaveLength(1);
  expect((await search("here&max_ts=2020-01-01T05:30:00Z")).hits).toHaveLength(1);
  expect((await search("here&min_ts=2020-01-01T06:30:00Z")).hits).toEqual([]);
  const counted = await get("/srch/index/search/count_service_logs?search_query=here&hosts=web-1,web-2");
  expect(counted.count_per_host).toEqual({ "web-1": 2, "web-2": 0 });
});

test("nobody but super admins reads the log", async () => {
  const { ask } = await server.user("ann");
  for (const path of ["list_files", "get_log_file/web-1/2020-01-01T05.log"]) {
    expect((await ask("GET", `/service_logs/${path}`)).status).toBe(403);
  }
  expect((await ask("GET", "/srch/index/search/service_logs?hostname=web-1&search_query=x")).status).toBe(
    403,
  );
});

test("old files of the own host are deleted when a new one begins", async () => {
  const [own] = await get("/service_logs/list_files");
  writeFileSync(join(log_dir, own.hostname, "2020-01-01T05.log"), "{}\n");
  await using next = await startTestServer({ log_dir, log_level: "debug" });
  await expectOk(next.operator("GET", "/version"));
  expect(readdirSync(join(log_dir, own.hostname))).not.toContain("2020-01-01T05.log");
});

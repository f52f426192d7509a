/** The files of the server's own log. */
import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
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

test("the files are listed, newest first, with their line counts", async () => {
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

test("a file is returned unchanged, and no other file of the machine", async () => {
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

test("filters that match no file find nothing", async () => {
  const [own] = await get("/service_logs/list_files");
  const search = (more: string) =>
    get(`/srch/index/search/service_logs?hostname=web-1&search_query=here&${more}`);
  expect((await search(`mode=server&worker_group=${own.worker_group}`)).hits).toHaveLength(2);
  expect((await search("mode=&worker_group=")).hits).toHaveLength(2);
  expect((await search("mode=worker")).hits).toEqual([]);
  expect((await search("worker_group=elsewhere")).hits).toEqual([]);
});

test("a deleted file is left out, and not found", async () => {
  const path = "web-1/2020-01-01T06.log";
  const read = () => server.operator("GET", `/service_logs/get_log_file/${path}`);
  const full = join(log_dir, path);
  for (const make of [() => symlinkSync(join(log_dir, "gone"), full), () => mkdirSync(full)]) {
    make();
    expect(await get("/service_logs/list_files")).toHaveLength(2);
    const found = await get("/srch/index/search/service_logs?hostname=web-1&search_query=here");
    expect(found.hits).toHaveLength(2);
    const answer = await read();
    expect(answer.status).toBe(404);
    expect(answer.text).toContain(path);
    rmSync(full, { recursive: true });
  }
});

test("a search beyond the time limit continues from file to file, and counts later", async () => {
  for (const hour of ["07", "08"])
    writeFileSync(
      join(log_dir, `web-1/2020-01-01T${hour}.log`),
      `{"time":"2020-01-01T${hour}:10:00.000Z","msg":"here"}\n`,
    );
  const real = performance.now.bind(performance);
  let looks = 0;
  const clock = spyOn(performance, "now").mockImplementation(() => real() + ++looks * 6_000);
  const lines: string[] = [];
  const counts: number[] = [];
  try {
    for (const [kind, add] of [
      ["service_logs?hostname=web-1", (part: any) => lines.push(...part.hits.map(({ line }: any) => line))],
      ["count_service_logs?hosts=web-1", (part: any) => counts.push(part.count_per_host["web-1"])],
    ] as const) {
      for (let until: string | undefined = "2020-01-02T00:00:00Z"; until !== undefined; ) {
        const part = await get(`/srch/index/search/${kind}&search_query=here&max_ts=${until}`);
        add(part);
        until = part.searched_until;
      }
    }
    const files = await get("/service_logs/list_files?before=2020-01-02T00:00:00Z");
    expect(files.map(({ ok_lines }: any) => ok_lines)).toEqual([undefined, undefined, 1]);
  } finally {
    clock.mockRestore();
  }
  expect(lines.map((line) => JSON.parse(line).time.slice(11, 16))).toEqual([
    "08:10",
    "07:10",
    "05:10",
    "05:50",
  ]);
  expect(counts).toEqual([1, 1, 2]);
});

test("only super admins read the log", async () => {
  const { ask } = await server.user("ann");
  for (const path of ["list_files", "get_log_file/web-1/2020-01-01T05.log"]) {
    expect((await ask("GET", `/service_logs/${path}`)).status).toBe(403);
  }
  expect((await ask("GET", "/srch/index/search/service_logs?hostname=web-1&search_query=x")).status).toBe(
    403,
  );
});

test("old files of the same host are deleted when a new one starts", async () => {
  const [own] = await get("/service_logs/list_files");
  writeFileSync(join(log_dir, own.hostname, "2020-01-01T05.log"), "{}\n");
  await using next = await startTestServer({ log_dir, log_level: "debug" });
  await expectOk(next.operator("GET", "/version"));
  expect(readdirSync(join(log_dir, own.hostname))).not.toContain("2020-01-01T05.log");
});

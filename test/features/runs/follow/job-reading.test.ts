/** Reading one job, and counts of many. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer({ workers: 1 });
  ({ ask } = await server.workspace());
  await expectOk(
    server.operator("POST", "/settings/global/custom_tags", { value: ["slow", "red", "green", "blue"] }),
  );
});
afterAll(() => server.stop());

const get = (path: string, by: Ask = ask) => by("GET", `/w/acme/${path}`);
const start = async (path: string, args: unknown = {}, query = "", by: Ask = ask) =>
  (await expectOk(by("POST", `/w/acme/jobs/run/p/${path}${query}`, args))).text;
const completed = (id: string): Promise<any> =>
  until(async () => {
    const answer = await get(`jobs_u/completed/get/${id}`);
    return answer.status === 200 ? answer.json() : undefined;
  }, `job ${id}`);

test("arguments and results too big for a record have a placeholder in it, and are returned completely on request", async () => {
  await deploy(ask, "acme", "u/admin/echoes", "export const main = (text: string) => ({ text })");
  const large = { text: "x".repeat(90_001) };
  const job = await completed(await start("u/admin/echoes", large));
  expect([job.args, job.result]).toEqual([{ reason: "WINDMILL_TOO_BIG" }, "WINDMILL_TOO_BIG"]);
  expect((await get(`jobs_u/get/${job.id}`)).json()).toMatchObject({ result: "WINDMILL_TOO_BIG" });
  expect((await get(`jobs_u/get_args/${job.id}`)).json()).toEqual(large);
  expect((await get(`jobs_u/completed/get_result/${job.id}`)).json()).toEqual(large);
  expect((await get(`jobs/completed/get_result_maybe/${job.id}`)).json().result).toEqual(large);
  const small = await completed(await start("u/admin/echoes", { text: "x" }));
  expect([small.args, small.result]).toEqual([{ text: "x" }, { text: "x" }]);
});

test("stored JSON is returned byte for byte; a path selects a value in it", async () => {
  const code = 'def main():\n  return {"n": 12345678901234567890, "list": [{"a.b": 1}, None]}\n';
  await deploy(ask, "acme", "u/admin/digits", code, { language: "python3" });
  const args = '{"big": 12345678901234567890, "nul": "\\u0000"}';
  const { id } = await completed(await start("u/admin/digits", args));
  const answer = await get(`jobs_u/get_args/${id}`);
  expect([answer.text, answer.headers.get("content-type")]).toEqual([args, "application/json"]);
  const result = async (query: string) => (await get(`jobs_u/completed/get_result/${id}${query}`)).text;
  expect(await result("")).toContain("12345678901234567890");
  expect(await result("?json_path=list.0")).toBe('{"a.b":1}');
  expect(await result("?json_path=list.length.toString")).toBe("null");
  expect(await result("?json_path=constructor.name")).toBe("null");
});

test("a record is returned without code on request, and the end of a log without the record", async () => {
  const preview = { content: "export const main = () => console.log('x'.repeat(30_000))", language: "bun" };
  const id = (await expectOk(ask("POST", "/w/acme/jobs/run/preview", preview))).text;
  const job = await completed(id);
  expect([job.raw_code, job.logs.length]).toEqual([preview.content, 20_000]);
  expect((await get(`jobs_u/get/${id}?no_code=true&no_logs=true`)).json()).not.toHaveProperty("raw_code");
  const tail = await get(`jobs_u/get_completed_logs_tail/${id}`);
  expect(tail.text).toBe((await get(`jobs_u/get_logs/${id}`)).text.slice(-20_000));
  expect((await get(`jobs_u/get_completed_logs_tail/${id}`, server.as(undefined))).status).toBe(400);
});

test("queued jobs are counted, and have a position and a time; start times are shown to users who may see the job", async () => {
  await deploy(
    ask,
    "acme",
    "u/admin/sleeps",
    "export const main = async (ms: number) => { await Bun.sleep(ms) }",
  );
  await deploy(ask, "acme", "u/admin/tagged", "export const main = () => 1", { tag: "bun" });
  // A worker claims a few jobs more than it runs, so that it does not wait for the next.
  const taken: string[] = [];
  const first = await until(async () => {
    const id = await start("u/admin/sleeps", { ms: 60_000 });
    if (!(await get(`jobs_u/get/${id}`)).json().running) return id;
    taken.push(id);
    return undefined;
  }, "a job to wait");
  const running = taken[0]!;
  const waiting = [await start("u/admin/tagged"), await start("u/admin/tagged", {}, "?tag=slow")];
  const later = await start("u/admin/tagged", {}, "?scheduled_in_secs=3600");

  const count = async (query = "") => (await get(`jobs/queue/count${query}`)).json().database_length;
  expect([await count(), await count("?tags=slow"), await count("?tags=slow,%20bun")]).toEqual([3, 1, 3]);
  expect(await count("?tags=none&all_workspaces=true")).toBe(0);

  const due = async (id: string) => (await get(`jobs/queue/scheduled_for/${id}`)).json() as number;
  const { scheduled_for } = (await get(`jobs_u/get/${waiting[1]}`)).json();
  expect(await due(waiting[1]!)).toBe(Date.parse(scheduled_for));
  const position = async (ms: number) => (await get(`jobs/queue/position/${ms}`)).json().position;
  expect(await position((await due(first)) - 1)).toBe(0);
  expect(await position(await due(waiting[1]!))).toBe(3);
  expect(await position(await due(later))).toBeUndefined();
  expect((await get("jobs/queue/position/soon")).status).toBe(400);

  const ids = [waiting[0], running, crypto.randomUUID(), running.toUpperCase()];
  const began = async (by: Ask) =>
    (await by("POST", "/w/acme/jobs_u/queue/get_started_at_by_ids", ids)).json();
  const { started_at } = (await get(`jobs_u/get/${running}`)).json();
  expect(await began(ask)).toEqual([null, started_at, null, started_at]);
  const { ask: stranger } = await server.member("acme", "stranger");
  expect(await began(stranger)).toEqual([null, null, null, null]);
  expect(await began(server.as(undefined))).toEqual([null, null, null, null]);

  await expectOk(ask("POST", "/w/acme/jobs/queue/cancel_selection", [...taken, first]));
  for (const id of [running, ...waiting]) await completed(id);
  expect((await get(`jobs/queue/scheduled_for/${running}`)).status).toBe(404);
});

test("completed jobs are counted: all of them, by tag, outcome and age", async () => {
  await server.workspace("counted");
  const run = async (code: string, tag: string) => {
    const body = { content: `export const main = () => { ${code} }`, language: "bun", args: {}, tag };
    const id = (await expectOk(server.operator("POST", "/w/counted/jobs/run/preview", body))).text;
    const get = () => server.operator("GET", `/w/counted/jobs_u/completed/get/${id}`);
    await until(async () => ((await get()).status === 200 ? true : undefined), "the run");
  };
  const look = async (path: string) => (await expectOk(server.operator("GET", path))).json();
  const count = (query: string) => look(`/w/counted/jobs/completed/count_jobs${query}`);
  expect([await look("/w/counted/jobs/completed/count"), await count("")]).toEqual([
    { database_length: 0 },
    0,
  ]);
  await run("return 1", "red");
  await run("return 1", "green");
  await run("throw new Error('no')", "green");
  expect(await look("/w/counted/jobs/completed/count")).toEqual({ database_length: 3 });
  expect([await count(""), await count("?success=true"), await count("?success=false")]).toEqual([3, 2, 1]);
  expect([await count("?tags=green"), await count("?tags=red,blue")]).toEqual([2, 1]);
  expect([await count("?completed_after_s_ago=600"), await count("?completed_after_s_ago=0")]).toEqual([
    3, 0,
  ]);
  expect(await count("?completed_after_s_ago=600&tags=green&success=true")).toBe(1);

  const byTag = (query: string) => look(`/jobs/completed/count_by_tag${query}`);
  expect(await byTag("?workspace_id=counted")).toEqual([
    { tag: "green", count: 2 },
    { tag: "red", count: 1 },
  ]);
  expect(await byTag("?horizon_secs=0")).toEqual([]);
  expect((await byTag("")).length).toBeGreaterThan(2);
  expect((await ask("GET", "/jobs/completed/count_by_tag")).status).toBe(403);
});

/** An overloaded server rejects requests at once, with the time of the next attempt. */
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
  server = await startTestServer({ workers: 1, max_waiting_calls: 2, max_body_mb: 1 });
  ({ ask } = await server.workspace());
  const content = "export async function main(ms: number) { await Bun.sleep(ms); return ms }";
  await deploy(ask, "acme", "u/admin/slow", content);
});
afterAll(() => server.stop());

const jobs = "/w/acme/jobs";
const call = (ms: number, query = "") =>
  ask("POST", `${jobs}/run_wait_result/p/u/admin/slow${query}`, { ms });
const unfinished = async () =>
  (await ask("GET", `${jobs}/list`)).json().filter((job: any) => job.type === "QueuedJob").length;
const queued = async () => (await ask("GET", `${jobs}/queue/count`)).json().database_length;

test("synchronous calls beyond the limit get 503 with Retry-After; waiting ones are answered", async () => {
  const long = call(1500);
  await until(async () => ((await unfinished()) === 1 ? true : undefined), "the only slot to be taken");
  const waiting = [long, call(1), call(2)];
  await until(async () => ((await unfinished()) === 3 ? true : undefined), "the calls");
  const refused = await call(3);
  expect([refused.status, refused.headers.get("svc-error")]).toEqual([503, "Unavailable"]);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await Promise.all(waiting)).map((answer) => answer.json())).toEqual([1500, 1, 2]);
  expect((await call(4)).json()).toBe(4);
  const list = (await ask("GET", `${jobs}/list`)).json();
  expect(list.filter((job: any) => job.script_path).length).toBe(4);
});

test("a call with queue_limit is rejected while more jobs are queued", async () => {
  // While jobs are short, the worker claims some ahead, and those count as running.
  for (const ms of [200, 200, 200]) await call(ms);
  for (const ms of [800, 1, 1]) await expectOk(ask("POST", `${jobs}/run/p/u/admin/slow`, { ms }));
  await until(async () => ((await queued()) === 2 ? true : undefined), "the queue");
  const refused = await call(1, "?queue_limit=1");
  expect([refused.status, refused.text]).toEqual([
    503,
    expect.stringContaining("more than 1 jobs are queued"),
  ]);
  expect((await call(5, "?queue_limit=2")).json()).toBe(5);
});

test("a body above the limit is rejected with or without Content-Length", async () => {
  const large = "x".repeat(1_100_000);
  expect((await ask("POST", `${jobs}/run/p/u/admin/slow`, { large })).status).toBe(413);
  const body = new ReadableStream({
    start(controller) {
      for (let piece = 0; piece < 11; piece++)
        controller.enqueue(new TextEncoder().encode(large.slice(0, 100_000)));
      controller.close();
    },
  });
  const { token } = await server.member("acme", "sam", "admin");
  const answer = await fetch(`${server.url}/api${jobs}/run/p/u/admin/slow`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body,
  });
  expect(answer.status).toBe(413);
});

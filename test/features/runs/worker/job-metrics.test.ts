/** Reported progress of a job, and its measured memory. */
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

const TELLS = `export async function main(percents: unknown[]) {
  const { WM_TOKEN, WM_WORKSPACE, WM_JOB_ID, BASE_INTERNAL_URL } = process.env;
  const url = BASE_INTERNAL_URL + "/api/w/" + WM_WORKSPACE + "/job_metrics/set_progress/" + WM_JOB_ID;
  const headers = { authorization: "Bearer " + WM_TOKEN };
  const statuses: number[] = [];
  for (const percent of percents) {
    const body = JSON.stringify({ percent, flow_job_id: null });
    statuses.push((await fetch(url, { method: "POST", headers, body })).status);
  }
  console.log("told");
  await Bun.sleep(percents.length === 1 ? 60_000 : percents.length * 50);
  return statuses;
}`;

beforeAll(async () => {
  server = await startTestServer({ workers: 1 });
  ({ ask } = await server.workspace());
  await deploy(ask, "acme", "u/admin/tells", TELLS);
});
afterAll(() => server.stop());

const metric = (path: string, by: Ask = ask) => by("GET", `/w/acme/job_metrics/${path}`);
const set = (id: string, percent: unknown, by: Ask = ask) =>
  by("POST", `/w/acme/job_metrics/set_progress/${id}`, { percent });
const start = async (percents: unknown[], query = "") =>
  (await expectOk(ask("POST", `/w/acme/jobs/run/p/u/admin/tells${query}`, { percents }))).text;
const completed = (id: string): Promise<any> =>
  until(async () => {
    const answer = await ask("GET", `/w/acme/jobs_u/completed/get/${id}`);
    return answer.status === 200 ? answer.json() : undefined;
  }, `job ${id}`);

test("a job reports progress with its own token, and keeps the last value", async () => {
  const id = await start([5, 101, "half", 60]);
  expect((await completed(id)).result).toEqual([200, 400, 400, 200]);
  expect((await metric(`get_progress/${id}`)).json()).toBe(60);
  const late = await set(id, 100);
  expect([late.status, late.text]).toEqual([400, expect.stringContaining("does not run")]);
  expect((await metric(`get_progress/${id}`)).json()).toBe(60);
});

test("members who may read a job may read and set its progress; others get 404", async () => {
  const id = await start([1]);
  await until(async () => ((await metric(`get_progress/${id}`)).json() === 1 ? true : undefined), "the word");
  await expectOk(set(id, 42));
  expect((await metric(`get_progress/${id}`)).json()).toBe(42);
  const { ask: stranger } = await server.member("acme", "stranger");
  expect([
    (await set(id, 1, stranger)).status,
    (await metric(`get_progress/${id}`, stranger)).status,
  ]).toEqual([404, 404]);
  expect((await metric(`get_progress/${id}`, server.as(undefined))).status).toBe(401);
  await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${id}`, {}));
  const later = (await expectOk(ask("POST", "/w/acme/jobs/run/p/u/admin/tells?scheduled_in_secs=3600", {})))
    .text;
  expect((await metric(`get_progress/${later}`)).json()).toBeNull();
  expect((await set(later, 1)).status).toBe(400);
});

test("a completed job has its peak memory", async () => {
  const metrics = async (id: string) =>
    (await expectOk(ask("POST", `/w/acme/job_metrics/get/${id}`, { timeseries_max_datapoints: 10 }))).json();
  const { id, mem_peak } = await completed(await start([1, 2]));
  expect(mem_peak).toBeGreaterThan(0);
  expect(await metrics(id)).toEqual({
    metrics_metadata: [{ id: "memory_kb", name: expect.any(String) }],
    scalar_metrics: [{ metric_id: "memory_kb", value: mem_peak }],
    timeseries_metrics: [],
  });
  const later = await start([], "?scheduled_in_secs=3600");
  expect((await metrics(later)).scalar_metrics).toEqual([]);
});

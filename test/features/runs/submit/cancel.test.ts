/** Canceling many jobs, and jobs whose worker is lost; what can be read of a job beside its result. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { stripLogHeader } from "../../../../src/features/runs/job/log-header.ts";
import { jobs } from "../../../../src/platform/queue/tables.ts";
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
  const code = "export const main = async (ms: number) => { await Bun.sleep(ms); return 1 }";
  await deploy(ask, "acme", "u/admin/sleeps", code);
});
afterAll(() => server.stop());

const start = async (ms: number, query = "") =>
  (await expectOk(ask("POST", `/w/acme/jobs/run/p/u/admin/sleeps${query}`, { ms }))).text;

const completed = (id: string): Promise<any> =>
  until(async () => {
    const answer = await ask("GET", `/w/acme/jobs_u/completed/get/${id}`);
    return answer.status === 200 ? answer.json() : undefined;
  }, `job ${id}`);

test("cancel_selection cancels queued and scheduled jobs, but not planned, completed, unknown or others' ones", async () => {
  const done = await start(0);
  await completed(done);
  const running = await start(60_000);
  const queued = await Promise.all([start(60_000), start(60_000)]);
  const later = await start(0, "?scheduled_in_secs=3600");
  const scheduled = await start(0, "?scheduled_in_secs=3600");
  const planned = { schedule_path: "u/admin/hourly", state: "planned" as const };
  await server.server.app.db.write(async (tx) => {
    await tx.update(jobs).set(planned).where(eq(jobs.id, scheduled));
  });
  const selection = [done, running, ...queued, queued[0], later, scheduled, crypto.randomUUID()];
  const stranger = await server.member("acme", "stranger");
  expect((await stranger.ask("POST", "/w/acme/jobs/queue/cancel_selection", selection)).json()).toEqual([]);
  const answer = await ask("POST", "/w/acme/jobs/queue/cancel_selection", selection);
  expect(answer.json()).toEqual([running, ...queued, later]);
  for (const id of [running, ...queued, later]) expect((await completed(id)).canceled).toBe(true);
  expect((await completed(done)).canceled).toBe(false);
  expect((await ask("GET", `/w/acme/jobs_u/get/${scheduled}`)).json().type).toBe("QueuedJob");
  expect((await ask("POST", "/w/acme/jobs/queue/cancel_selection", ["x"])).status).toBe(400);
});

test("force_cancel ends a job whose worker is lost, and one that runs here with its process", async () => {
  const lost = await start(0, "?scheduled_in_secs=3600");
  await server.server.app.db.write(async (tx) => {
    const gone = { state: "running", worker: "gone", last_ping: new Date(), started_at: new Date() } as const;
    await tx.update(jobs).set(gone).where(eq(jobs.id, lost));
  });
  await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${lost}`, {}));
  expect((await ask("GET", `/w/acme/jobs_u/completed/get/${lost}`)).status).toBe(404);
  const force = (id: string) =>
    expectOk(ask("POST", `/w/acme/jobs_u/queue/force_cancel/${id}`, { reason: "stuck" }));
  expect((await force(lost)).text).toBe(lost);
  expect((await completed(lost)).result.error).toMatchObject({
    name: "Canceled",
    reason: "stuck",
    canceler: "admin",
  });
  const { duration_ms } = await completed(lost);
  expect(duration_ms).toBeGreaterThanOrEqual(0);
  const code = "export const main = async () => { console.log('said'); await Bun.sleep(60_000) }";
  await deploy(ask, "acme", "u/admin/talks", code);
  const here = (await expectOk(ask("POST", "/w/acme/jobs/run/p/u/admin/talks", {}))).text;
  const log = async () => stripLogHeader((await ask("GET", `/w/acme/jobs_u/get_logs/${here}`)).text);
  await until(async () => ((await log()) === "said\n" ? true : undefined), "the job to print");
  await force(here);
  const ended = await completed(here);
  expect([ended.canceled, ended.duration_ms > 0, await log()]).toEqual([true, true, "said\n"]);
  // The only slot is free again.
  expect((await ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/sleeps", { ms: 0 })).text).toBe("1");
  expect((await force(here)).text).toContain("already completed");
});

test("a job shows its times and the root of its run", async () => {
  const top = await start(5);
  const middle = await start(0, `?parent_job=${top}`);
  const leaf = await start(0, `?parent_job=${middle}`);
  await completed(leaf);
  for (const id of [top, middle, leaf]) {
    expect((await ask("GET", `/w/acme/jobs_u/get_root_job_id/${id}`)).json()).toBe(top);
  }
  const job = await completed(top);
  const timing = (await ask("GET", `/w/acme/jobs_u/completed/get_timing/${top}`)).json();
  const { created_at, started_at, duration_ms } = job;
  expect(timing).toEqual({ created_at, started_at, duration_ms });
  const later = await start(0, "?scheduled_in_secs=3600");
  expect(Object.keys((await ask("GET", `/w/acme/jobs_u/completed/get_timing/${later}`)).json())).toEqual([
    "created_at",
  ]);
});

test("a list shows the jobs that the caller may read: their own, and those of scripts they may read", async () => {
  const reader = await server.member("acme", "reader");
  const paths = ["u/admin/private", "u/reader/own", "g/all/shared"];
  const ids: string[] = [];
  for (const path of paths) {
    await deploy(ask, "acme", path, "export const main = () => 1");
    ids.push((await expectOk(ask("POST", `/w/acme/jobs/run/p/${path}`, {}))).text);
  }
  await expectOk(ask("POST", "/w/acme/jobs/run/p/u/reader/own?invisible_to_owner=true", {}));
  const one = await Promise.all(ids.map((id) => reader.ask("GET", `/w/acme/jobs_u/get/${id}`)));
  expect(one.map((answer) => answer.status)).toEqual([404, 200, 200]);
  const list = (await reader.ask("GET", "/w/acme/jobs/list?job_kinds=script")).json();
  expect(list.map((job: any) => job.id).sort()).toEqual([ids[1], ids[2]].sort());
});

/** Deleting the content of completed jobs, and deleting jobs completely. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { flowVersions } from "../../../../src/features/code/flows/tables.ts";
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
import { completedRow, idOf, QUEUED } from "../../../support/job-rows.ts";

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer({ workers: 1, retention_s: 0 });
  ({ ask } = await server.workspace());
  const code =
    "export const main = async (ms: number, word: string) => { console.log('said', word); await Bun.sleep(ms); return word }";
  await deploy(ask, "acme", "u/admin/says", code);
});
afterAll(() => server.stop());

const start = async (args: object, query = "") =>
  (await expectOk(ask("POST", `/w/acme/jobs/run/p/u/admin/says${query}`, { ms: 0, word: "", ...args }))).text;
const get = (id: string) => ask("GET", `/w/acme/jobs_u/get/${id}`);
const untilJob = (id: string, that: (job: any) => boolean): Promise<any> =>
  until(async () => {
    const job = (await get(id)).json();
    return that(job) ? job : undefined;
  }, `job ${id}`);
const completed = (id: string) => untilJob(id, (job) => job.type === "CompletedJob");
const audited = async (operation: string): Promise<string[]> =>
  (await ask("GET", `/w/acme/audit/list?operation=${operation}`)).json().map((row: any) => row.resource);

test("a deleted job keeps its status and times, but neither arguments nor result nor log", async () => {
  const content =
    "export const main = (word: string) => { console.log(word, 'logged'); return { word } } // coded";
  const preview = { content, language: "bun", args: { word: "whispered" } };
  const id = (await expectOk(ask("POST", "/w/acme/jobs/run/preview", preview))).text;
  const before = await completed(id);
  expect([before.result, stripLogHeader(before.logs)]).toEqual([{ word: "whispered" }, "whispered logged\n"]);

  const { ask: member } = await server.member("acme", "member");
  const path = `/w/acme/jobs/completed/delete/${id}`;
  expect((await member("POST", path)).status).toBe(403);
  const wiped = (await expectOk(ask("POST", path))).json();
  const { created_at, started_at, duration_ms } = before;
  expect(wiped).toMatchObject({ id, deleted: true, success: true, created_at, started_at, duration_ms });
  expect([wiped.args, wiped.result, wiped.raw_code]).toEqual([{}, null, undefined]);
  expect((await get(id)).json()).toEqual({ ...wiped, logs: "" });
  expect((await ask("GET", `/w/acme/jobs_u/get_logs/${id}`)).text).toBe("");
  expect((await ask("GET", `/w/acme/jobs_u/get_args/${id}`)).json()).toEqual({});
  expect(await audited("jobs.delete")).toEqual([id]);
});

test("a deleted job keeps nothing of the flow that its call contained", async () => {
  const { db } = server.server.app;
  const given = { raw_flow: '{"modules":["whispered"]}', flow_body: '["whispered"]' };
  await db.write((tx) => tx.insert(jobs).values(completedRow(idOf(1), new Date(), given)));
  await expectOk(ask("POST", `/w/acme/jobs/completed/delete/${idOf(1)}`));
  const [row] = await db.read
    .select()
    .from(jobs)
    .where(eq(jobs.id, idOf(1)));
  expect(row?.deleted).toBe(true);
  expect(JSON.stringify(row)).not.toContain("whispered");
});

test("a flow whose lock job is deleted reports it and no longer waits", async () => {
  const path = "u/admin/waits_for_locks";
  await expectOk(ask("POST", "/w/acme/flows/create", { path, summary: "", value: { modules: [] } }));
  const flow_version = (await ask("GET", `/w/acme/flows/get/${path}`)).json().version_id;
  const waiting = { ...QUEUED, kind: "flowdependencies", flow_version } as const;
  await server.server.app.db.write(async (tx) => {
    await tx.insert(jobs).values(completedRow(idOf(2), new Date(), waiting));
    const unready = { ready: false, lock_job: idOf(2) };
    await tx.update(flowVersions).set(unready).where(eq(flowVersions.id, flow_version));
  });
  expect((await expectOk(ask("POST", "/w/acme/jobs/delete", [idOf(2)]))).text).toBe("removed 1 jobs");
  const status = (await ask("GET", `/w/acme/flows/deployment_status/p/${path}`)).json();
  expect(status).toMatchObject({ ready: false, lock_error_logs: "the job was deleted" });
});

test("the concurrency slot of a deleted job goes to the next in the queue", async () => {
  const began = new Date(Date.now() - 60_000);
  const limited = { concurrency_key: "acme/one", concurrent_limit: 1, concurrency_time_window_s: 36_000 };
  const waiting = { ...QUEUED, ...limited, concurrency_blocked: true };
  const rows = [
    completedRow(idOf(3), began, { ...limited, started_at: began, completed_at: began }),
    completedRow(idOf(4), began, waiting),
    completedRow(idOf(5), began, waiting),
  ];
  await server.server.app.db.write((tx) => tx.insert(jobs).values(rows));
  await expectOk(ask("POST", "/w/acme/jobs/delete", [idOf(4)]));
  const due = (await ask("GET", `/w/acme/jobs/queue/scheduled_for/${idOf(5)}`)).json();
  expect(due).toBe(began.getTime() + 36_000_000);
});

test("only completed jobs can be deleted", async () => {
  const scheduled = await start({}, "?scheduled_in_secs=3600");
  const answer = await ask("POST", `/w/acme/jobs/completed/delete/${scheduled}`);
  expect([answer.status, answer.text]).toEqual([404, expect.stringContaining("is not completed")]);
  expect((await ask("POST", `/w/acme/jobs/completed/delete/${crypto.randomUUID()}`)).status).toBe(404);
});

test("jobs/delete deletes queued and completed jobs of this workspace, and no running ones", async () => {
  const done = await start({ word: "removable" });
  await completed(done);
  const scheduled = await start({}, "?scheduled_in_secs=3600");
  const { ask: elsewhere } = await server.workspace("other");
  const preview = { content: "export const main = () => 1", language: "bun" };
  const theirs = (await expectOk(elsewhere("POST", "/w/other/jobs/run/preview", preview))).text;
  const theirJob = () => elsewhere("GET", `/w/other/jobs_u/completed/get/${theirs}`);
  await until(async () => ((await theirJob()).status === 200 ? true : undefined), "their job");
  const running = await start({ ms: 60_000 });
  await untilJob(running, (job) => job.running && job.logs.includes("said"));

  const { ask: member } = await server.member("acme", "other_member");
  expect((await member("POST", "/w/acme/jobs/delete", [done])).status).toBe(403);
  const ids = [done, scheduled, running, theirs, crypto.randomUUID(), done.toUpperCase()];
  const answer = await expectOk(ask("POST", "/w/acme/jobs/delete", ids));
  expect(answer.text).toBe("removed 2 jobs; 1 of them run and were left alone: cancel them first");
  expect([(await get(done)).status, (await get(scheduled)).status]).toEqual([404, 404]);
  expect([(await get(running)).json().running, (await theirJob()).status]).toEqual([true, 200]);
  expect((await audited("jobs.delete")).slice(0, 2).sort()).toEqual([done, scheduled].sort());

  await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${running}`, {}));
  await completed(running);
  expect((await expectOk(ask("POST", "/w/acme/jobs/delete", [running]))).text).toBe("removed 1 jobs");
  expect((await get(running)).status).toBe(404);
});

test("a caller that waits for a job gets an error when the job is deleted from the queue", async () => {
  const blocking: string[] = [];
  await until(async () => {
    const id = await start({ ms: 60_000 });
    blocking.push(id);
    return (await get(id)).json().running ? undefined : true;
  }, "a job to wait");
  const id = crypto.randomUUID();
  const waiting = ask("POST", `/w/acme/jobs/run_wait_result/p/u/admin/says?job_id=${id}`, {
    ms: 0,
    word: "",
  });
  await until(async () => ((await get(id)).status === 200 ? true : undefined), "the waiting job");
  await expectOk(ask("POST", "/w/acme/jobs/delete", [id]));
  expect((await waiting).json().error).toMatchObject({ name: "Canceled", reason: "the job was deleted" });
  await expectOk(ask("POST", "/w/acme/jobs/queue/cancel_selection", blocking));
});

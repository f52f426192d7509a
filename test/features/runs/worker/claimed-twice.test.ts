/** A job that was treated as lost while its worker still runs it: that worker does not run it again. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
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
  server = await startTestServer();
  ({ ask } = await server.workspace());
});
afterAll(() => server.stop());

test("a job that its own worker claims again keeps its running process, whose result is the job's", async () => {
  const code = "export const main = async () => { await Bun.sleep(2_000); return process.env.WM_JOB_ID; }";
  await deploy(ask, "acme", "u/admin/long", code);
  const id = (await expectOk(ask("POST", "/w/acme/jobs/run/p/u/admin/long", {}))).text;
  const { app } = server.server;
  await until(() => (app.runner.stats().running > 0 ? true : undefined), "the job to run");
  // A second run would be in progress when the first one ends.
  await Bun.sleep(1_000);
  await app.db.write(async (tx) => {
    const lost = { state: "queued", worker: null, started_at: null, last_ping: null, attempts: 1 } as const;
    await tx.update(jobs).set(lost).where(eq(jobs.id, id));
    tx.afterCommit(app.queue.wake);
  });
  const rowOf = async () => (await app.db.read.select().from(jobs).where(eq(jobs.id, id)))[0]!;
  await until(async () => ((await rowOf()).worker === app.queue.worker ? true : undefined), "the claim");
  await until(async () => ((await rowOf()).state === "completed" ? true : undefined), "the end");
  expect(await rowOf()).toMatchObject({ status: "success", result: JSON.stringify(id) });
  await until(() => (app.queue.has(id) ? undefined : true), "the worker to let go of it");
  expect(app.runner.stats().running).toBe(0);
});

/** Lost confirmations of commits, and workers that lost their job, do not block later work. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { jobLogs, jobs } from "../../../src/platform/queue/tables.ts";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../support/harness.ts";

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
  // Longer than the output waits for the database.
  const code =
    "export async function main() { await Bun.sleep(1_000); console.log('said'); await Bun.sleep(1_500); return 1; }";
  await deploy(ask, "acme", "u/admin/says", code);
});
afterAll(() => server.stop());

const run = async () => (await expectOk(ask("POST", "/w/acme/jobs/run/p/u/admin/says", {}))).text;
const logOf = (id: string) =>
  server.server.app.db.read.select().from(jobLogs).where(eq(jobLogs.job_id, id)).orderBy(jobLogs.seq);

test("a part of a log whose commit was acknowledged too late is stored once", async () => {
  const id = await run();
  await server.server.app.db.write(async (tx) => {
    await tx.insert(jobLogs).values({ job_id: id, seq: 0, content: "jo" });
  });
  const ended = await until(async () => {
    const answer = await ask("GET", `/w/acme/jobs_u/completed/get/${id}`);
    return answer.status === 200 ? answer.json() : undefined;
  }, "the end of the job");
  expect(ended).toMatchObject({
    success: true,
    result: 1,
    logs: expect.stringMatching(/^job=.*\n\nsaid\n$/s),
  });
});

test("a late write to a job that another worker has claimed is rejected", async () => {
  const { app } = server.server;
  const id = await run();
  await app.db.write(async (tx) => {
    await tx.update(jobs).set({ worker: "another" }).where(eq(jobs.id, id));
  });
  await until(() => (app.queue.has(id) ? undefined : true), "the worker to let go of it");
  expect(await logOf(id)).toEqual([]);
});

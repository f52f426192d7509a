/** Flows with very many frames, and frames that cannot be processed, do not delay each other. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { and, eq, inArray, isNotNull, lt, ne, sql } from "drizzle-orm";
import { flowFrames } from "../../../src/features/code/flows/tables.ts";
import { jobs } from "../../../src/platform/queue/tables.ts";
import {
  type Ask,
  createDatabase,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../support/harness.ts";

const data_dir = mkdtempSync(join(tmpdir(), "svc-wide-"));
let where: Parameters<typeof startTestServer>[0];
let database: Awaited<ReturnType<typeof createDatabase>> | undefined;
let server: TestServer;
let secret: string;
let ask: Ask;

beforeAll(async () => {
  database = process.env.DATABASE_URL
    ? await createDatabase(process.env.DATABASE_URL, "migrated")
    : undefined;
  where = { data_dir, workers: 2, ...(database ? { database_url: database.url } : {}) };
  server = await startTestServer(where);
  ({ ask, token: secret } = await server.workspace());
});
beforeEach(() => {
  ask = server.as(secret);
});
afterAll(async () => {
  await server.stop();
  rmSync(data_dir, { recursive: true, force: true });
  await database?.drop();
});

const js = (expr: string) => ({ type: "javascript", expr });
const fixed = (value: unknown) => ({ type: "static", value });
const identity = { id: "z", value: { type: "identity" } };
const sleeps = (seconds: number) => [
  { id: "s", value: { type: "identity" }, sleep: fixed(seconds) },
  identity,
];
const loop = (id: string, count: number, modules: object[]) => ({
  id,
  value: {
    type: "forloopflow",
    iterator: js(`[...Array(${count}).keys()]`),
    skip_failures: false,
    parallel: true,
    parallelism: 1000,
    modules,
  },
});
/** The given number of frames, each of which sleeps. */
const wide = (outer: number, inner: number) => [loop("l", outer, [loop("m", inner, sleeps(600))])];

const start = async (modules: object[]) =>
  (await expectOk(ask("POST", "/w/acme/jobs/run/preview_flow", { value: { modules }, args: {} }))).text;
const ended = (id: string) =>
  until(async () => {
    const answer = await server.as(secret)("GET", `/w/acme/jobs_u/completed/get/${id}`);
    return answer.status === 200 ? answer.json() : undefined;
  }, "the end of the flow");
const cancel = (id: string) => expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${id}`, {}));

const read = () => server.server.app.db.read;
const framesOf = async (root: string) =>
  (await read().select({ id: flowFrames.job_id }).from(flowFrames).where(eq(flowFrames.root_job, root)))
    .length;
const unfinished = async (root: string) =>
  (
    await read()
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(eq(jobs.root_job, root), ne(jobs.state, "completed")))
  ).length;
const toWake = async (root: string) =>
  (
    await read()
      .select({ id: flowFrames.job_id })
      .from(flowFrames)
      .where(and(eq(flowFrames.root_job, root), isNotNull(flowFrames.wake_at)))
  ).length;
const none = (count: () => Promise<number>, what: string) =>
  until(async () => ((await count()) === 0 ? true : undefined), what);
const begun = (root: string, count: number) =>
  until(async () => ((await framesOf(root)) >= count ? true : undefined), "the frames");

async function restart(change: () => Promise<unknown> = async () => {}): Promise<void> {
  await change();
  await server.stop();
  server = await startTestServer(where);
}

test("canceling a wide flow stops all of it, in batches", async () => {
  const id = await start(wide(40, 40));
  await begun(id, 1 + 40 + 1600);
  await cancel(id);
  expect(await ended(id)).toMatchObject({ canceled: true });
  await none(() => unfinished(id), "the end of all in it");
  await none(() => toWake(id), "nothing to be due any more");
}, 60_000);

test("and continues after a restart in between", async () => {
  const id = await start(wide(40, 60));
  await begun(id, 1 + 40 + 2400);
  await restart(() => cancel(id));
  expect(await ended(id)).toMatchObject({ canceled: true });
  await none(() => unfinished(id), "the end of all in it");
  await none(() => toWake(id), "nothing to be due any more");
}, 60_000);

test("due frames of one run are woken together", async () => {
  const writes = () => server.server.app.db.stats().writes;
  const before = writes();
  const id = await start([loop("m", 1_000, [{ id: "y", value: { type: "identity" } }, identity])]);
  expect(await ended(id)).toMatchObject({ success: true });
  expect(writes() - before).toBeLessThan(500);
}, 60_000);

test("a sleeping flow continues while many frames wait", async () => {
  // More frames than are processed at once. Each takes a fixed time: minutes in total on any machine.
  const takes = { expr: "(() => { const end = Date.now() + 25; while (Date.now() < end); return false })()" };
  const modules = [{ id: "b", value: { type: "identity" }, skip_if: takes }, identity];
  const ids = await Promise.all(Array.from({ length: 5 }, () => start([loop("m", 1_000, modules)])));
  const small = await start(sleeps(1));
  expect(await ended(small)).toMatchObject({ success: true });
  const waiting = await read()
    .select({ id: flowFrames.job_id })
    .from(flowFrames)
    .where(and(inArray(flowFrames.root_job, ids), lt(flowFrames.wake_at, new Date(Date.UTC(1971, 0)))));
  expect(waiting.length).toBeGreaterThan(0);
  for (const id of ids) {
    await cancel(id);
    await none(() => unfinished(id), "the end of all in it");
  }
}, 60_000);

test.each([
  ["that nothing follows from", { step: 0, modules: [], waits: { for: "retry", until: 0 } }],
  ["that cannot be read", { step: 0, modules: null, waits: { for: "sleep", until: 0 } }],
])(
  "a frame with a state %s fails instead of being retried forever",
  async (_, state) => {
    const id = await start(sleeps(600));
    await begun(id, 1);
    const spoil = { state, wake_at: new Date(), version: sql`${flowFrames.version} + 1` };
    await restart(() =>
      server.server.app.db.write(async (tx) => {
        await tx.update(flowFrames).set(spoil).where(eq(flowFrames.job_id, id));
      }),
    );
    ask = server.as(secret);
    const result: any = await until(async () => {
      const answer = await ask("GET", `/w/acme/jobs_u/completed/get_result/${id}`);
      return answer.status === 200 ? answer.json<{ error: object }>() : undefined;
    }, "the failure");
    expect(result.error).toMatchObject({
      name: "InternalError",
      message: expect.stringContaining("what the flow does next could not be worked out"),
    });
    await none(() => toWake(id), "nothing to be due any more");
  },
  60_000,
);

test("a run that is force-canceled frees its slot and starts its handlers", async () => {
  await deploy(ask, "acme", "u/admin/handler", "export const main = () => 1");
  const error_handler = "script/u/admin/handler";
  await expectOk(ask("POST", "/w/acme/workspaces/edit_error_handler", { error_handler }));
  const value = { modules: sleeps(600), concurrent_limit: 1 };
  await expectOk(ask("POST", "/w/acme/flows/create", { path: "u/admin/limited", summary: "", value }));
  const run = async () => (await expectOk(ask("POST", "/w/acme/jobs/run/f/u/admin/limited", {}))).text;
  const first = await run();
  await begun(first, 1);
  const second = await run();
  const spoil = { state: { step: 0, modules: null }, wake_at: new Date() };
  await restart(() =>
    server.server.app.db.write(async (tx) => {
      await tx.update(flowFrames).set(spoil).where(eq(flowFrames.job_id, first));
    }),
  );
  ask = server.as(secret);
  await begun(second, 1);
  await until(async () => {
    const made = and(eq(jobs.parent_job, first), eq(jobs.trigger_kind, "error_handler"));
    return (await read().select({ id: jobs.id }).from(jobs).where(made))[0];
  }, "the error handler");
  await cancel(second);
  await expectOk(ask("POST", "/w/acme/workspaces/edit_error_handler", {}));
}, 60_000);

test("if the transition after a step cannot be planned, the step's completion is stored and the flow fails", async () => {
  const content = "export async function main() { await Bun.sleep(1500); return 'done' }";
  const step = { id: "g", value: { type: "rawscript", language: "bun", content, input_transforms: {} } };
  const id = await start([step]);
  const job = await until(async () => {
    const [row] = await read()
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(eq(jobs.parent_job, id), eq(jobs.state, "running")));
    return row?.id;
  }, "the step");
  const state = { step: 0, modules: [{ id: "g", type: "InProgress", job, many: {} }] };
  await server.server.app.db.write(async (tx) => {
    const spoil = { state, version: sql`${flowFrames.version} + 1` };
    await tx.update(flowFrames).set(spoil).where(eq(flowFrames.job_id, id));
  });
  const result: any = await until(async () => {
    const answer = await ask("GET", `/w/acme/jobs_u/completed/get_result/${id}`);
    return answer.status === 200 ? answer.json() : undefined;
  }, "the failure");
  expect(result.error).toMatchObject({ name: "InternalError", step_id: "g" });
  await none(() => unfinished(id), "the end of the step");
}, 60_000);

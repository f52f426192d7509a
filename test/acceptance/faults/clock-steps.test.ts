/** The clock is set while a server runs: no timer oversleeps, and no duration is wrong. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { recoverFromClockSetBack } from "../../../src/features/lifecycle/clock-set-back.ts";
import { webhookDeliveries } from "../../../src/features/signals/webhooks/tables.ts";
import { handlerCalls } from "../../../src/features/triggers/handlers/tables.ts";
import { StorageFull } from "../../../src/lib/errors.ts";
import { MAX_TIMER_MS } from "../../../src/platform/loops/alarm.ts";
import { jobs } from "../../../src/platform/queue/tables.ts";
import {
  type Ask,
  createTemporaryFolder,
  deploy,
  expectOk,
  startTestServer,
  until,
} from "../../support/harness.ts";

setDefaultTimeout(90_000);
/** Servers on PostgreSQL use its clock: test/database/clock.test.ts. */
const own = test.skipIf(!!process.env.DATABASE_URL);
const HOUR_MS = 3_600_000;
/** Allowance for a busy machine, beyond the longest timer. */
const SLACK_MS = 10_000;

const RealDate = Date;

/** Sets this process's clock, which continues from there. */
function setClock(by_ms: number): void {
  class MovedDate extends RealDate {
    constructor(...given: unknown[]) {
      super(...((given.length === 0 ? [RealDate.now() + by_ms] : given) as [number]));
    }
    static override now = () => RealDate.now() + by_ms;
    static override [Symbol.hasInstance](value: unknown): boolean {
      return value instanceof RealDate;
    }
  }
  globalThis.Date = MovedDate as DateConstructor;
}
afterEach(() => {
  globalThis.Date = RealDate;
});

const run = async (ask: Ask, path: string, args: object = {}, query = "") =>
  (await expectOk(ask("POST", `/w/acme/jobs/run/p/u/admin/${path}${query}`, args))).text;
const flow = async (ask: Ask, modules: object[]) =>
  (await expectOk(ask("POST", "/w/acme/jobs/run/preview_flow", { value: { modules }, args: {} }))).text;
const sleeps = (seconds: number) => [
  { id: "s", value: { type: "identity" }, sleep: { type: "static", value: seconds } },
  { id: "z", value: { type: "identity" } },
];
const ended = (ask: Ask, id: string): Promise<Record<string, any>> =>
  until(async () => {
    const answer = await ask("GET", `/w/acme/jobs_u/completed/get/${id}`);
    return answer.status === 200 ? answer.json() : undefined;
  }, `the end of ${id}`);

own("set forward: what has become due meanwhile begins within the longest timer", async () => {
  await using server = await startTestServer();
  const { ask } = await server.workspace();
  await deploy(ask, "acme", "u/admin/one", "export const main = () => 1");
  const [delayed, sleeping] = [
    await run(ask, "one", {}, "?scheduled_in_secs=3600"),
    await flow(ask, sleeps(3_600)),
  ];
  setClock(HOUR_MS + 1_000);
  const began = performance.now();
  expect(await ended(ask, delayed)).toMatchObject({ success: true });
  expect(await ended(ask, sleeping)).toMatchObject({ success: true });
  expect(performance.now() - began).toBeLessThan(MAX_TIMER_MS + SLACK_MS);
});

own("set back: delays, schedules and sleeping flows do not wait for the time to come again", async () => {
  const folder = createTemporaryFolder("svc-clock-");
  await using server = await startTestServer({ sandbox_write: folder });
  const { app } = server.server;
  const { ask } = await server.workspace();
  await deploy(ask, "acme", "u/admin/one", "export const main = () => 1");
  await deploy(
    ask,
    "acme",
    "u/admin/gate",
    `import { existsSync, writeFileSync } from "node:fs";
    export async function main(folder: string) {
      writeFileSync(folder + "/runs", "");
      while (!existsSync(folder + "/go")) await Bun.sleep(10);
    }`,
  );
  const ticks = {
    path: "u/admin/ticks",
    schedule: "* * * * * *",
    timezone: "UTC",
    script_path: "u/admin/one",
    is_flow: false,
    args: {},
    enabled: true,
  };
  await expectOk(ask("POST", "/w/acme/schedules/create", ticks));
  const runsOfTicks = async () =>
    (await app.db.read.select({ id: jobs.id }).from(jobs).where(eq(jobs.schedule_path, ticks.path))).length;
  const began = performance.now();
  const long = await run(ask, "gate", { folder });
  await until(() => existsSync(join(folder, "runs")) || undefined, "the long job");
  const delayed = await run(ask, "one", {}, "?scheduled_in_secs=4");
  const at = new Date(Date.now() + 2 * HOUR_MS).toISOString();
  const planned = await run(ask, "one", {}, `?scheduled_for=${encodeURIComponent(at)}`);
  const sleeping = await flow(ask, sleeps(4));
  await until(async () => ((await runsOfTicks()) >= 2 ? true : undefined), "the schedule to run");

  setClock(-HOUR_MS);
  const set = performance.now();
  const before = await runsOfTicks();
  await until(async () => ((await runsOfTicks()) >= before + 3 ? true : undefined), "the schedule to go on");
  expect(await ended(ask, delayed)).toMatchObject({ success: true });
  expect(await ended(ask, sleeping)).toMatchObject({ success: true });
  expect(performance.now() - set).toBeLessThan(MAX_TIMER_MS + SLACK_MS);

  // A job scheduled for a time of day waits for that time.
  const [row] = await app.db.read.select().from(jobs).where(eq(jobs.id, planned));
  expect(row).toMatchObject({ state: "queued", scheduled_for: new Date(at) });

  await Bun.write(join(folder, "go"), "");
  const { duration_ms } = await ended(ask, long);
  expect(duration_ms).toBeGreaterThanOrEqual(4_000);
  expect(duration_ms).toBeLessThanOrEqual(performance.now() - began);
  const flowRun = await ended(ask, sleeping);
  expect(flowRun.duration_ms).toBeGreaterThanOrEqual(4_000);
  expect(flowRun.duration_ms).toBeLessThan(MAX_TIMER_MS + SLACK_MS);
  rmSync(folder, { recursive: true, force: true });
});

own("set forward: a job that runs meanwhile has not run any longer for it", async () => {
  await using server = await startTestServer();
  const { ask } = await server.workspace();
  await deploy(ask, "acme", "u/admin/naps", "export const main = () => Bun.sleep(1_000)");
  const began = performance.now();
  const id = await run(ask, "naps");
  await until(() => (server.server.app.queue.has(id) ? true : undefined), "its start");
  setClock(HOUR_MS);
  const { duration_ms } = await ended(ask, id);
  expect(duration_ms).toBeGreaterThanOrEqual(1_000);
  expect(duration_ms).toBeLessThanOrEqual(performance.now() - began);
});

test("retries become due earlier by as much as the clock was set back, on either database", async () => {
  await using server = await startTestServer();
  const { app } = server.server;
  await until(() => app.leader.isLeader() || undefined, "the leader");
  const in2h = new Date(Math.floor(Date.now() / 1_000) * 1_000 + 2 * HOUR_MS);
  const in1h = new Date(in2h.getTime() - HOUR_MS);
  const call = { job_id: "j", occasion: "workspace", workspace_id: "acme", attempts: 1 } as const;
  const delivery = { endpoint_id: "e", event_seq: 1, state: "pending", attempts: 1 } as const;
  await app.db.write(async (tx) => {
    await tx.insert(handlerCalls).values({ ...call, created_at: in2h, next_at: in2h });
    await tx.insert(webhookDeliveries).values({ ...delivery, next_at: in2h });
  });
  // The database is unavailable for the first write of each.
  const { write } = app.db;
  let refused = 0;
  app.db.write = (work, how) =>
    refused++ < 2 ? Promise.reject(new StorageFull("the database is away")) : write(work, how);
  await recoverFromClockSetBack(app, HOUR_MS);
  app.db.write = write;
  expect(refused).toBeGreaterThan(2);
  const [moved] = await app.db.read.select().from(handlerCalls);
  const [sent] = await app.db.read.select().from(webhookDeliveries);
  expect([moved!.next_at, sent!.next_at]).toEqual([in1h, in1h]);
});

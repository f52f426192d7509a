/** An enabled schedule has one future job, which lists and the queue show. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { and, eq, sql } from "drizzle-orm";
import { workspaces } from "../../../../src/features/tenancy/workspaces/tables.ts";
import { getScheduler } from "../../../../src/features/triggers/schedules/get-scheduler.ts";
import { runSchedule } from "../../../../src/features/triggers/schedules/run-schedule.ts";
import { schedules } from "../../../../src/features/triggers/schedules/tables.ts";
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
  await deploy(ask, "acme", "u/admin/greet", "export const main = (name = 'nobody') => 'hello ' + name");
  const flow = {
    path: "u/admin/flow",
    summary: "",
    value: { modules: [{ id: "a", value: { type: "identity" } }] },
  };
  await expectOk(ask("POST", "/w/acme/flows/create", flow));
});
afterAll(() => server.stop());

const base = "/w/acme/schedules";
const YEARLY = "0 0 0 1 1 *";

let count = 0;
async function create(more: object = {}): Promise<string> {
  const body = {
    path: `u/admin/planned_${++count}`,
    schedule: YEARLY,
    timezone: "UTC",
    script_path: "u/admin/greet",
    is_flow: false,
    args: { name: "Ann" },
    ...more,
  };
  return (await expectOk(ask("POST", `${base}/create`, body))).text;
}
const get = async (path: string) => (await expectOk(ask("GET", `${base}/get/${path}`))).json();
const list = async (url: string): Promise<any[]> => (await expectOk(ask("GET", url))).json();
const queued = (path: string) => list(`/w/acme/jobs/queue/list?schedule_path=${path}`);
const job = async (id: string) => (await expectOk(ask("GET", `/w/acme/jobs_u/get/${id}`))).json();

/** Makes it due now, and runs the scheduler. */
async function makeDue(path: string): Promise<void> {
  const { app } = server.server;
  const next_at = new Date(app.clock().getTime() - 1_000);
  await app.db.write((tx) => tx.update(schedules).set({ next_at }).where(eq(schedules.path, path)));
  getScheduler(app).wake();
}
const completed = (id: string) =>
  until(async () => {
    const found = await job(id);
    return found.type === "CompletedJob" ? found : undefined;
  }, `the end of ${id}`);

test("is in lists and in the queue, and does not count as load", async () => {
  const count = async () => (await expectOk(ask("GET", "/w/acme/jobs/queue/count"))).json().database_length;
  const path = await create();
  const [planned, ...more] = await queued(path);
  expect(more).toEqual([]);
  const { next_at } = await get(path);
  expect(planned).toMatchObject({
    type: "QueuedJob",
    running: false,
    scheduled_for: next_at,
    script_path: "u/admin/greet",
    schedule_path: path,
    created_by: `schedule-${path}`,
    permissioned_as: "u/admin",
    job_kind: "script",
    tag: "bun",
    language: "bun",
  });
  // They belong to the schedule, whose readers may differ from those of its runs.
  expect((await job(planned.id)).args).toEqual({});
  const ids = async (query: string) =>
    (await list(`/w/acme/jobs/list?schedule_path=${path}&${query}`)).map(({ id }) => id);
  expect(await ids("")).toEqual([planned.id]);
  expect(await ids("running=false")).toEqual([planned.id]);
  for (const without of [
    "running=true",
    "scheduled_for_before_now=true",
    "is_not_schedule=true",
    "success=true",
  ]) {
    expect(await ids(without)).toEqual([]);
  }
  expect(await list(`/w/acme/jobs/completed/list?schedule_path=${path}`)).toEqual([]);
  expect(await count()).toBe(0);
  const metrics = await server.operator("GET", "/metrics");
  if (metrics.status === 200) expect(metrics.text).not.toMatch(/jobs\{state="queued"\} [1-9]/);
});

test("becomes the run when it is due, and the next one is planned", async () => {
  for (const more of [{}, { script_path: "u/admin/flow", is_flow: true }]) {
    const path = await create(more);
    const [planned] = await queued(path);
    expect(planned.job_kind).toBe("is_flow" in more ? "flow" : "script");
    await makeDue(path);
    expect((await completed(planned.id)).success).toBe(true);
    const [next, ...others] = await queued(path);
    expect(others).toEqual([]);
    expect(next.id).not.toBe(planned.id);
    expect(next.scheduled_for).toBe((await get(path)).next_at);
  }
});

test("follows the schedule: changed, paused, disabled, enabled, deleted", async () => {
  const path = await create();
  const change = async (more: object) => {
    const { next_at: _, ...row } = await get(path);
    await expectOk(ask("POST", `${base}/update/${path}`, { ...row, ...more }));
    return queued(path);
  };
  const [moved, ...more] = await change({ schedule: "0 0 12 2 1 *", args: { name: "Bob" } });
  expect(more).toEqual([]);
  expect(moved.scheduled_for).toEndWith("-01-02T12:00:00.000Z");
  const [paused] = await change({ paused_until: "2999-01-01T00:00:00Z" });
  expect(paused.scheduled_for).toBe("2999-01-02T12:00:00.000Z");
  await expectOk(ask("POST", `${base}/setenabled/${path}`, { enabled: false }));
  expect(await queued(path)).toEqual([]);
  await expectOk(ask("POST", `${base}/setenabled/${path}`, { enabled: true }));
  expect(await queued(path)).toHaveLength(1);
  await expectOk(ask("DELETE", `${base}/delete/${path}`));
  expect(await list(`/w/acme/jobs/list?schedule_path=${path}`)).toEqual([]);
});

describe("that is canceled", () => {
  test("is skipped, and the next one is planned", async () => {
    const path = await create();
    const [first] = await queued(path);
    await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${first.id}`, { reason: "a holiday" }));
    expect(await job(first.id)).toMatchObject({ type: "CompletedJob", canceled: true });
    const [second, ...more] = await queued(path);
    expect(more).toEqual([]);
    const year = (text: string) => Number(text.slice(0, 4));
    expect(year(second.scheduled_for)).toBe(year(first.scheduled_for) + 1);
    expect((await get(path)).next_at).toBe(second.scheduled_for);
    await expectOk(ask("POST", `/w/acme/jobs_u/queue/force_cancel/${second.id}`, {}));
    const [third] = await queued(path);
    expect(year(third.scheduled_for)).toBe(year(first.scheduled_for) + 2);
    await expectOk(ask("POST", "/w/acme/jobs/delete", [third.id]));
    const [fourth] = await queued(path);
    expect(year(fourth.scheduled_for)).toBe(year(first.scheduled_for) + 3);
  });

  test("is not affected by operations that cancel many jobs", async () => {
    const path = await create();
    const [planned] = await queued(path);
    const selected = await expectOk(ask("POST", "/w/acme/jobs/queue/cancel_selection", [planned.id]));
    expect(selected.json()).toEqual([]);
    await expectOk(ask("POST", "/w/acme/jobs_u/queue/cancel_persistent/u/admin/greet", {}));
    expect((await queued(path)).map(({ id }) => id)).toEqual([planned.id]);
  });

  test("starts no error handler", async () => {
    await deploy(ask, "acme", "u/admin/handler", "export const main = () => 'told'");
    const handler = { error_handler: "script/u/admin/handler" };
    await expectOk(ask("POST", "/w/acme/workspaces/edit_error_handler", handler));
    const path = await create();
    const [planned] = await queued(path);
    await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${planned.id}`, {}));
    const id = (await expectOk(ask("POST", "/w/acme/jobs/run/p/u/admin/greet?scheduled_in_secs=900", {})))
      .text;
    await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${id}`, {}));
    await until(async () => {
      const told = await list("/w/acme/jobs/completed/list?script_path_exact=u/admin/handler");
      return told.length > 0 ? told : undefined;
    }, "the handler of the job that somebody had queued");
    expect(await list(`/w/acme/jobs/list?parent_job=${planned.id}`)).toEqual([]);
    await expectOk(ask("POST", "/w/acme/workspaces/edit_error_handler", { error_handler: null }));
  });
});

test("is unique, however many servers plan at once", async () => {
  const { app } = server.server;
  const path = await create();
  const next_at = new Date(app.clock().getTime() - 1_000);
  await app.db.write((tx) => tx.update(schedules).set({ next_at }).where(eq(schedules.path, path)));
  const [row] = await app.db.read.select().from(schedules).where(eq(schedules.path, path));
  await Promise.all(Array.from({ length: 8 }, () => runSchedule(app, row!)));
  const [planned, ...more] = (await queued(path)).filter(
    ({ scheduled_for }) => Date.parse(scheduled_for) > Date.now(),
  );
  expect([planned.scheduled_for, more]).toEqual([(await get(path)).next_at, []]);
});

test("is created or corrected when a server starts, if missing or wrong", async () => {
  await using other = await startTestServer({ data_dir: undefined });
  const there = await other.workspace();
  await deploy(there.ask, "acme", "u/admin/greet", "export const main = () => 1");
  const { app } = other.server;
  const body = (path: string) => ({
    path,
    schedule: YEARLY,
    timezone: "UTC",
    script_path: "u/admin/greet",
    is_flow: false,
    args: {},
  });
  for (const name of ["none", "wrong", "gone"]) {
    await expectOk(there.ask("POST", `${base}/create`, body(`u/admin/${name}`)));
  }
  const plannedOf = (name: string) =>
    and(sql`${jobs.state} = 'planned'`, eq(jobs.schedule_path, `u/admin/${name}`));
  await app.db.write(async (tx) => {
    await tx.delete(jobs).where(plannedOf("none"));
    await tx
      .update(jobs)
      .set({ scheduled_for: new Date(0) })
      .where(plannedOf("wrong"));
    await tx.delete(schedules).where(eq(schedules.path, "u/admin/gone"));
  });
  // A workspace that is being renamed is archived; its rows are moved table by table.
  const elsewhere = await other.workspace("closed");
  await deploy(elsewhere.ask, "closed", "u/admin/greet", "export const main = () => 1");
  await expectOk(elsewhere.ask("POST", "/w/closed/schedules/create", body("u/admin/moving")));
  await app.db.write(async (tx) => {
    await tx.update(workspaces).set({ archived: true }).where(eq(workspaces.id, "closed"));
    await tx.delete(schedules).where(eq(schedules.path, "u/admin/moving"));
  });
  const { createPlanRepair } = await import("../../../../src/features/triggers/schedules/repair-plans.ts");
  const repair = createPlanRepair(app);
  await repair.start();
  try {
    await until(async () => {
      const rows = await app.db.read.select().from(jobs).where(sql`${jobs.state} = 'planned'`);
      const places = rows
        .map((row) => `${row.schedule_path} ${row.scheduled_for.toISOString().slice(4)}`)
        .sort();
      const wanted = ["moving", "none", "wrong"].map((name) => `u/admin/${name} -01-01T00:00:00.000Z`);
      return places.join() === wanted.join() ? true : undefined;
    }, "the repaired plans");
  } finally {
    await repair.stop();
  }
});

test("follows a change of the workspace's id, and is left out of the export of the queue", async () => {
  const there = await server.workspace("moving");
  await deploy(there.ask, "moving", "u/admin/greet", "export const main = () => 1");
  const body = {
    path: "u/admin/s",
    schedule: YEARLY,
    timezone: "UTC",
    script_path: "u/admin/greet",
    args: {},
  };
  await expectOk(there.ask("POST", "/w/moving/schedules/create", body));
  const exported = await expectOk(there.ask("GET", "/w/moving/jobs/queue/export"));
  expect(exported.json()).toEqual([]);
  await expectOk(
    server.operator("POST", "/w/moving/workspaces/change_workspace_id", {
      new_id: "moved",
      new_name: "moved",
    }),
  );
  const found = (await expectOk(there.ask("GET", "/w/moved/jobs/queue/list"))).json();
  expect(found).toMatchObject([{ schedule_path: "u/admin/s", running: false, workspace_id: "moved" }]);
});

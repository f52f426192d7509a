/** Due schedules: when they run, with whose rights, and what happens if they cannot. */
import { describe, expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import { getScheduler } from "../../../../src/features/triggers/schedules/get-scheduler.ts";
import { schedules } from "../../../../src/features/triggers/schedules/tables.ts";
import { deploy, expectOk, startTestServer, until } from "../../../support/harness.ts";
import {
  ask,
  awaitRuns,
  create,
  get,
  makeDue,
  runsOf,
  SCHEDULES,
  schedule,
  server,
  setUpSchedules,
} from "./schedules-setup.ts";

setUpSchedules();

describe("a due schedule", () => {
  test("runs with its arguments and the rights of its editor, and gets its next time", async () => {
    const path = await create({ tag: "" });
    expect((await get(path)).next_at).toMatch(/^\d{4}-01-01T00:00:00.000Z$/);
    await makeDue(path);
    const [job] = await awaitRuns(path);
    expect(job).toMatchObject({
      script_path: "u/admin/greet",
      created_by: `schedule-${path}`,
      permissioned_as: "u/admin",
      schedule_path: path,
      success: true,
    });
    const full = (await ask("GET", `/w/acme/jobs_u/get/${job.id}`)).json();
    expect(full).toMatchObject({ args: { name: "Ann" }, result: "hello Ann" });
    expect((await get(path)).next_at).toMatch(/-01-01T00:00:00.000Z$/);
    expect(await runsOf(path)).toHaveLength(1);
  });

  test("can be a flow", async () => {
    const path = await create({ script_path: "u/admin/flow", is_flow: true, args: { x: 1 } });
    await makeDue(path);
    const [job] = await awaitRuns(path);
    expect(job).toMatchObject({ job_kind: "flow", script_path: "u/admin/flow", success: true });
  });

  test("runs at its time without a call", async () => {
    const path = await create({ schedule: "* * * * * *" });
    const jobs = await awaitRuns(path, 2);
    await expectOk(ask("POST", `${SCHEDULES}/setenabled/${path}`, { enabled: false }));
    const seconds = jobs.map(({ created_at }) => Math.floor(Date.parse(created_at) / 1000));
    expect(new Set(seconds).size).toBe(seconds.length);
    expect((await get(path)).next_at).toBeNull();
  });

  test("runs once, however many schedulers check at once", async () => {
    const { runSchedule } = await import("../../../../src/features/triggers/schedules/run-schedule.ts");
    const { app } = server.server;
    const path = await create();
    const due = new Date(app.clock().getTime() - 1_000);
    getScheduler(app).wake();
    await app.db.write((tx) => tx.update(schedules).set({ next_at: due }).where(eq(schedules.path, path)));
    const [row] = await app.db.read.select().from(schedules).where(eq(schedules.path, path));
    const all = (row: typeof schedules.$inferSelect) =>
      Promise.all(Array.from({ length: 8 }, () => runSchedule(app, row)));
    await all(row!);
    await awaitRuns(path);
    expect(await runsOf(path)).toHaveLength(1);
    // A server that reads it after another has run it finds the next time.
    const [later] = await app.db.read.select().from(schedules).where(eq(schedules.path, path));
    await all(later!);
    expect(await runsOf(path)).toHaveLength(1);
  });

  test("runs once for all missed times", async () => {
    const path = await create({ schedule: "0 0 * * * *" });
    const { app } = server.server;
    const long_ago = new Date(app.clock().getTime() - 10 * 3_600_000);
    await app.db.write((tx) =>
      tx.update(schedules).set({ next_at: long_ago }).where(eq(schedules.path, path)),
    );
    getScheduler(app).wake();
    await awaitRuns(path);
    expect(Date.parse((await get(path)).next_at)).toBeGreaterThan(app.clock().getTime());
    expect(await runsOf(path)).toHaveLength(1);
  });

  test("is skipped while paused, and while the previous run continues if configured so", async () => {
    const paused = await create({ paused_until: "2999-01-01T00:00:00Z" });
    await makeDue(paused);
    await until(
      async () => ((await get(paused)).next_at.startsWith("2999-01-01T") ? true : undefined),
      "being put off",
    );
    expect(await runsOf(paused)).toEqual([]);

    await deploy(
      ask,
      "acme",
      "u/admin/slow",
      "export const main = () => new Promise(() => setInterval(() => {}, 1e3))",
    );
    const one = await create({ script_path: "u/admin/slow", no_flow_overlap: true, args: {} });
    await makeDue(one);
    const [job] = await until(async () => {
      const found = await runsOf(one);
      return found.length > 0 ? found : undefined;
    }, "the first run");
    await makeDue(one);
    await until(
      async () => ((await get(one)).next_at.includes("-01-01T") ? true : undefined),
      "being put off",
    );
    expect(await runsOf(one)).toHaveLength(1);
    await expectOk(ask("POST", `/w/acme/jobs_u/queue/force_cancel/${job.id}`, {}));
    await awaitRuns(one);
    await makeDue(one);
    const again = await until(async () => {
      const found = await runsOf(one);
      return found.length === 2 ? found : undefined;
    }, "the second run");
    for (const { id } of again) await ask("POST", `/w/acme/jobs_u/queue/force_cancel/${id}`, {});
  });

  test("is retried if configured", async () => {
    const path = await create({
      script_path: "u/admin/fail",
      args: {},
      retry: { constant: { attempts: 2, seconds: 0 } },
    });
    await makeDue(path);
    const [job] = await awaitRuns(path);
    expect(job).toMatchObject({ success: false, script_path: "u/admin/fail" });
    const tries = (await ask("GET", `/w/acme/jobs/list?parent_job=${job.id}`)).json();
    expect(tries).toHaveLength(3);
  });

  test("that cannot be started shows the reason, and stays scheduled", async () => {
    await deploy(ask, "acme", "u/admin/gone", "export const main = () => 1");
    const path = await create({ script_path: "u/admin/gone", args: {} });
    await expectOk(ask("POST", "/w/acme/scripts/archive/p/u/admin/gone"));
    await makeDue(path);
    const said = await until(async () => (await get(path)).error ?? undefined, "the error");
    expect(said).toContain("u/admin/gone");
    const { next_at, enabled } = await get(path);
    expect([enabled, next_at.includes("-01-01T")]).toEqual([true, true]);
  });
});

test("a schedule of the local admin, and of a super admin who is not a member, runs", async () => {
  const { ask: root } = await server.user("root", { super_admin: true });
  for (const above of [server.operator, root]) {
    const body = schedule();
    await expectOk(above("POST", `${SCHEDULES}/create`, body));
    await makeDue(body.path);
    expect((await awaitRuns(body.path))[0]).toMatchObject({ success: true });
  }
});

test("a schedule runs as the user who changed it last", async () => {
  const { ask: dev } = await server.member("acme", "dev");
  const path = await create();
  await expectOk(ask("POST", `${SCHEDULES}/update/${path}`, { ...schedule(), args: { name: "Bob" } }));
  expect(await get(path)).toMatchObject({ args: { name: "Bob" }, edited_by: "admin" });
  expect((await dev("GET", `${SCHEDULES}/get/${path}`)).status).toBe(404);
  expect((await dev("POST", `${SCHEDULES}/setenabled/${path}`, { enabled: false })).status).toBe(404);
  expect((await dev("DELETE", `${SCHEDULES}/delete/${path}`)).status).toBe(404);
  const stolen = await dev("POST", `${SCHEDULES}/create`, schedule({ path: "u/dev/x" }));
  expect([stolen.status, stolen.text]).toEqual([404, expect.stringContaining("u/admin/greet")]);
  expect((await dev("POST", `${SCHEDULES}/create`, schedule({ path: "u/admin/x" }))).status).toBe(403);
  expect((await dev("GET", `${SCHEDULES}/list`)).json()).toEqual([]);
});

test("lists show the script or flow of a schedule, and the outcomes of its last runs", async () => {
  const path = await create();
  await makeDue(path);
  const [job] = await awaitRuns(path);
  const listed = (await expectOk(ask("GET", `${SCHEDULES}/list_with_jobs`))).json();
  const mine = listed.find((each: any) => each.path === path);
  expect(mine.jobs).toEqual([{ id: job.id, success: true, duration_ms: expect.any(Number) }]);
  expect((await ask("GET", `${SCHEDULES}/list?path=u/admin/flow`)).json()).toHaveLength(1);
  expect((await ask("GET", `${SCHEDULES}/list?is_flow=true`)).json()).toHaveLength(1);
  expect((await ask("GET", `${SCHEDULES}/list?path_start=${path}`)).json()).toHaveLength(1);
  expect((await ask("GET", `${SCHEDULES}/list?per_page=1&page=2`)).json()).toHaveLength(1);
  expect((await ask("GET", `${SCHEDULES}/exists/${path}`)).json()).toBe(true);
  await expectOk(ask("DELETE", `${SCHEDULES}/delete/${path}`));
  expect((await ask("GET", `${SCHEDULES}/exists/${path}`)).json()).toBe(false);
});

describe("a schedule stays due", () => {
  const own = async () => {
    const other = await startTestServer();
    const there = await other.workspace();
    await deploy(there.ask, "acme", "u/admin/greet", "export const main = () => 1");
    const path = (await expectOk(there.ask("POST", `${SCHEDULES}/create`, schedule()))).text;
    const { app } = other.server;
    const makeDue = async () => {
      const next_at = new Date(app.clock().getTime() - 1_000);
      await app.db.write((tx) => tx.update(schedules).set({ next_at }));
      getScheduler(app).wake();
      return next_at;
    };
    const row = async () => (await app.db.read.select().from(schedules).where(eq(schedules.path, path)))[0]!;
    return { ...there, other, app, path, makeDue, row };
  };

  test("without a computable next time, a hundred of them delay no other, and show the error", async () => {
    const { other, app, ask, path, row } = await own();
    const good = await row();
    const next_at = new Date(app.clock().getTime() - 60_000);
    const bad = Array.from({ length: 100 }, (_, n) => ({
      ...good,
      path: `u/admin/bad-${n}`,
      timezone: "Nowhere/Atall",
      next_at,
    }));
    await app.db.write(async (tx) => {
      await tx.insert(schedules).values(bad);
      await tx
        .update(schedules)
        .set({ schedule: "* * * * * *", next_at: app.clock() })
        .where(eq(schedules.path, path));
    });
    getScheduler(app).wake();
    const runs = async () =>
      (await expectOk(ask("GET", `/w/acme/jobs/list?schedule_path=${path}`))).json().length;
    await until(async () => ((await runs()) >= 2 ? true : undefined), "the runs");
    const told = (await ask("GET", `${SCHEDULES}/get/u/admin/bad-7`)).json();
    expect(told.error).toStartWith(
      "the next time cannot be computed: `timezone`: Nowhere/Atall is not a time zone",
    );
    const due = await app.db.read.select().from(schedules).where(eq(schedules.timezone, "Nowhere/Atall"));
    expect(due.filter((each) => each.next_at !== null)).toEqual([]);
    await other.stop();
  });

  test("if it is found while the server stops", async () => {
    const { other, app, makeDue, row } = await own();
    app.acceptsJobs = false;
    const next_at = await makeDue();
    await Bun.sleep(300);
    expect(await row()).toMatchObject({ next_at, error: null });
    await other.stop();
  });

  test.skipIf(!process.env.DATABASE_URL)("if the database had no space for it", async () => {
    const { other, app, ask, path, makeDue, row } = await own();
    const says = (text: string) => app.db.write((tx) => tx.rows(sql.raw(text)));
    await says(`CREATE FUNCTION scarce() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'out of memory' USING ERRCODE = '53200'; END $$`);
    await says("CREATE TRIGGER scarce BEFORE INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION scarce()");
    const next_at = await makeDue();
    await Bun.sleep(300);
    expect(await row()).toMatchObject({ next_at, error: null });
    await says("DROP FUNCTION scarce CASCADE");
    const runs = async () =>
      (await expectOk(ask("GET", `/w/acme/jobs/list?schedule_path=${path}`))).json().length;
    expect(await until(async () => (await runs()) || undefined, "the run")).toBe(1);
    await other.stop();
  });
});

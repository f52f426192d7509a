/** Schedules: the next times of their cron expressions, and which expressions are rejected. */
import { expect, test } from "bun:test";
import { expectOk } from "../../../support/harness.ts";
import { ask, create, get, SCHEDULES, schedule, server, setUpSchedules } from "./schedules-setup.ts";

setUpSchedules();

test.each([
  ["0 30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", ["2026-03-29T01:00", "2026-03-30T00:30"]],
  ["0 30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", ["2026-10-25T00:30", "2026-10-26T01:30"]],
  ["30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z", ["2026-03-08T07:00", "2026-03-09T06:30"]],
  // Of several times, those that daylight saving skips run once, and those that occur twice run once each.
  ["0,30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", ["2026-03-29T01:00", "2026-03-30T00:00"]],
  ["0,30 2 * * *", "Europe/Berlin", "2026-10-25T00:00:00Z", ["2026-10-25T00:30", "2026-10-26T01:00"]],
  ["0 2-3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", ["2026-03-29T01:00", "2026-03-30T00:00"]],
  ["30 2 * * *", "Europe/Berlin", "2026-10-25T01:00:00Z", ["2026-10-26T01:30", "2026-10-27T01:30"]],
  ["10 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", ["2026-10-03T15:30", "2026-10-04T15:10"]],
  // Fixed intervals continue through both transitions.
  ["*/30 * * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", ["2026-10-25T01:00", "2026-10-25T01:30"]],
  ["*/30 * * * *", "Europe/Berlin", "2026-03-29T00:30:00Z", ["2026-03-29T01:00", "2026-03-29T01:30"]],
  ["@hourly", "Europe/Berlin", "2026-10-25T00:00:00Z", ["2026-10-25T01:00", "2026-10-25T02:00"]],
  ["*/20 * * * * *", "UTC", "2026-01-01T00:00:00Z", ["2026-01-01T00:00", "2026-01-01T00:00"]],
  // A skipped day, and a rule of every second during a repeated hour.
  ["0 12 30 12 *", "Pacific/Apia", "2011-12-29T00:00:00Z", ["2011-12-30T10:00", "2012-12-29T22:00"]],
  // Steps from a number on, and seven fields.
  ["7/25 * * * *", "UTC", "2026-01-01T00:00:00Z", ["2026-01-01T00:07", "2026-01-01T00:32"]],
  ["0 0/30 9/5 * * *", "UTC", "2026-01-01T09:40:00Z", ["2026-01-01T14:00", "2026-01-01T14:30"]],
  ["0 0 0/1 * * *", "Europe/Berlin", "2026-10-25T00:00:00Z", ["2026-10-25T01:00", "2026-10-25T02:00"]],
  ["0 0 12 1 1 * *", "Europe/Berlin", "2026-06-01T00:00:00Z", ["2027-01-01T11:00", "2028-01-01T11:00"]],
  ["0 0 12 1 1 * 2030/2", "UTC", "2026-06-01T00:00:00Z", ["2030-01-01T12:00", "2032-01-01T12:00"]],
  ["0 0 0/1 1 1 * 2030", "Asia/Kolkata", "2026-06-01T00:00:00Z", ["2029-12-31T18:30", "2029-12-31T19:30"]],
  ["0 30 2 29 3 * 2026", "Europe/Berlin", "2026-03-28T12:00:00Z", ["2026-03-29T01:00"]],
  ["@daily", "Asia/Kolkata", "2026-01-01T00:00:00Z", ["2026-01-01T18:30", "2026-01-02T18:30"]],
])("%s in %s runs at the local wall-clock time", async (rule, timezone, from, wanted) => {
  const { app } = server.server;
  const { clock } = app;
  Object.assign(app, { clock: () => new Date(from) });
  try {
    const { listNextRuns } = await import("../../../../src/features/triggers/schedules/cron/cron.ts");
    const told = listNextRuns(rule, timezone, app.clock(), 2);
    expect(told.map((date) => date.toISOString().slice(0, 16))).toEqual(wanted);
  } finally {
    Object.assign(app, { clock });
  }
});

test("the next times can be previewed", async () => {
  const body = { schedule: "0 0 12 * * *", timezone: "UTC" };
  const told = (await expectOk(ask("POST", "/schedules/preview", body))).json();
  expect(told).toHaveLength(5);
  for (const time of told) expect(time).toEndWith("T12:00:00.000Z");
  const more = (await expectOk(ask("POST", "/schedules/preview", { ...body, count: 10 }))).json();
  expect(more).toHaveLength(10);
  expect((await ask("POST", "/schedules/preview", { ...body, count: 1_000_000 })).status).toBe(400);
});

test("the next time of a paused schedule is the first after the pause", async () => {
  const paused_until = "2999-01-01T12:00:00.000Z";
  const rule = { schedule: "0 0 12 * * *", timezone: "UTC", paused_until };
  const [next] = (await expectOk(ask("POST", "/schedules/preview", rule))).json();
  expect(next).toBe(paused_until);
  const path = await create(rule);
  expect((await get(path)).next_at).toBe(paused_until);
});

test.each([
  ["no rule", { schedule: "often" }, 400, "five fields"],
  ["a rule of wrong fields", { schedule: "0 0 25 * * *" }, 400, 'the hour is "25"; it may be 0 to 23'],
  ["four fields", { schedule: "0 0 1 *" }, 400, "five fields"],
  ["eight fields", { schedule: "0 0 0 1 1 * 2030 1" }, 400, "seven with the year last"],
  ["a step of nothing", { schedule: "5/ * * * *" }, 400, "cannot be read"],
  ["a step of none", { schedule: "5/0 * * * *" }, 400, "cannot be read"],
  ["a minute that no hour has", { schedule: "70/5 * * * *" }, 400, "never occurs"],
  ["a weekday that no week has", { schedule: "* * * * fry" }, 400, 'the weekday is "fry"'],
  ["a name that no rule has", { schedule: "@often" }, 400, "@daily"],
  ["a day that never comes", { schedule: "0 0 0 30 2 *" }, 400, "never occurs"],
  ["no time zone", { timezone: "Mars/Base" }, 400, "`timezone`"],
  ["a path that is none", { path: "x" }, 400, "path"],
  ["an unknown script", { script_path: "u/admin/nothing" }, 404, "u/admin/nothing"],
  ["a handler that is none", { on_failure: "u/admin/greet" }, 400, "`on_failure`"],
  ["an unknown handler", { on_success: "script/u/admin/nothing" }, 400, "`on_success`"],
  ["arguments that are not an object", { args: [1] }, 400, "args"],
])("%s is rejected", async (_, more, status, says) => {
  const answer = await ask("POST", `${SCHEDULES}/create`, schedule(more));
  expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(says)]);
});

test("handlers of the hub, and a disabled schedule before its script, are stored", async () => {
  const on_failure = "script/hub/1/alert";
  expect(await get(await create({ on_failure }))).toMatchObject({ on_failure, enabled: true });
  const early = { script_path: "u/admin/later", enabled: false };
  expect(await get(await create(early))).toMatchObject(early);
});

test("a used path is rejected", async () => {
  const path = await create();
  const answer = await ask("POST", `${SCHEDULES}/create`, schedule({ path }));
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("already")]);
});

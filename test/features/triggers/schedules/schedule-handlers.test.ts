/**
 * Handlers of schedules: after how many failures and successes, with which arguments, and correct when runs end
 * concurrently.
 */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { expectOk } from "../../../support/harness.ts";
import {
  ask,
  awaitHandlerArguments,
  awaitHandlerTimes,
  awaitRuns,
  createSchedule,
  FAILED,
  listJobs,
  listRuns,
  RECOVERED,
  runOutcomes,
  SUCCEEDED,
  server,
  setUpScheduleHandlers,
  startRun,
  type TestSchedule,
} from "./schedule-handlers-setup.ts";

setUpScheduleHandlers();

describe("on_failure", () => {
  test("gets the error, the run and the number of consecutive failures", async () => {
    const made = await createSchedule({ ...FAILED, on_failure_extra_args: { channel: "ops", path: "mine" } });
    await runOutcomes(made, "fail");
    const [handler] = await awaitHandlerArguments(made, "failed");
    const [run] = await listRuns(made);
    expect(handler.args).toEqual({
      error: expect.objectContaining({ name: "Error", message: "as told" }),
      workspace_id: "acme",
      job_id: run.id,
      path: "mine",
      is_flow: false,
      started_at: run.started_at,
      email: run.email,
      schedule_path: made.path,
      failed_times: 1,
      channel: "ops",
    });
    expect(handler).toMatchObject({
      parent_job: run.id,
      created_by: "schedule_error_handler",
      permissioned_as: "u/admin",
    });
    expect(handler.schedule_path ?? null).toBeNull();
  });

  test.each([
    ["every one", {}, [1, 2, 1]],
    ["from the second on", { on_failure_times: 2 }, [2]],
    ["exactly the second", { on_failure_times: 2, on_failure_exact: true }, [2]],
    ["exactly the first", { on_failure_times: 1, on_failure_exact: true }, [1, 1]],
  ])("consecutive failures that start it: %s", async (_, more, heard) => {
    const made = await createSchedule({ ...FAILED, ...more });
    await runOutcomes(made, "fail", "fail", "well", "fail");
    expect(await awaitHandlerTimes(made, "failed", "failed_times")).toEqual(heard);
  });

  test("is started for the third failure too, unless configured for exactly the second", async () => {
    const on = await createSchedule({ ...FAILED, on_failure_times: 2 });
    const exact = await createSchedule({ ...FAILED, on_failure_times: 2, on_failure_exact: true });
    for (const made of [on, exact]) await runOutcomes(made, "fail", "fail", "fail");
    expect(await awaitHandlerTimes(on, "failed", "failed_times")).toEqual([2, 3]);
    expect(await awaitHandlerTimes(exact, "failed", "failed_times")).toEqual([2]);
  });

  test("counts runs that fail at the same time", async () => {
    const made = await createSchedule({ ...FAILED, on_failure_times: 3, on_failure_exact: true });
    const all = await createSchedule(FAILED);
    for (const each of [made, all]) {
      writeFileSync(each.file, "");
      for (let at = 0; at < 5; at++) await startRun(each);
      writeFileSync(each.file, "fail");
      await awaitRuns(each);
    }
    expect(await awaitHandlerTimes(made, "failed", "failed_times")).toEqual([3]);
    expect((await awaitHandlerTimes(all, "failed", "failed_times")).sort()).toEqual([1, 2, 3, 4, 5]);
  });

  test("is started for a script whose retries failed", async () => {
    const retry = { constant: { attempts: 1, seconds: 0 } };
    const made = await createSchedule({ ...FAILED, retry });
    await runOutcomes(made, "fail");
    expect(await awaitHandlerTimes(made, "failed", "failed_times")).toEqual([1]);
  });

  test("does not count a run that was canceled", async () => {
    const made = await createSchedule({ ...FAILED, on_failure_times: 2 });
    await runOutcomes(made, "fail");
    writeFileSync(made.file, "");
    await startRun(made);
    const running = (await listRuns(made)).find(({ type }) => type !== "CompletedJob");
    await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${running.id}`, {}));
    await awaitRuns(made);
    expect(await awaitHandlerArguments(made, "failed")).toEqual([]);
    await runOutcomes(made, "fail");
    expect(await awaitHandlerTimes(made, "failed", "failed_times")).toEqual([2]);
  });
});

describe("on_recovery", () => {
  test("gets the failed and the recovered run", async () => {
    const made = await createSchedule({ ...RECOVERED, on_recovery_extra_args: { channel: "ops" } });
    await runOutcomes(made, "well", "fail", "fine", "fine");
    const all = await awaitHandlerArguments(made, "recovered");
    expect(all).toHaveLength(1);
    const [fine, failed] = (await listRuns(made)).slice(1);
    expect(all[0].args).toEqual({
      error: expect.objectContaining({ message: "as told" }),
      error_started_at: failed.started_at,
      schedule_path: made.path,
      path: "u/admin/told",
      is_flow: false,
      success_result: { said: "fine" },
      success_times: 1,
      success_started_at: fine.started_at,
      channel: "ops",
    });
    expect(all[0]).toMatchObject({ created_by: "schedule_recovery_handler", parent_job: fine.id });
  });

  test("is started after the configured number of consecutive successes", async () => {
    const made = await createSchedule({ ...RECOVERED, on_recovery_times: 2 });
    await runOutcomes(made, "fail", "well", "fail", "well");
    expect(await awaitHandlerArguments(made, "recovered")).toEqual([]);
    await runOutcomes(made, "well", "well");
    expect(await awaitHandlerTimes(made, "recovered", "success_times")).toEqual([2]);
  });
});

test("on_success is started for every success, with its result", async () => {
  const made = await createSchedule({ ...SUCCEEDED, on_success_extra_args: { note: 1 } });
  await runOutcomes(made, "well", "fail", "fine");
  const all = await awaitHandlerArguments(made, "succeeded");
  expect(all.map(({ args }) => args.said)).toEqual(["well", "fine"]);
  const [run] = await listRuns(made);
  expect(all[1].args).toEqual({
    said: "fine",
    workspace_id: "acme",
    job_id: run.id,
    path: "u/admin/told",
    is_flow: false,
    started_at: run.started_at,
    email: run.email,
    schedule_path: made.path,
    note: 1,
  });
});

test("the workspace's handler is started as well, unless the schedule mutes it", async () => {
  const handler = { error_handler: "script/u/admin/workspace", error_handler_extra_args: {} };
  await expectOk(ask("POST", "/w/acme/workspaces/edit_error_handler", handler));
  const loud = await createSchedule(FAILED);
  const muted = await createSchedule({ ...FAILED, ws_error_handler_muted: true });
  for (const made of [loud, muted]) await runOutcomes(made, "fail");
  expect(
    [await awaitHandlerArguments(loud, "failed"), await awaitHandlerArguments(muted, "failed")].map(
      ({ length }) => length,
    ),
  ).toEqual([1, 1]);
  const heard = await Promise.all(
    [loud, muted].map(async (made) => {
      const [run] = await listRuns(made);
      return (await listJobs(`parent_job=${run.id}`)).filter(
        ({ created_by }) => created_by === "error_handler",
      ).length;
    }),
  );
  expect(heard).toEqual([1, 0]);
});

describe("the default handler", () => {
  const settle = (body: object) => ask("POST", "/w/acme/schedules/setdefaulthandler", body);
  const get = async ({ path }: TestSchedule) =>
    (await expectOk(ask("GET", `/w/acme/schedules/get/${path}`))).json();

  test("leaves the workspace's handler muted for a new schedule that mutes it", async () => {
    await expectOk(settle({ handler_type: "error", override_existing: false, path: "script/u/admin/other" }));
    const made = await createSchedule({ ws_error_handler_muted: true });
    expect(await get(made)).toMatchObject({
      on_failure: "script/u/admin/other",
      ws_error_handler_muted: true,
    });
    expect((await get(await createSchedule())).ws_error_handler_muted).toBe(false);
    await expectOk(settle({ handler_type: "error", override_existing: false }));
  });

  test("applies to new schedules without one, and on request to all", async () => {
    const before = await createSchedule(FAILED);
    const error = {
      handler_type: "error",
      override_existing: false,
      path: "script/u/admin/other",
      extra_args: { a: 1 },
      number_of_occurence: 3,
      number_of_occurence_exact: true,
      workspace_handler_muted: true,
    };
    await expectOk(settle(error));
    await expectOk(
      settle({ handler_type: "success", override_existing: false, path: "script/u/admin/other" }),
    );
    const stored = (await expectOk(ask("GET", "/w/acme/workspaces/get_settings"))).json();
    expect(stored).toMatchObject({
      default_error_handler: { path: "script/u/admin/other", times: 3, exact: true },
      default_success_handler: { path: "script/u/admin/other" },
    });
    expect(stored).not.toHaveProperty("default_recovery_handler");
    const own = await createSchedule(FAILED);
    const without = await createSchedule();
    const fields = {
      on_failure: "script/u/admin/other",
      on_failure_times: 3,
      on_failure_exact: true,
      on_failure_extra_args: { a: 1 },
      ws_error_handler_muted: true,
    };
    expect(await get(without)).toMatchObject({
      ...fields,
      on_success: "script/u/admin/other",
      on_recovery: null,
    });
    for (const made of [before, own]) {
      expect(await get(made)).toMatchObject({ on_failure: FAILED.on_failure, on_failure_times: null });
    }
    await expectOk(settle({ ...error, override_existing: true }));
    for (const made of [before, own, without]) expect(await get(made)).toMatchObject(fields);
    expect((await get(before)).on_success).toBeNull();
    for (const handler_type of ["error", "success"]) {
      await expectOk(settle({ handler_type, override_existing: true }));
    }
    expect(await get(before)).toMatchObject({
      on_failure: null,
      on_failure_times: null,
      ws_error_handler_muted: false,
    });
    expect((await get(await createSchedule())).on_failure).toBeNull();
  });

  test.each([
    [{ handler_type: "nothing", override_existing: false }, "handler_type"],
    [{ handler_type: "error", override_existing: false, path: "u/admin/other" }, "script/<path>"],
    [{ handler_type: "error", override_existing: false, path: "script/u/admin/none" }, "u/admin/none"],
    [
      {
        handler_type: "error",
        override_existing: false,
        path: "script/u/admin/other",
        number_of_occurence: 0,
      },
      "number_of_occurence",
    ],
  ])("%j is rejected", async (body, says) => {
    const answer = await settle(body);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(says)]);
  });

  test("can be set by admins only", async () => {
    const dev = await server.member("acme", "dev");
    const body = { handler_type: "error", override_existing: true };
    expect((await dev.ask("POST", "/w/acme/schedules/setdefaulthandler", body)).status).toBe(403);
  });
});

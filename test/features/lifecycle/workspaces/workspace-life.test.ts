/** Workspaces are archived and restored, deleted without a trace, and renamed. */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { and, eq, getTableName, ne } from "drizzle-orm";
import type { Tx } from "../../../../src/database/database.ts";
import { flowFrames } from "../../../../src/features/code/flows/tables.ts";
import { fillSearchIndex } from "../../../../src/features/runs/search/indexer.ts";
import { auditLog } from "../../../../src/features/signals/audit/tables.ts";
import { webhookDeliveries, webhookEndpoints } from "../../../../src/features/signals/webhooks/tables.ts";
import { workspaces } from "../../../../src/features/tenancy/workspaces/tables.ts";
import { getScheduler } from "../../../../src/features/triggers/schedules/get-scheduler.ts";
import { schedules } from "../../../../src/features/triggers/schedules/tables.ts";
import { jobLogs, jobs } from "../../../../src/platform/queue/tables.ts";
import { deploy, expectOk, until } from "../../../support/harness.ts";
import { tablesOfWorkspaces } from "../../../support/tables.ts";
import {
  createFilledWorkspace,
  HELLO,
  root,
  rowsOf,
  server,
  setUpWorkspaceLife,
} from "./workspace-life-setup.ts";

setUpWorkspaceLife();

describe("an archived workspace", () => {
  test("denies access and runs nothing, webhooks included, until it is restored", async () => {
    const { ask, bound } = await createFilledWorkspace("closed");
    const dev = server.as(bound);
    const running = (await expectOk(ask("POST", "/w/closed/jobs/run/p/u/admin/sleep", {}))).text;
    const later = (
      await expectOk(ask("POST", "/w/closed/jobs/run/p/u/admin/hello?scheduled_in_secs=3600", {}))
    ).text;
    expect((await dev("POST", "/w/closed/workspaces/archive")).status).toBe(403);
    expect((await expectOk(ask("POST", "/w/closed/workspaces/archive"))).text).toBe(
      "archived workspace closed",
    );
    const tokened = `/w/closed/jobs/run_wait_result/p/u/admin/hello?token=${bound}`;
    for (const [caller, method, path] of [
      [ask, "POST", "/w/closed/jobs/run/p/u/admin/hello"],
      [ask, "POST", "/w/closed/jobs/run_wait_result/p/u/admin/hello"],
      [server.as(undefined), "POST", tokened],
      [ask, "GET", "/w/closed/users/whoami"],
      [ask, "POST", "/w/closed/workspaces/archive"],
      [dev, "GET", "/w/closed/variables/list"],
      [root, "GET", "/w/closed/variables/list"],
    ] as const) {
      const answer = await caller(method, path, method === "POST" ? {} : undefined);
      expect([path, answer.status, answer.text]).toEqual([
        path,
        400,
        "Bad request: workspace closed is archived",
      ]);
    }
    expect((await ask("GET", "/workspaces/list")).json()).toEqual([]);
    const { db } = server.server.app;
    const hourly = and(eq(schedules.workspace_id, "closed"), eq(schedules.path, "u/admin/hourly"));
    const isDue = (tx: Tx) => tx.update(schedules).set({ next_at: new Date() }).where(hourly);
    await db.write(isDue);
    getScheduler(server.server.app).wake();
    const put = await until(async () => {
      const [row] = await db.read.select().from(schedules).where(hourly);
      return row!.next_at! > new Date() ? row : undefined;
    }, "the schedule to be put off");
    expect(put!.error).toBe("workspace closed is archived");
    const begun = () =>
      db.read
        .select()
        .from(jobs)
        .where(
          and(
            eq(jobs.workspace_id, "closed"),
            eq(jobs.schedule_path, "u/admin/hourly"),
            ne(jobs.state, "planned"),
          ),
        );
    expect(await begun()).toEqual([]);
    const all = (await root("GET", "/workspaces/list_as_superadmin")).json();
    expect(all.find((row: any) => row.id === "closed")).toMatchObject({ deleted: true, premium: false });
    const states = async () =>
      (await server.server.app.db.read.select().from(jobs).where(eq(jobs.workspace_id, "closed")))
        .filter(({ id }) => id === running || id === later)
        .map(({ status }) => status);
    await until(async () => ((await states()).every((one) => one === "canceled") ? true : undefined));
    const stranger = (await server.user("stranger")).ask;
    expect((await stranger("POST", "/workspaces/unarchive/closed")).status).toBe(403);
    expect((await stranger("POST", "/workspaces/unarchive/nowhere")).status).toBe(403);
    expect((await root("POST", "/workspaces/unarchive/nowhere")).status).toBe(404);
    await expectOk(ask("POST", "/workspaces/unarchive/closed"));
    await db.write(isDue);
    getScheduler(server.server.app).wake();
    await until(async () => (await begun())[0], "the schedule's run");
    expect((await ask("POST", "/workspaces/unarchive/closed")).text).toContain("is not archived");
    const answer = await ask("POST", "/w/closed/jobs/run_wait_result/p/u/admin/hello", {});
    expect([answer.status, answer.json()]).toEqual([200, "hello"]);
    expect((await dev("GET", "/w/closed/variables/list")).status).toBe(200);
    const names = (await ask("GET", "/w/closed/audit/list?operation=workspaces.")).json();
    expect(names.slice(0, 2).map((row: any) => row.operation)).toEqual([
      "workspaces.unarchive",
      "workspaces.archive",
    ]);
  }, 60_000);
});

describe("a deleted workspace", () => {
  test("leaves nothing in any table nor on the disk, and nothing running", async () => {
    const { ask, bound } = await createFilledWorkspace("gone");
    await expectOk(ask("POST", "/w/gone/jobs/run_wait_result/p/u/admin/hello", {}));
    await fillSearchIndex(server.server.app, new Date(Date.now() + 120_000));
    await expectOk(ask("POST", "/w/gone/jobs/run/p/u/admin/sleep", {}));
    const flow = (await expectOk(ask("POST", "/w/gone/jobs/run/f/u/admin/flow", {}))).text;
    const before = await rowsOf("gone");
    // Every table of a workspace: one without rows would not be tested.
    const empty = (await tablesOfWorkspaces()).map((table) => getTableName(table as never));
    expect(empty.filter((name) => !before[name])).toEqual([]);
    const deliveries = () => db.read.select().from(webhookDeliveries).where(ofEndpoint);
    const { db } = server.server.app;
    const [endpoint] = await db.read
      .select()
      .from(webhookEndpoints)
      .where(eq(webhookEndpoints.workspace_id, "gone"));
    const ofEndpoint = eq(webhookDeliveries.endpoint_id, endpoint!.id);
    expect(await deliveries()).not.toEqual([]);
    expect(existsSync(join(server.data_dir, "storage/gone/_default_/a.txt"))).toBe(true);
    expect((await ask("DELETE", "/workspaces/delete/gone")).status).toBe(403);
    expect((await root("DELETE", "/workspaces/delete/nowhere")).status).toBe(404);
    const ids = (await db.read.select().from(jobs).where(eq(jobs.workspace_id, "gone"))).map(({ id }) => id);
    expect((await expectOk(root("DELETE", "/workspaces/delete/gone"))).text).toBe("deleted workspace gone");
    expect(await rowsOf("gone")).toEqual({});
    expect(await deliveries()).toEqual([]);
    expect(await db.read.select().from(workspaces).where(eq(workspaces.id, "gone"))).toEqual([]);
    expect(await db.read.select().from(flowFrames).where(eq(flowFrames.job_id, flow))).toEqual([]);
    for (const id of ids) {
      expect(await db.read.select().from(jobLogs).where(eq(jobLogs.job_id, id))).toEqual([]);
    }
    expect(existsSync(join(server.data_dir, "storage/gone"))).toBe(false);
    await until(() => (existsSync(join(server.data_dir, "runner/versions/gone")) ? undefined : true));
    expect((await server.as(bound)("GET", "/users/whoami")).status).toBe(401);
    expect((await ask("GET", "/w/gone/users/whoami")).status).toBe(401);
    const kept = await db.read.select().from(auditLog).where(eq(auditLog.workspace_id, "deleted/gone"));
    expect(kept.length).toBeGreaterThan(5);
    const [told] = (await root("GET", "/audit/list?workspace=global&operation=workspaces.delete")).json();
    expect(told).toMatchObject({ resource: "gone", username: "root@example.org" });
  }, 60_000);

  test("frees its id for a new one, which sees nothing of it", async () => {
    const first = await server.workspace("again");
    await deploy(first.ask, "again", "u/admin/hello", HELLO);
    await expectOk(first.ask("POST", "/w/again/jobs/run_wait_result/p/u/admin/hello", {}));
    await expectOk(root("DELETE", "/workspaces/delete/again"));
    const body = { id: "again", name: "again", owner: "admin_again@example.org", username: "admin" };
    await expectOk(server.operator("POST", "/workspaces/create", body));
    const ask = first.ask;
    expect((await ask("POST", "/w/again/jobs/run_wait_result/p/u/admin/hello", {})).status).toBe(404);
    expect((await ask("GET", "/w/again/audit/list")).json()).toHaveLength(0);
    await deploy(ask, "again", "u/admin/hello", HELLO);
    const answer = await ask("POST", "/w/again/jobs/run_wait_result/p/u/admin/hello", {});
    expect([answer.status, answer.json()]).toEqual([200, "hello"]);
  });
});

describe("a changed id", () => {
  test("applies to everything: rows, secrets, files, tokens, waiting jobs", async () => {
    const { ask, bound } = await createFilledWorkspace("before");
    const other = await server.workspace("points-there");
    await expectOk(other.ask("POST", "/w/points-there/workspaces/edit_deploy_to", { deploy_to: "before" }));
    const waits = (
      await expectOk(ask("POST", "/w/before/jobs/run/p/u/admin/hello?scheduled_in_secs=3600", {}))
    ).text;
    const runs = (await expectOk(ask("POST", "/w/before/jobs/run/p/u/admin/sleep", {}))).text;
    const flow = (await expectOk(ask("POST", "/w/before/jobs/run/f/u/admin/flow", {}))).text;
    const rows = await rowsOf("before");
    const body = { new_id: "after", new_name: "After it", username: "no field" };
    expect((await server.as(bound)("POST", "/w/before/workspaces/change_workspace_id", body)).status).toBe(
      403,
    );
    await expectOk(ask("POST", "/w/before/workspaces/change_workspace_id", body));
    expect(await rowsOf("before")).toEqual({});
    const moved = await rowsOf("after");
    // Cached results are keyed by the id; steps of the flow and audit rows may have been added since.
    for (const [table, count] of Object.entries(rows)) {
      if (table !== "job_cache") expect([table, (moved[table] ?? 0) >= count]).toEqual([table, true]);
    }
    const w = "/w/after";
    expect((await ask("GET", `${w}/apps/get/p/f/ops/app`)).json().value).toEqual({ of: "before" });
    expect((await ask("GET", `${w}/apps/list?starred_only=true`)).json()).toHaveLength(1);
    expect((await ask("GET", `${w}/folders/listnames`)).json()).toContain("ops");
    expect((await ask("GET", `${w}/groups/get/team`)).json().members).toEqual(["admin", "dev_before"]);
    // Due jobs run there.
    const due = { next_at: new Date() };
    const hourly = and(eq(schedules.workspace_id, "after"), eq(schedules.path, "u/admin/hourly"));
    await server.server.app.db.write((tx) => tx.update(schedules).set(due).where(hourly));
    getScheduler(server.server.app).wake();
    const found = () => ask("GET", `${w}/jobs/completed/list?schedule_path=u/admin/hourly`);
    await until(async () => (await found()).json()[0], "the schedule's run");
    expect((await ask("GET", `${w}/workspaces/get_workspace_name`)).text).toBe("After it");
    expect((await ask("GET", `${w}/variables/get_value/u/admin/key`)).json()).toBe("secret of before");
    expect((await ask("GET", `${w}/job_helpers/download_s3_file?file_key=a.txt`)).text).toBe("file");
    expect((await server.as(bound)("GET", `${w}/users/whoami`)).json().username).toBe("dev_before");
    expect((await ask("GET", "/w/before/users/whoami")).status).toBe(401);
    const settings = (await other.ask("GET", "/w/points-there/workspaces/get_deploy_to")).json();
    expect(settings).toEqual({ deploy_to: "after" });
    const job = async (id: string) => (await ask("GET", `${w}/jobs_u/get/${id}`)).json();
    expect(await job(waits)).toMatchObject({ type: "QueuedJob", workspace_id: "after" });
    for (const id of [runs, flow]) {
      expect(await job(id)).toMatchObject({ type: "CompletedJob", canceled: true });
      expect((await job(id)).canceled_reason).toContain("was given the id after");
    }
    const answer = await ask("POST", `${w}/jobs/run_wait_result/p/u/admin/hello`, {});
    expect([answer.status, answer.json()]).toEqual([200, "hello"]);
    const [row] = (await ask("GET", `${w}/audit/list?operation=workspaces.change`)).json();
    expect(row).toMatchObject({ resource: "after", parameters: { old_id: "before" } });
    // The id is free, and its next workspace has neither files nor secrets of the old one.
    const anew = { id: "before", name: "before", owner: "admin_before@example.org", username: "admin" };
    await expectOk(server.operator("POST", "/workspaces/create", anew));
    const next = ask;
    await expectOk(
      next("POST", "/w/before/workspaces/edit_large_file_storage_config", {
        large_file_storage: { type: "FilesystemStorage" },
      }),
    );
    expect((await next("GET", "/w/before/job_helpers/download_s3_file?file_key=a.txt")).status).toBe(404);
    expect((await next("GET", "/w/before/variables/list")).json()).toEqual([]);
  }, 60_000);

  test.each([
    [{ new_id: "points-there" }, "there is a workspace with id points-there already"],
    [{ new_id: "after" }, "is already the id of the workspace"],
    [{ new_id: "a b" }, '"a b" cannot be a workspace id'],
    [{ new_id: "global" }, "is reserved for the whole instance"],
    [{ new_name: "x" }, "`new_id`"],
    [{ new_id: "fine", new_name: " " }, "`new_name`"],
  ])("is rejected if it is %j", async (body, says) => {
    const answer = await root("POST", "/w/after/workspaces/change_workspace_id", body);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(says)]);
  });

  test("its own operation changes only the name, with or without the unknown field", async () => {
    const ask = (await server.workspace("named")).ask;
    const change = (body: object) => ask("POST", "/w/named/workspaces/change_workspace_name", body);
    for (const body of [{ new_name: "One" }, { new_name: "Two", username: "x" }]) {
      await expectOk(change(body));
      expect((await ask("GET", "/w/named/workspaces/get_workspace_name")).text).toBe(body.new_name);
    }
    expect((await change({ username: "x" })).text).toContain("`new_name`");
    expect((await change({ new_name: "" })).text).toContain("`new_name`: must not be empty");
  });
});

test("the super admins' workspace can be neither archived nor deleted nor renamed", async () => {
  await expectOk(root("POST", "/workspaces/create", { id: "admins", name: "admins", username: "root" }));
  for (const answer of [
    await root("POST", "/w/admins/workspaces/archive"),
    await root("DELETE", "/workspaces/delete/admins"),
    await root("POST", "/w/admins/workspaces/change_workspace_id", { new_id: "mine" }),
  ]) {
    expect([answer.status, answer.text]).toEqual([
      400,
      expect.stringContaining("belongs to the super admins"),
    ]);
  }
});

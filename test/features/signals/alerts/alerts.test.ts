/**
 * Critical alerts: raised by the service itself, listed, acknowledged, and sent to real mail servers, chats and
 * URLs.
 */
import { describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eq, sql } from "drizzle-orm";
import { createRescuer } from "../../../../src/features/runs/worker/rescuer.ts";
import { checkDisk } from "../../../../src/features/signals/alerts/disk.ts";
import { deleteOldAlerts } from "../../../../src/features/signals/alerts/service.ts";
import { criticalAlerts } from "../../../../src/features/signals/alerts/tables.ts";
import { awaitBackground } from "../../../../src/lib/async/background.ts";
import { loadConfig } from "../../../../src/platform/config/config.ts";
import { jobs } from "../../../../src/platform/queue/tables.ts";
import { startServer } from "../../../../src/server/server.ts";
import { createDatabase, deploy, expectOk, startTestServer, until } from "../../../support/harness.ts";
import {
  app,
  ask,
  later,
  listAlerts,
  raiseTestAlert,
  receiver,
  server,
  set,
  setUpAlerts,
} from "./alerts-setup.ts";

setUpAlerts();

describe("the list", () => {
  test("is paged, newest first, and filtered by acknowledgement", async () => {
    for (let number = 1; number <= 12; number++)
      await raiseTestAlert(`number ${number}`, { subject: String(number) });
    const first = await listAlerts();
    expect(first).toHaveLength(10);
    expect(first[0]).toMatchObject({
      alert_type: "critical_error",
      kind: "trial",
      message: "number 12",
      workspace_id: null,
      acknowledged: false,
      count: 1,
    });
    expect((await listAlerts("?page=2")).map((alert: any) => alert.message)).toEqual([
      "number 2",
      "number 1",
    ]);
    expect(await listAlerts("?page_size=100")).toHaveLength(12);
    const { id } = first[3];
    const done = await expectOk(ask("POST", `/settings/critical_alerts/${id}/acknowledge`));
    expect(done.json()).toBe(`critical alert ${id} acknowledged`);
    expect((await listAlerts("?acknowledged=true")).map((alert: any) => alert.id)).toEqual([id]);
    expect(await listAlerts("?acknowledged=false&page_size=100")).toHaveLength(11);
    expect(await listAlerts("?acknowledged=null&page_size=100")).toHaveLength(12);
    expect((await ask("POST", "/settings/critical_alerts/acknowledge_all")).json()).toBe(
      "11 critical alerts acknowledged",
    );
    expect(await listAlerts("?acknowledged=false")).toEqual([]);
  });

  test.each([
    ["?page=0", "page"],
    ["?page=x", "page"],
    ["?page_size=0", "page_size"],
    ["?page_size=101", "page_size"],
    ["?acknowledged=maybe", "acknowledged"],
  ])("rejects %s", async (query, field) => {
    const answer = await ask("GET", `/settings/critical_alerts${query}`);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(`\`${field}\``)]);
  });

  test("is for super admins, with 404 for an unknown alert", async () => {
    expect((await ask("POST", "/settings/critical_alerts/4711/acknowledge")).status).toBe(404);
    expect((await ask("POST", "/settings/critical_alerts/one/acknowledge")).status).toBe(400);
    const { ask: userAsk } = await server.user("ann");
    expect((await userAsk("GET", "/settings/critical_alerts")).status).toBe(403);
    expect((await userAsk("POST", "/settings/critical_alerts/acknowledge_all")).status).toBe(403);
  });
});

test("an alert raised again within a day is stored once", async () => {
  await Promise.all([raiseTestAlert("full"), raiseTestAlert("full"), raiseTestAlert("full")]);
  await raiseTestAlert("elsewhere", { workspace_id: "acme" });
  expect((await listAlerts()).map((alert: any) => [alert.message, alert.count])).toEqual([
    ["elsewhere", 1],
    ["full", 3],
  ]);
  await expectOk(ask("POST", "/settings/critical_alerts/acknowledge_all"));
  await raiseTestAlert("full again");
  await later(25 * 3_600_000, () => raiseTestAlert("still full"));
  expect((await listAlerts("?acknowledged=false")).map((alert: any) => alert.message)).toEqual([
    "still full",
    "full again",
  ]);
});

test("acknowledged alerts are deleted after 90 days", async () => {
  await raiseTestAlert("the moon is down");
  await raiseTestAlert("the sun is down", { subject: "sun" });
  await expectOk(ask("POST", `/settings/critical_alerts/${(await listAlerts())[0].id}/acknowledge`));
  await later(89 * 24 * 3_600_000, () => deleteOldAlerts(app()));
  expect(await listAlerts()).toHaveLength(2);
  await later(91 * 24 * 3_600_000, () => deleteOldAlerts(app()));
  expect((await listAlerts()).map(({ message }: any) => message)).toEqual(["the moon is down"]);
});

test("alerts of a workspace that its admins muted count as acknowledged, and the channels still get them", async () => {
  using hook = receiver();
  await set("critical_error_channels", [{ webhook_url: hook.url }]);
  const acme = await server.workspace();
  const { ask: userAsk } = await server.member("acme", "ann");
  const path = "/w/acme/workspaces/critical_alerts/mute";
  const mute = (mute_critical_alerts: unknown, as = acme.ask) => as("POST", path, { mute_critical_alerts });
  const said = async () => (await acme.ask("GET", "/w/acme/workspaces/get_settings")).json();
  expect((await mute(true, userAsk)).status).toBe(403);
  expect((await mute("yes")).status).toBe(400);
  expect((await mute(true)).text).toBe("critical alerts of workspace acme are muted");
  expect(await said()).toMatchObject({ mute_critical_alerts: true });
  for (const workspace_id of ["acme", "acme", "other"])
    await raiseTestAlert("the moon is down", { workspace_id });
  await awaitBackground(app());
  const standing = async () =>
    (await listAlerts("?acknowledged=false")).map(({ workspace_id }: any) => workspace_id);
  expect(await standing()).toEqual(["other"]);
  expect((await listAlerts("?acknowledged=true")).map(({ count }: any) => count)).toEqual([2]);
  expect(hook.bodies.map(({ workspace_id }) => workspace_id)).toEqual(["acme", "other"]);
  expect((await mute(false)).text).toContain("no longer muted");
  expect(await said()).not.toHaveProperty("mute_critical_alerts");
  await raiseTestAlert("the sun is down", { workspace_id: "acme", subject: "sun" });
  expect(await standing()).toEqual(["acme", "other"]);
});

describe("the service raises alerts itself", () => {
  test("when a job has failed after losing its worker", async () => {
    const acme = await server.workspace();
    await deploy(acme.ask, "acme", "u/admin/lost", "export const main = () => 1");
    const asked = await expectOk(
      acme.ask("POST", "/w/acme/jobs/run/p/u/admin/lost?scheduled_in_secs=3600", {}),
    );
    const long = new Date(Date.now() - 3_600_000);
    const lost = {
      state: "running",
      worker: "gone",
      last_ping: long,
      started_at: long,
      attempts: 99,
    } as const;
    await app().db.write((tx) => tx.update(jobs).set(lost).where(eq(jobs.id, asked.text)));
    await createRescuer(app()).rescue();
    const [alert] = await listAlerts();
    expect(alert).toMatchObject({ kind: "worker_lost", workspace_id: "acme" });
    expect(alert.message).toContain(`job ${asked.text} (u/admin/lost): the job lost its worker`);
  });

  test("when the disk is nearly full, and again when it has room", async () => {
    await checkDisk(app());
    expect(await listAlerts()).toEqual([]);
    const running = app() as { config: object };
    const { config } = running;
    running.config = { ...config, min_free_mb: 1e12 };
    await checkDisk(app());
    await expectOk(ask("POST", "/settings/critical_alerts/acknowledge_all"));
    await checkDisk(app());
    expect((await listAlerts()).map((alert: any) => [alert.kind, alert.alert_type])).toEqual([
      ["disk_nearly_full", "critical_error"],
    ]);
    running.config = config;
    await checkDisk(app());
    await checkDisk(app());
    expect((await listAlerts()).map((alert: any) => alert.alert_type)).toEqual([
      "recovered_critical_error",
      "critical_error",
    ]);
  });

  test("when it starts on a disk that is nearly full", async () => {
    await using full = await startTestServer({ min_free_mb: 1e12 });
    await until(async () => {
      const found = (await full.operator("GET", "/settings/critical_alerts")).json();
      return found.some((alert: any) => alert.kind === "disk_nearly_full") || undefined;
    }, "the alert");
  });

  test("when an earlier start could not migrate the database", async () => {
    const data_dir = mkdtempSync(join(tmpdir(), "svc-alerts-"));
    const database = process.env.DATABASE_URL
      ? await createDatabase(process.env.DATABASE_URL, "migrated")
      : undefined;
    const begin = () =>
      startServer(
        loadConfig({
          port: 0,
          log_level: "fatal",
          blank_children: 0,
          min_free_mb: 0,
          data_dir,
          database_url: database?.url,
        }),
      );
    const first = await begin();
    await first.app.db.write((tx) =>
      tx.rows(sql`INSERT INTO svc_migrations (name, applied_at) VALUES ('9999_breaking_future', 1)`),
    );
    await first.stop();
    await expect(begin()).rejects.toThrow("newer than this executable");
    expect(existsSync(join(data_dir, "failed-migration.json"))).toBe(true);
    // Another program repairs it.
    const { openDatabase } = await import("../../../../src/database/open-database.ts");
    const db = await openDatabase({
      data_dir,
      database_url: database?.url,
      max_bytes: 0,
      max_connections: 1,
    });
    await db.write((tx) => tx.rows(sql`DELETE FROM svc_migrations WHERE name = '9999_breaking_future'`));
    await db.close();
    const second = await begin();
    const [alert] = await until(async () => {
      const rows = await second.app.db.read.select().from(criticalAlerts);
      return rows.length > 0 ? rows : undefined;
    }, "the alert");
    expect(alert).toMatchObject({ kind: "migration_failed" });
    expect(alert!.message).toContain("the database is newer than this executable");
    await until(() => !existsSync(join(data_dir, "failed-migration.json")) || undefined);
    await second.stop();
    rmSync(data_dir, { recursive: true });
    await database?.drop();
  });
});

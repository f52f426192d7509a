/** Critical alerts: raised by the service itself, listed, acknowledged, and told to real mail servers, chats and URLs. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eq, sql } from "drizzle-orm";
import { createRescuer } from "../../../../src/features/runs/worker/rescuer.ts";
import { checkDisk } from "../../../../src/features/signals/alerts/disk.ts";
import { notifyDue } from "../../../../src/features/signals/alerts/notify-channels.ts";
import { deleteOldAlerts, raiseAlert } from "../../../../src/features/signals/alerts/service.ts";
import { criticalAlerts } from "../../../../src/features/signals/alerts/tables.ts";
import { awaitBackground } from "../../../../src/lib/async/background.ts";
import { loadConfig } from "../../../../src/platform/config/config.ts";
import { jobs } from "../../../../src/platform/queue/tables.ts";
import { startServer } from "../../../../src/server/server.ts";
import {
  type Ask,
  createDatabase,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";
import { plainSettings, startPlainMailServer } from "../../../support/peers/mail-server.ts";

let server: TestServer;
let ask: Ask;

beforeEach(async () => {
  server = await startTestServer({ min_free_mb: 0 });
  ask = (await server.user("root", { super_admin: true })).ask;
});
afterEach(() => server.stop());

const app = () => server.server.app;
const list = async (query = "") => (await expectOk(ask("GET", `/settings/critical_alerts${query}`))).json();
const set = (key: string, value: unknown) => expectOk(ask("POST", `/settings/global/${key}`, { value }));
const raise = (message: string, more: object = {}) => raiseAlert(app(), { kind: "trial", message, ...more });

/** Sets the server's clock forward for the length of the work. */
async function later(ms: number, work: () => Promise<void>): Promise<void> {
  const running = app() as { clock: () => Date };
  const { clock } = running;
  running.clock = () => new Date(Date.now() + ms);
  try {
    await work();
  } finally {
    running.clock = clock;
  }
}

/** What the server does every now and then. */
async function tellNow(): Promise<void> {
  await notifyDue(app());
  await awaitBackground(app());
}

/** A place elsewhere that takes what is posted to it. */
function receiver(answer: (request: Request) => Response | Promise<Response> = () => new Response("ok")) {
  const bodies: any[] = [];
  const headers: Headers[] = [];
  const listener = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      headers.push(request.headers);
      bodies.push(await request.clone().json());
      return answer(request);
    },
  });
  return {
    url: `http://127.0.0.1:${listener.port}`,
    bodies,
    headers,
    [Symbol.dispose]: () => void listener.stop(true),
  };
}

describe("the list", () => {
  test("is paged, newest first, and filtered by acknowledgement", async () => {
    for (let number = 1; number <= 12; number++) await raise(`number ${number}`, { subject: String(number) });
    const first = await list();
    expect(first).toHaveLength(10);
    expect(first[0]).toMatchObject({
      alert_type: "critical_error",
      kind: "trial",
      message: "number 12",
      workspace_id: null,
      acknowledged: false,
      count: 1,
    });
    expect((await list("?page=2")).map((alert: any) => alert.message)).toEqual(["number 2", "number 1"]);
    expect(await list("?page_size=100")).toHaveLength(12);
    const { id } = first[3];
    const done = await expectOk(ask("POST", `/settings/critical_alerts/${id}/acknowledge`));
    expect(done.json()).toBe(`critical alert ${id} acknowledged`);
    expect((await list("?acknowledged=true")).map((alert: any) => alert.id)).toEqual([id]);
    expect(await list("?acknowledged=false&page_size=100")).toHaveLength(11);
    expect(await list("?acknowledged=null&page_size=100")).toHaveLength(12);
    expect((await ask("POST", "/settings/critical_alerts/acknowledge_all")).json()).toBe(
      "11 critical alerts acknowledged",
    );
    expect(await list("?acknowledged=false")).toEqual([]);
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
  await Promise.all([raise("full"), raise("full"), raise("full")]);
  await raise("elsewhere", { workspace_id: "acme" });
  expect((await list()).map((alert: any) => [alert.message, alert.count])).toEqual([
    ["elsewhere", 1],
    ["full", 3],
  ]);
  await expectOk(ask("POST", "/settings/critical_alerts/acknowledge_all"));
  await raise("full again");
  await later(25 * 3_600_000, () => raise("still full"));
  expect((await list("?acknowledged=false")).map((alert: any) => alert.message)).toEqual([
    "still full",
    "full again",
  ]);
});

describe("the channels", () => {
  test("each receive an alert once", async () => {
    await using mails = await startPlainMailServer();
    using hook = receiver();
    using chat = receiver(() => Response.json({ ok: true }));
    using incoming = receiver();
    await set("smtp_settings", plainSettings(mails));
    await set("chat", { access_token: "chat-token", api_url: `${chat.url}/api` });
    await set("critical_error_channels", [
      { email: "ops@example.org", webhook_url: `${hook.url}/alerts` },
      { slack_channel: "ops", chat_channel: `${incoming.url}/hook` },
    ]);
    await raise("the moon is down", { workspace_id: "acme" });
    await raise("the moon is down", { workspace_id: "acme" });
    await until(() => {
      const all = [mails.received, hook.bodies, chat.bodies, incoming.bodies];
      return all.every((each) => each.length > 0) || undefined;
    }, "all channels");
    const [alert] = await list();
    expect(mails.received.map(({ to }) => to)).toEqual([["ops@example.org"]]);
    expect(mails.received[0]!.text).toContain("Critical alert in workspace acme: the moon is down");
    expect(hook.bodies).toEqual([
      {
        type: "critical_alert",
        instance: server.url,
        id: alert.id,
        alert_type: "critical_error",
        kind: "trial",
        message: "the moon is down",
        workspace_id: "acme",
        created_at: alert.created_at,
      },
    ]);
    const text = `Critical alert in workspace acme: the moon is down\n${server.url}`;
    expect(chat.bodies).toEqual([{ channel: "ops", text }]);
    expect(chat.headers[0]!.get("authorization")).toBe("Bearer chat-token");
    expect(incoming.bodies).toEqual([{ text }]);
    await server.stop();
    expect(hook.bodies).toHaveLength(1);
    server = await startTestServer();
  });

  test("that fail are recorded with the alert, without secrets, and do not affect others", async () => {
    using good = receiver();
    using bad = receiver(() => new Response("no", { status: 503 }));
    using away = receiver(() => Response.redirect("http://127.0.0.1:1/"));
    await set("critical_error_channels", [
      { email: "ops@example.org" },
      { webhook_url: `${bad.url}/secret-path` },
      { webhook_url: "http://127.0.0.1:1/secret-path" },
      { webhook_url: `${away.url}/secret-path` },
      { chat_channel: "ops" },
      { webhook_url: good.url },
    ]);
    await raise("the moon is down");
    const failures = await until(async () => (await list())[0].send_failures ?? undefined, "the failures");
    expect(good.bodies).toHaveLength(1);
    const told = failures.map(({ channel, error }: any) => `${channel}: ${error}`).sort();
    expect(told).toEqual(
      [
        "e-mail ops@example.org: no mail server is set",
        "chat channel ops: no chat is connected",
        `URL at ${new URL(bad.url).host}: ${new URL(bad.url).host} answers with status 503`,
        `URL at ${new URL(away.url).host}: ${new URL(away.url).host} answers with status 302`,
        "URL at 127.0.0.1:1: 127.0.0.1 cannot be reached: the connection was refused",
      ].sort(),
    );
  });

  test("that fail are retried with backoff, and those that succeeded are not", async () => {
    let isUp = false;
    using good = receiver();
    using away = receiver(() => new Response("", { status: isUp ? 200 : 503 }));
    await set("critical_error_channels", [{ webhook_url: good.url }, { webhook_url: away.url }]);
    await raise("the moon is down");
    await awaitBackground(app());
    expect([good.bodies.length, away.bodies.length]).toEqual([1, 1]);
    const tries: number[] = [];
    for (let minute = 0; minute < 60; minute++) {
      await later(minute * 60_000, tellNow);
      if (away.bodies.length > tries.length + 1) tries.push(minute);
    }
    // 10 s, 20 s, 40 s … after the try before, as the looks at each minute see it.
    expect(tries).toEqual([1, 2, 3, 5, 8, 14, 25, 47]);
    isUp = true;
    await later(3 * 3_600_000, tellNow);
    await later(6 * 3_600_000, tellNow);
    expect([good.bodies.length, away.bodies.length]).toEqual([1, 10]);
    expect((await list())[0].send_failures).toBeNull();
  });

  test("are given up after a day; a changed one gets the alert by its new settings", async () => {
    using mended = receiver();
    await set("critical_error_channels", [{ webhook_url: "http://127.0.0.1:1/" }]);
    await raise("the moon is down");
    await awaitBackground(app());
    await set("critical_error_channels", [{ webhook_url: mended.url }]);
    await later(3_600_000, tellNow);
    expect(mended.bodies).toHaveLength(1);
    await set("critical_error_channels", [{ webhook_url: "http://127.0.0.1:1/" }]);
    await raise("the sun is down", { subject: "sun" });
    await later(25 * 3_600_000, tellNow);
    await set("critical_error_channels", [{ webhook_url: mended.url }]);
    await later(50 * 3_600_000, tellNow);
    expect(mended.bodies).toHaveLength(1);
    expect((await list())[0].send_failures).toHaveLength(1);
  });

  test("receive no acknowledged alerts", async () => {
    let isUp = false;
    using hook = receiver(() => new Response("", { status: isUp ? 200 : 503 }));
    await set("critical_error_channels", [{ webhook_url: hook.url }]);
    await raise("the moon is down");
    await raise("the sun is down", { subject: "sun" });
    await awaitBackground(app());
    isUp = true;
    const [sun, moon] = await list();
    await expectOk(ask("POST", `/settings/critical_alerts/${moon.id}/acknowledge`));
    await later(3_600_000, tellNow);
    expect(hook.bodies.slice(2).map(({ id }) => id)).toEqual([sun.id]);
  });

  test("receive an alert from another server if the first ended before or while sending", async () => {
    using hook = receiver();
    await set("critical_error_channels", [{ webhook_url: hook.url }]);
    // As the transaction that stores an alert leaves it, and as a server that takes it up does.
    const row = { alert_type: "critical_error", kind: "trial", count: 1, acknowledged: false } as const;
    const now = new Date();
    const stored = { ...row, created_at: now, last_raised_at: now };
    await app().db.write((tx) =>
      tx.insert(criticalAlerts).values([
        { ...stored, key: "1", message: "not begun", next_try_at: now },
        { ...stored, key: "2", message: "begun", next_try_at: new Date(Date.now() + 120_000), tries: 1 },
      ]),
    );
    const heard = () => hook.bodies.map(({ message }) => message);
    await Promise.all([tellNow(), tellNow()]);
    expect(heard()).toEqual(["not begun"]);
    await later(121_000, async () => void (await Promise.all([tellNow(), tellNow()])));
    expect(heard()).toEqual(["not begun", "begun"]);
    await later(3_600_000, tellNow);
    expect(heard()).toHaveLength(2);
  });

  test("get pending alerts soon after they work again", async () => {
    let isUp = false;
    using hook = receiver(() => new Response("", { status: isUp ? 200 : 503 }));
    await set("critical_error_channels", [{ webhook_url: hook.url }]);
    await raise("the moon is down");
    await awaitBackground(app());
    isUp = true;
    await later(60_000, async () => void (await until(() => hook.bodies.length === 2 || undefined)));
  }, 30_000);
});

test("acknowledged alerts are deleted after 90 days", async () => {
  await raise("the moon is down");
  await raise("the sun is down", { subject: "sun" });
  await expectOk(ask("POST", `/settings/critical_alerts/${(await list())[0].id}/acknowledge`));
  await later(89 * 24 * 3_600_000, () => deleteOldAlerts(app()));
  expect(await list()).toHaveLength(2);
  await later(91 * 24 * 3_600_000, () => deleteOldAlerts(app()));
  expect((await list()).map(({ message }: any) => message)).toEqual(["the moon is down"]);
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
  for (const workspace_id of ["acme", "acme", "other"]) await raise("the moon is down", { workspace_id });
  await awaitBackground(app());
  const standing = async () =>
    (await list("?acknowledged=false")).map(({ workspace_id }: any) => workspace_id);
  expect(await standing()).toEqual(["other"]);
  expect((await list("?acknowledged=true")).map(({ count }: any) => count)).toEqual([2]);
  expect(hook.bodies.map(({ workspace_id }) => workspace_id)).toEqual(["acme", "other"]);
  expect((await mute(false)).text).toContain("no longer muted");
  expect(await said()).not.toHaveProperty("mute_critical_alerts");
  await raise("the sun is down", { workspace_id: "acme", subject: "sun" });
  expect(await standing()).toEqual(["acme", "other"]);
});

describe("test_critical_channels", () => {
  test("sends to every channel and says which it could not reach", async () => {
    await using mails = await startPlainMailServer();
    using chat = receiver(() => Response.json({ ok: false, error: "channel_not_found" }));
    await set("smtp_settings", plainSettings(mails));
    const trial = (channels: unknown) => ask("POST", "/settings/test_critical_channels", channels);
    const sent = await trial([{ email: "ops@example.org" }]);
    expect(sent).toMatchObject({ status: 200, text: "sent to e-mail ops@example.org" });
    expect(mails.received[0]!.text).toContain("this is a trial: nothing is wrong");
    await set("chat", { bot: { bot_access_token: "bot-token" }, api_url: chat.url });
    const half = await trial([{ email: "ops@example.org" }, { chat_channel: "ops" }]);
    expect(half.status).toBe(400);
    expect(half.text).toContain(
      "1 of 2 channels were not reached: chat channel ops: the chat refuses the message: channel_not_found",
    );
    expect(chat.headers[0]!.get("authorization")).toBe("Bearer bot-token");
    expect(mails.received).toHaveLength(2);
    for (const wrong of [[], [{}], [{ email: "x" }], [7], {}]) expect((await trial(wrong)).status).toBe(400);
    expect(await list()).toEqual([]);
  });
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
    const [alert] = await list();
    expect(alert).toMatchObject({ kind: "worker_lost", workspace_id: "acme" });
    expect(alert.message).toContain(`job ${asked.text} (u/admin/lost): the job lost its worker`);
  });

  test("when the disk is nearly full, and again when it has room", async () => {
    await checkDisk(app());
    expect(await list()).toEqual([]);
    const running = app() as { config: object };
    const { config } = running;
    running.config = { ...config, min_free_mb: 1e12 };
    await checkDisk(app());
    await expectOk(ask("POST", "/settings/critical_alerts/acknowledge_all"));
    await checkDisk(app());
    expect((await list()).map((alert: any) => [alert.kind, alert.alert_type])).toEqual([
      ["disk_nearly_full", "critical_error"],
    ]);
    running.config = config;
    await checkDisk(app());
    await checkDisk(app());
    expect((await list()).map((alert: any) => alert.alert_type)).toEqual([
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
    // Another program mends it.
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

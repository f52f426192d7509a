/** The channels that receive alerts: mail, chat and others. */
import { describe, expect, test } from "bun:test";
import { notifyDue } from "../../../../src/features/signals/alerts/notify-channels.ts";
import { criticalAlerts } from "../../../../src/features/signals/alerts/tables.ts";
import { awaitBackground } from "../../../../src/lib/async/background.ts";
import { expectOk, until } from "../../../support/harness.ts";
import { plainSettings, startPlainMailServer } from "../../../support/peers/mail-server.ts";
import {
  app,
  ask,
  later,
  listAlerts,
  raiseTestAlert,
  receiver,
  replaceServer,
  server,
  set,
  setUpAlerts,
} from "./alerts-setup.ts";

setUpAlerts();

/** Runs the periodic task that sends alerts. */
async function tellNow(): Promise<void> {
  await notifyDue(app());
  await awaitBackground(app());
}

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
    await raiseTestAlert("the moon is down", { workspace_id: "acme" });
    await raiseTestAlert("the moon is down", { workspace_id: "acme" });
    await until(() => {
      const all = [mails.received, hook.bodies, chat.bodies, incoming.bodies];
      return all.every((each) => each.length > 0) || undefined;
    }, "all channels");
    const [alert] = await listAlerts();
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
    await replaceServer();
    expect(hook.bodies).toHaveLength(1);
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
    await raiseTestAlert("the moon is down");
    const failures = await until(
      async () => (await listAlerts())[0].send_failures ?? undefined,
      "the failures",
    );
    expect(good.bodies).toHaveLength(1);
    const told = failures.map(({ channel, error }: any) => `${channel}: ${error}`).sort();
    expect(told).toEqual(
      [
        "e-mail ops@example.org: no mail server is set",
        "chat channel ops: no chat is connected",
        `URL at ${new URL(bad.url).host}: ${new URL(bad.url).host} answered with status 503`,
        `URL at ${new URL(away.url).host}: ${new URL(away.url).host} answered with status 302`,
        "URL at 127.0.0.1:1: 127.0.0.1 cannot be reached: the connection was refused",
      ].sort(),
    );
  });

  test("that fail are retried with backoff, and those that succeeded are not", async () => {
    let isUp = false;
    using good = receiver();
    using away = receiver(() => new Response("", { status: isUp ? 200 : 503 }));
    await set("critical_error_channels", [{ webhook_url: good.url }, { webhook_url: away.url }]);
    await raiseTestAlert("the moon is down");
    await awaitBackground(app());
    expect([good.bodies.length, away.bodies.length]).toEqual([1, 1]);
    const tries: number[] = [];
    for (let minute = 0; minute < 60; minute++) {
      await later(minute * 60_000, tellNow);
      if (away.bodies.length > tries.length + 1) tries.push(minute);
    }
    // 10 s, 20 s, 40 s … after the previous attempt, checked every minute.
    expect(tries).toEqual([1, 2, 3, 5, 8, 14, 25, 47]);
    isUp = true;
    await later(3 * 3_600_000, tellNow);
    await later(6 * 3_600_000, tellNow);
    expect([good.bodies.length, away.bodies.length]).toEqual([1, 10]);
    expect((await listAlerts())[0].send_failures).toBeNull();
  });

  test("are given up after a day; a changed one gets the alert by its new settings", async () => {
    using mended = receiver();
    await set("critical_error_channels", [{ webhook_url: "http://127.0.0.1:1/" }]);
    await raiseTestAlert("the moon is down");
    await awaitBackground(app());
    await set("critical_error_channels", [{ webhook_url: mended.url }]);
    await later(3_600_000, tellNow);
    expect(mended.bodies).toHaveLength(1);
    await set("critical_error_channels", [{ webhook_url: "http://127.0.0.1:1/" }]);
    await raiseTestAlert("the sun is down", { subject: "sun" });
    await later(25 * 3_600_000, tellNow);
    await set("critical_error_channels", [{ webhook_url: mended.url }]);
    await later(50 * 3_600_000, tellNow);
    expect(mended.bodies).toHaveLength(1);
    expect((await listAlerts())[0].send_failures).toHaveLength(1);
  });

  test("receive no acknowledged alerts", async () => {
    let isUp = false;
    using hook = receiver(() => new Response("", { status: isUp ? 200 : 503 }));
    await set("critical_error_channels", [{ webhook_url: hook.url }]);
    await raiseTestAlert("the moon is down");
    await raiseTestAlert("the sun is down", { subject: "sun" });
    await awaitBackground(app());
    isUp = true;
    const [sun, moon] = await listAlerts();
    await expectOk(ask("POST", `/settings/critical_alerts/${moon.id}/acknowledge`));
    await later(3_600_000, tellNow);
    expect(hook.bodies.slice(2).map(({ id }) => id)).toEqual([sun.id]);
  });

  test("receive an alert from another server if the first ended before or while sending", async () => {
    using hook = receiver();
    await set("critical_error_channels", [{ webhook_url: hook.url }]);
    // As the transaction of an alert leaves it, and as a server that sends it does.
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
    await raiseTestAlert("the moon is down");
    await awaitBackground(app());
    isUp = true;
    await later(60_000, async () => void (await until(() => hook.bodies.length === 2 || undefined)));
  }, 60_000);
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
      "1 of 2 channels were not reached: chat channel ops: the chat rejected the message: channel_not_found",
    );
    expect(chat.headers[0]!.get("authorization")).toBe("Bearer bot-token");
    expect(mails.received).toHaveLength(2);
    for (const wrong of [[], [{}], [{ email: "x" }], [7], {}]) expect((await trial(wrong)).status).toBe(400);
    expect(await listAlerts()).toEqual([]);
  });
});

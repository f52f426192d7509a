/**
 * Expiry of tokens: owners are notified once 7 days before and once at the end, and the maximum lifetime
 * holds.
 */
import { describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { expireTokens } from "../../../../src/features/accounts/tokens/expiry-task.ts";
import { tokenNotices, tokens } from "../../../../src/features/tenancy/tokens/tables.ts";
import { type Ask, expectOk, startTestServer, until } from "../../../support/harness.ts";
import { plainSettings } from "../../../support/peers/mail-server.ts";
import {
  ask,
  awaitNotices,
  create,
  DAY_MS,
  eventsTold,
  inDays,
  mails,
  moveAhead,
  receiver,
  root,
  server,
  set,
  setUpExpiry,
  startReceiver,
  subjects,
} from "./token-expiry-setup.ts";

setUpExpiry();

const tend = () => expireTokens(server.server.app);

const works = async (token: string) => (await server.as(token)("GET", "/users/whoami")).status === 200;

describe("the owner of a token", () => {
  test("gets one event before it expires, and one when it has expired and is deleted", async () => {
    const expiration = inDays(30);
    const token = await create({ expiration, workspace_id: "acme" });
    await tend();
    moveAhead(22.9 * DAY_MS);
    await tend();
    expect([mails.received.length, receiver.events.length]).toEqual([0, 0]);

    moveAhead(23.1 * DAY_MS);
    await Promise.all([tend(), tend(), tend()]);
    await tend();
    const keys = {
      workspace: "acme",
      token_prefix: token.slice(0, 10),
      label: "ci",
      email: "admin_acme@example.org",
      expiration,
    };
    expect(await eventsTold(1)).toEqual([{ type: "TokenExpiringSoon", ...keys }]);
    expect(await subjects(1)).toEqual(["is expiring soon"]);
    const [mail] = mails.received;
    expect(mail!.to).toEqual(["admin_acme@example.org"]);
    expect(mail!.text).toContain(`${token.slice(0, 10)}***** (ci)`);
    expect(mail!.source).not.toContain(token);
    expect(await works(token)).toBe(true);

    moveAhead(30.1 * DAY_MS);
    expect(await works(token)).toBe(false);
    await Promise.all([tend(), tend(), tend()]);
    await tend();
    expect(await eventsTold(2)).toEqual([
      { type: "TokenExpiringSoon", ...keys },
      { type: "TokenExpired", ...keys },
    ]);
    expect(await subjects(2)).toEqual(["is expiring soon", "has expired"]);
    const left = await server.server.app.db.read.select().from(tokens).where(eq(tokens.label, "ci"));
    expect(left).toEqual([]);
    await awaitNotices(server);
  });

  test("gets only the event of the end if nobody subscribed before", async () => {
    await create({ expiration: inDays(3), workspace_id: "acme" });
    moveAhead(4 * DAY_MS);
    await tend();
    expect((await eventsTold(1)).map(({ type }) => type)).toEqual(["TokenExpired"]);
    expect(await subjects(1)).toEqual(["has expired"]);
  });

  test("is sent to all workspaces of its owner if the token is bound to none", async () => {
    const elsewhere = startReceiver();
    const { ask: other } = await server.workspace("other");
    const { ask: strange } = await server.workspace("strange");
    const made: [by: Ask, path: string][] = [];
    for (const [id, by] of Object.entries({ other, strange })) {
      const hook = await expectOk(by("POST", `/w/${id}/webhooks/create`, { url: elsewhere.url }));
      made.push([by, `/w/${id}/webhooks/delete/${hook.json().id}`]);
    }
    const { email } = (await ask("GET", "/users/whoami")).json();
    const added = { email, is_admin: false, operator: true };
    await expectOk(server.operator("POST", "/w/other/workspaces/add_user", added));
    const prefix = (await create({ expiration: inDays(3) })).slice(0, 10);
    await tend();
    const [event] = await eventsTold(1);
    expect(event).toMatchObject({
      type: "TokenExpiringSoon",
      workspace: "acme",
      token_prefix: prefix,
      email,
    });
    await until(async () => (elsewhere.events.length > 0 ? true : undefined), "the other workspace's event");
    expect(elsewhere.events.map(({ workspace }) => workspace)).toEqual(["other"]);
    moveAhead(4 * DAY_MS);
    await tend();
    const isEnd = ({ type, token_prefix }: Record<string, string>) =>
      type === "TokenExpired" && token_prefix === prefix;
    const [end] = await eventsTold(1, isEnd);
    expect(end).toMatchObject({ workspace: "acme", email });
    await until(async () => (elsewhere.events.some(isEnd) ? true : undefined), "the end there");
    expect(elsewhere.events.filter(isEnd).map(({ workspace }) => workspace)).toEqual(["other"]);
    for (const [by, path] of made) await expectOk(by("DELETE", path));
    await elsewhere.stop();
  });

  test("gets no mail without a mail server, nor later; webhooks are sent", async () => {
    await set("smtp_settings", null);
    await create({ expiration: inDays(3), workspace_id: "acme" });
    await tend();
    await set("smtp_settings", plainSettings(mails));
    await tend();
    expect(await eventsTold(1)).toHaveLength(1);
    expect(mails.received).toHaveLength(0);
  });

  test("is mailed later if the mail server is down, for up to a day", async () => {
    await set("smtp_settings", { ...plainSettings(mails), smtp_port: 1 });
    await create({ expiration: inDays(6) });
    await tend();
    const notices = () => server.server.app.db.read.select().from(tokenNotices);
    expect(await notices()).toMatchObject([{ channel: "mail", attempts: 1 }]);
    await tend();
    expect(await notices()).toMatchObject([{ attempts: 1 }]);
    moveAhead(61_000);
    await tend();
    expect(await notices()).toMatchObject([{ attempts: 2 }]);
    await set("smtp_settings", plainSettings(mails));
    moveAhead(400_000);
    await tend();
    await tend();
    expect(await subjects(1)).toEqual(["is expiring soon"]);

    await set("smtp_settings", { ...plainSettings(mails), smtp_port: 1 });
    await create({ expiration: inDays(6) });
    await tend();
    moveAhead(400_000 + 1.01 * DAY_MS);
    await tend();
    expect(await notices()).toEqual([]);
  });

  test.each(["session", "ephemeral-script-end-user-ann", "debugger-token", "mcp-oauth-client"])(
    "is told nothing of a program's own token: %s",
    async (label) => {
      const token = await create({ label, expiration: inDays(3), workspace_id: "acme" });
      const listed = (await ask("GET", "/users/tokens/list")).json();
      const own = listed.find((row: any) => row.token_prefix === token.slice(0, 10));
      expect(own).toMatchObject({ label, kind: "machine" });
      await tend();
      moveAhead(4 * DAY_MS);
      await tend();
      expect(await works(token)).toBe(false);
      const marker = await create({ expiration: inDays(5), workspace_id: "acme" });
      await tend();
      const ownPrefixes = [token, marker].map((value) => value.slice(0, 10));
      const told = await eventsTold(1, ({ token_prefix }) => ownPrefixes.includes(token_prefix!));
      expect(told.map((event) => event.token_prefix)).toEqual([marker.slice(0, 10)]);
      expect(await subjects(1)).toHaveLength(1);
      const left = await server.server.app.db.read.select().from(tokens).where(eq(tokens.label, label));
      expect(left).toEqual([]);
    },
  );

  test("gets alerts only if configured, each once", async () => {
    const alerts = async () =>
      (await expectOk(root("GET", "/settings/critical_alerts?page_size=100")))
        .json()
        .map(({ kind, message }: any) => [kind, message]);
    await create({ expiration: inDays(3) });
    await tend();
    expect(await alerts()).toEqual([]);
    await set("critical_alerts_on_token_expiry", true);
    const token = await create({ expiration: inDays(3), workspace_id: "acme" });
    await tend();
    await tend();
    expect(await alerts()).toEqual([
      ["token_expiring_soon", expect.stringContaining(`${token.slice(0, 10)}***** (ci) of admin_acme@`)],
    ]);
  });
});

describe("the cap on the age of tokens", () => {
  const listed = async (prefix: string, by = ask) =>
    (await by("GET", "/users/tokens/list"))
      .json()
      .find((row: any) => row.token_prefix === prefix.slice(0, 10));

  test("applies at once to existing tokens, also without an end, and can be unset", async () => {
    const endless = await create({});
    const long = await create({ expiration: inDays(300) });
    expect([await works(endless), await works(long)]).toEqual([true, true]);
    await set("max_token_lifetime_secs", 20 * 86_400);
    expect([await works(endless), await works(long)]).toEqual([true, true]);
    const { created_at, expiration } = await listed(endless);
    expect(Date.parse(expiration) - Date.parse(created_at)).toBe(20 * DAY_MS);
    moveAhead(20.1 * DAY_MS);
    expect([await works(endless), await works(long)]).toEqual([false, false]);
    await tend();
    moveAhead(0);
    await set("max_token_lifetime_secs", null);
    expect([await works(endless), await works(long)]).toEqual([true, true]);
    expect((await listed(endless)).expiration).toBeNull();
  });

  test("is announced like any expiry", async () => {
    await using own = await startTestServer({ allowed_targets: "127.0.0.1" });
    const { app } = own.server;
    const { ask: owner } = await own.workspace();
    await expectOk(owner("POST", "/w/acme/webhooks/create", { url: receiver.url }));
    await set("max_token_lifetime_secs", 20 * 86_400, own.operator);
    await create({ workspace_id: "acme" }, owner);
    // Its creator has a token without a workspace, whose end is notified as well.
    const isCi = ({ label }: Record<string, string>) => label === "ci";
    const after = async (days: number) => {
      Object.assign(app, { clock: () => new Date(Date.now() + days * DAY_MS) });
      await expireTokens(app);
      await expireTokens(app);
      return (await app.db.read.select().from(tokens).where(eq(tokens.label, "ci"))).length;
    };
    expect(await after(12)).toBe(1);
    expect(receiver.events.filter(isCi)).toEqual([]);
    expect(await after(14)).toBe(1);
    expect((await eventsTold(1, isCi)).map(({ type }) => type)).toEqual(["TokenExpiringSoon"]);
    expect(await after(26)).toBe(1);
    expect(await after(27.1)).toBe(0);
    expect((await eventsTold(2, isCi)).map(({ type }) => type)).toEqual([
      "TokenExpiringSoon",
      "TokenExpired",
    ]);
  });

  test("limits the lifetime of new tokens", async () => {
    await set("max_token_lifetime_secs", 86_400);
    const refused = await ask("POST", "/users/tokens/create", { expiration: inDays(2) });
    expect([refused.status, refused.text]).toEqual([
      400,
      expect.stringContaining("tokens of this instance are valid for at most 86400 seconds"),
    ]);
    await create({ expiration: inDays(0.9) });
    await create({});
  });

  test.each([59, 1.5, "a day", -1])("cannot be %p", async (value) => {
    const refused = await root("POST", "/settings/global/max_token_lifetime_secs", { value });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("max_token_lifetime_secs")]);
  });
});

/**
 * Webhooks of the instance: joins of the instance and its workspaces are sent, signed, to the configured
 * endpoints.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { Webhook } from "standardwebhooks";
import { setInstanceWebhook } from "../../../../src/features/signals/webhooks/endpoints.ts";
import { recordInstanceEvent } from "../../../../src/features/signals/webhooks/instance-events.ts";
import { webhookEndpoints, webhookEvents } from "../../../../src/features/signals/webhooks/tables.ts";
import { createKeyPair, signLicense } from "../../../../src/features/tenancy/license/signed-license.ts";
import { type Ask, expectOk, startTestServer, type TestServer, until } from "../../../support/harness.ts";
import { Browser, startOAuthTest } from "../../../support/peers/identity-provider.ts";

interface Message {
  body: string;
  headers: Headers;
}

const messages: Message[] = [];
const receiver = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    messages.push({ body: await request.text(), headers: request.headers });
    return new Response("");
  },
});
let server: TestServer;
let root: Ask;
let admin: Ask;

beforeAll(async () => {
  // The operator's own URL needs no permission, although it is on this machine.
  server = await startTestServer({
    instance_events_webhook: `http://127.0.0.1:${receiver.port}/events?key=1`,
  });
  root = (await server.user("root", { super_admin: true })).ask;
  admin = (await server.workspace()).ask;
  await license(true);
});
afterAll(async () => {
  await server.stop();
  await receiver.stop(true);
});
beforeEach(() => {
  messages.length = 0;
});

async function license(holds: boolean, by = root): Promise<void> {
  const keys = await createKeyPair();
  const days = (count: number) => new Date(Date.now() + count * 86_400_000);
  const terms = { id: "lic-1", customer: "Acme", issued_at: days(-1), expires_at: days(10) };
  await expectOk(by("POST", "/settings/global/license_public_key", { value: keys.public_key }));
  const value = holds ? await signLicense(terms, keys.private_pem) : null;
  await expectOk(by("POST", "/settings/global/license_key", { value }));
}
const told = (count: number) =>
  until(
    async () => (messages.length >= count ? messages.map(({ body }) => JSON.parse(body)) : undefined),
    `${count} events`,
  );
const create = (email: string) =>
  expectOk(root("POST", "/users/create", { email, password: "a long password", super_admin: false }));
const invite = { is_admin: false, operator: false };

test("each kind of event is sent with its keys, in order", async () => {
  const { ask: ann } = await server.user("ann");
  await create("bob@example.org");
  await expectOk(admin("POST", "/w/acme/workspaces/invite_user", { ...invite, email: "ann@example.org" }));
  await expectOk(ann("POST", "/users/accept_invite", { workspace_id: "acme", username: "annie" }));
  await expectOk(root("POST", "/w/acme/workspaces/add_user", { ...invite, email: "bob@example.org" }));
  const workspace = "acme";
  expect(await told(5)).toEqual([
    { type: "UserAdded", email: "ann@example.org" },
    { type: "UserAdded", email: "bob@example.org" },
    { type: "UserInvitedWorkspace", workspace, email: "ann@example.org" },
    { type: "UserJoinedWorkspace", workspace, email: "ann@example.org", username: "annie" },
    { type: "UserAddedWorkspace", workspace, email: "bob@example.org" },
  ]);
});

test("joining or being invited by domain sends events too", async () => {
  const edit = (auto_add: boolean) =>
    expectOk(
      root("POST", "/w/acme/workspaces/edit_auto_invite", { operator: true, invite_all: true, auto_add }),
    );
  await edit(true);
  await create("cid@example.com");
  await edit(false);
  await create("dan@example.com");
  await expectOk(admin("POST", "/w/acme/workspaces/edit_auto_invite", {}));
  const workspace = "acme";
  expect(await told(4)).toEqual([
    { type: "UserAdded", email: "cid@example.com" },
    { type: "UserAddedWorkspace", workspace, email: "cid@example.com" },
    { type: "UserAdded", email: "dan@example.com" },
    { type: "UserInvitedWorkspace", workspace, email: "dan@example.com" },
  ]);
});

test("refused calls, and instances without a license, send no events", async () => {
  const body = { email: "bob@example.org", password: "a long password", super_admin: false };
  expect((await root("POST", "/users/create", body)).status).toBe(400);
  const { app } = server.server;
  const rolledBack = app.db.write(async (tx) => {
    await recordInstanceEvent(app, tx, { type: "UserAdded", email: "nobody@example.org" });
    throw new Error("never mind");
  });
  expect(await rolledBack.catch((cause) => cause.message)).toBe("never mind");
  await license(false);
  await create("eve@example.org");
  expect((await root("GET", "/webhooks/instance")).status).toBe(403);
  await license(true);
  await create("fay@example.org");
  expect(await told(1)).toEqual([{ type: "UserAdded", email: "fay@example.org" }]);
});

test("the signing secret is encrypted with the instance key and shown once when it is rotated", async () => {
  const { secret } = (await expectOk(root("POST", "/webhooks/instance/rotate_secret"))).json();
  const { db } = server.server.app;
  const [row] = await db.read
    .select()
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.workspace_id, "global"));
  expect(row!.secret).not.toContain(secret);
  await create("gus@example.org");
  await told(1);
  const [{ body, headers }] = messages as [Message];
  expect(new Webhook(secret).verify(body, Object.fromEntries(headers))).toEqual({
    type: "UserAdded",
    email: "gus@example.org",
  });
  const shown = (await expectOk(root("GET", "/webhooks/instance"))).json();
  expect(shown).toMatchObject({ enabled: true, failing_since: null });
  expect(shown.secret).toBeUndefined();
  const [sent] = await until(async () => {
    const found = (
      await expectOk(root("GET", "/webhooks/instance/deliveries?state=delivered&per_page=1"))
    ).json();
    return found[0]?.payload.includes("gus") ? found : undefined;
  }, "the delivery");
  const again = { event_seq: sent.event_seq };
  expect((await expectOk(root("POST", "/webhooks/instance/redeliver", again))).json()).toEqual({ count: 1 });
  await told(2);
});

test("only super admins may rotate the secret", async () => {
  const calls: [string, string, object?][] = [
    ["GET", ""],
    ["GET", "/deliveries"],
    ["POST", "/rotate_secret"],
    ["POST", "/redeliver", {}],
  ];
  for (const [method, path, body] of calls) {
    expect((await admin(method, `/webhooks/instance${path}`, body)).status).toBe(403);
  }
});

test("without an address no event is stored", async () => {
  const { app } = server.server;
  await setInstanceWebhook(app, undefined);
  const events = async () => (await app.db.read.select().from(webhookEvents)).length;
  const before = await events();
  await create("hal@example.org");
  expect(await events()).toBe(before);
  await setInstanceWebhook(app, app.config.instance_events_webhook);
  await create("ida@example.org");
  expect(await told(1)).toEqual([{ type: "UserAdded", email: "ida@example.org" }]);
});

test("a changed address applies to the next event", async () => {
  await using other = await startTestServer();
  await license(true, other.operator);
  const set = (value: string | null) =>
    expectOk(other.operator("POST", "/settings/global/instance_events_webhook", { value }));
  const add = (email: string) =>
    expectOk(other.operator("POST", "/users/create", { email, password: "a-password", super_admin: false }));
  await add("before@example.org");
  await set(`http://127.0.0.1:${receiver.port}/set`);
  await add("during@example.org");
  expect(await told(1)).toEqual([{ type: "UserAdded", email: "during@example.org" }]);
  await set(null);
  await add("after@example.org");
  const { read } = other.server.app.db;
  expect(await read.select({ type: webhookEvents.type }).from(webhookEvents)).toHaveLength(1);
  const bad = await other.operator("POST", "/settings/global/instance_events_webhook", {
    value: "ftp://x.org",
  });
  expect(bad.status).toBe(400);
});

test("a first login with a provider sends one event", async () => {
  await using t = await startOAuthTest();
  const { app } = t.server.server;
  await license(true, t.server.operator);
  await setInstanceWebhook(app, `http://127.0.0.1:${receiver.port}/`);
  const logIn = async () => {
    const browser = new Browser();
    const end = await browser.walk(`${t.server.url}/api/oauth/login/house`, `${t.server.url}/user/`, "ann");
    const body = { code: end.searchParams.get("code"), state: end.searchParams.get("state") };
    const headers = { "content-type": "application/json" };
    const at = `${t.server.url}/api/oauth/login_callback/house`;
    expect((await browser.fetch(at, { method: "POST", headers, body: JSON.stringify(body) })).status).toBe(
      200,
    );
  };
  await logIn();
  await logIn();
  const rows = await app.db.read.select({ payload: webhookEvents.payload }).from(webhookEvents);
  expect(rows.map(({ payload }) => JSON.parse(payload))).toEqual([
    { type: "UserSignupOAuth", email: "ann@example.org" },
  ]);
  await told(1);
});

/** Endpoints: who manages them, which targets are allowed, and what is stored of them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { Webhook } from "standardwebhooks";
import { webhookDeliveries, webhookEndpoints } from "../../../../src/features/signals/webhooks/tables.ts";
import { type Ask, expectOk, startTestServer, type TestServer, until } from "../../../support/harness.ts";
import {
  ask,
  awaitMessages,
  change,
  createEndpoint,
  createVariableBody,
  listDeliveries,
  type Message,
  receiver,
  server,
  setUpWebhooks,
  WEBHOOKS,
} from "./webhook-setup.ts";

setUpWebhooks();

describe("targets of the server's own network", () => {
  let strict: TestServer;
  let asked: Ask;
  beforeAll(async () => {
    strict = await startTestServer({ allowed_targets: "" });
    ({ ask: asked } = await strict.workspace());
  });
  afterAll(() => strict.stop());

  test.each([
    ["loopback", "http://127.0.0.1:8000/"],
    ["loopback in other words", "http://2130706433/"],
    ["loopback of IPv6", "http://[::1]/"],
    ["IPv4 in IPv6", "http://[::ffff:10.0.0.1]/"],
    ["a private network", "https://192.168.1.1/hook"],
    ["a cloud's metadata", "http://169.254.169.254/latest"],
    ["no host", "http://"],
    ["no address", "hook"],
    ["another scheme", "file:///etc/passwd"],
    ["what is too long", `https://example.org/${"x".repeat(2_000)}`],
  ])("are rejected: %s", async (_, url) => {
    const answer = await asked("POST", `${WEBHOOKS}/create`, { url });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("`url`")]);
  });

  test("are rejected by name, when the name is resolved", async () => {
    const { id } = (
      await expectOk(asked("POST", `${WEBHOOKS}/create`, { url: "http://localhost:1/x" }))
    ).json();
    await expectOk(asked("POST", "/w/acme/variables/create", createVariableBody()));
    const found = await until(async () => {
      const [first] = (await asked("GET", `${WEBHOOKS}/deliveries/${id}`)).json();
      return first?.error ? first : undefined;
    }, "the first try");
    expect(found.error).toContain("localhost is an address of this machine or of a private network");
  });

  test("are rejected after a redirect", async () => {
    const elsewhere = Bun.serve({ port: 0, hostname: "127.0.0.2", fetch: () => new Response("secrets") });
    const { id } = await createEndpoint();
    receiver.answer = () => Response.redirect(`http://127.0.0.2:${elsewhere.port}/`, 307);
    await change();
    const found = await until(async () => {
      const [first] = await listDeliveries(id);
      return first?.error ? first : undefined;
    }, "the first try");
    expect(found.error).toContain("127.0.0.2 is an address of this machine");
    await elsewhere.stop(true);
  });
});

test.each([
  ["no type", { types: [] }, "types"],
  ["an unknown type", { types: ["CreateEverything"] }, "types"],
])("%s is rejected", async (_, more, field) => {
  const answer = await ask("POST", `${WEBHOOKS}/create`, { url: receiver.url, ...more });
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(field)]);
});

test("the same address twice is rejected", async () => {
  await createEndpoint("/twice");
  const answer = await ask("POST", `${WEBHOOKS}/create`, { url: `${receiver.url}/twice` });
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("already")]);
});

test("only admins manage endpoints", async () => {
  const { id } = await createEndpoint();
  const { ask: developer } = await server.member("acme", "developer");
  const calls: [string, string, object?][] = [
    ["POST", "create", { url: receiver.url }],
    ["GET", "list"],
    ["POST", `update/${id}`, {}],
    ["DELETE", `delete/${id}`],
    ["POST", `rotate_secret/${id}`],
    ["GET", `deliveries/${id}`],
    ["POST", `redeliver/${id}`, {}],
  ];
  for (const [method, path, body] of calls) {
    expect((await developer(method, `${WEBHOOKS}/${path}`, body)).status).toBe(403);
  }
});

describe("the webhook of the workspace's settings", () => {
  const edit = (webhook: string | null) => ask("POST", "/w/acme/workspaces/edit_webhook", { webhook });
  const settled = async () => (await ask("GET", "/w/acme/workspaces/get_settings")).json().webhook;
  const listed = async () => (await ask("GET", `${WEBHOOKS}/list`)).json();

  test("is stored as an endpoint for all events, and nowhere else", async () => {
    await expectOk(edit(`${receiver.url}/first?key=1`));
    expect(await settled()).toBe(`${receiver.url}/first?key=1`);
    const [made] = await listed();
    expect(made).toMatchObject({ is_workspace_webhook: true, enabled: true, types: null });
    await change();
    await awaitMessages(1);
    await expectOk(edit(`${receiver.url}/second`));
    expect((await listed()).map(({ id, url }: any) => [id, url])).toEqual([
      [made.id, `${receiver.url}/second`],
    ]);
    await change();
    await awaitMessages(2);
    expect(receiver.messages.map(({ path }) => path)).toEqual(["/first", "/second"]);

    await expectOk(ask("POST", `${WEBHOOKS}/update/${made.id}`, { url: `${receiver.url}/third` }));
    expect(await settled()).toBe(`${receiver.url}/third`);
    await expectOk(ask("POST", `${WEBHOOKS}/update/${made.id}`, { enabled: false }));
    expect(await settled()).toBeNull();
    await expectOk(edit(`${receiver.url}/fourth`));
    expect(await settled()).toBe(`${receiver.url}/fourth`);
    const rows = (await ask("GET", "/w/acme/audit/list?operation=workspaces.edit_webhook")).text;
    expect(rows).toContain(new URL(receiver.url).host);
    expect(rows).not.toContain("key=1");
  });

  test.each([[null], [""]])("%j ends it", async (nothing) => {
    await expectOk(edit(receiver.url));
    await expectOk(edit(nothing));
    expect([await settled(), await listed()]).toEqual([null, []]);
    await change();
    const { id } = await createEndpoint();
    await change();
    await awaitMessages(1);
    expect(await listDeliveries(id)).toHaveLength(1);
  });

  test("must not be on the server's own network", async () => {
    const answer = await edit("http://10.1.2.3/");
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("10.1.2.3")]);
  });
});

describe("a stored endpoint", () => {
  const verified = (secret: string, { body, headers }: Message) =>
    new Webhook(secret).verify(body, Object.fromEntries(headers));

  test.each([[false], [true]])(
    "still signs after the workspace's key was rotated (skip_reencrypt %j)",
    async (skip_reencrypt) => {
      const { id, secret } = await createEndpoint();
      const { secret: newer } = (await expectOk(ask("POST", `${WEBHOOKS}/rotate_secret/${id}`))).json();
      const new_key = (skip_reencrypt ? "b" : "a").repeat(64);
      await expectOk(ask("POST", "/w/acme/workspaces/encryption_key", { new_key, skip_reencrypt }));
      await change();
      const [message] = await awaitMessages(1);
      for (const each of [secret, newer])
        expect(verified(each, message!)).toMatchObject({ type: "CreateVariable" });
    },
  );

  test("follows the workspace to a changed id, and is deleted with it", async () => {
    const { ask: owner } = await server.workspace("goes");
    const made = (
      await expectOk(owner("POST", "/w/goes/webhooks/create", { url: `${receiver.url}/goes` }))
    ).json();
    const root = (await server.user("goes_root", { super_admin: true })).ask;
    const body = { new_id: "went", new_name: "went" };
    await expectOk(root("POST", "/w/goes/workspaces/change_workspace_id", body));
    await expectOk(owner("POST", "/w/went/variables/create", createVariableBody("u/admin/told")));
    const [message] = await awaitMessages(1);
    expect(verified(made.secret, message!)).toMatchObject({ type: "CreateVariable", workspace: "went" });
    await until(async () => {
      const [sent] = (await owner("GET", `/w/went/webhooks/deliveries/${made.id}`)).json();
      return sent.state === "delivered" ? true : undefined;
    }, "the delivery");
    await expectOk(root("DELETE", "/workspaces/delete/went"));
    const { db } = server.server.app;
    expect(await db.read.select().from(webhookEndpoints).where(eq(webhookEndpoints.id, made.id))).toEqual([]);
    expect(
      await db.read.select().from(webhookDeliveries).where(eq(webhookDeliveries.endpoint_id, made.id)),
    ).toEqual([]);
  });
});

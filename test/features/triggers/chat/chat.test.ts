/** Slack: slash commands start scripts, and a test job posts a message. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { eq } from "drizzle-orm";
import { instanceSettings } from "../../../../src/platform/config/tables.ts";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";
import { Browser } from "../../../support/peers/identity-provider.ts";

const SECRET = "the signing secret";

/** Requests that Slack's API received. */
const posted: { authorization: string | null; body: any }[] = [];
let says: object = { ok: true, channel: "C1", ts: "1.5" };
const team = "T1";
/** A server like Slack: an authorization page, a token endpoint, and chat.postMessage. */
const product = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/authorize") {
      const back = new URL(searchParams.get("redirect_uri")!);
      back.searchParams.set("code", "the-code");
      back.searchParams.set("state", searchParams.get("state")!);
      return Response.redirect(back.href, 302);
    }
    if (pathname === "/token") {
      return Response.json({
        ok: true,
        access_token: "xoxb-1",
        token_type: "bot",
        team: { id: team, name: "The team" },
      });
    }
    if (pathname !== "/api/chat.postMessage") return new Response("", { status: 404 });
    posted.push({ authorization: request.headers.get("authorization"), body: await request.json() });
    return Response.json(says);
  },
});
const at = `http://127.0.0.1:${product.port}`;

let server: TestServer;
let ask: Ask;
let token: string;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask, token } = await server.workspace());
  const connect_config = { auth_url: `${at}/authorize`, token_url: `${at}/token`, scopes: ["commands"] };
  const client = { id: "the id", secret: "the secret", signing_secret: SECRET, connect_config };
  await set("oauths", { chat: client });
  await set("chat", { access_token: "xoxb-instance", api_url: `${at}/api` });
  await connect("acme", token);
  await deploy(
    ask,
    "acme",
    "u/admin/command",
    "export const main = (text: string, user_name: string) => user_name + ' says ' + text",
  );
  const identity = {
    path: "u/admin/flow",
    summary: "",
    value: { modules: [{ id: "a", value: { type: "identity" } }] },
  };
  await expectOk(ask("POST", "/w/acme/flows/create", identity));
}, 60_000);
afterAll(async () => {
  await server.stop();
  await product.stop(true);
});
beforeEach(async () => {
  posted.length = 0;
  says = { ok: true, channel: "C1", ts: "1.5" };
  await settle("u/admin/command");
});

const set = (key: string, value: unknown) =>
  expectOk(server.operator("POST", `/settings/global/${key}`, { value }));
const settle = (chat_command_script: string | null, by = ask, workspace = "acme") =>
  expectOk(by("POST", `/w/${workspace}/workspaces/edit_chat_command`, { chat_command_script }));
const job = async (id: string, workspace = "acme") =>
  (await ask("GET", `/w/${workspace}/jobs_u/get/${id}`)).json();
const ended = (id: string) =>
  until(async () => {
    const found = await job(id);
    return found.type === "CompletedJob" ? found : undefined;
  }, `the end of ${id}`);

async function connect(workspace: string, by: string): Promise<void> {
  const browser = new Browser();
  browser.cookies.set(new URL(server.url).host, new Map([["token", by]]));
  const end = await browser.walk(`${server.url}/api/oauth/connect_chat`, server.url, "ann");
  const returned = { code: end.searchParams.get("code"), state: end.searchParams.get("state") };
  const answer = await browser.fetch(`${server.url}/api/w/${workspace}/oauth/connect_chat_callback`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(returned),
  });
  expect(answer.status).toBe(200);
}

const COMMAND = {
  token: "the product's old token",
  team_id: "T1",
  channel_id: "C1",
  user_id: "U1",
  user_name: "ann",
  command: "/run",
  text: "hello & goodbye",
  response_url: "https://hooks.example.org/x",
};

/** Sends a command, signed as Slack does. */
async function send(form: Record<string, string>, { secret = SECRET, age_s = 0, changed = "" } = {}) {
  const body = new URLSearchParams(form).toString();
  const timestamp = String(Math.floor(Date.now() / 1000) - age_s);
  const digest = createHmac("sha256", secret).update(`v0:${timestamp}:${body}`).digest("hex");
  const answer = await fetch(`${server.url}/api/oauth/chat_command`, {
    method: "POST",
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      "x-slack-request-timestamp": timestamp,
      "x-slack-signature": `v0=${digest}`,
    },
    body: body + changed,
  });
  const text = await answer.text();
  return { status: answer.status, said: answer.status === 200 ? JSON.parse(text).text : text, text };
}
const idIn = (said: string) => /Job (\S+) started/.exec(said)?.[1] ?? "";

describe("a command", () => {
  test("starts the script with the text and the user, with the rights of the command's group", async () => {
    const { status, said, text } = await send(COMMAND);
    expect([status, JSON.parse(text).response_type]).toEqual([200, "ephemeral"]);
    const found = await ended(idIn(said));
    const { token: _, ...args } = COMMAND;
    expect(found).toMatchObject({
      script_path: "u/admin/command",
      result: "ann says hello & goodbye",
      created_by: "chat-ann",
      permissioned_as: "g/chat",
      success: true,
    });
    expect(found.args).toEqual(args);
  });

  test("passes text that looks like JSON or a reference as text", async () => {
    const found = await ended(idIn((await send({ ...COMMAND, text: "$WM_TOKEN" })).said));
    expect(found).toMatchObject({ result: "ann says $WM_TOKEN" });
  });

  test.each([["flow/u/admin/flow"], ["script/u/admin/command"]])("starts %s", async (target) => {
    await settle(target);
    const found = await ended(idIn((await send(COMMAND)).said));
    expect(found).toMatchObject({ script_path: target.replace(/^\w+\//, ""), success: true });
  });

  const count = async () =>
    (await ask("GET", "/w/acme/jobs/list?created_by=chat-ann&per_page=1000")).json().length;

  test.each([
    ["signed with another secret", { secret: "another" }],
    ["changed on the way", { changed: "&text=other" }],
    ["sent long ago", { age_s: 600 }],
  ])("%s starts nothing", async (_, how) => {
    const before = await count();
    expect((await send(COMMAND, how)).status).toBe(401);
    expect(await count()).toBe(before);
  });

  test("without a signature starts nothing", async () => {
    const body = new URLSearchParams(COMMAND).toString();
    expect((await fetch(`${server.url}/api/oauth/chat_command`, { method: "POST", body })).status).toBe(401);
  });

  test("of a team without a workspace or without a script is answered with the reason", async () => {
    expect((await send({ ...COMMAND, team_id: "T" })).said).toStartWith("No workspace");
    await settle(null);
    expect((await send(COMMAND)).said).toStartWith("No workspace");
  });

  test("of a team connected to two workspaces starts nothing in either", async () => {
    const other = await server.workspace("other");
    await connect("other", other.token);
    await deploy(other.ask, "other", "u/admin/command", "export const main = () => 1");
    await settle("u/admin/command", other.ask, "other");
    expect((await send(COMMAND)).said).toContain("acme, other");
    await settle(null, other.ask, "other");
    expect(idIn((await send(COMMAND)).said)).not.toBe("");
  });

  test("whose script cannot be started is answered with the reason", async () => {
    await deploy(ask, "acme", "u/admin/short", "export const main = () => 1");
    await settle("u/admin/short");
    await expectOk(ask("POST", "/w/acme/scripts/archive/p/u/admin/short"));
    const { status, said } = await send(COMMAND);
    expect([status, said]).toEqual([200, expect.stringContaining("u/admin/short")]);
  });

  test("is answered within the time limit although the database is busy", async () => {
    const { app } = server.server;
    const { promise, resolve } = Promise.withResolvers<void>();
    const write = app.db.write;
    Object.assign(app.db, {
      write: async (work: any) => {
        await promise;
        return write(work);
      },
    });
    try {
      expect((await send(COMMAND)).said).toBe("The job is being started.");
    } finally {
      Object.assign(app.db, { write });
      resolve();
    }
  });

  test("is rejected while no signing secret is set, which is stored encrypted", async () => {
    const { db, settings } = server.server.app;
    const kept = await db.read.select().from(instanceSettings).where(eq(instanceSettings.key, "oauths"));
    expect(JSON.stringify(kept)).not.toContain(SECRET);
    const oauths = settings.get("oauths")!;
    const { signing_secret: _, ...client } = oauths.chat as Record<string, unknown>;
    await set("oauths", { chat: client });
    expect((await send(COMMAND)).status).toBe(404);
    await set("oauths", oauths);
    expect((await send(COMMAND)).status).toBe(200);
  });
});

describe("the test message's job", () => {
  const run = (body: object, by = ask, workspace = "acme") =>
    by("POST", `/w/${workspace}/workspaces/run_chat_message_test_job`, body);
  const trial = { hub_script_path: "hub/9084/chat/message", channel: "general", test_msg: "does it work?" };

  test("posts through the workspace's own connection", async () => {
    const answer = await expectOk(run(trial));
    expect(answer.headers.get("content-type")).toBe("text/json");
    const found = await ended(answer.json().job_uuid);
    expect(found).toMatchObject({
      success: true,
      result: { channel: "C1", ts: "1.5" },
      script_path: "hub/9084/chat/message",
    });
    expect(posted).toEqual([
      { authorization: "Bearer xoxb-1", body: { channel: "general", text: "does it work?" } },
    ]);
    expect(JSON.stringify(found)).not.toContain("xoxb-1");
  });

  test("fails with the provider's message", async () => {
    says = { ok: false, error: "channel_not_found" };
    const found = await ended((await expectOk(run(trial))).json().job_uuid);
    expect([found.success, found.result.error.message]).toEqual([
      false,
      expect.stringContaining("channel_not_found"),
    ]);
  });

  test.each([
    [undefined, { channel: "general", text: "This is a test message" }],
    [{ channel: "ops" }, { channel: "ops", text: "This is a test message" }],
  ])("fills in missing fields, under the names of existing clients too: %j", async (body, message) => {
    const answer = await expectOk(ask("POST", "/w/acme/workspaces/run_slack_message_test_job", body));
    await ended(answer.json().job_uuid);
    expect(posted.map((each) => each.body)).toEqual([message]);
  });

  test("may be a script of the workspace", async () => {
    const code =
      "export const main = (chat: { token: string }, channel: string, text: string) => [channel, text, chat.token.length]";
    await deploy(ask, "acme", "u/admin/message", code);
    const found = await ended(
      (await expectOk(run({ ...trial, hub_script_path: "u/admin/message" }))).json().job_uuid,
    );
    expect(found.result).toEqual(["general", "does it work?", 6]);
    expect((await run({ ...trial, hub_script_path: "u/admin/none" })).status).toBe(404);
    expect((await run({ ...trial, hub_script_path: "u/admin/flow" })).status).toBe(400);
  });

  test("is for admins of a workspace that is connected", async () => {
    const alone = await server.workspace("alone");
    const refused = await run(trial, alone.ask, "alone");
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("not connected")]);
    const dev = await server.member("acme", "dev");
    expect((await run(trial, dev.ask)).status).toBe(403);
    expect((await run({ channel: 7 })).status).toBe(400);
    expect(posted).toEqual([]);
  });
});

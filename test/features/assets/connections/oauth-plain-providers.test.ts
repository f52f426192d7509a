/** Providers without an issuer, each with peculiarities; and Slack. */
import { expect, test } from "bun:test";
import { expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";
import { Browser } from "../../../support/peers/identity-provider.ts";

interface Plain extends AsyncDisposable {
  /** Requests to the token endpoint. */
  asked: { body: URLSearchParams; authorization: string | null }[];
  config: {
    auth_url: string;
    token_url: string;
    userinfo_url: string;
    revocation_url: string;
    scopes: string[];
  };
}

/** Starts a server with configured responses: the token endpoint `token`, the profile `me`. */
function startPlain(answers: { token?: object; me?: object }): Plain {
  const asked: Plain["asked"] = [];
  const server = Bun.serve({
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
      if (pathname === "/me") return Response.json(answers.me ?? null);
      const body = new URLSearchParams(await request.text());
      asked.push({ body, authorization: request.headers.get("authorization") });
      return Response.json(answers.token ?? null);
    },
  });
  const at = `http://127.0.0.1:${server.port}`;
  return {
    asked,
    config: {
      auth_url: `${at}/authorize`,
      token_url: `${at}/token`,
      userinfo_url: `${at}/me`,
      revocation_url: `${at}/revoke`,
      scopes: ["read"],
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

const setClients = (server: TestServer, value: object) =>
  expectOk(server.operator("POST", "/settings/global/oauths", { value }));

/** Goes to the provider and returns. */
async function cameBack(server: TestServer, way: string, token?: string) {
  const browser = new Browser();
  if (token) browser.cookies.set(new URL(server.url).host, new Map([["token", token]]));
  const end = await browser.walk(`${server.url}/api/oauth/${way}`, server.url, "ann");
  const returned = { code: end.searchParams.get("code")!, state: end.searchParams.get("state")! };
  const post = (path: string) =>
    browser.fetch(`${server.url}/api${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(returned),
    });
  return { browser, end, returned, post };
}

const some = { id: "the id", secret: "the secret" };

test.each([
  ["a profile by id", { access_token: "a", token_type: "bearer" }, { id: 7, email: "ann@example.org" }, 200],
  ["a token without a type", { access_token: "a" }, { id: 7, email: "Ann@Example.org" }, 200],
  [
    "an ID token that nothing can check",
    { access_token: "a", id_token: "x.y.z" },
    { id: 7, email: "ann@example.org" },
    200,
  ],
  ["a lifetime as a text", { access_token: "a", expires_in: "3600" }, { email: "ann@example.org" }, 200],
  ["an error with status 200", { error: "bad_verification_code" }, {}, 400],
  ["no address", { access_token: "a" }, { id: 7, email: null }, 400],
  ["an address that is none", { access_token: "a" }, { id: 7, email: "ann" }, 400],
  ["no profile", { access_token: "a" }, [], 503],
] as const)("a login by a provider without an issuer: %s", async (_, token, me, status) => {
  await using server = await startTestServer();
  await using plain = startPlain({ token, me });
  await setClients(server, { plain: { ...some, login_config: plain.config } });
  const { post } = await cameBack(server, "login/plain");
  const answer = await post("/oauth/login_callback/plain");
  const text = await answer.text();
  expect([answer.status, text]).toEqual([status, expect.any(String)]);
  if (status === 200) expect((await server.as(text)("GET", "/users/email")).text).toBe("ann@example.org");
  const [{ body, authorization }] = plain.asked as [Plain["asked"][number]];
  expect(authorization).toBe(`Basic ${btoa("the+id:the+secret")}`);
  expect([body.get("code"), body.get("redirect_uri")]).toEqual([
    "the-code",
    `${server.url}/user/login_callback/plain`,
  ]);
  expect(body.get("code_verifier")).toMatch(/^[\w-]{43}$/);
});

test("the secret is sent in the body if the provider requires it; scopes may be a list", async () => {
  await using server = await startTestServer();
  await using plain = startPlain({ token: { access_token: "a", scope: ["x", "y"], refresh_token: null } });
  await setClients(server, { plain: { ...some, connect_config: { ...plain.config, req_body_auth: true } } });
  const { token } = await server.user("ann");
  const { post, end } = await cameBack(server, "connect/plain", token);
  expect(end.pathname).toBe("/oauth/callback/plain");
  expect(await (await post("/oauth/connect_callback/plain")).json()).toEqual({
    access_token: "a",
    scope: ["x", "y"],
  });
  const [{ body, authorization }] = plain.asked as [Plain["asked"][number]];
  expect([authorization, body.get("client_secret")]).toEqual([null, "the secret"]);
});

const OLDER = {
  access_token: "xoxp",
  team_id: "T1",
  team_name: "The team",
  bot: { bot_access_token: "xoxb-1" },
};
const NEWER = { ok: true, access_token: "xoxb-1", token_type: "bot", team: { id: "T1", name: "The team" } };

test.each([
  ["older", OLDER],
  ["newer", NEWER],
])("Slack's %s answer connects a workspace: team, secret and resource", async (_, token) => {
  await using server = await startTestServer();
  await using plain = startPlain({ token });
  await setClients(server, { chat: { ...some, connect_config: plain.config } });
  const admin = await server.workspace();
  const ann = await server.member("acme", "ann");
  const back = await cameBack(server, "connect_chat?workspace=acme", ann.token);
  expect((await back.post("/w/acme/oauth/connect_chat_callback")).status).toBe(403);
  const { post, end } = await cameBack(server, "connect_chat", admin.token);
  expect(end.pathname).toBe("/oauth/callback_chat");
  const answer = await post("/w/acme/oauth/connect_chat_callback");
  expect([answer.status, await answer.text()]).toEqual([200, "connected to The team"]);
  const path = "f/chat_bot/bot_token";
  expect((await admin.ask("GET", `/w/acme/variables/get_value/${path}`)).json()).toBe("xoxb-1");
  expect((await admin.ask("GET", `/w/acme/resources/get_value_interpolated/${path}`)).json()).toEqual({
    token: "xoxb-1",
  });
  const { workspaceSettings } = await import("../../../../src/features/tenancy/workspaces/tables.ts");
  const settings = async () =>
    (await server.server.app.db.read.select().from(workspaceSettings))[0]?.settings;
  expect(await settings()).toEqual({ chat_team_id: "T1", chat_name: "The team" });
  expect((await post("/w/acme/oauth/connect_chat_callback")).status).toBe(400);

  // Connecting again replaces the previous connection.
  const again = await cameBack(server, "connect_chat", admin.token);
  expect((await again.post("/w/acme/oauth/connect_chat_callback")).status).toBe(200);
  await expectOk(admin.ask("POST", "/w/acme/oauth/disconnect_chat"));
  expect((await admin.ask("GET", `/w/acme/variables/exists/${path}`)).json()).toBe(false);
  expect((await admin.ask("GET", `/w/acme/resources/exists/${path}`)).json()).toBe(false);
  expect(await settings()).toEqual({});
});

test("only a super admin connects Slack to the instance", async () => {
  await using server = await startTestServer();
  await using plain = startPlain({ token: NEWER });
  await setClients(server, { chat: { ...some, connect_config: plain.config } });
  const ann = await server.user("ann");
  const root = await server.user("root", { super_admin: true });
  const refused = await cameBack(server, "connect_chat", ann.token);
  expect((await refused.post("/oauth/connect_chat_callback")).status).toBe(403);
  const { post } = await cameBack(server, "connect_chat", root.token);
  const answer = await post("/oauth/connect_chat_callback");
  expect([answer.status, await answer.text()]).toEqual([200, "connected to The team"]);
  expect(server.server.app.settings.get("chat")).toMatchObject({
    team_name: "The team",
    access_token: "xoxb-1",
  });
});

test("Slack's page completes a connection for the workspace it was started for", async () => {
  await using server = await startTestServer();
  await using plain = startPlain({ token: NEWER });
  await setClients(server, { chat: { ...some, connect_config: plain.config } });
  const admin = await server.workspace();
  const other = await server.workspace("other");
  const { browser, end, returned } = await cameBack(server, "connect_chat?workspace=acme", admin.token);
  const page = await (await browser.fetch(end.href)).text();
  expect(page).toContain("Connect this team to workspace acme?");
  const submit = (at: string, jar = browser) =>
    jar.fetch(`${server.url}/w/${at}/oauth/callback_chat`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(returned).toString(),
    });
  expect((await submit("other")).status).toBe(401);
  browser.cookies.get(new URL(server.url).host)!.set("token", other.token);
  expect((await submit("other")).status).toBe(400);
  browser.cookies.get(new URL(server.url).host)!.set("token", admin.token);
  const done = await submit("acme");
  expect([done.status, await done.text()]).toEqual([200, expect.stringContaining("The team is connected")]);
});

test.each([
  ["no team", { ok: true, access_token: "x" }, 503],
  ["a refusal", { ok: false, error: "invalid_code" }, 400],
])("%s in Slack's response connects nothing", async (_, token, status) => {
  await using server = await startTestServer();
  await using plain = startPlain({ token });
  await setClients(server, { chat: { ...some, connect_config: plain.config } });
  const admin = await server.workspace();
  const { post } = await cameBack(server, "connect_chat", admin.token);
  expect((await post("/w/acme/oauth/connect_chat_callback")).status).toBe(status);
  expect((await admin.ask("GET", "/w/acme/variables/list")).json()).toEqual([]);
});

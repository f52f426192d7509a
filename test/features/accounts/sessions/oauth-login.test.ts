import { expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { oauthUsedStates } from "../../../../src/features/assets/account-tables.ts";
import { users } from "../../../../src/features/tenancy/people/user-tables.ts";
import { expectOk } from "../../../support/harness.ts";
import { Browser, type OAuthTest, startOAuthTest } from "../../../support/peers/identity-provider.ts";

/** A browser that has been to the provider, and what it came back with. */
async function cameBack({ server }: OAuthTest, person: string, { client = "house", rd = "" } = {}) {
  const browser = new Browser();
  const search = rd ? `?rd=${encodeURIComponent(rd)}` : "";
  const end = await browser.walk(
    `${server.url}/api/oauth/login/${client}${search}`,
    `${server.url}/user/`,
    person,
  );
  const code = end.searchParams.get("code")!;
  const state = end.searchParams.get("state")!;
  const post = (body: object = { code, state }, at = client) =>
    browser.fetch(`${server.url}/api/oauth/login_callback/${at}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  return { browser, end, code, state, post };
}

const userOf = async ({ server }: OAuthTest, email: string) =>
  (await server.server.app.db.read.select().from(users).where(eq(users.email, email)))[0];

const auditOf = async ({ server }: OAuthTest) => {
  const { auditLog } = await import("../../../../src/features/signals/audit/tables.ts");
  const rows = await server.server.app.db.read
    .select()
    .from(auditLog)
    .where(eq(auditLog.workspace_id, "global"));
  return rows
    .filter((row) => row.operation.startsWith("oauth."))
    .map(({ operation, email }) => `${operation} ${email}`);
};

test("a first login creates a user, whom later logins find", async () => {
  await using t = await startOAuthTest();
  const first = await (await cameBack(t, "ann")).post();
  const token = await first.text();
  expect([first.status, first.headers.getSetCookie()[0]]).toEqual([
    200,
    expect.stringMatching(
      new RegExp(`^token=${token}; HttpOnly; Path=/; SameSite=Lax; Max-Age=259200; Expires=`),
    ),
  ]);
  expect((await t.server.as(token)("GET", "/users/whoami")).json()).toMatchObject({
    email: "ann@example.org",
    login_type: "house",
    verified: true,
    super_admin: false,
    first_time_user: false,
  });
  const again = await (await cameBack(t, "ann")).post();
  expect((await t.server.as(await again.text())("GET", "/users/email")).text).toBe("ann@example.org");
  expect(await auditOf(t)).toEqual([
    "oauth.signup ann@example.org",
    "oauth.login ann@example.org",
    "oauth.login ann@example.org",
  ]);
});

test("a user is identified by the account at the provider, even if its address changes", async () => {
  await using t = await startOAuthTest();
  await (await cameBack(t, "ann")).post();
  t.idp.people.set("ann", { email: "new-name@example.org", email_verified: true });
  const token = await (await (await cameBack(t, "ann")).post()).text();
  expect((await t.server.as(token)("GET", "/users/email")).text).toBe("ann@example.org");
  // Somebody else who is given ann's old address there is not ann.
  t.idp.people.set("eve", { email: "ann@example.org", email_verified: true });
  const refused = await (await cameBack(t, "eve")).post();
  expect([refused.status, await refused.text()]).toEqual([
    403,
    "Permission denied: ann@example.org belongs to another account at house",
  ]);
  expect((await auditOf(t)).at(-1)).toBe("oauth.login_failure ann@example.org");
});

test("a browser returns to the page it wanted, on this instance only", async () => {
  await using t = await startOAuthTest();
  const { browser, end } = await cameBack(t, "ann", { rd: "/runs?a=b" });
  const page = await browser.fetch(end.href);
  expect([page.status, page.headers.get("location")]).toEqual([302, "/runs?a=b"]);
  const token = browser.cookies.get(new URL(t.server.url).host)?.get("token");
  expect((await t.server.as(token)("GET", "/users/email")).text).toBe("ann@example.org");
  const plain = await cameBack(t, "ann");
  expect(await (await plain.browser.fetch(plain.end.href)).text()).toContain("You are logged in");
  for (const rd of [
    "https://evil.example",
    "//evil.example",
    "/\\evil.example",
    "/\t/evil.example",
    "runs",
  ]) {
    const answer = await fetch(`${t.server.url}/api/oauth/login/house?rd=${encodeURIComponent(rd)}`, {
      redirect: "manual",
    });
    expect([rd, answer.status]).toEqual([rd, 400]);
  }
});

test("addresses outside of the allowed domains are refused and create no user", async () => {
  await using t = await startOAuthTest();
  await t.clients({ house: { ...t.client, allowed_domains: ["Example.com"] } });
  const refused = await (await cameBack(t, "ann")).post();
  expect([refused.status, await refused.text()]).toEqual([
    403,
    "Permission denied: addresses at example.org may not log in with house",
  ]);
  expect(await userOf(t, "ann@example.org")).toBeUndefined();
  expect(await auditOf(t)).toEqual(["oauth.login_failure ann@example.org"]);
  t.idp.people.set("bob", { email: "bob@example.com", email_verified: true });
  expect((await (await cameBack(t, "bob")).post()).status).toBe(200);
});

test.each([["client"], ["instance"]])(
  "no user is made where the %s says so, and known ones log in",
  async (where) => {
    await using t = await startOAuthTest();
    expect((await (await cameBack(t, "ann")).post()).status).toBe(200);
    if (where === "client") await t.clients({ house: { ...t.client, create_user: false } });
    else
      await expectOk(
        t.server.operator("POST", "/settings/global/require_preexisting_user_for_oauth", { value: true }),
      );
    const refused = await (await cameBack(t, "bob")).post();
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining("there is no user bob@example.org"),
    ]);
    expect(await userOf(t, "bob@example.org")).toBeUndefined();
    expect((await (await cameBack(t, "ann")).post()).status).toBe(200);
  },
);

test("a login never takes over a user with a password or of another provider", async () => {
  await using t = await startOAuthTest();
  await t.clients({ house: t.client, other: t.client });
  const ann = await t.server.user("ann");
  const refused = await (await cameBack(t, "ann")).post();
  expect([refused.status, await refused.text()]).toEqual([
    403,
    "Permission denied: ann@example.org logs in with password, not with house\na super admin can change that: POST /api/users/set_login_type/{email}",
  ]);
  expect((await userOf(t, ann.email))?.login_type).toBe("password");
  expect((await (await cameBack(t, "bob")).post()).status).toBe(200);
  expect((await (await cameBack(t, "bob", { client: "other" })).post()).status).toBe(403);
  const password = await t.server.as(undefined)("POST", "/auth/login", {
    email: "bob@example.org",
    password: "x",
  });
  expect(password.status).toBe(400);
});

test("an unverified address is refused", async () => {
  await using t = await startOAuthTest();
  t.idp.people.set("ann", { email: "ann@example.org", email_verified: false });
  expect((await (await cameBack(t, "ann")).post()).status).toBe(403);
  expect(await userOf(t, "ann@example.org")).toBeUndefined();
  t.idp.people.set("bob", { email: "bob@example.org" });
  expect((await (await cameBack(t, "bob")).post()).status).toBe(200);
  expect((await userOf(t, "bob@example.org"))?.verified).toBe(false);
  t.idp.people.set("none", { email_verified: true });
  const refused = await (await cameBack(t, "none")).post();
  expect([refused.status, await refused.text()]).toEqual([
    400,
    expect.stringContaining("does not return the e-mail address"),
  ]);
});

const STRANGE = /the state does not belong to this browser, or is older than ten minutes/;

test("a state is valid for one browser, one provider, one use and ten minutes", async () => {
  await using t = await startOAuthTest();
  await t.clients({ house: t.client, other: t.client });
  const { post, code, state, browser } = await cameBack(t, "ann");
  const host = new URL(t.server.url).host;
  const own = new Map(browser.cookies.get(host));

  const cases: [what: string, answer: () => Promise<Response>][] = [
    ["forged", () => post({ code, state: "forged" })],
    ["of another provider", () => post({ code, state }, "other")],
    [
      "another browser",
      () =>
        fetch(`${t.server.url}/api/oauth/login_callback/house`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ code, state }),
        }),
    ],
    [
      "a cookie of one's own making",
      () => {
        browser.cookies.set(
          host,
          new Map([
            ["oauth_login_house", Buffer.from(`v1:${btoa(JSON.stringify({ state }))}`).toString("base64url")],
          ]),
        );
        return post();
      },
    ],
    [
      "a cookie that was changed",
      () => {
        const [name, value] = [...own][0]!;
        browser.cookies.set(host, new Map([[name, `${value.slice(0, -4)}AAAA`]]));
        return post();
      },
    ],
  ];
  for (const [what, answer] of cases) {
    const response = await answer();
    expect([what, response.status, await response.text()]).toEqual([
      what,
      400,
      expect.stringMatching(STRANGE),
    ]);
    browser.cookies.set(host, new Map(own));
  }
  expect(t.idp.asked).toEqual([]);

  expect((await post()).status).toBe(200);
  // The cookie is gone from an honest browser; one that has kept it gets no further either.
  expect((await post()).status).toBe(400);
  browser.cookies.set(host, own);
  const replayed = await post();
  expect([replayed.status, await replayed.text()]).toEqual([
    400,
    "Bad request: the state has been used already\nbegin again",
  ]);
  expect(t.idp.asked.length).toBe(1);

  const late = await cameBack(t, "ann");
  const now = t.server.server.app.clock;
  Object.assign(t.server.server.app, { clock: () => new Date(now().getTime() + 601_000) });
  const answer = await late.post();
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringMatching(STRANGE)]);
});

test("of concurrent returns with one state one logs in; used states are deleted", async () => {
  await using t = await startOAuthTest();
  const { post } = await cameBack(t, "ann");
  const answers = await Promise.all(Array.from({ length: 5 }, () => post()));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400]);
  const { app } = t.server.server;
  const now = app.clock;
  Object.assign(app, { clock: () => new Date(now().getTime() + 700_000) });
  expect((await (await cameBack(t, "ann")).post()).status).toBe(200);
  expect((await app.db.read.select().from(oauthUsedStates)).length).toBe(1);
});

test("a refusal by the provider is shown and logs nobody in", async () => {
  await using t = await startOAuthTest();
  const { post, state } = await cameBack(t, "ann");
  const refused = await post({ code: "no-such-code", state });
  expect([refused.status, await refused.text()]).toEqual([
    400,
    expect.stringMatching(/house: .* invalid_grant/),
  ]);
  const { browser, end } = await cameBack(t, "ann");
  const mixed = new URL(end);
  mixed.searchParams.set("iss", "https://evil.example");
  const page = await browser.fetch(mixed.href);
  expect([page.status, await page.text()]).toEqual([503, expect.stringContaining("is invalid")]);
  const denied = await browser.fetch(
    `${t.server.url}/user/login_callback/house?error=access_denied&error_description=%3Cb%3Eno`,
  );
  expect([denied.status, await denied.text()]).toEqual([
    400,
    expect.stringContaining("house rejected the request: access_denied: &lt;b&gt;no"),
  ]);
  expect(await userOf(t, "ann@example.org")).toBeUndefined();
});

test.each([
  [
    "nonsense in place of its description",
    "/openid-configuration",
    { body: "<html>" },
    /cannot be asked: .* is invalid/,
  ],
  [
    "a description of somebody else",
    "/openid-configuration",
    { body: JSON.stringify({ issuer: "https://evil.example" }) },
    /is invalid/,
  ],
  [
    "an endless description",
    "/openid-configuration",
    { body: "x".repeat(1_100_000) },
    /sends more than 1000000 bytes/,
  ],
  [
    "redirects in a circle",
    "/openid-configuration",
    { status: 302, headers: { location: "/x/openid-configuration" } },
    /redirects more than 3 times/,
  ],
  [
    "a way to plain http elsewhere",
    "/openid-configuration",
    { status: 302, headers: { location: "http://192.0.2.1/" } },
    /must be called by https/,
  ],
] as const)("%s: the login does not begin", async (_, at, trouble, expected) => {
  await using t = await startOAuthTest();
  t.idp.trouble.set(at, trouble);
  const answer = await t.server.as(undefined)("GET", "/oauth/login/house");
  expect([answer.status, answer.text]).toEqual([503, expect.stringMatching(expected)]);
  // What went wrong is not remembered.
  t.idp.trouble.clear();
  const { status } = await fetch(`${t.server.url}/api/oauth/login/house`, { redirect: "manual" });
  expect(status).toBe(302);
});

test.each([
  ["nonsense for a token", "/token", { body: "[]" }, /the provider's answer is invalid/],
  ["a token without a token", "/token", { body: "{}" }, /the provider's answer is invalid/],
  [
    "an ID token nobody signed for",
    "/token",
    { body: JSON.stringify({ access_token: "a", token_type: "bearer", id_token: "a.b.c" }) },
    /is invalid/,
  ],
  [
    "a failure",
    "/token",
    { status: 500, body: JSON.stringify({ error: "server_error" }) },
    /fails \(status 500\)/,
  ],
  [
    "a redirect of the code",
    "/token",
    { status: 302, headers: { location: "https://evil.example" } },
    /is invalid/,
  ],
  ["nonsense for who it is", "/me", { body: "null" }, /who logs in cannot be read/],
  [
    "somebody else for who it is",
    "/me",
    { body: JSON.stringify({ sub: "eve", email: "eve@example.org" }) },
    /is invalid/,
  ],
] as const)("%s: the login does not end, and nothing of it is stored", async (_, at, trouble, expected) => {
  await using t = await startOAuthTest();
  const { post } = await cameBack(t, "ann");
  t.idp.trouble.set(at, trouble);
  const answer = await post();
  const text = await answer.text();
  expect([answer.status, text]).toEqual([503, expect.stringMatching(expected)]);
  expect(text).not.toContain(t.client.secret);
  expect(answer.headers.getSetCookie()).toEqual([]);
  expect(await userOf(t, "ann@example.org")).toBeUndefined();
});

test("a provider that is down or slow is reported as such", async () => {
  await using t = await startOAuthTest({ outgoing_timeout_s: 1 });
  const { post } = await cameBack(t, "ann");
  t.idp.trouble.set("/token", { delay_ms: 60_000 });
  const slow = await post();
  expect([slow.status, await slow.text()]).toEqual([
    503,
    expect.stringContaining("did not answer within 1 s"),
  ]);
  const next = await cameBack(t, "ann");
  await t.idp.stop();
  const down = await next.post();
  expect([down.status, await down.text()]).toEqual([503, expect.stringContaining("cannot be reached")]);
}, 60_000);

test("clients are listed by purpose, with errors in their configuration", async () => {
  await using t = await startOAuthTest();
  const endpoints = { auth_url: "https://idp.example/auth", token_url: "https://idp.example/token" };
  const some = { id: "x", secret: "y" };
  await t.clients({
    github: some,
    gmail: some,
    microsoft: some,
    house: { ...t.client, display_name: "The house" },
    inner: { ...some, connect_config: { issuer: t.client.issuer } },
    login_only: {
      ...some,
      login_config: { ...endpoints, userinfo_url: "https://idp.example/me", scopes: ["who"] },
    },
    connect_only: { ...some, connect_config: { ...endpoints, scopes: ["read"], extra_params: { a: "b" } } },
    broken: { ...some, login_config: { scopes: "not a list" } },
    nothing: some,
  });
  const nobody = t.server.as(undefined);
  const { ask } = await t.server.user("ann");
  expect((await nobody("GET", "/oauth/list_logins")).json()).toEqual({
    oauth: [
      { type: "github", display_name: "GitHub" },
      { type: "microsoft", display_name: "Microsoft" },
      { type: "house", display_name: "The house" },
      { type: "login_only", display_name: "login_only" },
    ],
  });
  expect((await ask("GET", "/oauth/list_connects")).json()).toEqual([
    "github",
    "gmail",
    "microsoft",
    "house",
    "inner",
    "connect_only",
  ]);
  expect((await ask("GET", "/oauth/get_connect/inner")).json()).toEqual({
    scopes: ["openid", "email", "profile"],
  });
  expect((await ask("GET", "/oauth/get_connect/connect_only")).json()).toEqual({
    scopes: ["read"],
    extra_params: { a: "b" },
  });
  expect((await ask("GET", "/oauth/get_connect/login_only")).status).toBe(404);
  expect((await nobody("GET", "/oauth/list_connects")).status).toBe(401);
  for (const [name, status, said] of [
    ["nothing", 404, "OAuth client nothing to login with"],
    ["gmail", 404, "OAuth client gmail to login with"],
    ["constructor", 404, "OAuth client constructor to login with"],
    ["broken", 400, "setting oauths: client broken: value field `login_config.scopes`"],
    ["microsoft", 400, "setting oauths: client microsoft: `tenant` is missing"],
  ] as const) {
    const answer = await nobody("GET", `/oauth/login/${name}`);
    expect([name, answer.status, answer.text]).toEqual([name, status, expect.stringContaining(said)]);
  }
});

test("the redirect has all parameters that a provider needs, without the secret", async () => {
  await using t = await startOAuthTest();
  await t.clients({ github: { id: "the id", secret: "the secret" } });
  const answer = await fetch(`${t.server.url}/api/oauth/login/github`, { redirect: "manual" });
  const location = new URL(answer.headers.get("location")!);
  expect([location.origin + location.pathname, Object.fromEntries(location.searchParams)]).toEqual([
    "https://github.com/login/oauth/authorize",
    {
      client_id: "the id",
      response_type: "code",
      redirect_uri: `${t.server.url}/user/login_callback/github`,
      state: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
      scope: "read:user user:email",
    },
  ]);
  expect(answer.headers.get("set-cookie")).toMatch(
    /^oauth_login_github=[\w-]+; HttpOnly; Path=\/; SameSite=Lax; Max-Age=600$/,
  );
});

/**
 * Login providers: how they are configured and listed, and what happens if they are misconfigured, slow or
 * down.
 */
import { expect, test } from "bun:test";
import { startOAuthTest } from "../../../support/peers/identity-provider.ts";
import { followLogin, userOf } from "./oauth-login-setup.ts";

test("a refusal by the provider is shown and logs nobody in", async () => {
  await using t = await startOAuthTest();
  const { post, state } = await followLogin(t, "ann");
  const refused = await post({ code: "no-such-code", state });
  expect([refused.status, await refused.text()]).toEqual([
    400,
    expect.stringMatching(/house: .* invalid_grant/),
  ]);
  const { browser, end } = await followLogin(t, "ann");
  const mixed = new URL(end);
  mixed.searchParams.set("iss", "https://evil.example");
  const page = await browser.fetch(mixed.href);
  expect([page.status, await page.text()]).toEqual([503, expect.stringContaining("is invalid")]);
  const decliner = await followLogin(t, "ann");
  const denied = (query: string, client = "house") =>
    decliner.browser.fetch(
      `${t.server.url}/user/login_callback/${client}?error_description=%3Cb%3Eno&${query}`,
    );
  for (const [query, text] of [
    [
      `error=access_denied&state=${decliner.state}`,
      "house rejected the request: access_denied: &lt;b&gt;no<",
    ],
    // A link that anybody made shows none of its author's words.
    ["error=access_denied&state=other", "house rejected the request: access_denied<"],
    ["error=Call+555+now", "house rejected the request: an error<"],
  ] as const) {
    const answer = await denied(query);
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(text)]);
  }
  expect((await denied("error=access_denied", "Call%20555")).status).toBe(404);
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
    /sent more than 1000000 bytes/,
  ],
  [
    "redirects in a circle",
    "/openid-configuration",
    { status: 302, headers: { location: "/x/openid-configuration" } },
    /redirected more than 3 times/,
  ],
  [
    "a way to plain http elsewhere",
    "/openid-configuration",
    { status: 302, headers: { location: "http://192.0.2.1/" } },
    /must be called over HTTPS/,
  ],
] as const)("%s: the login does not begin", async (_, at, trouble, expected) => {
  await using t = await startOAuthTest();
  t.idp.trouble.set(at, trouble);
  const answer = await t.server.as(undefined)("GET", "/oauth/login/house");
  expect([answer.status, answer.text]).toEqual([503, expect.stringMatching(expected)]);
  // Failures are not cached.
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
    /failed \(status 500\)/,
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
  const { post } = await followLogin(t, "ann");
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
  const { post } = await followLogin(t, "ann");
  t.idp.trouble.set("/token", { delay_ms: 60_000 });
  const slow = await post();
  expect([slow.status, await slow.text()]).toEqual([
    503,
    expect.stringContaining("did not answer within 1 s"),
  ]);
  const next = await followLogin(t, "ann");
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

import { expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { oauthUsedStates } from "../../../../src/features/assets/account-tables.ts";
import { expectOk } from "../../../support/harness.ts";
import { type OAuthTest, startOAuthTest } from "../../../support/peers/identity-provider.ts";
import { followLogin, userOf } from "./oauth-login-setup.ts";

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
  const first = await (await followLogin(t, "ann")).post();
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
  const again = await (await followLogin(t, "ann")).post();
  expect((await t.server.as(await again.text())("GET", "/users/email")).text).toBe("ann@example.org");
  expect(await auditOf(t)).toEqual([
    "oauth.signup ann@example.org",
    "oauth.login ann@example.org",
    "oauth.login ann@example.org",
  ]);
});

test("a user is identified by the account at the provider, even if its address changes", async () => {
  await using t = await startOAuthTest();
  await (await followLogin(t, "ann")).post();
  t.idp.people.set("ann", { email: "new-name@example.org", email_verified: true });
  const token = await (await (await followLogin(t, "ann")).post()).text();
  expect((await t.server.as(token)("GET", "/users/email")).text).toBe("ann@example.org");
  // Another person to whom ann's old address was given is not ann.
  t.idp.people.set("eve", { email: "ann@example.org", email_verified: true });
  const refused = await (await followLogin(t, "eve")).post();
  expect([refused.status, await refused.text()]).toEqual([
    403,
    "Permission denied: ann@example.org belongs to another account at house",
  ]);
  expect((await auditOf(t)).at(-1)).toBe("oauth.login_failure ann@example.org");
});

test("a browser returns to the page it wanted, on this instance only", async () => {
  await using t = await startOAuthTest();
  const { browser, end } = await followLogin(t, "ann", { rd: "/runs?a=b" });
  const page = await browser.fetch(end.href);
  expect([page.status, page.headers.get("location")]).toEqual([302, "/runs?a=b"]);
  const token = browser.cookies.get(new URL(t.server.url).host)?.get("token");
  expect((await t.server.as(token)("GET", "/users/email")).text).toBe("ann@example.org");
  const plain = await followLogin(t, "ann");
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
  const refused = await (await followLogin(t, "ann")).post();
  expect([refused.status, await refused.text()]).toEqual([
    403,
    "Permission denied: addresses at example.org may not log in with house",
  ]);
  expect(await userOf(t, "ann@example.org")).toBeUndefined();
  expect(await auditOf(t)).toEqual(["oauth.login_failure ann@example.org"]);
  t.idp.people.set("bob", { email: "bob@example.com", email_verified: true });
  expect((await (await followLogin(t, "bob")).post()).status).toBe(200);
});

test.each([["client"], ["instance"]])(
  "no user is created if the %s forbids it, and existing ones log in",
  async (where) => {
    await using t = await startOAuthTest();
    expect((await (await followLogin(t, "ann")).post()).status).toBe(200);
    if (where === "client") await t.clients({ house: { ...t.client, create_user: false } });
    else
      await expectOk(
        t.server.operator("POST", "/settings/global/require_preexisting_user_for_oauth", { value: true }),
      );
    const refused = await (await followLogin(t, "bob")).post();
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining("there is no user bob@example.org"),
    ]);
    expect(await userOf(t, "bob@example.org")).toBeUndefined();
    expect((await (await followLogin(t, "ann")).post()).status).toBe(200);
  },
);

test("a login never takes over a user with a password or of another provider", async () => {
  await using t = await startOAuthTest();
  await t.clients({ house: t.client, other: t.client });
  const ann = await t.server.user("ann");
  const refused = await (await followLogin(t, "ann")).post();
  expect([refused.status, await refused.text()]).toEqual([
    403,
    "Permission denied: ann@example.org logs in with password, not with house\na super admin can change that: POST /api/users/set_login_type/{email}",
  ]);
  expect((await userOf(t, ann.email))?.login_type).toBe("password");
  expect((await (await followLogin(t, "bob")).post()).status).toBe(200);
  expect((await (await followLogin(t, "bob", { client: "other" })).post()).status).toBe(403);
  const password = await t.server.as(undefined)("POST", "/auth/login", {
    email: "bob@example.org",
    password: "x",
  });
  expect(password.status).toBe(400);
});

test("an unverified address is refused", async () => {
  await using t = await startOAuthTest();
  t.idp.people.set("ann", { email: "ann@example.org", email_verified: false });
  expect((await (await followLogin(t, "ann")).post()).status).toBe(403);
  expect(await userOf(t, "ann@example.org")).toBeUndefined();
  t.idp.people.set("bob", { email: "bob@example.org" });
  expect((await (await followLogin(t, "bob")).post()).status).toBe(200);
  expect((await userOf(t, "bob@example.org"))?.verified).toBe(false);
  t.idp.people.set("none", { email_verified: true });
  const refused = await (await followLogin(t, "none")).post();
  expect([refused.status, await refused.text()]).toEqual([
    400,
    expect.stringContaining("does not return the e-mail address"),
  ]);
});

const STRANGE = /the state does not belong to this browser, or is older than ten minutes/;

test("a state is valid for one browser, one provider, one use and ten minutes", async () => {
  await using t = await startOAuthTest();
  await t.clients({ house: t.client, other: t.client });
  const { post, code, state, browser } = await followLogin(t, "ann");
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
  // A browser deletes the cookie; one that kept it is rejected too.
  expect((await post()).status).toBe(400);
  browser.cookies.set(host, own);
  const replayed = await post();
  expect([replayed.status, await replayed.text()]).toEqual([
    400,
    "Bad request: the state has been used already\nbegin again",
  ]);
  expect(t.idp.asked.length).toBe(1);

  const late = await followLogin(t, "ann");
  const now = t.server.server.app.clock;
  Object.assign(t.server.server.app, { clock: () => new Date(now().getTime() + 601_000) });
  const answer = await late.post();
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringMatching(STRANGE)]);
});

test("of concurrent returns with one state one logs in; used states are deleted", async () => {
  await using t = await startOAuthTest();
  const { post } = await followLogin(t, "ann");
  const answers = await Promise.all(Array.from({ length: 5 }, () => post()));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400]);
  const { app } = t.server.server;
  const now = app.clock;
  Object.assign(app, { clock: () => new Date(now().getTime() + 700_000) });
  expect((await (await followLogin(t, "ann")).post()).status).toBe(200);
  expect((await app.db.read.select().from(oauthUsedStates)).length).toBe(1);
});

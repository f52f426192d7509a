import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { dialect } from "../../../../src/database/kit.ts";
import { oauthAccounts } from "../../../../src/features/assets/account-tables.ts";
import { Browser, startOAuthTest } from "../../../support/peers/identity-provider.ts";
import {
  advanceClock,
  connect,
  connectAccount,
  countRefreshes,
  isTokenAccepted,
  openBrowserAs,
  postJson,
  readToken,
} from "./oauth-accounts-setup.ts";

test.concurrent("the provider's redirect results in tokens, an account and a variable with the token", async () => {
  await using t = await startOAuthTest();
  const admin = await t.server.workspace();
  const { browser, code, state, end } = await connect(
    t,
    admin.token,
    "?scopes=openid+email&extra_params=%7B%22ui_locales%22%3A%22fr%22%7D",
  );
  expect(end.pathname).toBe("/oauth/callback/house");
  const url = `${t.server.url}/api/oauth/connect_callback/house`;
  expect((await postJson(new Browser(), url, { code, state })).status).toBe(401);
  expect((await postJson(openBrowserAs(t, admin.token), url, { code, state })).status).toBe(400);
  const answer = await postJson(browser, url, { code, state });
  expect([answer.status, await answer.json()]).toEqual([
    200,
    {
      access_token: expect.any(String),
      expires_in: 3600,
      refresh_token: expect.any(String),
      scope: ["openid", "email"],
    },
  ]);
  expect((await postJson(browser, url, { code, state })).status).toBe(400);
  const { tokens, id } = await connectAccount(t, admin);
  expect((await readToken(admin.ask)).json()).toBe(tokens.access_token);
  expect((await admin.ask("GET", "/w/acme/variables/list")).json()).toMatchObject([
    { account: id, is_oauth: true, is_expired: false, is_refreshed: true, value: null },
  ]);
  expect(countRefreshes(t)).toBe(0);
});

test.concurrent("extra parameters are a JSON object of texts", async () => {
  await using t = await startOAuthTest();
  const { ask } = await t.server.workspace();
  for (const text of ["nonsense", "[]", '{"a":1}']) {
    const { status } = await ask("GET", `/oauth/connect/house?extra_params=${encodeURIComponent(text)}`);
    expect([text, status]).toEqual([text, 400]);
  }
  const redirect = await fetch(
    `${t.server.url}/api/oauth/connect/house?extra_params=${encodeURIComponent('{"a":"b","state":"mine"}')}`,
    {
      redirect: "manual",
      headers: { authorization: `Bearer ${(await t.server.user("ann")).token}` },
    },
  );
  const { searchParams } = new URL(redirect.headers.get("location")!);
  expect([searchParams.get("a"), searchParams.get("state")]).toEqual([
    "b",
    expect.stringMatching(/^[\w-]{43}$/),
  ]);
});

test.concurrent("disconnecting revokes the token at the provider, and deletes the account", async () => {
  await using t = await startOAuthTest();
  const admin = await t.server.workspace();
  const { id, tokens } = await connectAccount(t, admin);
  const answer = await admin.ask("POST", `/w/acme/oauth/disconnect/${id}`);
  expect([answer.status, answer.text]).toEqual([200, `account ${id} disconnected, its token revoked`]);
  expect(t.idp.asked.at(-1)).toMatchObject({ path: "/token/revocation" });
  expect(t.idp.asked.at(-1)!.body.get("token")).toBe(tokens.refresh_token);
  const [variable] = (await admin.ask("GET", "/w/acme/variables/list")).json();
  expect([variable.account, variable.is_refreshed]).toEqual([null, false]);
  advanceClock(t, 4000);
  expect((await readToken(admin.ask)).json()).toBe(tokens.access_token);
  expect((await admin.ask("POST", `/w/acme/oauth/disconnect/${id}`)).status).toBe(404);
  const audit = await admin.ask("GET", "/w/acme/audit/list?operation=account.delete");
  expect(audit.json()).toMatchObject([{ resource: String(id), action_kind: "Delete" }]);

  const second = await connectAccount(t, admin, "u/admin/second");
  await t.idp.stop();
  const untold = await admin.ask("POST", `/w/acme/oauth/disconnect/${second.id}`);
  expect([untold.status, untold.text]).toEqual([
    200,
    expect.stringMatching(/disconnected; house: .* cannot be reached/),
  ]);
  expect(await t.server.server.app.db.read.select().from(oauthAccounts)).toEqual([]);
});

test.concurrent("an account is used by its owner, and by admins", async () => {
  await using t = await startOAuthTest();
  const admin = await t.server.workspace();
  const { id, path } = await connectAccount(t, admin);
  const ann = await t.server.member("acme", "ann");
  const operator = await t.server.member("acme", "olga", "operator");
  const variable = { path: "u/ann/stolen", value: "", is_secret: false, description: "", account: id };
  const other = await t.server.workspace("other");
  const cases: [what: string, answer: Promise<{ status: number }>, status: number][] = [
    ["a variable of another's account", ann.ask("POST", "/w/acme/variables/create", variable), 403],
    [
      "a variable of no account",
      ann.ask("POST", "/w/acme/variables/create", { ...variable, account: 999 }),
      404,
    ],
    [
      "a refresh by a variable that is not readable",
      ann.ask("POST", `/w/acme/oauth/refresh_token/${id}`, { path }),
      404,
    ],
    ["another's disconnect", ann.ask("POST", `/w/acme/oauth/disconnect/${id}`), 403],
    ["another workspace's disconnect", other.ask("POST", `/w/other/oauth/disconnect/${id}`), 404],
    ["no number", admin.ask("POST", "/w/acme/oauth/disconnect/x"), 404],
    [
      "an operator's account",
      operator.ask("POST", "/w/acme/oauth/create_account", { client: "house", expires_in: 1 }),
      403,
    ],
    [
      "an unknown client",
      ann.ask("POST", "/w/acme/oauth/create_account", { client: "nobody", expires_in: 1 }),
      404,
    ],
    [
      "a time that cannot be",
      ann.ask("POST", "/w/acme/oauth/create_account", { client: "house", expires_in: -1 }),
      400,
    ],
    [
      "a refresh of another variable's account",
      admin.ask("POST", "/w/acme/oauth/refresh_token/999", { path }),
      404,
    ],
  ];
  for (const [what, answer, status] of cases) expect([what, (await answer).status]).toEqual([what, status]);
  expect(countRefreshes(t)).toBe(0);
});

test.concurrent("with a workspace and a path the redirect creates a secret and a resource, or nothing", async () => {
  await using t = await startOAuthTest();
  const admin = await t.server.workspace();
  const { browser, end } = await connect(t, admin.token, "?workspace=acme&path=u/admin/house");
  // A link from another site does not reveal who is logged in: the page asks for a click, which does.
  const page = await (await browser.fetch(end.href, { headers: { "sec-fetch-site": "cross-site" } })).text();
  expect(page).toContain("Connect this account of house to workspace acme, as u/admin/house?");
  const fields = Object.fromEntries(
    [...page.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name!, value!]),
  );
  const submit = (way = "acme") =>
    browser.fetch(`${t.server.url}/w/${way}/oauth/callback/house`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" },
      body: new URLSearchParams(fields).toString(),
    });
  const done = await submit();
  expect([done.status, await done.text()]).toEqual([
    200,
    expect.stringContaining("u/admin/house is connected"),
  ]);
  const resource = (await admin.ask("GET", "/w/acme/resources/get/u/admin/house")).json();
  expect(resource).toMatchObject({
    resource_type: "house",
    value: { token: "$var:u/admin/house" },
    is_oauth: true,
  });
  expect(await isTokenAccepted(t, (await readToken(admin.ask, "u/admin/house")).json())).toBe(true);
  expect((await submit()).status).toBe(400);

  for (const [search, status] of [
    ["?workspace=acme&path=u/admin/house", 400],
    ["?workspace=acme&path=u/somebody/else", 200],
  ] as const) {
    const next = await connect(t, admin.token, search);
    const shown = await (await next.browser.fetch(next.end.href)).text();
    Object.assign(fields, { code: next.code, state: next.state });
    expect(shown).toContain("<form");
    const answer = await next.browser.fetch(`${t.server.url}/w/acme/oauth/callback/house`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(fields).toString(),
    });
    expect([search, answer.status]).toEqual([search, status]);
  }
  expect((await t.server.server.app.db.read.select().from(oauthAccounts)).length).toBe(2);
});

test.concurrent("tokens are in plain text in no file, list, audit row or error", async () => {
  await using t = await startOAuthTest();
  const admin = await t.server.workspace();
  const { tokens, path } = await connectAccount(t, admin);
  advanceClock(t, 4000);
  const fresh = (await readToken(admin.ask)).json();
  t.idp.trouble.set("/token", {
    body: JSON.stringify({ access_token: "leaked-access", refresh_token: "leaked-refresh" }),
  });
  advanceClock(t, 4000);
  const failed = await readToken(admin.ask);
  const texts = [
    failed.text,
    (await admin.ask("GET", "/w/acme/variables/list")).text,
    (await admin.ask("GET", "/w/acme/audit/list")).text,
    ...(dialect === "sqlite"
      ? readdirSync(t.server.data_dir, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
      : [JSON.stringify(await t.server.server.app.db.read.select().from(oauthAccounts))]),
  ];
  expect(texts.some((text) => text.includes(path))).toBe(true);
  for (const secret of [tokens.access_token, tokens.refresh_token, fresh, "leaked-", t.client.secret]) {
    expect(texts.filter((text) => text.includes(secret))).toEqual([]);
  }
});

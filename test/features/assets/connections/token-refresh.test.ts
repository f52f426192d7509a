/** Tokens of accounts are refreshed when they are read: once, also with several servers, and after failures. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { eq } from "drizzle-orm";
import { dialect } from "../../../../src/database/kit.ts";
import { oauthAccounts } from "../../../../src/features/assets/account-tables.ts";
import { loadConfig } from "../../../../src/platform/config/config.ts";
import { startServer } from "../../../../src/server/server.ts";
import { deploy, expectOk, until } from "../../../support/harness.ts";
import { type OAuthTest, startOAuthTest } from "../../../support/peers/identity-provider.ts";
import {
  advanceClock,
  connectAccount,
  countRefreshes,
  isTokenAccepted,
  readToken,
} from "./oauth-accounts-setup.ts";

test.concurrent("a token that is about to expire is refreshed when it is read, by any kind of read", async () => {
  await using t = await startOAuthTest();
  const admin = await t.server.workspace();
  const { tokens, id, path } = await connectAccount(t, admin);
  advanceClock(t, 3600 - 61);
  expect((await readToken(admin.ask)).json()).toBe(tokens.access_token);
  advanceClock(t, 2);
  const fresh = (await readToken(admin.ask)).json();
  expect([fresh === tokens.access_token, await isTokenAccepted(t, fresh), countRefreshes(t)]).toEqual([
    false,
    true,
    1,
  ]);
  expect((await readToken(admin.ask)).json()).toBe(fresh);
  expect(countRefreshes(t)).toBe(1);

  advanceClock(t, 7200);
  expect((await admin.ask("GET", "/w/acme/variables/list")).json()).toMatchObject([{ is_expired: true }]);
  const value = { token: `$var:${path}` };
  await expectOk(
    admin.ask("POST", "/w/acme/resources/create", { path: "u/admin/api", value, resource_type: "house" }),
  );
  const resource = await admin.ask("GET", "/w/acme/resources/get_value_interpolated/u/admin/api");
  expect(await isTokenAccepted(t, resource.json().token)).toBe(true);
  // The provider returned another refresh token each time: the newest is used.
  expect(countRefreshes(t)).toBe(2);
  expect((await admin.ask("GET", `/w/acme/variables/get/${path}`)).json()).toMatchObject({
    is_expired: false,
    value: resource.json().token,
  });

  const now = await admin.ask("POST", `/w/acme/oauth/refresh_token/${id}`, { path });
  expect([now.status, now.text, countRefreshes(t)]).toEqual([200, `token of ${path} refreshed`, 3]);
  expect((await readToken(admin.ask)).json()).not.toBe(resource.json().token);
});

test.concurrent("of twenty jobs that read an expired token at once, one refreshes it", async () => {
  await using t = await startOAuthTest();
  const admin = await t.server.workspace();
  const { tokens, path } = await connectAccount(t, admin);
  await deploy(
    admin.ask,
    "acme",
    "u/admin/reads",
    `export async function main() {
      const { WM_WORKSPACE, WM_TOKEN, BASE_INTERNAL_URL } = process.env;
      const answer = await fetch(BASE_INTERNAL_URL + "/api/w/" + WM_WORKSPACE + "/variables/get_value/${path}", {
        headers: { authorization: "Bearer " + WM_TOKEN } });
      const token = await answer.json();
      return new Bun.CryptoHasher("sha256").update(token).digest("hex");
    }`,
  );
  advanceClock(t, 4000);
  t.idp.trouble.set("/token", { delay_ms: 300 });
  const run = () => admin.ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/reads", {});
  const results = await Promise.all(Array.from({ length: 20 }, run));
  const seen = new Set(results.map(({ text }) => text));
  expect([countRefreshes(t), seen.size]).toEqual([1, 1]);
  const hash = (text: string) => JSON.stringify(new Bun.CryptoHasher("sha256").update(text).digest("hex"));
  expect([...seen]).toEqual([hash((await readToken(admin.ask)).json())]);
  expect([...seen]).not.toEqual([hash(tokens.access_token)]);
}, 60_000);

test.if(dialect === "postgres")(
  "two servers on one database refresh an account once",
  async () => {
    await using t = await startOAuthTest();
    const admin = await t.server.workspace();
    await connectAccount(t, admin);
    const { config } = t.server.server.app;
    const data_dir = join(t.server.data_dir, "second");
    mkdirSync(data_dir);
    copyFileSync(join(t.server.data_dir, "instance.key"), join(data_dir, "instance.key"));
    const second = await startServer(
      loadConfig({
        port: 0,
        log_level: "fatal",
        blank_children: 0,
        workers: 1,
        data_dir,
        database_url: config.database_url,
      }),
    );
    try {
      advanceClock(t, 4000);
      const { app } = t.server.server;
      Object.assign(second.app, { clock: app.clock });
      t.idp.trouble.set("/token", { delay_ms: 300 });
      const ask = async (url: string) => {
        const answer = await fetch(`${url}/api/w/acme/variables/get_value/u/admin/token`, {
          headers: { authorization: `Bearer ${admin.token}` },
        });
        return [answer.status, await answer.text()];
      };
      const answers = await Promise.all([t.server.url, second.url, t.server.url, second.url].map(ask));
      expect([countRefreshes(t), [...new Set(answers.map(String))]]).toEqual([
        1,
        [expect.stringMatching(/^200,"/)],
      ]);
    } finally {
      await second.stop();
    }
  },
  60_000,
);

test.concurrent("a failed refresh is stored and shown, is not repeated immediately, and cleared by a success", async () => {
  await using t = await startOAuthTest();
  const admin = await t.server.workspace();
  const { tokens, id, path } = await connectAccount(t, admin);
  const list = async () => (await admin.ask("GET", "/w/acme/variables/list")).json()[0];
  const beside = { path, value: { token: `$var:${path}` }, resource_type: "any" };
  await expectOk(admin.ask("POST", "/w/acme/resources/create", beside));
  const resource = async () => (await admin.ask("GET", "/w/acme/resources/list")).json()[0];
  expect(await resource()).toMatchObject({
    account: id,
    is_refreshed: true,
    is_linked: true,
    is_expired: false,
  });
  t.idp.trouble.set("/token", {
    status: 400,
    body: JSON.stringify({ error: "invalid_grant", error_description: "revoked by its owner" }),
  });

  // As long as the token is valid, it is returned.
  advanceClock(t, 3590);
  expect((await readToken(admin.ask)).json()).toBe(tokens.access_token);
  const said =
    "house: the token cannot be refreshed: the provider answered invalid_grant: revoked by its owner";
  expect(await list()).toMatchObject({ refresh_error: said, is_expired: false });

  advanceClock(t, 60);
  const answers = await Promise.all([readToken(admin.ask), readToken(admin.ask), readToken(admin.ask)]);
  expect(answers.map(({ status, text }) => [status, text])).toEqual(
    Array(3).fill([400, `Bad request: ${said}`]),
  );
  for (const shown of [list, resource]) {
    expect(await shown()).toMatchObject({ refresh_error: said, is_expired: true });
  }

  t.idp.trouble.clear();
  // Within ten seconds the cached failure is returned, unless a refresh is requested explicitly.
  const held = await readToken(admin.ask);
  expect([held.status, held.text, countRefreshes(t)]).toEqual([400, `Bad request: ${said}`, 0]);
  await expectOk(admin.ask("POST", `/w/acme/oauth/refresh_token/${id}`, { path }));
  expect(await isTokenAccepted(t, (await readToken(admin.ask)).json())).toBe(true);
  expect(Object.keys(await list())).not.toContain("refresh_error");
});

test.concurrent.each([
  ["is down", undefined, /cannot be reached/],
  ["answers nonsense", { body: "<html>" }, /is invalid/],
  ["answers no token", { body: JSON.stringify({ token_type: "bearer" }) }, /is invalid/],
] as const)(
  "a provider that %s: the reader is told, and the account keeps what it has",
  async (_, trouble, expected) => {
    await using t = await startOAuthTest();
    const admin = await t.server.workspace();
    const { id } = await connectAccount(t, admin);
    const { app } = t.server.server;
    const stored = async () =>
      (await app.db.read.select().from(oauthAccounts).where(eq(oauthAccounts.id, id)))[0]!;
    const before = await stored();
    advanceClock(t, 4000);
    if (trouble) t.idp.trouble.set("/token", trouble);
    else await t.idp.stop();
    const answer = await readToken(admin.ask);
    expect([answer.status, answer.text]).toEqual([503, expect.stringMatching(expected)]);
    const { refresh_error, failed_at, ...rest } = await stored();
    expect([{ ...rest, refresh_error: null, failed_at: null }, refresh_error]).toEqual([
      before,
      expect.stringMatching(expected),
    ]);
  },
);

/** Rejects all writes until the current attempt has failed because of it. */
async function outageOf(t: OAuthTest): Promise<() => Promise<void>> {
  const { data_dir, database_url } = t.server.server.app.config;
  if (dialect === "sqlite") {
    const file = new Database(join(data_dir, "svc.db"));
    file.run("BEGIN IMMEDIATE");
    // The blocked writer waits for five seconds, and all timers with it; then this continues.
    return () =>
      new Promise((resolve) => {
        setTimeout(() => {
          file.close();
          resolve();
        }, 2_000);
      });
  }
  const sql = new SQL({ url: database_url!, max: 2 });
  const held = await sql.reserve();
  await held`BEGIN`;
  await held`SELECT id FROM oauth_accounts FOR UPDATE`;
  return async () => {
    const killed = await until(async () => {
      const waiting = await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE wait_event_type = 'Lock' AND datname = current_database()`;
      return waiting.length > 0 ? waiting : undefined;
    }, "who waits for the row");
    expect(killed.length).toBeGreaterThan(0);
    await held`ROLLBACK`;
    held.release();
    await sql.close();
  };
}

test.concurrent("a token refreshed while the database cannot be written is stored later", async () => {
  await using t = await startOAuthTest();
  const admin = await t.server.workspace();
  const { tokens, id } = await connectAccount(t, admin);
  const { app } = t.server.server;
  advanceClock(t, 4000);
  t.idp.trouble.set("/token", { delay_ms: 500 });
  const answer = readToken(admin.ask);
  await until(async () => {
    const [account] = await app.db.read.select().from(oauthAccounts).where(eq(oauthAccounts.id, id));
    return account!.lease_holder ?? undefined;
  }, "the lease");
  const end = await outageOf(t);
  await end();
  const first = await answer;
  expect([first.status, await isTokenAccepted(t, first.json()), countRefreshes(t)]).toEqual([200, true, 1]);
  expect(first.json()).not.toBe(tokens.access_token);
  advanceClock(t, 4000);
  // The refresh token of the last response is the valid one.
  expect([await isTokenAccepted(t, (await readToken(admin.ask)).json()), countRefreshes(t)]).toEqual([
    true,
    2,
  ]);
}, 60_000);

test.concurrent("a server that waits for another's refresh writes nothing meanwhile", async () => {
  await using t = await startOAuthTest();
  const admin = await t.server.workspace();
  const { id } = await connectAccount(t, admin);
  const { app } = t.server.server;
  advanceClock(t, 4000);
  const lease = { lease_holder: "elsewhere", lease_until: new Date(app.clock().getTime() + 20_000) };
  await app.db.write((tx) => tx.update(oauthAccounts).set(lease).where(eq(oauthAccounts.id, id)));
  let writes = 0;
  const { write } = app.db;
  app.db.write = ((...given: Parameters<typeof write>) => {
    // Servers write heartbeats now and then.
    if (new Error().stack?.includes("refresh-token.ts")) writes++;
    return write.apply(app.db, given);
  }) as typeof write;
  const answers = Array.from({ length: 5 }, () => readToken(admin.ask));
  const started = Date.now();
  await Promise.race([...answers, Bun.sleep(1_500)]);
  app.db.write = write;
  // The reader's audit row is written after that.
  expect([writes, Date.now() - started >= 1_400]).toEqual([0, true]);
  await app.db.write((tx) =>
    tx.update(oauthAccounts).set({ lease_holder: null, lease_until: null }).where(eq(oauthAccounts.id, id)),
  );
  const values = await Promise.all(answers);
  expect(new Set(values.map(({ text }) => text)).size).toBe(1);
  expect(countRefreshes(t)).toBe(1);
}, 60_000);

test.concurrent("the lease of a lost server expires", async () => {
  await using t = await startOAuthTest();
  const admin = await t.server.workspace();
  const { id } = await connectAccount(t, admin);
  const { app } = t.server.server;
  advanceClock(t, 4000);
  const lease_until = new Date(app.clock().getTime() + 300);
  await app.db.write((tx) =>
    tx.update(oauthAccounts).set({ lease_holder: "gone", lease_until }).where(eq(oauthAccounts.id, id)),
  );
  expect(await isTokenAccepted(t, (await readToken(admin.ask)).json())).toBe(true);
  expect(app.clock() >= lease_until).toBe(true);
  expect(countRefreshes(t)).toBe(1);
});

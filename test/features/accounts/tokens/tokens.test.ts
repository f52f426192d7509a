import { describe, expect, test } from "bun:test";
import { eq, like, sql } from "drizzle-orm";
import { tokens } from "../../../../src/features/tenancy/tokens/tables.ts";
import { deploy, expectOk, startTestServer, until } from "../../../support/harness.ts";
import { readStored } from "../../../support/stored.ts";
import { ask, create, server, setUpTokens } from "./tokens-setup.ts";

setUpTokens();

const whoami = (token: string) => server.as(token)("GET", "/users/whoami");

describe("a token", () => {
  test("is taken from the header, the cookie or the query, in this order", async () => {
    const { token } = await server.user("ways");
    const nobody = server.as(undefined);
    const cases: [headers: Record<string, string>, query: string, status: number][] = [
      [{ authorization: `Bearer ${token}` }, "", 200],
      [{ authorization: `bearer ${token}` }, "", 200],
      [{ cookie: `theme=dark; token=${token}` }, "", 200],
      [{}, `?token=${token}`, 200],
      [{ authorization: "Bearer wrong", cookie: `token=${token}` }, `?token=${token}`, 401],
      [{ authorization: `Bearer ${token}`, cookie: "token=wrong" }, "?token=wrong", 200],
      [{ cookie: "token=wrong" }, `?token=${token}`, 401],
      [{ authorization: `Basic ${token}` }, "", 401],
      [{ cookie: "token=%" }, "", 401],
      [{}, "?token=", 401],
      [{}, "", 401],
    ];
    for (const [headers, query, status] of cases) {
      const answer = await nobody("GET", `/users/whoami${query}`, undefined, headers);
      expect([headers, query, answer.status]).toEqual([headers, query, status]);
    }
  });

  test("is shown once, listed by its prefix, and invalid once deleted", async () => {
    const { ask: mine } = await server.user("lists");
    const expiration = new Date(Date.now() + 3_600_000).toISOString();
    const first = await create({}, mine);
    const scopes = ["variables:read"];
    const second = await create({ label: "ci", expiration, scopes, workspace_id: "acme" }, mine);
    expect(first).toMatch(/^[A-Za-z0-9]{32}$/);
    const list = await mine("GET", "/users/tokens/list");
    expect(list.text).not.toContain(first);
    expect(list.json()).toHaveLength(3);
    const listed = list.json().find((each: any) => each.label === "ci");
    expect(listed).toEqual({
      token_prefix: second.slice(0, 10),
      created_at: expect.any(String),
      last_used_at: expect.any(String),
      label: "ci",
      expiration,
      scopes,
      workspace_id: "acme",
      kind: "user",
    });
    expect((await mine("GET", "/users/tokens/list?per_page=2&page=2")).json()).toHaveLength(1);

    expect((await whoami(first)).status).toBe(200);
    const path = `/users/tokens/delete/${first.slice(0, 10)}`;
    expect((await ask("DELETE", path)).status).toBe(404);
    expect((await mine("DELETE", path.slice(0, -1))).status).toBe(400);
    expect((await mine("DELETE", path)).text).toBe("deleted 1 tokens");
    expect((await whoami(first)).status).toBe(401);
    expect((await whoami(second)).status).toBe(200);
    expect((await mine("DELETE", path)).status).toBe(404);
  });

  test("is stored as a hash only", async () => {
    const token = await create({ label: "stored" });
    await whoami(token);
    const stored = await readStored(server);
    expect(stored).toContain(token.slice(0, 10));
    expect(stored).not.toContain(token);
    expect(stored).toContain(new Bun.CryptoHasher("sha256").update(token).digest("hex"));
  });

  test("expires", async () => {
    await using own = await startTestServer();
    const { ask: mine } = await own.user("ann");
    const token = await create({ expiration: new Date(Date.now() + 30_000).toISOString() }, mine);
    const unused = await create({ expiration: new Date(Date.now() + 30_000).toISOString() }, mine);
    const status = async (value = token) => (await own.as(value)("GET", "/users/email")).status;
    expect(await status()).toBe(200);
    Object.assign(own.server.app, { clock: () => new Date(Date.now() + 31_000) });
    expect([await status(), await status(unused)]).toEqual([401, 401]);
  });
});

test("a webhook's token runs its script by any run form, reads its jobs, and is their creator", async () => {
  const scopes = ["jobs:run:scripts:u/admin/hello"];
  const token = await create({ label: "webhook-shop", scopes, workspace_id: "acme" });
  const nobody = server.as(undefined);
  const base = "/w/acme/jobs";
  const sync = await nobody("POST", `${base}/run_wait_result/p/u/admin/hello?token=${token}`, {});
  expect([sync.status, sync.json()]).toEqual([200, "hello"]);
  const id = (await expectOk(nobody("POST", `${base}/run/p/u/admin/hello?token=${token}`, {}))).text;
  const job = await until(async () => {
    const answer = await server.as(token)("GET", `/w/acme/jobs_u/completed/get/${id}`);
    return answer.status === 200 ? answer.json() : undefined;
  });
  // It may be public: it gives access to its own runs, and does not reveal its owner.
  expect(job).toMatchObject({ created_by: "webhook-shop", success: true, permissioned_as: "", email: "" });
  for (const who of ["/users/whoami", "/users/email", "/w/acme/users/whoami", "/users/refresh_token"]) {
    const answer = await server.as(token)("GET", who);
    expect([who, answer.status, answer.text.includes("@")]).toEqual([who, 403, false]);
  }
  expect((await server.as(token)("GET", "/w/other/users/whoami")).status).toBe(401);
  const others = (await expectOk(ask("POST", `${base}/run/p/u/admin/other`, {}))).text;
  for (const read of [`get/${others}`, `get_args/${others}`]) {
    expect([read, (await server.as(token)("GET", `/w/acme/jobs_u/${read}`)).status]).toEqual([read, 404]);
  }
  const maybe = await server.as(token)("GET", `/w/acme/jobs_u/completed/get_result_maybe/${others}`);
  expect(maybe.json()).toMatchObject({ completed: false, result: null });
  expect((await server.as(token)("GET", `${base}_u/getupdate_sse/${others}`)).status).toBe(404);
});

test("super admins can impersonate existing users", async () => {
  const { email } = await server.user("someone");
  const { ask: root } = await server.user("imp_root", { super_admin: true });
  const path = "/users/tokens/impersonate";
  expect((await ask("POST", path, { impersonate_email: email })).status).toBe(403);
  expect((await root("POST", path, { impersonate_email: "no@example.org" })).status).toBe(404);
  expect((await root("POST", path, {})).text).toContain("`impersonate_email`");
  const token = (await expectOk(root("POST", path, { impersonate_email: email }))).text;
  expect((await whoami(token)).json()).toMatchObject({ email, super_admin: false });
  expect((await server.operator("POST", "/users/tokens/create", {})).status).toBe(404);
});

test("the list leaves out tokens of jobs on request", async () => {
  const { ask: mine } = await server.user("ephemeral");
  for (const label of ["ephemeral-script", "ephemeral-script-end-user-x", "ephemeral", ""]) {
    await create({ label }, mine);
  }
  const labels = async (query: string) =>
    (await mine("GET", `/users/tokens/list${query}`)).json().map((row: any) => row.label);
  expect((await labels("")).length).toBe(5);
  expect((await labels("?exclude_ephemeral=true")).sort()).toEqual(["", "ephemeral", null]);
  expect(await labels("?exclude_ephemeral=true&per_page=2&page=2")).toHaveLength(1);
});

test("all tokens with the same prefix are deleted together, and counted", async () => {
  const { email, ask: mine } = await server.user("twins");
  const { server: running } = server;
  const { tokens } = await import("../../../../src/features/tenancy/tokens/tables.ts");
  const { issueToken } = await import("../../../../src/features/tenancy/tokens/service.ts");
  const values = await running.app.db.write(async (tx) => {
    const made = [
      await issueToken(running.app, tx, { email, kind: "user" }),
      await issueToken(running.app, tx, { email, kind: "user" }),
    ];
    for (const value of made) {
      const hash = new Bun.CryptoHasher("sha256").update(value).digest("hex");
      await tx.update(tokens).set({ prefix: "twintwin00" }).where(eq(tokens.hash, hash));
    }
    return made;
  });
  for (const value of values) expect((await whoami(value)).status).toBe(200);
  expect((await mine("DELETE", "/users/tokens/delete/twintwin00")).text).toBe("deleted 2 tokens");
  for (const value of values) expect((await whoami(value)).status).toBe(401);
});

test("the last use of a token is stored by the next flush", async () => {
  await using own = await startTestServer();
  const { token, ask: mine } = await own.user("uses");
  const before = Date.now();
  Object.assign(own.server.app, { clock: () => new Date(before + 3_600_000) });
  await expectOk(mine("GET", "/users/whoami"));
  const { flushTokenUses } = await import("../../../../src/features/tenancy/tokens/service.ts");
  await flushTokenUses(own.server.app);
  const [row] = (await mine("GET", "/users/tokens/list")).json();
  expect(row.token_prefix).toBe(token.slice(0, 10));
  expect(Date.parse(row.last_used_at)).toBe(before + 3_600_000);
});

test("uses that could not be stored are stored by the next flush", async () => {
  await using own = await startTestServer();
  const { app } = own.server;
  const { ask: mine } = await own.user("uses");
  const { flushTokenUses } = await import("../../../../src/features/tenancy/tokens/service.ts");
  const made = Array.from({ length: 600 }, (_, n) =>
    expectOk(mine("POST", "/users/tokens/create", { label: `t${n}` })),
  );
  const values = (await Promise.all(made)).map(({ text }) => text);
  const at = Date.now() + 3_600_000;
  Object.assign(app, { clock: () => new Date(at) });
  for (const value of values) await expectOk(own.as(value)("GET", "/users/whoami"));
  const says = (text: string) => app.db.write((tx) => tx.rows(sql.raw(text)));
  await says("ALTER TABLE tokens RENAME TO hidden");
  await expect(flushTokenUses(app)).rejects.toThrow();
  await says("ALTER TABLE hidden RENAME TO tokens");
  await flushTokenUses(app);
  const rows = await app.db.read.select().from(tokens).where(like(tokens.label, "t%"));
  expect(rows.map(({ last_used_at }) => last_used_at!.getTime())).toEqual(values.map(() => at));
});

describe("the tokens of a runnable", () => {
  test("are those whose scopes name it", async () => {
    const { ask: other } = await server.member("acme", "giver", "admin");
    const value = { modules: [{ id: "a", value: { type: "identity" } }] };
    await expectOk(ask("POST", "/w/acme/flows/create", { path: "u/admin/named", summary: "", value }));
    await deploy(ask, "acme", "u/admin/named", "export const main = () => 1");
    const made = async (scope: string, workspace_id: string, by = ask) =>
      (await create({ label: "n", scopes: [scope], workspace_id }, by)).slice(0, 10);
    const script = await made("jobs:run:scripts:u/admin/named", "acme", other);
    const old = await made("run:script/u/admin/named", "acme");
    const several = await made("jobs:run:scripts:u/admin/x,u/admin/named", "acme");
    const flow = await made("jobs:run:flows:u/admin/named", "acme");
    await made("jobs:run:scripts:u/admin/named", "other");
    await made("jobs:run:scripts:u/admin/named_too", "acme");
    await made("scripts:read:u/admin/named", "acme");
    const of = async (kind: string) =>
      (await expectOk(ask("GET", `/w/acme/${kind}/list_tokens/u/admin/named`))).json();
    const scripts = await of("scripts");
    expect(scripts.map((row: any) => row.token_prefix).sort()).toEqual([script, old, several].sort());
    expect(scripts.find((row: any) => row.token_prefix === script).email).toBe("giver@example.org");
    expect((await of("flows")).map((row: any) => row.token_prefix)).toEqual([flow]);
  });

  test("are listed for users who may read it", async () => {
    const { ask: stranger } = await server.member("acme", "reader");
    const path = "/w/acme/scripts/list_tokens";
    expect((await stranger("GET", `${path}/u/admin/hello`)).status).toBe(404);
    expect((await ask("GET", `${path}/u/admin/none`)).status).toBe(404);
    expect((await ask("GET", `${path}/u/admin/hello`)).json()).toEqual(expect.any(Array));
  });
});

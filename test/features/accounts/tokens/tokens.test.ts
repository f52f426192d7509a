import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq, like, sql } from "drizzle-orm";
import { tokens } from "../../../../src/features/tenancy/tokens/tables.ts";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";
import { readStored } from "../../../support/stored.ts";

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
  await expectOk(
    server.operator("POST", "/settings/global/custom_tags", { value: ["red", "blue", "green"] }),
  );
  const others = { id: "other", name: "Other", owner: "admin_acme@example.org" };
  await expectOk(server.operator("POST", "/workspaces/create", others));
  await Promise.all(
    ["hello", "other"].map((name) =>
      deploy(ask, "acme", `u/admin/${name}`, `export const main = () => "${name}"`),
    ),
  );
});
afterAll(() => server.stop());

const create = async (body: object, from = ask) =>
  (await expectOk(from("POST", "/users/tokens/create", body))).text;
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

test("a workspace token is valid there only, and creates only such tokens", async () => {
  const { ask: root } = await server.user("bound_root", { super_admin: true });
  const token = await create({ workspace_id: "acme" }, root);
  const bound = server.as(token);
  const cases: [method: string, path: string, body: unknown, status: number][] = [
    ["GET", "/w/acme/users/whoami", undefined, 200],
    ["GET", "/users/whoami", undefined, 200],
    ["GET", "/w/other/users/whoami", undefined, 401],
    ["POST", "/users/tokens/create", { workspace_id: "other" }, 403],
    ["POST", "/users/create", { email: "x@example.org", password: "x-password", super_admin: true }, 403],
    ["POST", "/users/tokens/impersonate", { impersonate_email: "admin_acme@example.org" }, 403],
    ["GET", "/users/tokens/list", undefined, 403],
    ["DELETE", "/users/tokens/delete/0123456789", undefined, 403],
    ["POST", "/users/setpassword", { password: "new-password" }, 403],
    ["POST", "/workspaces/create", { id: "bound-made", name: "x" }, 403],
    ["GET", "/workspaces/list", undefined, 403],
    ["GET", "/jobs/db_clock", undefined, 200],
  ];
  for (const [method, path, body, status] of cases) {
    expect([path, (await bound(method, path, body)).status]).toEqual([path, status]);
  }
  const heir = server.as(await create({}, bound));
  expect((await heir("GET", "/w/acme/users/whoami")).status).toBe(200);
  expect((await heir("GET", "/w/other/users/whoami")).status).toBe(401);
});

const requests: Record<string, [method: string, path: string, body?: unknown]> = {
  "run hello": ["POST", "/w/acme/jobs/run_wait_result/p/u/admin/hello", {}],
  "run other": ["POST", "/w/acme/jobs/run_wait_result/p/u/admin/other", {}],
  preview: [
    "POST",
    "/w/acme/jobs/run/preview",
    { content: "export const main = () => 1", language: "bun", args: {} },
  ],
  "list jobs": ["GET", "/w/acme/jobs/list"],
  "read scripts": ["GET", "/w/acme/scripts/get/p/u/admin/hello"],
  "read variables": ["GET", "/w/acme/variables/list"],
  "read hello's": ["GET", "/w/acme/variables/exists/u/admin/hello"],
  "encrypt variables": ["POST", "/w/acme/variables/encrypt", '"x"'],
  whoami: ["GET", "/w/acme/users/whoami"],
};

test.each([
  [["jobs:run:scripts:u/admin/hello"], ["run hello"]],
  [["run:script/u/admin/hello"], ["run hello"]],
  [["jobs:run:scripts:u/admin/*"], ["run hello", "run other"]],
  [["jobs:run:scripts:u/adm/*"], []],
  [["jobs:run:flows"], []],
  [["jobs:runscript"], ["run hello", "run other"]],
  [["jobs:run"], ["run hello", "run other", "preview"]],
  [["jobs:read"], ["list jobs"]],
  [["jobs:listjobs"], ["list jobs"]],
  [["scripts:write:u/admin/hello"], ["read scripts"]],
  [["variables:read"], ["read variables", "read hello's"]],
  [["variables:read:u/admin/hello,f/x/*"], ["read hello's"]],
  [["variables:write"], ["read variables", "read hello's", "encrypt variables"]],
  [
    ["variables:read", "jobs:read"],
    ["list jobs", "read variables", "read hello's"],
  ],
  [[], Object.keys(requests)],
])("the scopes %p allow %p and nothing else", async (scopes, allowed) => {
  const token = await create({ scopes });
  const reached: string[] = [];
  for (const [name, [method, path, body]] of Object.entries(requests)) {
    const answer = await server.as(token)(method, path, body);
    if (answer.status < 300) reached.push(name);
    else expect([name, answer.status]).toEqual([name, 403]);
  }
  // What runs one thing alone may be public: it does not tell whose it is.
  const isWebhook =
    scopes.length === 1 && scopes[0]!.endsWith("u/admin/hello") && scopes[0]!.includes("run:");
  const expected = new Set([...allowed, ...(isWebhook ? [] : ["whoami"])]);
  expect(reached).toEqual(Object.keys(requests).filter((name) => expected.has(name)));
});

test.each([
  ["a scope that is none", { scopes: ["everything"] }, 400, '"everything" is not a scope'],
  ["a scope of no runnable kind", { scopes: ["jobs:run:apps:u/a/b"] }, 400, "scripts or flows"],
  ["an expiration gone by", { expiration: "2020-01-01T00:00:00Z" }, 400, "`expiration`"],
  ["an expiration that is not a time", { expiration: "soon" }, 400, "`expiration`"],
  ["scopes that are not a list", { scopes: "jobs:run" }, 400, "`scopes`"],
  ["a label that is a number", { label: 1 }, 400, "`label`"],
  ["an unknown workspace", { workspace_id: "nowhere" }, 404, "nowhere"],
  ["a webhook's label and no scope", { label: "webhook-x", workspace_id: "acme" }, 400, "webhook token"],
  [
    "a webhook's label and no workspace",
    { label: "webhook-x", scopes: ["run:script/u/a/b"] },
    400,
    "webhook",
  ],
  ["JSON that is none", "{", 400, "not JSON"],
])("a token with %s is refused with the reason", async (_, body, status, message) => {
  const answer = await ask("POST", "/users/tokens/create", body);
  expect(answer.status).toBe(status);
  expect(answer.text).toContain(message);
});

test.each([
  ["variables", { value: "1", is_secret: false, description: "" }],
  ["resources", { value: 1, resource_type: "any" }],
  ["flows", { summary: "", value: { modules: [] } }],
])("a token for one path cannot move %s to another", async (kind, rest) => {
  const [from, to] = ["u/admin/scoped_here", "u/admin/scoped_there"];
  await ask("POST", `/w/acme/${kind}/create`, { path: from, ...rest });
  const narrow = server.as(await create({ scopes: [`${kind}:write:${from}`] }));
  const move = (path: string, by = narrow) => by("POST", `/w/acme/${kind}/update/${from}`, { ...rest, path });
  expect((await move(from)).status).toBe(200);
  const refused = await move(to);
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining(`${kind}:write:${to}`)]);
  const wide = server.as(await create({ scopes: [`${kind}:write:${from},${to}`] }));
  expect((await move(to, wide)).status).toBe(200);
});

test("a restricted token creates none with more scopes, not even for others", async () => {
  const { ask: root, email } = await server.user("narrow_root", { super_admin: true });
  const narrow = server.as(
    await create({ scopes: ["users:write", "variables:read:u/admin/*", "jobs:run:flows"] }, root),
  );
  const wider = [undefined, [], ["variables:read"], ["variables:write:u/admin/*"], ["jobs:run"]];
  for (const scopes of wider) {
    const answer = await narrow("POST", "/users/tokens/create", { scopes });
    expect([scopes, answer.status]).toEqual([scopes, 403]);
    const other = { scopes, impersonate_email: email };
    expect((await narrow("POST", "/users/tokens/impersonate", other)).status).toBe(403);
  }
  await create({ scopes: ["variables:read:u/admin/a"] }, narrow);
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
  // It may be public: it tells of its runs, and nothing of whose it is.
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

test("scopes are of nouns that there are; those of tokens there are already are left alone", async () => {
  const refused = await ask("POST", "/users/tokens/create", { scopes: ["variable:read"] });
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("there are no variable")]);
  expect(refused.text).toContain("tokens/list/scopes");
  await create({ scopes: ["kafka_triggers:read", "indexer:read"] });
});

test("a restricted token opens no session", async () => {
  const token = await create({ scopes: ["users:write"] });
  expect((await server.as(token)("GET", "/users/refresh_token")).status).toBe(403);
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

test("a token with tags runs and reads only jobs with these tags", async () => {
  const run = async (by: Ask, tag: string) => by("POST", `/w/acme/jobs/run/p/u/admin/hello?tag=${tag}`, {});
  const theirs = (await expectOk(run(ask, "bun"))).text;
  const narrow = server.as(await create({ scopes: ["if_jobs:filter_tags:red,blue"] }));
  const refused = await run(narrow, "bun");
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("red or blue")]);
  expect((await narrow("POST", "/w/acme/jobs/run/p/u/admin/hello", {})).status).toBe(403);
  const own = (await expectOk(run(narrow, "red"))).text;
  const list = (await narrow("GET", "/w/acme/jobs/list?per_page=100")).json();
  expect(list.map(({ id }: any) => id)).toEqual([own]);
  expect((await narrow("GET", `/w/acme/jobs_u/get/${own}`)).status).toBe(200);
  expect((await narrow("GET", `/w/acme/jobs_u/get/${theirs}`)).status).toBe(404);
  expect((await narrow("GET", "/w/acme/variables/list")).status).toBe(200);
  for (const [scopes, status] of [
    [undefined, 403],
    [["if_jobs:filter_tags:green"], 403],
    [["if_jobs:filter_tags:red"], 201],
  ] as const) {
    expect((await narrow("POST", "/users/tokens/create", { scopes })).status).toBe(status);
  }
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

  test("are listed for who may read it", async () => {
    const { ask: stranger } = await server.member("acme", "reader");
    const path = "/w/acme/scripts/list_tokens";
    expect((await stranger("GET", `${path}/u/admin/hello`)).status).toBe(404);
    expect((await ask("GET", `${path}/u/admin/none`)).status).toBe(404);
    expect((await ask("GET", `${path}/u/admin/hello`)).json()).toEqual(expect.any(Array));
  });
});

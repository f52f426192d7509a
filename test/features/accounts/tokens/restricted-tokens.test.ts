/** Tokens that are restricted to a workspace, to scopes or to tags. */
import { expect, test } from "bun:test";
import { type Ask, expectOk } from "../../../support/harness.ts";
import { ask, create, server, setUpTokens } from "./tokens-setup.ts";

setUpTokens();

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
  // A token that only runs one item may be public: it does not reveal its owner.
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

test("scopes must name existing domains; those of existing tokens are not changed", async () => {
  const refused = await ask("POST", "/users/tokens/create", { scopes: ["variable:read"] });
  expect([refused.status, refused.text]).toEqual([
    400,
    expect.stringContaining("there is no domain variable"),
  ]);
  expect(refused.text).toContain("tokens/list/scopes");
  await create({ scopes: ["kafka_triggers:read", "indexer:read"] });
});

test("a restricted token opens no session", async () => {
  const token = await create({ scopes: ["users:write"] });
  expect((await server.as(token)("GET", "/users/refresh_token")).status).toBe(403);
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
  expect((await narrow("POST", "/w/acme/jobs/delete", [theirs])).text).toBe("removed 0 jobs");
  expect((await ask("GET", `/w/acme/jobs_u/get/${theirs}`)).status).toBe(200);
  for (const [scopes, status] of [
    [undefined, 403],
    [["if_jobs:filter_tags:green"], 403],
    [["if_jobs:filter_tags:red"], 201],
  ] as const) {
    expect((await narrow("POST", "/users/tokens/create", { scopes })).status).toBe(status);
  }
});

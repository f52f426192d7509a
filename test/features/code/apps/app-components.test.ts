/** Running components of an app. */
import { expect, test } from "bun:test";
import { deploy, expectOk } from "../../../support/harness.ts";
import { APP, BUTTON, execute, INLINE, run, share, startShop } from "./app-components-setup.ts";

test("anonymous: callers without a login run what the policy allows, with its author's rights", async () => {
  const { server, admin } = await startShop("anonymous");
  await using _ = server;
  const nobody = server.as(undefined);
  const job = await run(nobody, { ...BUTTON, args: { name: "ann", greeting: "overridden" } });
  expect(job).toMatchObject({
    success: true,
    result: { greeting: "hello", name: "ann", as: "admin" },
    created_by: "anonymous",
    // Only members see who that is.
    permissioned_as: "",
    email: "",
    script_path: "u/admin/echo",
  });
  expect(job.args).toEqual({ greeting: "hello", name: "ann" });
  const rows = (await admin.ask("GET", "/w/acme/audit/list?operation=jobs.run")).json();
  expect(rows[0]).toMatchObject({ operation: "jobs.run", username: "anonymous", resource: "u/admin/echo" });
  // Members are named.
  const ann = await server.member("acme", "ann");
  expect(await run(ann.ask, { ...BUTTON, args: {} })).toMatchObject({
    created_by: "ann",
    permissioned_as: "u/admin",
  });
});

test("publisher: members who may read the app run it with the rights of its deployer", async () => {
  const { server } = await startShop("publisher");
  await using _ = server;
  const ann = await server.member("acme", "ann");
  const olga = await server.member("acme", "olga", "operator");
  expect((await execute(server.as(undefined), { ...BUTTON, args: {} })).status).toBe(401);
  expect((await execute(ann.ask, { ...BUTTON, args: {} })).status).toBe(404);
  await share(server, { "g/all": false });
  for (const [{ ask }, name] of [
    [ann, "ann"],
    [olga, "olga"],
  ] as const) {
    const job = await run(ask, { ...BUTTON, args: {} });
    expect(job).toMatchObject({ result: { as: "admin" }, created_by: name, permissioned_as: "u/admin" });
  }
  expect((await execute((await server.workspace("other")).ask, { ...BUTTON, args: {} })).status).toBe(401);
});

test("viewer: everybody runs it with their own rights", async () => {
  const { server, admin } = await startShop("viewer");
  await using _ = server;
  const ann = await server.member("acme", "ann");
  await share(server, { "g/all": false });
  expect((await execute(server.as(undefined), { ...BUTTON, args: {} })).status).toBe(401);
  const refused = await execute(ann.ask, { ...BUTTON, args: {} });
  expect([refused.status, refused.text]).toEqual([404, "Not found: script u/admin/echo in workspace acme"]);
  expect(await run(admin.ask, { ...BUTTON, args: {} })).toMatchObject({ result: { as: "admin" } });
  expect(
    await run(ann.ask, {
      component: "inline",
      raw_code: { content: INLINE, language: "bun" },
      args: { x: 2 },
    }),
  ).toMatchObject({
    result: [4, "ann"],
    permissioned_as: "u/ann",
  });
});

test("only what the policy allows runs, with inputs that it allows", async () => {
  const { server, admin } = await startShop("anonymous");
  await using _ = server;
  await deploy(admin.ask, "acme", "u/admin/secret", "export function main() { return 1 }");
  await expectOk(
    admin.ask("POST", "/w/acme/resources/create", {
      path: "u/admin/db",
      value: { password: "p" },
      resource_type: "any",
    }),
  );
  const nobody = server.as(undefined);
  const raw = (content: string, more: object = {}) => ({ raw_code: { content, language: "bun", ...more } });
  const echo = "script/u/admin/echo";
  const cases: [what: string, body: object, status: number, said: string][] = [
    [
      "another script",
      { component: "button", path: "script/u/admin/secret", args: {} },
      403,
      "does not let component button run",
    ],
    [
      "another component",
      { component: "else", path: echo, args: {} },
      403,
      "does not let component else run",
    ],
    ["a name every object has", { component: "constructor", path: echo, args: {} }, 403, "does not let"],
    [
      "other code",
      { component: "inline", ...raw("export function main() { return process.env }"), args: {} },
      403,
      "does not let",
    ],
    [
      "code that the app does not hold",
      { component: "other", ...raw("export function main() {}"), args: {} },
      403,
      "no inline script",
    ],
    [
      "a script that is gone",
      { component: "gone", path: "script/u/admin/gone", args: {} },
      404,
      "script u/admin/gone",
    ],
    ["nothing", { component: "button", args: {} }, 400, "body field `path`"],
    ["a path of no kind", { component: "button", path: "u/admin/echo", args: {} }, 400, "body field `path`"],
    [
      "a value that is none of those",
      { component: "choice", path: echo, args: { name: "eve" } },
      400,
      "one of the values",
    ],
    [
      "a variable",
      { component: "button", path: echo, args: { name: "$var:u/admin/x" } },
      403,
      "with the app's rights",
    ],
    [
      "a resource",
      { component: "button", path: echo, args: { name: "$res:u/admin/db" } },
      403,
      "with the app's rights",
    ],
    [
      "a resource inside",
      { component: "button", path: echo, args: { name: { a: ["$res:u/admin/db"] } } },
      403,
      "with the app's rights",
    ],
    [
      "the job's token",
      { component: "button", path: echo, args: { name: "$WM_TOKEN" } },
      403,
      "with the app's rights",
    ],
    [
      "a resource that the caller may not read",
      { component: "pick", path: echo, args: { name: "$res:u/admin/db" } },
      403,
      "with the app's rights",
    ],
    [
      "an author's preview",
      { component: "button", path: "script/u/admin/secret", args: {}, force_viewer_static_fields: {} },
      401,
      "log in",
    ],
    [
      "arguments that are not an object",
      { component: "button", path: echo, args: [] },
      400,
      "body field `args`",
    ],
  ];
  for (const [what, body, status, said] of cases) {
    const answer = await execute(nobody, body);
    expect([what, answer.status, answer.text]).toEqual([what, status, expect.stringContaining(said)]);
  }
  expect((await execute(nobody, { ...BUTTON, args: {} }, "u/admin/none")).status).toBe(401);
  expect((await execute(admin.ask, { ...BUTTON, args: {} }, "u/admin/none")).status).toBe(404);
  expect(
    (await admin.ask("GET", "/w/acme/jobs/list?has_null_parent=true&job_kinds=script,preview")).json(),
  ).toEqual([]);

  const chosen = await run(nobody, { component: "choice", path: echo, args: { name: { deep: [1] } } });
  expect(chosen.result).toMatchObject({ name: { deep: [1] } });
  expect((await run(nobody, { ...BUTTON, args: { name: "costs $5, or $var: nothing" } })).result.name).toBe(
    "costs $5, or $var: nothing",
  );
  // An argument that a static input replaces is ignored.
  expect((await run(nobody, { ...BUTTON, args: { greeting: "$var:u/admin/x" } })).result.greeting).toBe(
    "hello",
  );
  const pick = await run(admin.ask, { component: "pick", path: echo, args: { name: "$res:u/admin/db" } });
  expect(pick.args).toEqual({ name: "$res:u/admin/db" });
});

test("an inline script runs as stored in the app, whatever language and lock the caller sends", async () => {
  const { server } = await startShop("anonymous");
  await using _ = server;
  const nobody = server.as(undefined);
  const raw_code = { content: INLINE, language: "bash", lock: "not a lock" };
  expect(await run(nobody, { component: "inline", raw_code, args: { x: 21 } })).toMatchObject({
    success: true,
    result: [42, "admin"],
    language: "bun",
    script_path: APP,
  });
});

test("policies of the older form contain static inputs by runnable", async () => {
  const { server } = await startShop("anonymous", {
    triggerables_v2: null,
    triggerables: {
      "script/u/admin/echo": { greeting: "old" },
      "button:script/u/admin/echo": { greeting: "older" },
    },
  });
  await using _ = server;
  const nobody = server.as(undefined);
  const greetings = [];
  for (const component of ["any", "button"]) {
    const job = await run(nobody, { component, path: "script/u/admin/echo", args: { greeting: "mine" } });
    greetings.push(job.result.greeting);
  }
  expect(greetings).toEqual(["old", "older"]);
  expect((await execute(nobody, { component: "any", path: "flow/u/admin/echo", args: {} })).status).toBe(403);
});

test("flows run as components too", async () => {
  const { server, admin } = await startShop("anonymous", {
    triggerables_v2: { "button:flow/u/admin/twice": { static_inputs: { a: 1 } } },
  });
  await using _ = server;
  const value = { modules: [{ id: "a", value: { type: "identity" } }] };
  await expectOk(admin.ask("POST", "/w/acme/flows/create", { path: "u/admin/twice", summary: "", value }));
  const body = { component: "button", path: "flow/u/admin/twice", args: { a: 2, b: 3 } };
  const job = await run(server.as(undefined), body, admin.ask);
  expect(job).toMatchObject({
    success: true,
    result: { a: 1, b: 3 },
    created_by: "anonymous",
    permissioned_as: "u/admin",
  });
});

test("an app whose publisher has left the workspace runs nothing", async () => {
  const { server, admin } = await startShop("viewer");
  await using _ = server;
  const sam = await server.member("acme", "sam", "admin");
  const { policy } = (await admin.ask("GET", `/w/acme/apps/get/p/${APP}`)).json();
  await expectOk(
    sam.ask("POST", `/w/acme/apps/update/${APP}`, { policy: { ...policy, execution_mode: "anonymous" } }),
  );
  const nobody = server.as(undefined);
  expect((await run(nobody, { ...BUTTON, args: {} }, admin.ask)).permissioned_as).toBe("u/sam");
  const { workspaceMembers } = await import("../../../../src/features/tenancy/workspaces/tables.ts");
  const { invalidateMembers } = await import("../../../../src/features/tenancy/people/members.ts");
  const { eq } = await import("drizzle-orm");
  await server.server.app.db.write(async (tx) => {
    await tx.delete(workspaceMembers).where(eq(workspaceMembers.username, "sam"));
    tx.afterCommit(() => invalidateMembers(server.server.app));
  });
  const refused = await execute(nobody, { ...BUTTON, args: {} });
  expect([refused.status, refused.text]).toEqual([
    400,
    expect.stringContaining("the user who deployed the app is no longer an active member"),
  ]);
});

test("authors test undeployed apps with their own rights; operators may not", async () => {
  const { server } = await startShop("publisher");
  await using _ = server;
  const ann = await server.member("acme", "ann");
  const olga = await server.member("acme", "olga", "operator");
  const tries = (content: string) => ({
    component: "new",
    raw_code: { content, language: "bun" },
    args: { x: 1 },
    force_viewer_static_fields: { x: 5 },
  });
  const job = await run(ann.ask, tries(INLINE));
  expect(job).toMatchObject({ result: [10, "ann"], permissioned_as: "u/ann" });
  expect((await execute(olga.ask, tries(INLINE))).status).toBe(403);
  const broken = await execute(ann.ask, tries("export function main( {"));
  expect(broken.status).toBe(400);
  const forbidden = { ...BUTTON, args: {}, force_viewer_static_fields: {} };
  expect((await execute(ann.ask, forbidden)).status).toBe(404);
});

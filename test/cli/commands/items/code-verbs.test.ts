/** Commands on existing scripts, flows, schedules and triggers, and reruns of jobs. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";
import { type CliEnvironment, createCliEnvironment } from "../../program.ts";

let server: TestServer;
let place: CliEnvironment;
let token: string;

beforeAll(async () => {
  server = await startTestServer();
  ({ token } = await server.workspace());
  place = createCliEnvironment();
  await place.file("hello.ts", "export const main = (name: string) => `Hello, ${name}!`;");
  const step = { id: "a", value: { type: "script", path: "u/admin/hello", input_transforms: {} } };
  await place.file("order.json", JSON.stringify({ summary: "Orders", value: { modules: [step] } }));
});
afterAll(async () => {
  place[Symbol.dispose]();
  await server.stop();
});

/** Runs a command that must succeed. @returns what it prints */
async function svc(...words: string[]): Promise<string> {
  const { code, out, err } = await place.svc(words, { env: { SVC_URL: server.url, SVC_TOKEN: token } });
  expect({ words, code, err }).toEqual({ words, code: 0, err });
  return out;
}

test("a script and a flow show their history, are moved and deleted", async () => {
  await svc("script", "push", "hello.ts", "u/admin/hello", "--validate", "--message", "first");
  await svc("flow", "push", "order.json", "u/admin/order");
  expect(await svc("script", "history", "u/admin/hello")).toMatch(/^\w+\t20\d\d-\S+Z\tfirst\n$/);
  await svc("script", "rename", "u/admin/hello", "u/admin/greet");
  const moved = JSON.parse(await svc("script", "show", "u/admin/greet", "--json"));
  expect(moved).toMatchObject({ validate: true, content: expect.stringContaining("Hello") });
  expect((await place.svc(["script", "show", "u/admin/hello"])).code).toBeGreaterThan(0);
  await svc("flow", "rename", "u/admin/order", "u/admin/sale");
  expect(JSON.parse(await svc("flow", "show", "u/admin/sale", "--json")).summary).toBe("Orders");
  expect((await svc("flow", "history", "u/admin/sale")).trim()).not.toBe("");
  const unasked = await place.svc(["flow", "delete", "u/admin/sale"], {
    env: { SVC_URL: server.url, SVC_TOKEN: token },
  });
  expect(unasked).toMatchObject({ code: 2, err: expect.stringContaining("--yes is missing") });
  await svc("flow", "delete", "u/admin/sale", "--yes");
  expect(await svc("flow", "list")).toBe("");
  await svc("script", "delete", "u/admin/greet", "--yes");
  await place.file("lib.ts", "export const twice = (n: number) => 2 * n;");
  await svc("script", "push", "lib.ts", "u/admin/lib");
  expect(await svc("script", "list")).toMatch(/^u\/admin\/lib\tbun\t\w+\tto import: has no main\n$/);
  await svc("script", "delete", "u/admin/lib", "--yes");
  // Nothing can be run at the old path.
  expect(await svc("script", "list")).toBe("");
}, 60_000);

test("a script and a flow are archived, listed, and brought back with their history", async () => {
  await svc("script", "push", "hello.ts", "u/admin/kept", "--validate");
  await svc("flow", "push", "order.json", "u/admin/kept_order");
  for (const [noun, path] of [
    ["script", "u/admin/kept"],
    ["flow", "u/admin/kept_order"],
  ] as const) {
    const list = async (...words: string[]) => (await svc(noun, "list", ...words)).includes(`${path}\t`);
    await svc(noun, "archive", path);
    expect([await list(), await list("--archived")]).toEqual([false, true]);
    await svc(noun, "unarchive", path);
    expect([await list(), await list("--archived")]).toEqual([true, false]);
  }
  expect(JSON.parse(await svc("script", "show", "u/admin/kept", "--json")).validate).toBe(true);
  expect(await svc("script", "run", "u/admin/kept", "name=Ann")).toContain("Hello, Ann!");
  const before = await svc("script", "history", "u/admin/kept");
  await svc("script", "unarchive", "u/admin/kept");
  expect(await svc("script", "history", "u/admin/kept")).toBe(before);
  await svc("script", "delete", "u/admin/kept", "--yes");
  await svc("flow", "delete", "u/admin/kept_order", "--yes");
}, 60_000);

test("a job runs again with its arguments, or with changed ones", async () => {
  await svc("script", "push", "hello.ts", "u/admin/again");
  const id = (await svc("run", "u/admin/again", "name=Ann", "--async")).trim();
  await svc("job", "result", id, "--wait");
  expect(await svc("job", "rerun", id)).toContain("Hello, Ann!");
  expect(await svc("job", "rerun", id, "name=Bob")).toContain("Hello, Bob!");
}, 60_000);

test("schedules and routes are updated; fields that are not given stay", async () => {
  await svc("script", "push", "hello.ts", "u/admin/hello2");
  const data = ["-d", '{"name":"night"}'];
  await svc(
    "schedule",
    "create",
    "u/admin/n",
    "0 3 * * *",
    "--run",
    "u/admin/hello2",
    "--summary",
    "Nightly",
    ...data,
  );
  await svc("schedule", "update", "u/admin/n", "--cron", "0 0 4 * * *", "--timezone", "UTC");
  expect(JSON.parse(await svc("schedule", "show", "u/admin/n", "--json"))).toMatchObject({
    schedule: "0 0 4 * * *",
    timezone: "UTC",
    summary: "Nightly",
    args: { name: "night" },
    enabled: true,
    script_path: "u/admin/hello2",
  });
  const route = ["hello/:name", "u/admin/r", "--run", "u/admin/hello2", "--method", "get", "--public"];
  await svc("trigger", "http", "create", ...route, "--below-workspace");
  await svc("trigger", "http", "update", "u/admin/r", "--route", "hi/:name", "--summary", "Greets");
  expect(JSON.parse(await svc("trigger", "show", "u/admin/r", "--json"))).toMatchObject({
    route_path: "hi/:name",
    http_method: "get",
    authentication_method: "none",
    script_path: "u/admin/hello2",
    summary: "Greets",
    enabled: true,
  });
  const nothing = await place.svc(["schedule", "update", "u/admin/n"]);
  expect(nothing).toMatchObject({ code: 2, err: expect.stringContaining("no change is given") });
}, 60_000);

test("a default workspace is chosen; a token logs in, too", async () => {
  const made = { id: "other", name: "Other", owner: "admin_acme@example.org", username: "admin" };
  await expectOk(server.operator("POST", "/workspaces/create", made));
  const env = { SVC_DATA_DIR: "" };
  const login = ["login", server.url.replace("http://", ""), "--with-token"];
  expect(await place.svc(login, { env, stdin: "wrong\n" })).toMatchObject({ code: 3 });
  expect(await place.svc(login, { env, stdin: `${token}\n` })).toMatchObject({ code: 0 });
  const run = (...words: string[]) => place.svc(words, { env });
  expect((await run("whoami")).out).toContain("admin_acme@example.org");
  expect(await run("flow", "list")).toMatchObject({
    code: 2,
    err: expect.stringContaining("there are 2 workspaces: acme, other\nhint: svc workspace use"),
  });
  expect((await run("workspace", "use", "nowhere")).err).toContain("there are acme, other");
  expect(await run("workspace", "use", "other")).toMatchObject({ code: 0 });
  expect(await run("workspace", "use")).toMatchObject({ out: "other\n" });
  expect(await run("flow", "list")).toMatchObject({ code: 0, out: "" });
  // A token that was given by the user remains valid after the logout.
  await run("logout");
  expect((await server.as(token)("GET", "/users/whoami")).status).toBe(200);
}, 60_000);

test("a new script file runs, and an existing file is not overwritten", async () => {
  const { code, out, err } = await place.svc(["script", "new", "greet.py"]);
  expect({ code, out, err }).toEqual({
    code: 0,
    out: "run:    svc run ./greet.py name=Bob\ndeploy: svc script push greet.py u/<user>/<name>\n",
    err: "wrote greet.py\n",
  });
  expect(JSON.parse(await svc("run", "./greet.py", "name=Bob"))).toEqual({ message: "Hello, Bob!" });
  expect(await place.svc(["script", "new", "greet.py"])).toMatchObject({
    code: 2,
    err: expect.stringContaining("greet.py is there already"),
  });
});

test("a mistyped path is answered with a suggestion", async () => {
  await svc("script", "push", "hello.ts", "u/admin/welcome", "--workspace", "acme");
  const { code, err } = await place.svc(["run", "u/admin/welcom", "--workspace", "acme"], {
    env: { SVC_URL: server.url, SVC_TOKEN: token },
  });
  expect({ code, err }).toEqual({
    code: 1,
    err: "error: there is no script u/admin/welcom in workspace acme\nhint: did you mean u/admin/welcome?\n",
  });
});

test("each language's starter script can be deployed", async () => {
  for (const ending of [
    "ts",
    "py",
    "sh",
    "sqlite.sql",
    "pg.sql",
    "my.sql",
    "gql",
    "go",
    "rs",
    "php",
    "rb",
    "ps1",
  ]) {
    await place.svc(["script", "new", `first.${ending}`]);
    await svc("script", "push", `first.${ending}`, `u/admin/first_${ending.replace(".", "_")}`);
  }
  expect(await svc("run", "u/admin/first_sh", "name=Bob")).toContain("Hello, Bob!");
});

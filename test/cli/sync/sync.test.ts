/** A workspace as files: `svc pull` and `svc push`. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../support/harness.ts";
import { type Ended, newPlace, type Place } from "../program.ts";
import { ENTER, sitDown } from "../session.ts";
import { readFiles, WORKSPACE_FILES, writeFiles } from "./sync-files.ts";

const NOTHING = { code: 0, out: "nothing to change\n", err: "" };

/** What each item is made of, by the number of the files above. */
const ITEMS = [
  "folder            data",
  "resource type     c_database",
  "resource type     c_note",
  "dependencies      old-ones.requirements.in",
  "dependencies      package.json",
  "group             ops",
  "variable          f/data/host",
  "resource          f/data/database",
  "resource          f/data/note",
  "script            f/data/hello",
  "script            f/data/shout",
  "flow              f/data/twice",
  "app               f/data/board",
  "raw app           f/data/page",
  "schedule          f/data/nightly",
  "http trigger      f/data/orders",
  "websocket trigger f/data/feed",
];

async function makePeople(place: Place, common: string[]): Promise<void> {
  const owner = "owner@example.org";
  const run = async (words: string[]) =>
    expect(await place.svc([...words, ...common])).toMatchObject({ code: 0 });
  for (const name of ["owner", "ann"]) {
    const email = `${name}@example.org`;
    await run(["user", "create", "--email", email, "--password", "correct-horse", "--username", name]);
  }
  await run(["workspace", "create", "acme", "--name", "Acme", "--owner", owner, "--username", "admin"]);
  await run(["workspace", "add-user", "acme", "ann@example.org", "--username", "ann"]);
}

/** Pushes the folder, and finds no difference then, in either direction, here and in a folder that is filled anew. */
async function goesThere(place: Place, common: string[]): Promise<void> {
  await makePeople(place, common);
  await writeFiles(join(place.folder, "local"), WORKSPACE_FILES);
  const svc = (...words: string[]) => place.svc([...words, "--workspace", "acme", ...common]);
  const pushed = await svc("push", "local", "--yes");
  expect(pushed).toMatchObject({ code: 0, err: expect.stringContaining("17 changes made\n") });
  expect(pushed.out).toBe(
    [...ITEMS.map((item) => `+ ${item}`), "17 changes: 17 to create, 0 to change, 0 to delete\n"].join("\n"),
  );
  for (const direction of ["push", "pull"]) expect(await svc(direction, "local")).toEqual(NOTHING);
  expect((await svc("pull", "other", "--yes")).code).toBe(0);
  for (const direction of ["push", "pull"])
    expect(await svc(direction, "other", "--delete")).toEqual(NOTHING);
  const [local, other] = await Promise.all(
    ["local", "other"].map((name) => readFiles(join(place.folder, name))),
  );
  expect(Object.keys(local!).filter((name) => !(name in other!))).toEqual(["README.md"]);
  expect(other!["f/data/hello.ts"]).toBe(WORKSPACE_FILES["f/data/hello.ts"]!);
  expect(other!["f/data/note.resource.file.md"]).toBe("# A note\n");
  expect((await svc("run", "f/data/twice", "-d", '{"x":3}')).code).toBe(0);
}

describe("a folder is pushed into a workspace, and pulled unchanged", () => {
  test("on the data directory itself", async () => {
    using place = newPlace();
    await goesThere(place, []);
  }, 120_000);

  test("through the socket of its server", async () => {
    using place = newPlace();
    await using _ = await startTestServer({ data_dir: place.data_dir });
    await goesThere(place, []);
  }, 120_000);

  test("over HTTP", async () => {
    using place = newPlace();
    await using server = await startTestServer();
    const { token } = await server.user("operator", { super_admin: true });
    await goesThere(place, ["--url", server.url, "--token", token]);
  }, 120_000);
});

let server: TestServer;
let ask: Ask;
let token: string;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask, token } = await server.workspace());
  await expectOk(server.operator("POST", "/settings/global/root_route_workspaces", { value: ["acme"] }));
  await server.member("acme", "ann");
});
afterAll(() => server.stop());

const get = async (path: string) => (await expectOk(ask("GET", `/w/acme${path}`))).json();
const post = (path: string, body: object) => expectOk(ask("POST", `/w/acme${path}`, body));

const svc = (place: Place, ...words: string[]): Promise<Ended> =>
  place.svc([...words, "--workspace", "acme", "--url", server.url, "--token", token]);

async function edit(place: Place, name: string, from: string, to: string): Promise<void> {
  const file = Bun.file(join(place.folder, name));
  const before = await file.text();
  expect(before).toContain(from);
  await file.write(before.replace(from, to));
}

const start = async (place: Place) => {
  await writeFiles(place.folder, WORKSPACE_FILES);
  expect(await svc(place, "push", "--yes", "--delete")).toMatchObject({ code: 0 });
};

test("local changes are applied on the server, and nothing else", async () => {
  using place = newPlace();
  await start(place);
  const before = await get("/scripts/get/p/f/data/shout");
  await edit(place, "f/data/hello.ts", "(name: string)", "(who: string, times = 2)");
  await edit(place, "f/data/folder.meta.yaml", "Things", "Other things");
  await edit(place, "f/data/folder.meta.yaml", "[u/admin, u/ann]", "[u/admin]");
  await edit(place, "f/data/host.variable.yaml", "example.org", "example.net");
  await edit(place, "f/data/database.resource.yaml", "5432", "5433");
  await edit(place, "f/data/note.resource.file.md", "A note", "Another note");
  await edit(place, "c_database.resource-type.yaml", "of ours", "of yours");
  await edit(place, "groups/ops.group.yaml", "[u/ann]", "[]");
  await edit(place, "f/data/twice.flow/do_it.inline_script.ts", "2 * x", "3 * x");
  await edit(place, "f/data/board.app/answer.inline_script.ts", "42", "43");
  await edit(place, "f/data/page.raw_app/bundle.js", "hello", "good day");
  await edit(place, "f/data/nightly.schedule.yaml", "enabled: false", "enabled: true");
  await edit(place, "f/data/nightly.schedule.yaml", "f/data/hello", "f/data/shout");
  await edit(place, "f/data/orders.http_trigger.yaml", "route_path", "enabled: false\nroute_path");
  await edit(place, "f/data/orders.http_trigger.yaml", "orders/:id", "orders/:number");
  await edit(place, "f/data/feed.websocket_trigger.yaml", "value: 1", "value: 2");
  const dry = await svc(place, "push", "--dry-run");
  const pushed = await svc(place, "push", "--yes", "--message", "All at once");
  expect(pushed).toMatchObject({ code: 0, err: expect.stringContaining("13 changes made") });
  expect(dry).toEqual({ code: 0, out: pushed.out, err: "" });
  for (const direction of ["push", "pull"]) expect(await svc(place, direction)).toEqual(NOTHING);

  const hello = await get("/scripts/get/p/f/data/hello");
  expect(hello).toMatchObject({ parent_hashes: [expect.any(String)], schema: { required: ["who"] } });
  expect((await readFiles(place.folder))["f/data/hello.script.yaml"]).toContain("times:");
  expect((await get("/scripts/get/p/f/data/shout")).hash).toBe(before.hash);
  expect(await get("/folders/get/data")).toMatchObject({ summary: "Other things", owners: ["u/admin"] });
  expect(await get("/variables/get/f/data/host")).toMatchObject({ value: "example.net" });
  expect((await get("/resources/get/f/data/database")).value.port).toBe(5433);
  expect((await get("/resources/get/f/data/note")).value).toEqual({ content: "# Another note\n" });
  expect((await get("/resources/type/get/c_database")).description).toBe("a database of yours");
  expect((await get("/groups/get/ops")).members).toEqual(["admin"]);
  expect((await get("/flows/get/f/data/twice")).value.modules[0].value.content).toContain("3 * x");
  expect(JSON.stringify(await get("/apps/get/p/f/data/board"))).toContain("=> 43");
  expect(await get("/apps/get/p/f/data/board")).toMatchObject({ execution_mode: "publisher" });
  expect(await get("/schedules/get/f/data/nightly")).toMatchObject({
    enabled: true,
    script_path: "f/data/shout",
  });
  expect(await get("/http_triggers/get/f/data/orders")).toMatchObject({
    enabled: false,
    route_path: "orders/:number",
  });
  expect((await get("/websocket_triggers/get/f/data/feed")).filters).toEqual([{ key: "a", value: 2 }]);
}, 60_000);

test("a plan shows the differences in a few lines", async () => {
  using place = newPlace();
  await start(place);
  await edit(place, "f/data/hello.ts", "hello ${name}", "good day, ${name}");
  await edit(place, "f/data/host.variable.yaml", "example.org", "example.net");
  await edit(place, "f/data/database.resource.yaml", "5432", "5433");
  rmSync(join(place.folder, "f/data/nightly.schedule.yaml"));
  await place.file("u/admin/new.ts", "export const main = () => 1\n");
  const { out } = await svc(place, "push", "--dry-run", "--delete");
  expect(out).toBe(`~ variable          f/data/host  value
    - value: example.org
    + value: example.net
~ resource          f/data/database  value
~ script            f/data/hello  content
    - export const main = (name: string) => \`hello \${name}\`;
    + export const main = (name: string) => \`good day, \${name}\`;
+ script            u/admin/new
- schedule          f/data/nightly
5 changes: 1 to create, 3 to change, 1 to delete
`);
  const back = await svc(place, "pull", "--dry-run");
  expect(back.out).toContain("    - value: example.net\n    + value: example.org\n");
  const json = await svc(place, "push", "--dry-run", "--json");
  expect(JSON.parse(json.out)).toEqual({
    applied: false,
    changes: [
      { change: "change", kind: "variable", path: "f/data/host" },
      { change: "change", kind: "resource", path: "f/data/database" },
      { change: "change", kind: "script", path: "f/data/hello" },
      { change: "create", kind: "script", path: "u/admin/new" },
    ],
    left: [{ kind: "schedule", path: "f/data/nightly" }],
  });
}, 60_000);

test("nothing is deleted without --delete", async () => {
  using place = newPlace();
  await start(place);
  for (const name of ["f/data/twice.flow", "f/data/hello.ts", "f/data/hello.script.yaml", "groups"]) {
    rmSync(join(place.folder, name), { recursive: true, force: true });
  }
  const kept = await svc(place, "push", "--yes");
  expect(kept.out).toBe(`3 items on the server only; --delete takes away:
  group             ops
  script            f/data/hello
  flow              f/data/twice
nothing to change
`);
  expect((await get("/flows/get/f/data/twice")).archived).toBe(false);
  expect(await svc(place, "push", "--yes", "--delete")).toMatchObject({
    code: 0,
    err: expect.stringContaining("3 changes made"),
  });
  expect((await get("/flows/get/f/data/twice")).archived).toBe(true);
  expect((await get("/scripts/get/p/f/data/hello")).archived).toBe(true);
  expect(await svc(place, "push", "--delete")).toEqual(NOTHING);

  // And back again: what is archived is taken up.
  await start(place);
  expect((await get("/flows/get/f/data/twice")).archived).toBe(false);
  await post("/scripts/archive/p/f/data/shout", {});
  expect((await svc(place, "pull", "--yes")).out).toContain(
    "1 item in the folder only; --delete takes away:\n  script",
  );
  expect((await svc(place, "pull", "--yes", "--delete")).out).toContain("- script            f/data/shout\n");
  const files = Object.keys(await readFiles(place.folder));
  expect(files.filter((name) => name.includes("shout"))).toEqual([]);
  expect(files).toContain("README.md");
}, 60_000);

test("secrets are left out unless requested", async () => {
  using place = newPlace();
  await start(place);
  const secret = { path: "f/data/password", value: "hunter2-moon", is_secret: true, description: "" };
  await post("/variables/create", secret);
  const file = "f/data/password.variable.yaml";
  expect(await svc(place, "pull", "--yes")).toEqual(NOTHING);
  expect(await svc(place, "push", "--delete", "--yes")).toEqual(NOTHING);

  const sealed = await svc(place, "pull", "--yes", "--secrets", "sealed");
  const text = (await readFiles(place.folder))[file]!;
  expect(text + sealed.out).not.toContain("hunter2");
  expect(await svc(place, "push", "--secrets", "sealed")).toEqual(NOTHING);
  // The file is there, and is not a secret's that anybody asked for.
  expect(await svc(place, "push")).toEqual(NOTHING);
  await post("/variables/update/f/data/password", { value: "another" });
  await svc(place, "push", "--yes", "--secrets", "sealed");
  expect(await get("/variables/get_value/f/data/password")).toBe("hunter2-moon");

  await svc(place, "pull", "--yes", "--secrets", "plain");
  expect((await readFiles(place.folder))[file]).toContain("value: hunter2-moon\n");
  await edit(place, file, "moon", "sun");
  const plain = await svc(place, "push", "--yes", "--secrets", "plain");
  expect(plain.out).toContain("~ variable          f/data/password  value\n1 change:");
  expect(plain.out + plain.err).not.toContain("hunter2");
  expect(await get("/variables/get_value/f/data/password")).toBe("hunter2-sun");
  await expectOk(ask("DELETE", "/w/acme/variables/delete/f/data/password"));
}, 60_000);

test("rejections are reported one by one, and stop nothing else", async () => {
  using place = newPlace();
  await start(place);
  await place.file("f/data/broken.ts", "export const main = (\n");
  await place.file(
    "f/data/wrong.schedule.yaml",
    "schedule: never\ntimezone: UTC\nscript_path: f/data/hello\n",
  );
  await place.file("f/data/right.variable.yaml", "value: yes it is\nis_secret: false\n");
  const { code, err } = await svc(place, "push", "--yes");
  expect(code).toBe(1);
  expect(err).toContain("stored but cannot run: f/data/broken.ts:2:1: syntax error: ");
  expect(err).toContain("schedule f/data/wrong: ");
  expect(err).toContain(
    "error: 1 of 3 changes could not be made; 1 of the 2 changes made cannot run yet\nhint: what was done stays;",
  );
  expect((await get("/variables/get/f/data/right")).value).toBe("yes it is");
  const json = await svc(place, "push", "--yes", "--json");
  expect(JSON.parse(json.out).changes).toEqual([
    expect.objectContaining({ path: "f/data/wrong", error: expect.stringContaining("never") }),
    expect.objectContaining({ path: "f/data/broken", error: expect.stringContaining("syntax error") }),
  ]);
}, 60_000);

test("a generated schema follows the code; an edited one stays", async () => {
  using place = newPlace();
  await start(place);
  await edit(place, "f/data/shout.sh", "echo", "loud=$2\necho");
  await svc(place, "push", "--yes");
  const { schema } = await get("/scripts/get/p/f/data/shout");
  expect(schema.properties).toEqual({ word: { type: "string", description: "by hand" } });
}, 60_000);

test("only selected items are compared", async () => {
  using place = newPlace();
  await start(place);
  await deploy(ask, "acme", "u/admin/other", "export const main = () => 1");
  await post("/variables/update/f/data/host", { value: "elsewhere" });
  const only = await svc(place, "pull", "--dry-run", "--only", "u/admin");
  expect(only.out).toContain("1 change: 1 to create, 0 to change");
  const skipped = await svc(place, "pull", "--dry-run", "--skip", "variables", "groups");
  expect(skipped.out).toContain("1 change: 1 to create, 0 to change");
  await expectOk(ask("POST", "/w/acme/scripts/archive/p/u/admin/other"));
}, 60_000);

test("workspace settings are included on request", async () => {
  using place = newPlace();
  await start(place);
  await svc(place, "pull", "--yes", "--settings");
  await edit(place, "settings.yaml", "error_handler: null", "error_handler: script/f/data/hello");
  await edit(place, "settings.yaml", "webhook: null", "webhook: https://hooks.example.org/in");
  expect(await svc(place, "push")).toEqual(NOTHING);
  const { code, out } = await svc(place, "push", "--yes", "--settings");
  expect({ code, out }).toMatchObject({
    code: 0,
    out: expect.stringContaining("~ settings  error_handler, webhook"),
  });
  expect(await get("/workspaces/get_settings")).toMatchObject({
    error_handler: "script/f/data/hello",
    webhook: "https://hooks.example.org/in",
  });
  expect(await svc(place, "push", "--settings")).toEqual(NOTHING);
  // Newer services have more of them, and a folder need not state all.
  await place.file("settings.yaml", "mood: red\nwebhook: https://hooks.example.org/out\n");
  expect(await svc(place, "push", "--yes", "--settings")).toMatchObject({
    code: 0,
    err: expect.stringContaining("settings: mood is not offered here"),
  });
  expect(await get("/workspaces/get_settings")).toMatchObject({
    error_handler: null,
    webhook: "https://hooks.example.org/out",
  });
}, 60_000);

test("an invalid folder changes nothing, and the file is named", async () => {
  using place = newPlace();
  const cases: [name: string, content: string, error: string][] = [
    ["f/data/a.variable.yaml", "value: [", "f/data/a.variable.yaml is not YAML: "],
    ["f/data/a.variable.yaml", "- 1", "f/data/a.variable.yaml: must be an object"],
    ["f/data/b.script.yaml", "summary: B", "f/data/b.script.yaml: there is no code beside it"],
    [
      "f/data/c.flow/flow.yaml",
      "value: {modules: [{id: a, value: {type: rawscript, language: bun, content: !inline ../../../secret}}]}",
      "f/data/c.flow/flow.yaml, a, `content`: ../../../secret is outside of the flow's folder",
    ],
  ];
  for (const [name, content, error] of cases) {
    await place.file(name, content);
    const { code, err } = await svc(place, "push", "--yes");
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(`error: ${error}`) });
    rmSync(join(place.folder, name));
  }
  expect(await svc(place, "push")).toMatchObject({ code: 2, err: expect.stringContaining("holds nothing") });
});

test("it asks for confirmation; without a terminal it needs --yes", async () => {
  using place = newPlace();
  await start(place);
  await edit(place, "f/data/host.variable.yaml", "example.org", "example.com");
  expect(await svc(place, "push")).toMatchObject({
    code: 2,
    err: expect.stringContaining("--yes is missing"),
  });
  const words = ["push", "--workspace", "acme", "--url", server.url, "--token", token];
  for (const [answer, code, value] of [
    ["n", 130, "example.org"],
    ["y", 0, "example.com"],
  ] as const) {
    using session = sitDown(place, words);
    await session.sees("Apply these changes to workspace acme");
    session.types(`${answer}${ENTER}`);
    expect((await session.ended()).code).toBe(code);
    expect(await get("/variables/get_value/f/data/host")).toBe(value);
  }
}, 60_000);

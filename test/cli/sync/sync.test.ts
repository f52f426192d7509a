/** A workspace as files: `svc pull` and `svc push`. */
import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { deploy, expectOk, startTestServer } from "../../support/harness.ts";
import { type CliEnvironment, createCliEnvironment } from "../program.ts";
import { readFiles, WORKSPACE_FILES, writeFiles } from "./sync-files.ts";
import { ask, edit, get, setUpSync, start, svc } from "./sync-setup.ts";

setUpSync();

const NOTHING = { code: 0, out: "nothing to change\n", err: "" };

/** Items, by the number of files they consist of. */
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
  "kafka trigger     f/data/clicks",
];

async function makePeople(place: CliEnvironment, common: string[]): Promise<void> {
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

/** Pushes the folder, and then finds no difference in either direction, here and in a freshly pulled folder. */
async function goesThere(place: CliEnvironment, common: string[]): Promise<void> {
  await makePeople(place, common);
  await writeFiles(join(place.folder, "local"), WORKSPACE_FILES);
  const svc = (...words: string[]) => place.svc([...words, "--workspace", "acme", ...common]);
  const pushed = await svc("push", "local", "--yes");
  expect(pushed.code).toBe(0);
  expect(pushed.err).toContain("18 changes made\n");
  expect(pushed.err).toContain(
    "warning: kafka trigger f/data/clicks is stored; svc does not run Kafka triggers\n",
  );
  expect(pushed.out).toBe(
    [...ITEMS.map((item) => `+ ${item}`), "18 changes: 18 to create, 0 to change, 0 to delete\n"].join("\n"),
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
    using place = createCliEnvironment();
    await goesThere(place, []);
  }, 120_000);

  test("through the socket of its server", async () => {
    using place = createCliEnvironment();
    await using _ = await startTestServer({ data_dir: place.data_dir });
    await goesThere(place, []);
  }, 120_000);

  test("over HTTP", async () => {
    using place = createCliEnvironment();
    await using server = await startTestServer();
    const { token } = await server.user("operator", { super_admin: true });
    await goesThere(place, ["--url", server.url, "--token", token]);
  }, 120_000);
});

const post = (path: string, body: object) => expectOk(ask("POST", `/w/acme${path}`, body));

test("local changes are applied on the server, and nothing else", async () => {
  using place = createCliEnvironment();
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
  await edit(place, "f/data/clicks.kafka_trigger.yaml", "group_id: ours\n", "");
  await edit(place, "f/data/clicks.kafka_trigger.yaml", "enabled: true", "enabled: false");
  const dry = await svc(place, "push", "--dry-run");
  const pushed = await svc(place, "push", "--yes", "--message", "All at once");
  expect(pushed).toMatchObject({ code: 0, err: expect.stringContaining("14 changes made") });
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
  const clicks = await get("/kafka_triggers/get/f/data/clicks");
  expect(clicks).toMatchObject({ enabled: false, topics: ["clicks"] });
  expect(clicks).not.toHaveProperty("group_id");
}, 60_000);

test("nothing is deleted without --delete", async () => {
  using place = createCliEnvironment();
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

  // And back: archived items are restored.
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
  using place = createCliEnvironment();
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
  // The file exists, and no secret was requested.
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

test("a generated schema follows the code; an edited one stays", async () => {
  using place = createCliEnvironment();
  await start(place);
  await edit(place, "f/data/shout.sh", "echo", "loud=$2\necho");
  await svc(place, "push", "--yes");
  const { schema } = await get("/scripts/get/p/f/data/shout");
  expect(schema.properties).toEqual({ word: { type: "string", description: "by hand" } });
}, 60_000);

test("only selected items are compared", async () => {
  using place = createCliEnvironment();
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
  using place = createCliEnvironment();
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
  // Newer services have more settings, and a folder need not contain all.
  await place.file("settings.yaml", "mood: red\nwebhook: https://hooks.example.org/out\n");
  expect(await svc(place, "push", "--yes", "--settings")).toMatchObject({
    code: 0,
    err: expect.stringContaining("settings: mood is not supported here"),
  });
  expect(await get("/workspaces/get_settings")).toMatchObject({
    error_handler: null,
    webhook: "https://hooks.example.org/out",
  });
}, 60_000);

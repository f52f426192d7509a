/** `svc push` of a folder with problems: valid items are deployed, and the rest is reported. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { planPush } from "../../../cli/sync/plan.ts";
import { getItemKey, type Item } from "../../../cli/sync/read/items.ts";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../support/harness.ts";
import { type CliEnvironment, createCliEnvironment } from "../program.ts";
import { writeFiles } from "./sync-files.ts";

let server: TestServer;
let ask: Ask;
let token: string;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask, token } = await server.workspace());
});
afterAll(() => server.stop());

const svc = (place: CliEnvironment, ...words: string[]) =>
  place.svc([...words, "--url", server.url, "--token", token, "--workspace", "acme"]);
const get = async (path: string) => (await expectOk(ask("GET", `/w/acme${path}`))).json();
const exists = (path: string) => get(`/scripts/exists/p/${path}`);

const TS = "export const main = () => 1;\n";

test("unreadable files and rejected items do not stop the others", async () => {
  using place = createCliEnvironment();
  await writeFiles(place.folder, {
    "f/app_themes/folder.meta.yaml": "summary: Themes of ours\nowners: []\nextra_perms: {}\n",
    "f/data/folder.meta.yaml": "summary: Things\ndisplay_name: Our data\n",
    "f/data/a.variable.yaml": "value: [",
    "f/data/b.script.yaml": "summary: B\n",
    "f/data/bad.ts": "export const main = (\n",
    "f/data/wrong.schedule.yaml": "schedule: never\ntimezone: UTC\nscript_path: f/data/fine\n",
    "f/data/fine.ts": TS,
    "f/data/unlocked.script.yaml": "summary: Unlocked\nlock: '!inline f/data/unlocked.script.lock'\n",
    "f/data/unlocked.ts": TS,
    "f/data/notes.txt": "not ours",
    "f/data/db.main.resource.yaml": "resource_type: c_db\nvalue: {}\n",
    "f/data/fine.script.12.nextcloud_native_trigger.yaml": "script_path: f/data/fine\nis_flow: false\n",
    "f/data/fast.go": "package inner\n",
    "f/data/play.playbook.yml": "- hosts: all\n",
  });
  const { code, out, err } = await svc(place, "push", "--yes");
  expect(code).toBe(1);
  expect(out).toContain("1 file not deployed, as no item is made of them:\n  f/data/notes.txt");
  expect(out).toContain(
    "the file of another branch counts (specificItems in wmill.yaml; --branch chooses one):\n  f/data/db.main.resource.yaml",
  );
  expect(out).toContain("(native triggers):\n  f/data/fine.script.12.nextcloud_native_trigger.yaml");
  for (const told of [
    "f/data/a.variable.yaml is not YAML",
    "f/data/b.script.yaml: there is no code beside it",
    "stored but cannot run: f/data/bad.ts:2:1: syntax error: ",
    "schedule f/data/wrong: ",
    "1 of 8 changes could not be made; 1 of the 7 changes made cannot run yet",
  ])
    expect(err).toContain(told);
  for (const name of ["bad", "fine", "unlocked", "fast", "play"])
    expect([name, await exists(`f/data/${name}`)]).toEqual([name, true]);
  expect(await get("/folders/get/app_themes")).toMatchObject({ summary: "Themes of ours" });
  expect(await get("/folders/get/data")).toMatchObject({ display_name: "Our data" });
  expect(await get("/scripts/get/p/f/data/fast")).toMatchObject({ language: "go" });
  const deleting = await svc(place, "push", "--yes", "--delete");
  expect([deleting.code, deleting.err]).toEqual([2, expect.stringContaining("nothing is deleted")]);
}, 60_000);

test("a script that could not be locked is deployed again by the next push without changes", async () => {
  using place = createCliEnvironment();
  let isThere = false;
  using registry = Bun.serve({
    port: 0,
    fetch: ({ url }) =>
      isThere && url.endsWith("/late-package")
        ? Response.json({
            name: "late-package",
            "dist-tags": { latest: "1.0.0" },
            versions: {
              "1.0.0": { name: "late-package", version: "1.0.0", dist: { tarball: `${url}.tgz` } },
            },
          })
        : new Response("gone", { status: 404 }),
  });
  const value = `http://127.0.0.1:${registry.port}/`;
  await server.operator("POST", "/settings/global/npm_config_registry", { value });
  try {
    const uses = 'import "late-package";\nexport const main = () => 1;\n';
    await writeFiles(place.folder, {
      "f/late/folder.meta.yaml": "summary: Late\n",
      "f/late/uses.ts": uses,
      "f/late/runs.flow/flow.yaml":
        "summary: ''\nvalue:\n  modules:\n    - id: a\n      value: {type: rawscript, language: bun, content: '!inline a.ts', input_transforms: {}}\n",
      "f/late/runs.flow/a.ts": uses,
      "f/late/at.schedule.yaml":
        "script_path: f/late/runs\nis_flow: true\nschedule: 0 0 0 1 1 *\ntimezone: UTC\nenabled: false\nargs: {}\n",
    });
    const first = await svc(place, "push", "--yes");
    expect(first.code).toBe(1);
    expect(first.err).toMatch(
      /stored but cannot run: .*late-package[\s\S]*\n {2}script f\/late\/uses\n[\s\S]*\n4 changes made\n/,
    );
    expect(first.err).toContain("error: 2 of the 4 changes made cannot run yet");
    const { hash } = await get("/scripts/get/p/f/late/uses");
    isThere = true;
    const second = await svc(place, "push", "--yes");
    expect(second.out).toMatch(/~ script +f\/late\/uses/);
    expect((await get("/scripts/get/p/f/late/uses")).hash).not.toBe(hash);
    expect([second.code, second.err]).toEqual([0, expect.any(String)]);
    expect((await svc(place, "push", "--yes")).out).toContain("nothing to change");
  } finally {
    await server.operator("POST", "/settings/global/npm_config_registry", { value: null });
  }
}, 60_000);

test("explicit empty fields, and a script without code, are returned as they were sent", async () => {
  using place = createCliEnvironment();
  using back = createCliEnvironment();
  await writeFiles(place.folder, {
    "f/said/folder.meta.yaml": "summary: null\nowners: []\nextra_perms: {}\n",
    "f/said/fine.ts": TS,
    "f/said/fine.script.yaml":
      "summary: ''\nhas_preprocessor: false\nno_main_func: false\nconcurrency_time_window_s: 0\nhas_on_behalf_of: false\nlock: ''\n",
    "f/said/nothing.pg.sql": "",
    "f/said/nothing.script.yaml": "summary: Empty\n",
  });
  const pushed = await svc(place, "push", "--yes");
  expect([pushed.code, pushed.err]).toEqual([0, expect.any(String)]);
  expect((await svc(back, "pull", "--yes")).code).toBe(0);
  const read = (name: string) => Bun.file(join(back.folder, name)).text();
  for (const line of ["has_preprocessor: false", "no_main_func: false", "concurrency_time_window_s: 0"])
    expect(await read("f/said/fine.script.yaml")).toContain(line);
  expect(await read("f/said/fine.script.yaml")).toContain("has_on_behalf_of: false");
  expect(await read("f/said/folder.meta.yaml")).toContain("summary: null");
  expect(await read("f/said/nothing.pg.sql")).toBe("");
  expect(await read("f/said/nothing.script.yaml")).not.toContain("content");
}, 60_000);

test("the folder's wmill.yaml selects the files and the language of .ts", async () => {
  using place = createCliEnvironment();
  await writeFiles(place.folder, {
    "wmill.yaml":
      "defaultTs: deno\nincludes: ['f/**']\nexcludes: ['f/data/old/**']\nextraIncludes: ['**/chosen.*', 'u/**']\n",
    "f/data/chosen.ts": TS,
    "f/data/old/left.ts": TS,
    "u/admin/left.ts": TS,
  });
  const { code, err } = await svc(place, "push", "--yes");
  expect([code, err]).toEqual([0, expect.any(String)]);
  expect(await get("/scripts/get/p/f/data/chosen")).toMatchObject({ language: "deno" });
  for (const path of ["f/data/old/left", "u/admin/left"])
    expect([path, await exists(path)]).toEqual([path, false]);
}, 60_000);

test("globs of a wmill.yaml may name the code of a script alone", async () => {
  using place = createCliEnvironment();
  using back = createCliEnvironment();
  const settings = { "wmill.yaml": "includes: ['f/named/one.ts']\n" };
  await writeFiles(place.folder, { ...settings, "f/named/one.ts": TS, "f/named/two.ts": TS });
  await writeFiles(back.folder, settings);
  expect((await svc(place, "push", "--yes")).code).toBe(0);
  expect((await svc(place, "push", "--yes")).out).toContain("nothing to change");
  expect((await svc(back, "pull", "--yes")).code).toBe(0);
  expect(await Bun.file(join(back.folder, "f/named/one.ts")).text()).toBe(TS);
  expect(await Bun.file(join(back.folder, "f/named/two.ts")).exists()).toBe(false);
  expect((await svc(back, "pull", "--yes")).out).toContain("nothing to change");
}, 60_000);

test("scripts are deployed after those they import", async () => {
  using place = createCliEnvironment();
  await writeFiles(place.folder, {
    "f/order/folder.meta.yaml": "display_name: order\n",
    "f/order/a_first.ts": 'import { main as last } from "./z_last.ts";\nexport const main = () => last();\n',
    "f/order/b_second.ts":
      'import { main as first } from "/f/order/a_first";\nexport const main = () => first();\n',
    "f/order/z_last.ts": TS,
  });
  const { code, err } = await svc(place, "push", "--yes");
  expect([code, err]).toEqual([0, expect.stringContaining("4 changes made")]);
  const again = await svc(place, "push", "--yes");
  expect([again.code, again.out]).toEqual([0, expect.stringContaining("nothing to change")]);
}, 60_000);

test("with --secrets sealed, secrets encrypted elsewhere with the folder's key can be read", async () => {
  using place = createCliEnvironment();
  using kept = createCliEnvironment();
  await using elsewhere = new AsyncDisposableStack();
  const server_before = await startTestServer();
  elsewhere.defer(() => server_before.stop());
  const other = await server_before.workspace();
  const at = ["--url", server_before.url, "--token", other.token, "--workspace", "acme", "--yes"];
  const secret = { path: "u/admin/pass", value: "s3cret", is_secret: true, description: "" };
  await expectOk(other.ask("POST", "/w/acme/variables/create", secret));
  const mine = { ...secret, path: "u/admin/mine", value: "before" };
  await expectOk(ask("POST", "/w/acme/variables/create", mine));
  expect((await place.svc(["pull", "--secrets", "sealed", ...at])).code).toBe(0);
  const { key } = (await expectOk(other.ask("GET", "/w/acme/workspaces/encryption_key"))).json();
  await writeFiles(place.folder, { "encryption_key.yaml": `${key}\n` });
  const plain = await svc(place, "push", "--yes");
  expect(plain.out).not.toContain("encryption key");
  const { code, out, err } = await svc(place, "push", "--yes", "--secrets", "sealed");
  expect([code, err]).toEqual([0, expect.stringContaining("changes made")]);
  expect(out).toContain("~ encryption key");
  expect(out + err).not.toContain(key);
  expect(await get("/variables/get_value/u/admin/pass")).toBe("s3cret");
  expect(await get("/variables/get_value/u/admin/mine")).toBe("before");
  expect((await svc(place, "push", "--yes", "--secrets", "sealed")).out).toContain("nothing to change");
  await writeFiles(kept.folder, { "encryption_key.yaml": "old\n" });
  expect((await svc(kept, "pull", "--yes", "--secrets", "sealed")).code).toBe(0);
  expect(await Bun.file(join(kept.folder, "encryption_key.yaml")).text()).toBe(`"${key}"\n`);
  await writeFiles(kept.folder, { "wmill.yaml": "includeKey: true\n" });
  rmSync(join(kept.folder, "encryption_key.yaml"));
  expect((await svc(kept, "pull", "--dry-run")).out).not.toContain("encryption key");
  expect((await svc(kept, "pull", "--dry-run", "--secrets", "sealed")).out).toContain("+ encryption key");
  // A value that users set by hand is kept, and reported if it is missing.
  const by_hand = "is_secret: true\ndescription: ''\n";
  const names = ["f/unset/a", "u/admin/pass"];
  using unset = createCliEnvironment();
  await writeFiles(unset.folder, Object.fromEntries(names.map((name) => [`${name}.variable.yaml`, by_hand])));
  const left = await svc(unset, "push", "--yes", "--secrets", "sealed");
  expect(left).toMatchObject({ code: 0, out: expect.stringMatching(/nothing to change\n$/) });
  expect(left.err).toBe("warning: variable f/unset/a: its file has no value: set the secret by hand\n");
}, 60_000);

test("a group is saved with those of its members and admins who are users", async () => {
  using place = createCliEnvironment();
  await server.member("acme", "ann");
  await writeFiles(place.folder, {
    "groups/mixed.group.yaml": "summary: Mixed\nmembers: [u/gone, u/ann]\nadmins: [u/lost, u/admin]\n",
  });
  const { code, err } = await svc(place, "push", "--yes");
  expect(code).toBe(1);
  expect(err).toContain(
    "group mixed: saved without some: there is no user gone in workspace acme; there is no user lost in workspace acme\n",
  );
  const group = await get("/groups/get/mixed");
  expect(group.members.sort()).toEqual(["admin", "ann"]);
  expect(Object.keys(group.extra_perms)).toEqual(["u/admin"]);
}, 60_000);

test("package lists of the workspace are pushed, changed and deleted; other folders contain no items", async () => {
  using place = createCliEnvironment();
  await writeFiles(place.folder, {
    "dependencies/requirements.in": "six==1.16.0\n",
    "dependencies/web.package.json": '{"dependencies": {"is-number": "7.0.0"}}\n',
    "dependencies/notes.md": "not ours\n",
    "copy/f/data/old.flow/flow.yaml": "summary: A copy\nvalue: {modules: []}\n",
  });
  const first = await svc(place, "push", "--yes");
  expect([first.code, first.err]).toEqual([0, expect.stringContaining("2 changes made")]);
  expect(first.out).toContain("dependencies/notes.md");
  await writeFiles(place.folder, { "dependencies/requirements.in": "six==1.17.0\n" });
  expect((await svc(place, "push", "--yes")).out).toContain("+ six==1.17.0");
  expect(await get("/workspace_dependencies/get_latest/python3")).toMatchObject({
    content: "six==1.17.0\n",
    name: null,
  });
  rmSync(join(place.folder, "dependencies/web.package.json"));
  const gone = await svc(place, "push", "--yes", "--delete", "--only", "dependencies");
  expect(gone.out).toMatch(/- dependencies +web\.package\.json/);
  expect(await get("/workspace_dependencies/list")).toHaveLength(1);
}, 60_000);

test("a folder without package lists, possibly of another client, deletes none", () => {
  const list = {
    kind: "dependencies",
    path: "requirements.in",
    fields: {},
    content: "six",
  } as unknown as Item;
  const script = { kind: "script", path: "f/a/b", fields: {}, content: "" } as unknown as Item;
  const remote = new Map([list, script].map((item) => [getItemKey(item), item]));
  const planOf = (...items: Item[]) =>
    planPush({ items: new Map(items.map((item) => [getItemKey(item), item])) } as never, remote, true);
  expect(planOf().steps.map(({ item }) => item)).toEqual([script]);
  const other = { ...list, path: "web.package.json" } as Item;
  expect(planOf(other).steps.filter(({ change }) => change === "delete").length).toBe(2);
});

test("a syntax error is reported by its position, without quoting the file", async () => {
  using place = createCliEnvironment();
  const secret = "hunter2secret";
  await writeFiles(place.folder, {
    "encryption_key.yaml": `key: "${secret}\n`,
    "f/data/one.variable.yaml": `value: *${secret}\n`,
    "f/data/two.variable.yaml": `value: !${secret} [\n`,
    "f/data/three.variable.json": `{"value": ${secret}}`,
    "f/data/four.resource.yaml": `value: {a: ${secret}\n b: "${secret}": c}\n`,
  });
  const { code, out, err } = await svc(place, "push", "--yes", "--secrets", "sealed");
  expect([code, `${out}${err}`.includes(secret)]).toEqual([expect.any(Number), false]);
  expect(`${out}${err}`).toMatch(/encryption_key\.yaml is not YAML: line \d+, column \d+/);
}, 60_000);

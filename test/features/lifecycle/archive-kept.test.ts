/**
 * Fields in files of other instances are returned unchanged in the archive, even if they have no effect here.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../support/harness.ts";

let server: TestServer;
let ask: Ask;
let token: string;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask, token } = await server.workspace());
});
afterAll(() => server.stop());

const post = (path: string, body: unknown) => expectOk(ask("POST", `/w/acme${path}`, body));

async function readArchive(): Promise<Record<string, Record<string, unknown>>> {
  const response = await fetch(
    `${server.url}/api/w/acme/workspaces/tarball?archive_type=tar&include_schedules=true`,
    {
      headers: { authorization: `Bearer ${token}` },
    },
  );
  const files: Record<string, Record<string, unknown>> = {};
  for (const [name, file] of await new Bun.Archive(await response.bytes()).files())
    if (name.endsWith(".json")) files[name] = JSON.parse(await file.text());
  return files;
}

test("empty and unknown fields of variables, resource types and flows are returned", async () => {
  await post("/folders/create", { name: "data" });
  await post("/variables/create", {
    path: "f/data/a",
    value: "x",
    is_secret: false,
    description: "",
    account: null,
    is_oauth: false,
    later: { than: "us" },
  });
  await post("/resources/type/create", { name: "c_a", schema: {}, format_extension: null, later: 1 });
  const value = { modules: [{ id: "a", value: { type: "identity" } }] };
  await post("/flows/create", {
    path: "f/data/flow",
    summary: "",
    value,
    ws_error_handler_muted: false,
    visible_to_runner_only: false,
    later: [1],
  });
  const files = await readArchive();
  expect(files["f/data/a.variable.json"]).toMatchObject({
    account: null,
    is_oauth: false,
    later: { than: "us" },
  });
  expect(files["c_a.resource-type.json"]).toMatchObject({ format_extension: null, later: 1 });
  expect(files["f/data/flow.flow.json"]).toMatchObject({
    ws_error_handler_muted: false,
    visible_to_runner_only: false,
    later: [1],
  });
  expect(files["f/data/folder.meta.json"]).not.toHaveProperty("summary");
  const got = await (await expectOk(ask("GET", "/w/acme/variables/get/f/data/a"))).json();
  expect(got).not.toHaveProperty("extra");
  expect(got).toMatchObject({ later: { than: "us" } });
});

test("an update replaces given fields and keeps the others", async () => {
  await post("/variables/update/f/data/a", { value: "y", later: 2 });
  await post("/resources/type/update/c_a", { format_extension: "md" });
  const files = await readArchive();
  expect(files["f/data/a.variable.json"]).toMatchObject({ value: "y", account: null, later: 2 });
  expect(files["c_a.resource-type.json"]).toMatchObject({ format_extension: "md", later: 1 });
});

test("fields that an update does not accept are not kept for an import that would", async () => {
  const soon = new Date(Date.now() + 3_600_000).toISOString();
  await post("/variables/create", { path: "f/data/lasting", value: "x", is_secret: false });
  await post("/variables/update/f/data/lasting", { expires_at: soon, account: 7, is_oauth: true, later: 1 });
  const cron = { schedule: "0 0 0 1 1 *", timezone: "UTC" };
  const schedule = { ...cron, path: "f/data/yearly", script_path: "f/data/none", is_flow: false };
  await post("/scripts/create", {
    path: "f/data/none",
    content: "export const main = () => 1",
    language: "bun",
  });
  await post("/schedules/create", { ...schedule, enabled: false });
  await post("/schedules/update/f/data/yearly", {
    ...cron,
    is_flow: true,
    enabled: true,
    script_path: "u/a/b",
    later: 1,
  });
  const files = await readArchive();
  expect(files["f/data/lasting.variable.json"]).toEqual({
    value: "x",
    is_secret: false,
    description: "",
    later: 1,
  });
  expect(files["f/data/yearly.schedule.json"]).toMatchObject({
    ...{ script_path: "f/data/none", is_flow: false, enabled: false, later: 1 },
  });
  const { expires_at } = (await expectOk(ask("GET", "/w/acme/variables/get/f/data/lasting"))).json();
  expect(expires_at).toBeNull();
});

test("no operation describes the internal member with unknown fields", async () => {
  const document = (await expectOk(ask("GET", "/openapi.yaml"))).text;
  expect(document).toContain("ws_error_handler_muted:");
  expect(document).not.toMatch(/^\s+extra:/m);
});

test("a lock that cannot be installed from is returned unchanged", async () => {
  const lock = '{\n  "dependencies": {}\n}\n//bun.lockb\n<empty>';
  const content = "export const main = () => 1;\n";
  await post("/scripts/create", { path: "f/data/locked", content, language: "bun", lock });
  const files = await readArchive();
  expect(files["f/data/locked.script.json"]?.lock).toBe(lock);
  const got = await (await expectOk(ask("GET", "/w/acme/scripts/get/p/f/data/locked"))).json();
  expect(got.lock).toBe("");

  const step = (id: string, code: string) => ({
    id,
    value: { type: "rawscript", language: "bun", content: code, lock, input_transforms: {} },
  });
  const imports = 'import { main as one } from "/f/data/locked";\nexport const main = () => one() + 1;\n';
  const value = { modules: [step("a", content), step("b", imports)] };
  await post("/flows/create", { path: "f/data/stepped", summary: "", value, schema: {} });
  const ran = await post("/jobs/run_wait_result/f/f/data/stepped", {});
  expect(await ran.json()).toBe(2);
  const { value: kept } = (await readArchive())["f/data/stepped.flow.json"] as unknown as {
    value: typeof value;
  };
  expect(kept.modules.map(({ value: { lock: now } }) => now)).toEqual([lock, lock]);
});

test("a right that an owner of a folder is denied is returned, and the owner has it", async () => {
  const rights = { owners: ["u/cleo"], extra_perms: { "u/cleo": false, "u/dan": false } };
  await post("/folders/create", { name: "denied", ...rights });
  await post("/folders/update/denied", { summary: "changed" });
  expect((await readArchive())["f/denied/folder.meta.json"]).toMatchObject(rights);
  const { extra_perms } = (await ask("GET", "/w/acme/folders/get/denied")).json();
  expect(extra_perms).toEqual({ "u/cleo": true, "u/dan": false });
  await post("/folders/update/denied", { extra_perms: {} });
  expect((await readArchive())["f/denied/folder.meta.json"]!.extra_perms).toEqual({ "u/cleo": true });
});

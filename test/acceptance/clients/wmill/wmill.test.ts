/** The real program `wmill` against this service. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";
import { isOffline } from "../registry.ts";
import { filesOf, writeWorkspace } from "../workspace-files.ts";
import { installWmill, type Wmill } from "./wmill.ts";

const ALL = ["--yes", "--plain-secrets", "--include-schedules"];

/** The version closest to the contract that the registry has, and the current one. */
const VERSIONS = [
  { version: "1.596.0", folderPush: ["folder", "push", "f/data/folder.meta.yaml", "f/data"] },
  { version: "1.819.0", folderPush: ["folder", "push", "data"] },
];

describe.skipIf(isOffline).each(VERSIONS)("wmill $version", ({ version, folderPush }) => {
  let server: TestServer;
  let ask: Ask;
  let wmill: Wmill;
  /** The folder that was pushed. */
  let local: string;

  const get = async (path: string) => (await expectOk(ask("GET", path))).json();

  beforeAll(async () => {
    [server, wmill] = await Promise.all([startTestServer(), installWmill(version)]);
    const { token, ask: admin } = await server.workspace("acme");
    ask = admin;
    const owner = "admin_acme@example.org";
    await expectOk(
      server.operator("POST", "/workspaces/create", { id: "other", name: "other", owner, username: "admin" }),
    );
    local = await wmill.folder("local");
    await writeWorkspace(local);
    for (const id of ["acme", "other"]) {
      const said = await wmill.ok(local, ["workspace", "add", id, id, `${server.url}/`, "--token", token]);
      expect(said).toContain(`Added workspace ${id}`);
    }
  }, 120_000);
  afterAll(async () => {
    await server.stop();
    await wmill[Symbol.asyncDispose]();
  });

  const use = (id: string) => wmill.ok(local, ["workspace", "switch", id]);
  const changes = (said: string) => /: (\d+) changes? to apply/.exec(said)?.[1];

  beforeAll(() => use("acme"));

  test("shows the user and the server", async () => {
    const said = await wmill.ok(local, ["workspace", "whoami"]);
    expect(said).toContain("admin_acme@example.org");
    expect(said).toContain("Active: acme");
  });

  test("writes schemas and locks that the service resolves", async () => {
    await wmill.ok(local, ["script", "generate-metadata", "--yes"]);
    const files = await filesOf(local);
    expect(files["f/data/hello.script.yaml"]).toMatch(/name:\s+type: string/);
    expect(files["f/data/odd.script.lock"]).toContain("is-odd@3.0.1");
    const redone = await wmill.ok(local, ["script", "generate-metadata", "--yes"]);
    expect(redone).toContain("No metadata to update");
    await wmill.ok(local, ["flow", "generate-locks", "--yes"]);
  }, 60_000);

  const hello = "/w/acme/scripts/get/p/f/data/hello";
  const pushes: [string, string[], string, object][] = [
    [
      "folder",
      folderPush,
      "/w/acme/folders/get/data",
      { summary: "Things", owners: ["u/admin"], extra_perms: { "g/all": false, "u/admin": true } },
    ],
    ["script", ["script", "push", "f/data/hello.ts"], hello, { language: "bun", lock: "" }],
    [
      "variable",
      ["variable", "push", "f/data/host.variable.yaml", "f/data/host.variable.yaml"],
      "/w/acme/variables/get/f/data/host",
      { value: "example.org", description: "where it is" },
    ],
    [
      "secret",
      [
        "variable",
        "push",
        "f/data/password.variable.yaml",
        "f/data/password.variable.yaml",
        "--plain-secrets",
      ],
      "/w/acme/variables/get/f/data/password",
      { value: "hunter2-moon", is_secret: true },
    ],
    [
      "resource type",
      ["resource-type", "push", "c_database.resource-type.yaml", "c_database.resource-type.yaml"],
      "/w/acme/resources/type/get/c_database",
      { description: "a database of ours" },
    ],
    [
      "resource",
      ["resource", "push", "f/data/database.resource.yaml", "f/data/database.resource.yaml"],
      "/w/acme/resources/get/f/data/database",
      { resource_type: "c_database", value: { host: "$var:f/data/host", port: 5432 } },
    ],
    [
      "flow",
      ["flow", "push", "f/data/twice.flow", "f/data/twice"],
      "/w/acme/flows/get/f/data/twice",
      { summary: "Twice", schema: { required: ["x"] } },
    ],
    [
      "schedule",
      ["schedule", "push", "f/data/nightly.schedule.yaml", "f/data/nightly.schedule.yaml"],
      "/w/acme/schedules/get/f/data/nightly",
      { enabled: false, timezone: "Europe/Paris", args: { name: "night" } },
    ],
  ];
  test.each(pushes)(
    "pushes a %s, and again",
    async (_, command, path, seen) => {
      await wmill.ok(local, command);
      expect(await get(path)).toMatchObject(seen);
      await wmill.ok(local, command);
      expect(await get(path)).toMatchObject(seen);
    },
    60_000,
  );

  test("an unchanged script can be deployed again if it names its parent", async () => {
    const before = await get(hello);
    const { path, content, language, summary, description, schema, lock, kind, hash } = before;
    const body = { path, content, language, summary, description, schema, lock, kind, parent_hash: hash };
    const again = await ask("POST", "/w/acme/scripts/create", body);
    expect([again.status, again.text]).toEqual([201, expect.stringMatching(/^[0-9a-f]{16}$/)]);
  });

  test.each([
    ["script", "f/data/hello"],
    ["flow", "f/data/twice"],
    ["variable", "f/data/host"],
    ["resource", "f/data/database"],
    ["schedule", "f/data/nightly"],
    ["folder", "u/admin"],
  ])(
    "lists each %s",
    async (noun, named) => {
      expect(await wmill.ok(local, [noun])).toContain(named);
    },
    60_000,
  );

  test("runs scripts and flows, and shows their results", async () => {
    const script = await wmill.ok(local, ["script", "run", "f/data/hello", "-d", '{"name":"moon"}']);
    expect(script).toContain("hello moon hello moon");
    const flow = await wmill.ok(local, ["flow", "run", "f/data/twice", "-d", '{"x":3}']);
    expect(flow).toContain("hello 6 hello 6");
  }, 60_000);

  test("pushes a whole folder, and finds no difference then, in it or in a pulled copy", async () => {
    const first = await wmill.ok(local, ["sync", "push", ...ALL]);
    expect(Number(changes(first))).toBeGreaterThan(0);
    // For languages without packages wmill wrote empty locks, which no server returns.
    await wmill.ok(local, ["sync", "pull", ...ALL]);
    expect(changes(await wmill.ok(local, ["sync", "push", ...ALL]))).toBe("0");
    expect(changes(await wmill.ok(local, ["sync", "pull", ...ALL]))).toBe("0");

    const pulled = await wmill.folder("pulled");
    await wmill.ok(pulled, ["sync", "pull", ...ALL]);
    expect(Object.keys(await filesOf(pulled)).sort()).toEqual(Object.keys(await filesOf(local)).sort());
    expect(changes(await wmill.ok(pulled, ["sync", "push", ...ALL]))).toBe("0");
    expect((await wmill.ok(pulled, ["script", "run", "f/data/odd", "-d", '{"n":3}'])).trim()).toEndWith(
      "true",
    );
  }, 90_000);

  test("transfers changes in both directions, and nothing else", async () => {
    const edit = async (name: string, from: string, to: string) => {
      const file = Bun.file(join(local, name));
      const before = await file.text();
      expect(before).toContain(from);
      await file.write(before.replace(from, to));
    };
    await edit("f/data/hello.ts", "hello", "good day");
    await edit("f/data/host.variable.yaml", "example.org", "example.net");
    await edit("f/data/password.variable.yaml", "hunter2-moon", "hunter2-sun");
    await edit("f/data/database.resource.yaml", "5432", "5433");
    await edit("f/data/nightly.schedule.yaml", "enabled: false", "enabled: true");
    await edit("f/data/nightly.schedule.yaml", "0 0 3", "0 30 3");
    await edit("f/data/folder.meta.yaml", "Things", "Other things");
    await edit("f/data/twice.flow/flow.yaml", "summary: Twice", "summary: Two times");
    await edit("c_database.resource-type.yaml", "of ours", "of yours");
    await wmill.ok(local, ["sync", "push", ...ALL]);
    expect(changes(await wmill.ok(local, ["sync", "push", ...ALL]))).toBe("0");
    expect((await get(hello)).content).toContain("good day");
    expect(await get("/w/acme/variables/get_value/f/data/host")).toBe("example.net");
    expect(await get("/w/acme/variables/get_value/f/data/password")).toBe("hunter2-sun");
    expect((await get("/w/acme/resources/get/f/data/database")).value.port).toBe(5433);
    const nightly = await get("/w/acme/schedules/get/f/data/nightly");
    expect([nightly.enabled, nightly.schedule]).toEqual([true, "0 30 3 * * *"]);
    expect((await get("/w/acme/folders/get/data")).summary).toBe("Other things");
    expect((await get("/w/acme/flows/get/f/data/twice")).summary).toBe("Two times");
    expect((await get("/w/acme/resources/type/get/c_database")).description).toBe("a database of yours");

    const post = (path: string, body: object) => expectOk(ask("POST", `/w/acme${path}`, body));
    await post("/variables/update/f/data/host", { value: "example.com" });
    await post("/schedules/setenabled/f/data/nightly", { enabled: false });
    const pulled = await wmill.ok(local, ["sync", "pull", ...ALL]);
    expect(changes(pulled)).toBe("2");
    const files = await filesOf(local);
    expect(files["f/data/host.variable.yaml"]).toContain("example.com");
    expect(files["f/data/nightly.schedule.yaml"]).toContain("enabled: false");
  }, 60_000);

  test("keeps secrets encrypted unless told otherwise, and returns them like that", async () => {
    const sealed = await wmill.folder("sealed");
    await wmill.ok(sealed, ["sync", "pull", "--yes", "--include-key"]);
    const file = "f/data/password.variable.yaml";
    const text = await Bun.file(join(sealed, file)).text();
    expect(text).not.toContain("hunter2");
    expect(changes(await wmill.ok(sealed, ["sync", "push", "--yes", "--include-key"]))).toBe("0");
    await expectOk(ask("POST", "/w/acme/variables/update/f/data/password", { value: "another" }));
    await wmill.ok(sealed, ["sync", "push", "--yes", "--include-key"]);
    expect(await get("/w/acme/variables/get_value/f/data/password")).toBe("hunter2-sun");
  }, 60_000);

  test("copies a workspace to another one, which then is equal", async () => {
    await ask("POST", "/w/acme/apps/create", {
      path: "f/data/board",
      summary: "Board",
      value: APP,
      policy: {},
    });
    await expectOk(ask("POST", "/w/acme/groups/create", { name: "ops", summary: "Ops" }));
    const everything = [...ALL, "--include-users", "--include-groups", "--include-settings"];
    const from = await wmill.folder("from");
    await wmill.ok(from, ["sync", "pull", ...everything]);
    await use("other");
    await wmill.ok(from, ["sync", "push", ...everything]);
    expect(changes(await wmill.ok(from, ["sync", "push", ...everything]))).toBe("0");
    const to = await wmill.folder("to");
    await wmill.ok(to, ["sync", "pull", ...everything]);
    const files = await filesOf(to);
    expect(withoutName(files)).toEqual(withoutName(await filesOf(from)));
    expect(Object.keys(files)).toEqual(
      expect.arrayContaining(["groups/ops.group.yaml", "settings.yaml", "f/data/board.app/app.yaml"]),
    );
    expect(await get("/w/other/variables/get_value/f/data/password")).toBe("hunter2-sun");
  }, 90_000);

  test("deletes what was removed from the folder", async () => {
    await use("other");
    const to = await wmill.folder("to");
    for (const name of ["f/data/shout.sh", "f/data/shout.script.yaml", "f/data/shout.script.lock"]) {
      rmSync(join(to, name), { force: true });
    }
    for (const name of ["f/data/twice.flow", "f/data/board.app", "f/data/nightly.schedule.yaml"]) {
      rmSync(join(to, name), { recursive: true });
    }
    for (const name of ["host.variable.yaml", "database.resource.yaml"]) rmSync(join(to, "f/data", name));
    await wmill.ok(to, ["sync", "push", ...ALL]);
    expect(changes(await wmill.ok(to, ["sync", "push", ...ALL]))).toBe("0");
    const left = await Promise.all(
      ["scripts", "flows", "apps", "schedules", "variables", "resources"].map(async (noun) =>
        (await get(`/w/other/${noun}/list`)).map(({ path }: { path: string }) => path),
      ),
    );
    expect(left.flat().sort()).toEqual(["f/data/hello", "f/data/odd", "f/data/password", "f/data/report"]);
  }, 60_000);
});

/** The newer version does not sync the names of workspaces. */
const withoutName = (files: Record<string, string>) => ({
  ...files,
  "settings.yaml": files["settings.yaml"]?.replace(/^name: .*\n/m, ""),
});

/** An app with one script, as wmill's editor stores it. */
const APP = {
  grid: [
    {
      id: "a",
      data: {
        type: "displaycomponent",
        componentInput: {
          type: "runnable",
          fields: {},
          runnable: {
            type: "runnableByName",
            name: "answer",
            inlineScript: { content: "export const main = () => 42", language: "bun", schema: {} },
          },
        },
      },
    },
  ],
  hiddenInlineScripts: [],
};

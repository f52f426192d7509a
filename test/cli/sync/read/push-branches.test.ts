/** `svc push` and `svc pull` of a folder in which some items have one file per branch. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { startTestServer, type TestServer } from "../../../support/harness.ts";
import { type CliEnvironment, createCliEnvironment } from "../../program.ts";
import { writeFiles } from "../sync-files.ts";
import {
  ALL_STATE,
  createBranchFiles,
  MAIN_STATE,
  NOTE_FILES,
  readBranchState,
  STAGING_STATE,
} from "./branch-files.ts";

setDefaultTimeout(60_000);

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

async function setUp(workspace: string, section: string) {
  const { ask, token } = await server.workspace(workspace);
  const place = createCliEnvironment();
  await writeFiles(place.folder, { ...createBranchFiles(section), ...NOTE_FILES });
  return {
    place,
    token,
    svc: (...words: string[]) =>
      place.svc([...words, "--url", server.url, "--token", token, "--workspace", workspace]),
    state: () => readBranchState((path) => ask("GET", `/w/${workspace}${path}`)),
    note: async () =>
      JSON.parse((await ask("GET", `/w/${workspace}/resources/get/f/data/note`)).text).value.content,
    [Symbol.dispose]: () => place[Symbol.dispose](),
  };
}

const read = ({ folder }: CliEnvironment, name: string) => Bun.file(join(folder, name)).text();

test("--branch chooses the files of a branch, and its settings", async () => {
  using at = await setUp("chosen", "gitBranches");
  const pushed = await at.svc("push", "--yes", "--branch", "main");
  expect([pushed.code, pushed.err]).toEqual([0, expect.any(String)]);
  expect(pushed.out).toContain(
    "the file of another branch counts (specificItems in wmill.yaml; --branch chooses one):\n  f/data/db.resource.yaml\n  f/data/db.staging.resource.yaml",
  );
  expect(await at.state()).toEqual(MAIN_STATE);
  expect(await at.note()).toBe("# Main\n");
  expect((await at.svc("push", "--branch", "main", "--dry-run")).out).toContain("nothing to change");

  using next = await setUp("next", "workspaces");
  expect((await next.svc("push", "--yes", "--branch", "feature/next")).code).toBe(0);
  expect(await next.state()).toEqual(STAGING_STATE);
  expect(await next.note()).toBe("# Staging\n");
});

test("without --branch, the entry of the workspace is used, by its name or its address", async () => {
  using named = await setUp("staging", "workspaces");
  expect((await named.svc("push", "--yes")).code).toBe(0);
  expect(await named.state()).toEqual(STAGING_STATE);

  using addressed = await setUp("production", "workspaces");
  const settings = await read(addressed.place, "wmill.yaml");
  const address = `  main:\n    baseUrl: ${server.url}/\n    workspaceId: production\n`;
  await Bun.write(join(addressed.place.folder, "wmill.yaml"), settings.replace("  main:\n", address));
  expect((await addressed.svc("push", "--yes")).code).toBe(0);
  expect(await addressed.state()).toEqual(MAIN_STATE);

  using unknown = await setUp("unknown", "workspaces");
  expect((await unknown.svc("push", "--yes")).code).toBe(0);
  expect(await unknown.state()).toEqual(ALL_STATE);
});

test("without either, git's branch chooses the items, and the workspace their files", async () => {
  using at = await setUp("acme", "gitBranches");
  for (const args of [
    ["init", "-q", "-b", "main"],
    ["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "a"],
  ])
    expect(Bun.spawnSync(["git", ...args], { cwd: at.place.folder }).exitCode).toBe(0);
  await writeFiles(at.place.folder, { "f/data/host.acme.variable.yaml": "value: acme\nis_secret: false\n" });
  const pushed = await at.svc("push", "--yes");
  expect([pushed.code, pushed.err]).toEqual([0, expect.any(String)]);
  expect((await at.state()).host).toBe("acme");
});

test("a pull writes the items of a branch to its files, and leaves those of others", async () => {
  using at = await setUp("pulled", "gitBranches");
  expect((await at.svc("push", "--yes", "--branch", "main")).code).toBe(0);
  using back = createCliEnvironment();
  const words = ["--url", server.url, "--token", at.token, "--workspace", "pulled", "--branch", "main"];
  await writeFiles(back.folder, {
    "wmill.yaml": createBranchFiles("gitBranches")["wmill.yaml"]!,
    "f/data/db.resource.yaml": "resource_type: c_db\nvalue: {host: mine}\n",
    "f/data/db.staging.resource.yaml": "resource_type: c_db\nvalue: {host: mine}\n",
  });
  const pulled = await back.svc(["pull", "--yes", "--delete", ...words]);
  expect([pulled.code, pulled.err]).toEqual([0, expect.any(String)]);
  for (const name of [
    "f/team/folder.main.meta.yaml",
    "f/data/host.main.variable.yaml",
    "f/data/db.main.resource.yaml",
    "f/data/nightly.main.schedule.yaml",
    "f/data/note.main.resource.yaml",
    "f/data/other.resource.yaml",
  ])
    expect([name, Bun.YAML.parse(await read(back, name))]).toEqual([
      name,
      Bun.YAML.parse(await read(at.place, name)),
    ]);
  expect(await read(back, "f/data/note.main.resource.file.md")).toBe("# Main\n");
  for (const name of ["f/data/db.resource.yaml", "f/data/db.staging.resource.yaml"])
    expect(await read(back, name)).toContain("mine");
  for (const name of ["f/data/host.variable.yaml", "f/data/note.resource.file.md", "f/team/folder.meta.yaml"])
    expect([name, await Bun.file(join(back.folder, name)).exists()]).toEqual([name, false]);
  expect((await back.svc(["pull", ...words, "--dry-run"])).out).toContain("nothing to change");
});

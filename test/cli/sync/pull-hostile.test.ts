/** Files that a hostile workspace or server could write on the machine that pulls. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isInLayout } from "../../../cli/sync/read/layout.ts";
import { resourceTypes } from "../../../src/features/assets/resource-tables.ts";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../support/harness.ts";
import { type CliEnvironment, createCliEnvironment } from "../program.ts";

let server: TestServer;
let ask: Ask;
let token: string;
/** Forwards the server's responses, except for the replaced archive. */
let hostile: ReturnType<typeof Bun.serve>;
let archive: Record<string, string> = {};
let extensions: Record<string, string> = {};

beforeAll(async () => {
  server = await startTestServer();
  ({ ask, token } = await server.workspace());
  hostile = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      if (pathname.endsWith("/workspaces/tarball"))
        return new Response(await new Bun.Archive(archive).bytes());
      if (pathname.endsWith("ext_map")) return Response.json(extensions);
      const { method, headers } = request;
      return fetch(`${server.url}${pathname}${search}`, { method, headers });
    },
  });
});
afterAll(async () => {
  await Promise.all([server.stop(), hostile.stop(true)]);
});

const pull = (place: CliEnvironment, url: string, ...words: string[]) =>
  place.svc([
    "pull",
    "repo",
    "--yes",
    "--delete",
    ...words,
    "--workspace",
    "acme",
    "--url",
    url,
    "--token",
    token,
  ]);

const GIT_CONFIG = "[core]\n\trepositoryformatversion = 0\n";

function repository(place: CliEnvironment): string {
  const root = join(place.folder, "repo");
  mkdirSync(join(root, ".git"), { recursive: true });
  writeFileSync(join(root, ".git/config"), GIT_CONFIG);
  return root;
}

const resource = (type: string, content: string) =>
  JSON.stringify({ value: { content }, resource_type: type });
const payload = "[core]\n\tfsmonitor = touch owned\n";

const EXTENSIONS = [
  "/../../../.git/config",
  "../../../../.git/config",
  "md/../../../../.git/config",
  "\\..\\..\\.git\\config",
  "MD",
  "a b",
  "a\u001b[2J",
  ".",
  "a..b",
  "x".repeat(100),
];

test("unsafe extensions are rejected, and not used if they are stored", async () => {
  archive = {};
  for (const [at, extension] of EXTENSIONS.entries()) {
    const name = `c_bad_${at}`;
    const answer = await ask("POST", "/w/acme/resources/type/create", { name, format_extension: extension });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("`format_extension`")]);
    const row = { workspace_id: "acme", name, schema: null, description: "", format_extension: extension };
    await server.server.app.db.write((tx) =>
      tx
        .insert(resourceTypes)
        .values({ ...row, is_fileset: false, created_by: "admin", edited_at: new Date() }),
    );
    const value = { path: `u/admin/${name}`, value: { content: payload }, resource_type: name };
    await expectOk(ask("POST", "/w/acme/resources/create", value));
    // Also from a server that sets the marker itself.
    archive[`u/admin/${name}.resource.json`] = resource(name, payload);
    extensions[name] = extension;
  }
  const map = (await ask("GET", "/w/acme/resources/file_resource_type_to_file_ext_map")).json();
  expect(Object.keys(map).filter((name) => name.startsWith("c_bad"))).toEqual([]);
  for (const url of [server.url, hostile.url.href]) {
    using place = createCliEnvironment();
    const root = repository(place);
    expect(await pull(place, url)).toMatchObject({ code: 0 });
    expect(readFileSync(join(root, ".git/config"), "utf8")).toBe(GIT_CONFIG);
    const files = readdirSync(join(root, "u/admin")).filter((name) => name.startsWith("c_bad"));
    expect(files.sort()).toEqual(EXTENSIONS.map((_, at) => `c_bad_${at}.resource.yaml`));
  }
});

test.each(["json", "tar.gz", "md", "", "7z"])("the extension %j may be used", async (extension) => {
  const name = `c_ok_${Bun.hash(extension)}`;
  await expectOk(ask("POST", "/w/acme/resources/type/create", { name, format_extension: extension }));
});

test.each(["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf"])(
  "a type called %s is rejected, and never used as a file name",
  async (name) => {
    expect((await ask("POST", "/w/acme/resources/type/create", { name })).status).toBe(400);
    archive = { "u/admin/odd.resource.json": resource(name, "text") };
    extensions = {};
    using place = createCliEnvironment();
    expect(await pull(place, hostile.url.href)).toMatchObject({ code: 0 });
    expect(readdirSync(join(place.folder, "repo/u/admin"))).toEqual(["odd.resource.yaml"]);
  },
);

test("nothing is written for unsafe names and languages; all other items are", async () => {
  extensions = {};
  archive = {
    "u/admin/good.variable.json": JSON.stringify({ value: "1", is_secret: false }),
    "f/../folder.meta.json": "{}",
    "groups/...group.json": "{}",
    "groups/..\\x.group.json": "{}",
    ".git.resource-type.json": "{}",
    "../evil.resource-type.json": "{}",
    "a b.resource-type.json": "{}",
    "u/admin/code.script.json": JSON.stringify({ language: "x/../../../.git/config", content: payload }),
    "u/admin/step.flow.json": JSON.stringify({
      value: {
        modules: [
          {
            id: "a",
            summary: "../../.git/config",
            value: { type: "rawscript", language: "constructor", content: "1" },
          },
          { id: "b", summary: "GIT~1", value: { type: "rawscript", language: "../../x", content: "2" } },
          { id: "c", summary: ".envrc", value: { type: "rawscript", language: "bash", content: "3" } },
        ],
      },
    }),
  };
  using place = createCliEnvironment();
  const root = repository(place);
  const done = await pull(place, hostile.url.href);
  expect(done.code).toBe(1);
  expect(done.err).toContain("is skipped");
  const files = [...new Bun.Glob("**/*").scanSync({ cwd: root, dot: true })].sort();
  expect(files).toEqual([
    ".git/config",
    "u/admin/good.variable.yaml",
    "u/admin/step.flow/envrc.inline_script.sh",
    "u/admin/step.flow/flow.yaml",
    "u/admin/step.flow/git1.inline_script.no_ext",
    "u/admin/step.flow/gitconfig.inline_script.no_ext",
  ]);
  expect(readFileSync(join(root, ".git/config"), "utf8")).toBe(GIT_CONFIG);
});

test.each(["u", "u/admin", "u/admin/x.variable.yaml"])(
  "nothing is written through a link at %s",
  async (link) => {
    extensions = {};
    archive = { "u/admin/x.variable.json": JSON.stringify({ value: "1", is_secret: false }) };
    using place = createCliEnvironment();
    const root = repository(place);
    const outside = join(place.folder, "outside");
    mkdirSync(outside);
    mkdirSync(join(root, link, ".."), { recursive: true });
    symlinkSync(link.endsWith("yaml") ? join(outside, "file") : outside, join(root, link));
    const done = await pull(place, hostile.url.href);
    expect(done).toMatchObject({ code: 1, err: expect.stringContaining("is a symbolic link") });
    expect(readdirSync(outside)).toEqual([]);
  },
);

test("file names from a server are not used to read, delete or send local files", async () => {
  extensions = {};
  archive = {
    "u/admin/a.resource.json": resource("c_x", "!inline .git/config"),
    "u/admin/b.resource.json": resource("c_x", "!inline ../secret"),
    "u/admin/c.resource.json": resource("c_x", "!inline u/admin/secret.txt"),
  };
  using place = createCliEnvironment();
  const root = repository(place);
  writeFileSync(join(place.folder, "secret"), "canary");
  expect(await pull(place, hostile.url.href)).toMatchObject({ code: 0 });
  writeFileSync(join(root, "u/admin/secret.txt"), "canary");
  // Read as a plain value it makes no difference; nothing was used as the content of a file.
  expect(await pull(place, hostile.url.href)).toMatchObject({ code: 0, out: "nothing to change\n" });
  archive = {};
  expect((await pull(place, hostile.url.href)).code).toBe(0);
  expect(existsSync(join(root, ".git/config"))).toBe(true);
  expect(existsSync(join(root, "u/admin/secret.txt"))).toBe(true);
  expect(readdirSync(join(root, "u/admin"))).toEqual(["secret.txt"]);
});

test.each([
  ".git/config",
  ".GIT/config",
  "git~1/config",
  "u/ann/../../.git/config",
  "/etc/passwd",
  "C:/x.script.yaml",
  "C:\\x",
  "u\\ann\\x.script.yaml",
  "package.json",
  ".envrc",
  "u/ann/.envrc",
  ".vscode/tasks.json",
  ".husky/pre-commit",
  "u/ann/x.flow/package.json",
  "u/ann/x.flow/.envrc",
  "u/ann/x.flow/.git/hooks.sh",
  "u/ann/x.flow/git~1/a.sh",
  "u/ann/x.flow/../../y.sh",
  "u/ann/x.flow/a\u0007.sh",
  "u/ann/x.flow/\u200c.git/a.sh",
  "u/ann/x.raw_app/.npmrc",
  "u/ann/x.raw_app/.git/config",
  "u/ann/x.raw_app/lib/../../y.sh",
  "u/ann/x.raw_app/Node_Modules/svelte/index.js",
  "u/ann/x.raw_app/backend/.envrc",
  "conftest.py",
  "u/conftest.py",
  "node_modules/a/b.ts",
  "Makefile",
  "u/ann/x.ts\n",
  "u//x.ts",
])("%j is not a file of a workspace", (name) => expect(isInLayout(name)).toBe(false));

test.each([["u/ann/con.ts"], ["f/aux/folder.meta.yaml"], ["u/nul/x.script.yaml"]])(
  "%s is a file name, but not on Windows",
  (name) => expect([isInLayout(name, "linux"), isInLayout(name, "win32")]).toEqual([true, false]),
);

test("an e-mail address is not a path in the archive", async () => {
  const { workspaceMembers } = await import("../../../src/features/tenancy/workspaces/tables.ts");
  const email = "../../.git/hooks@x.org";
  await server.server.app.db.write((tx) =>
    tx.insert(workspaceMembers).values({
      workspace_id: "acme",
      email,
      username: "odd",
      is_admin: false,
      operator: false,
      created_at: new Date(),
    }),
  );
  const answer = await fetch(`${server.url}/api/w/acme/workspaces/tarball?include_users=true`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const names = [...(await new Bun.Archive(await answer.bytes()).files()).keys()];
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) expect(name).not.toMatch(/\.git\/|\.\.\//);
});

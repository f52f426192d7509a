import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { findUsableLock } from "../../../../src/engines/languages/reading/analyse.ts";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
});
afterAll(() => server.stop());

const SOURCE = 'import isNumber from "is-number"; export const main = () => isNumber(1)';

const lockText = (manifest: object, packages: object) =>
  `${JSON.stringify(manifest)}\n//bun.lock\n${JSON.stringify({ lockfileVersion: 1, packages })}`;
const good = ["is-number@7.0.0", "", {}, "sha512-AAAA"];

describe("a lock sent by a client", () => {
  const npm = "bun";
  const cases: [name: string, lock: string][] = [
    ["is not a lock", "is-number==7"],
    ["is blank", "  \n"],
    ["is of another client", "{}\n//bun.lockb\nAAAA"],
    ["has no lock file", '{"dependencies":{"is-number":"latest"}}\n//bun.lock\n<empty>'],
    ["has a broken package.json", "{\n//bun.lock\n{}"],
    ["has a broken lock file", "{}\n//bun.lock\n["],
    ["names a file", lockText({ dependencies: { "is-number": "file:/etc" } }, {})],
    ["names a repository", lockText({ dependencies: { "is-number": "github:a/b" } }, {})],
    ["has scripts", lockText({ scripts: { postinstall: "id" } }, {})],
    ["trusts packages", lockText({ trustedDependencies: ["is-number"] }, {})],
    ["resolves to a file", lockText({}, { "is-number": ["is-number@file:../../..", {}] })],
    [
      "resolves to another host",
      lockText({}, { "is-number": ["is-number@7.0.0", "http://127.0.0.1:9/x.tgz", {}, "sha512-AAAA"] }),
    ],
    ["has no integrity", lockText({}, { "is-number": good.slice(0, 3) })],
  ];
  test.each(cases)("that is %s is not used", async (_, lock) => {
    expect(await findUsableLock(npm, lock)).toBeUndefined();
  });

  test("that cannot be installed from still determines the versions, for a script and a step", async () => {
    const lock = '{"dependencies":{"is-number":"6.0.0","left":"file:/etc"}}\n//bun.lockb\nAAAA';
    const hash = await deploy(ask, "acme", "u/admin/older", SOURCE, { lock });
    const status = await ask("GET", `/w/acme/scripts/deployment_status/h/${hash}`);
    expect(status.json().lock).toContain('"is-number@6.0.0"');
    const step = { type: "rawscript", language: npm, content: SOURCE, lock, input_transforms: {} };
    const body = { path: "u/admin/older_flow", summary: "", value: { modules: [{ id: "a", value: step }] } };
    await expectOk(ask("POST", "/w/acme/flows/create", body));
    const readFlow = async () => (await ask("GET", "/w/acme/flows/get/u/admin/older_flow")).json();
    await until(async () => (await readFlow()).value.modules[0].value.lock.includes('"is-number@6.0.0"'));
  }, 60_000);

  test("that is not used is resolved again, for a version, a preview and a step", async () => {
    const [, lock] = cases.find(([name]) => name === "names a file")!;
    const hash = await deploy(ask, "acme", "u/admin/locked", SOURCE, { lock });
    const status = await ask("GET", `/w/acme/scripts/deployment_status/h/${hash}`);
    expect(status.json().lock).toContain('"is-number@');
    expect((await ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/locked", {})).text).toBe("true");
    const code = { content: SOURCE, language: npm, lock };
    const preview = await ask("POST", "/w/acme/jobs/run_wait_result/preview", { ...code, args: {} });
    expect(preview.text).toBe("true");
    const value = { modules: [{ id: "a", value: { type: "rawscript", input_transforms: {}, ...code } }] };
    const flow = await ask("POST", "/w/acme/jobs/run_wait_result/preview_flow", { value, args: {} });
    expect(flow.text).toBe("true");
  }, 60_000);

  test("cannot mean one thing to the validator and another to the installer", async () => {
    let asked = 0;
    const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(`${++asked}`) });
    const evil = `"is-number": ["is-number@http://127.0.0.1:${other.port}/x.tgz", {}, ""]`;
    const manifest = `{"dependencies":{"is-number":"http://127.0.0.1:${other.port}/x.tgz"},"dependencies":{}}`;
    const lock = `${manifest}\n//bun.lock\n{"lockfileVersion": 1, "packages": {${evil}}, "packages": {}}`;
    await deploy(ask, "acme", "u/admin/twice", "export const main = () => 1", { lock });
    await ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/twice", {});
    await other.stop(true);
    expect(asked).toBe(0);
  }, 60_000);

  test("is used unchanged if it is valid", async () => {
    const first = await deploy(ask, "acme", "u/admin/resolved", SOURCE);
    const { lock } = (await ask("GET", `/w/acme/scripts/deployment_status/h/${first}`)).json();
    const second = await deploy(ask, "acme", "u/admin/carried", SOURCE, { lock });
    expect((await ask("GET", `/w/acme/scripts/deployment_status/h/${second}`)).json()).toEqual({ lock });
    expect((await ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/carried", {})).text).toBe("true");
  }, 60_000);
});

test.each(["file:..", "link:x", "git+ssh:x", "npm:left-pad"])(
  "an import at %s is stored, and its run fails with its line",
  async (version) => {
    const content = `\nimport x from "is-number@${version}"; export const main = () => x`;
    const path = `u/admin/odd_${version.replaceAll(/\W/g, "_")}`;
    const body = { path, content, language: "bun" };
    expect((await ask("POST", "/w/acme/scripts/create", body)).status).toBe(201);
    const run = await ask("POST", `/w/acme/jobs/run_wait_result/p/${path}`, {});
    expect([run.status, run.text]).toEqual([400, expect.stringContaining("line 2 imports is-number at")]);
  },
);

/** A registry with one package, `private-greeting`, that requires a password or the given authorization. */
function privateRegistry(authorization = `Basic ${btoa("ann:hunter2")}`) {
  const manifest = JSON.stringify({ name: "private-greeting", version: "1.2.3", main: "index.js" });
  const tarball = gzipSync(
    tar({ "package/package.json": manifest, "package/index.js": 'module.exports = "hi"' }),
  );
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      if (request.headers.get("authorization") !== authorization) {
        return new Response("no", { status: 401 });
      }
      const url = new URL(request.url);
      if (url.pathname.endsWith(".tgz")) return new Response(tarball);
      const dist = { tarball: `${url.origin}/private-greeting/-/private-greeting-1.2.3.tgz`, integrity };
      const version = { name: "private-greeting", version: "1.2.3", dist };
      return Response.json({
        name: "private-greeting",
        "dist-tags": { latest: "1.2.3" },
        versions: { "1.2.3": version },
      });
    },
  });
}

/** A POSIX ustar archive of small files. */
function tar(files: Record<string, string>): Uint8Array {
  const blocks: Uint8Array[] = [];
  for (const [name, text] of Object.entries(files)) {
    const head = Buffer.alloc(512);
    const size = Buffer.byteLength(text);
    head.write(name, 0);
    head.write("0000644\0", 100);
    head.write(`${size.toString(8).padStart(11, "0")}\0`, 124);
    head.write("00000000000\0", 136);
    head.write("        0", 148);
    head.write("ustar\x0000", 257);
    const sum = head.reduce((total, byte) => total + byte, 0);
    head.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    const body = Buffer.alloc(Math.ceil(size / 512) * 512);
    body.write(text);
    blocks.push(head, body);
  }
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

test("a registry with a password: its packages are installed, and the password is in no lock or response", async () => {
  const registry = privateRegistry();
  const before = process.env.npm_config_registry;
  process.env.npm_config_registry = `http://ann:hunter2@127.0.0.1:${registry.port}/`;
  try {
    const content = 'import greeting from "private-greeting"; export const main = () => greeting';
    const hash = await deploy(ask, "acme", "u/admin/private", content);
    const status = await ask("GET", `/w/acme/scripts/deployment_status/h/${hash}`);
    expect(status.text).toContain("private-greeting@1.2.3");
    expect(status.text).not.toContain("hunter2");
    expect((await ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/private", {})).text).toBe('"hi"');
    const jobs = await ask("GET", "/w/acme/jobs/list?job_kinds=dependencies");
    for (const job of jobs.json()) {
      const log = await ask("GET", `/w/acme/jobs_u/get/${job.id}`);
      expect(log.text).not.toContain("hunter2");
    }
  } finally {
    if (before === undefined) delete process.env.npm_config_registry;
    else process.env.npm_config_registry = before;
    await registry.stop(true);
  }
}, 60_000);

test("the setting npm_config_registry selects the registry, at once, with its token", async () => {
  const registry = privateRegistry("Bearer hunter3");
  const set = (value: string | null) =>
    server.operator("POST", "/settings/global/npm_config_registry", { value });
  try {
    const content = 'import greeting from "private-greeting@1.2.3"; export const main = () => greeting + "!"';
    expect((await set("registry.example.org")).status).toBe(400);
    expect((await set(`http://127.0.0.1:${registry.port}/:_authToken=hunter3`)).status).toBe(200);
    const hash = await deploy(ask, "acme", "u/admin/by_setting", content);
    const status = await ask("GET", `/w/acme/scripts/deployment_status/h/${hash}`);
    expect(status.text).toContain("private-greeting@1.2.3");
    expect(status.text).not.toContain("hunter3");
    const ran = await ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/by_setting", {});
    expect(ran.text).toBe('"hi!"');
    await set(`http://127.0.0.1:${registry.port}/:_authToken=wrong`);
    const other = content.replace("private-greeting@1.2.3", "private-other");
    const failed = await deploy(ask, "acme", "u/admin/refused", other);
    const why = (await ask("GET", `/w/acme/scripts/deployment_status/h/${failed}`)).json();
    expect([why.lock, why.lock_error_logs]).toEqual([undefined, expect.stringContaining("private-other")]);
  } finally {
    await set(null);
    await registry.stop(true);
  }
}, 60_000);

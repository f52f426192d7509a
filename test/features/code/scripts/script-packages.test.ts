/**
 * Packages of TypeScript scripts that the registry lacks: the script is stored, and its run reports the reason.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Ask, deploy, startTestServer, type TestServer } from "../../../support/harness.ts";
import { type NpmRegistry, startNpmRegistry } from "../../../support/peers/packages/npm-registry.ts";

let server: TestServer;
let ask: Ask;
let registry: NpmRegistry;

beforeAll(async () => {
  registry = startNpmRegistry([
    { name: "windmill-client", version: "2.0.0", code: "exports.word = 'new';" },
    { name: "pinned", version: "1.0.0", code: "exports.word = 'old';" },
    { name: "pinned", version: "1.1.0", code: "exports.word = 'newer';" },
  ]);
  server = await startTestServer();
  ({ ask } = await server.workspace());
  await server.operator("POST", "/settings/global/npm_config_registry", { value: registry.url });
});
afterAll(async () => {
  await server.stop();
  await registry[Symbol.asyncDispose]();
});

async function runLocked(path: string, versions: Record<string, string>): Promise<unknown> {
  const packages = Object.entries(versions).map(([name, version]) => [
    name,
    registry.lockEntry(name, version),
  ]);
  const file = {
    lockfileVersion: 1,
    workspaces: { "": { dependencies: versions } },
    packages: Object.fromEntries(packages),
  };
  const lock = `${JSON.stringify({ dependencies: versions })}\n//bun.lock\n${JSON.stringify(file)}`;
  const content = `import * as client from "windmill-client"; import * as pinned from "pinned";
export const main = () => [client.word, pinned.word];`;
  await deploy(ask, "acme", path, content, { language: "bun", lock });
  return (await ask("POST", `/w/acme/jobs/run_wait_result/p/${path}`, {})).json();
}

test("a missing package of the client itself is replaced by its newest version, any other by the locked one", async () => {
  const locked = { pinned: "1.0.0", "windmill-client": "1.0.0" };
  expect(await runLocked("u/admin/withdrawn", locked)).toEqual(["new", "old"]);
});

test("another missing package fails the run with its name", async () => {
  const locked = { pinned: "0.9.0", "windmill-client": "2.0.0" };
  expect(await runLocked("u/admin/gone", locked)).toMatchObject({
    error: { message: expect.stringMatching(/pinned.* 404/) },
  });
});

test.each([
  ["deno", 'import { x } from "https://example.org/x.ts";', "line 1 imports from a URL"],
  ["bun", 'import "pinned@1.0.0";\nimport "pinned@1.1.0";', "two versions of pinned: 1.0.0 and 1.1.0"],
])("a %s script is stored with %s, and its run says why it fails", async (language, imports, reason) => {
  const path = `u/admin/needs_${language}`;
  await deploy(ask, "acme", path, `${imports}\nexport const main = () => 1;`, { language });
  expect((await ask("GET", `/w/acme/scripts/get/p/${path}`)).json().lock_error_logs).toContain(reason);
  const ran = await ask("POST", `/w/acme/jobs/run_wait_result/p/${path}`, {});
  expect(ran.text).toContain(reason);
});

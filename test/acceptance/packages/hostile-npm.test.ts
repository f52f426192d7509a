/** The npm client runs outside of the sandbox: what packages of others make it do is limited. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Ask,
  createTemporaryFolder,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
} from "../../support/harness.ts";
import { type NpmRegistry, startNpmRegistry } from "../../support/peers/packages/npm-registry.ts";

const LIMIT_MB = 100;
const path_before = process.env.PATH;
const folder = createTemporaryFolder("svc-hostile-npm-");
const started = join(folder, "started");
const stopped = Promise.withResolvers<void>();
let server: TestServer;
let registry: NpmRegistry;
let ask: Ask;

beforeAll(async () => {
  for (const name of ["git", "ssh", "node"]) {
    writeFileSync(join(folder, name), `#!/bin/sh\necho "$0 $*" >> ${started}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  process.env.PATH = `${folder}:${path_before}`;
  const from = (source: string) => ({ dependencies: { inner: source } });
  const version = "1.0.0";
  const packages = [
    { name: "clones", version, code: "", ...from("git+file:///repository") },
    { name: "connects", version, code: "", ...from("git+ssh://git@127.0.0.1/repository") },
    { name: "swells", version, code: "", zeros_mb: 4 * LIMIT_MB },
  ];
  registry = startNpmRegistry(
    packages,
    () => {},
    () => stopped.promise,
  );
  server = await startTestServer({ job_disk_mb: LIMIT_MB });
  ({ ask } = await server.workspace());
  await expectOk(server.operator("POST", "/settings/global/npm_config_registry", { value: registry.url }));
});
afterAll(async () => {
  stopped.resolve();
  await server.stop();
  await registry[Symbol.asyncDispose]();
  process.env.PATH = path_before;
});

async function deployed(name: string) {
  const content = `import x from "${name}"; export const main = () => typeof x`;
  const hash = await deploy(ask, "acme", `u/admin/${name}`, content);
  return (await ask("GET", `/w/acme/scripts/deployment_status/h/${hash}`)).json();
}

test.each(["clones", "connects"])("a package that %s a repository starts no program", async (name) => {
  expect((await deployed(name)).lock_error_logs).toContain(
    "inner comes from a git repository, but packages are installed from the registry only",
  );
  expect(existsSync(started)).toBe(false);
});

test("a package that is larger than the files of a job may be is not installed, and leaves nothing", async () => {
  expect(await deployed("swells")).toMatchObject({ lock: expect.stringContaining("swells@1.0.0") });
  const run = await ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/swells", {});
  expect(run.json().error).toMatchObject({
    name: "DependencyError",
    message: expect.stringContaining(`more than the ${LIMIT_MB} MB allowed`),
  });
  expect(readdirSync(join(server.data_dir, "runner", "dependencies"))).toEqual([]);
  const cached = readdirSync(join(server.data_dir, "runner", "cache"));
  expect(cached.filter((name) => name.startsWith("swells"))).toEqual([]);
}, 60_000);

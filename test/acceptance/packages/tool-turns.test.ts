/** Slow compilations and package indexes do not delay compiling, locking and running other scripts. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { availableParallelism } from "node:os";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../support/harness.ts";
import { type GoProxy, startGoProxy } from "../../support/peers/packages/go-proxy.ts";
import { type NpmRegistry, startNpmRegistry } from "../../support/peers/packages/npm-registry.ts";

/** Compilers take long, and the first build compiles the standard library. */
const SLOW_MS = 180_000;
const CORES = Math.max(2, availableParallelism());
/** More than the number of jobs that a server runs at once and claims ahead. */
const HELD_PACKAGES = 30;

let server: TestServer;
let ask: Ask;
let proxy: GoProxy;
let registry: NpmRegistry;
/** Requests for the source of a module, by its path. */
const asked = new Map<string, number>();
const sources = Promise.withResolvers<void>();
const answers = Promise.withResolvers<void>();
/** Packages whose request is not answered yet. */
const pending = new Set<string>();
let most_pending = 0;
const before = { ...process.env };

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);
const run = async (path: string) => (await ask("POST", `/w/acme/jobs/run_wait_result/p/${path}`, {})).json();

beforeAll(async () => {
  const modules = numbers(CORES).map((at) => ({
    path: `example.org/slow${at}`,
    version: "v1.0.0",
    source: `package slow\n\nfunc Number() int { return ${at} }\n`,
  }));
  proxy = startGoProxy(modules, async (path) => {
    asked.set(path, (asked.get(path) ?? 0) + 1);
    // The first request is for the lock, the second for the compilation.
    if (asked.get(path)! > 1) await sources.promise;
  });
  const packages = numbers(HELD_PACKAGES).map((at) => ({
    name: `held${at}`,
    version: "1.0.0",
    code: `exports.at = ${at};`,
  }));
  registry = startNpmRegistry(packages, async (name) => {
    pending.add(name);
    most_pending = Math.max(most_pending, pending.size);
    await answers.promise;
    pending.delete(name);
  });
  Object.assign(process.env, { GOPROXY: proxy.url, GOSUMDB: "off" });
  server = await startTestServer();
  ({ ask } = await server.workspace());
  await server.operator("POST", "/settings/global/npm_config_registry", { value: registry.url });
});
afterAll(async () => {
  sources.resolve();
  answers.resolve();
  await server.stop();
  await proxy[Symbol.asyncDispose]();
  await registry[Symbol.asyncDispose]();
  for (const name of ["GOPROXY", "GOSUMDB"]) {
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
  }
});

test.skipIf(!Bun.which("go"))(
  "as many slow builds as cores do not delay other scripts, and each version is built once",
  async () => {
    for (const at of numbers(CORES)) {
      const module = `example.org/slow${at}`;
      const content = `package inner\n\nimport slow "${module}"\n\nfunc main() int { return slow.Number() }\n`;
      await deploy(ask, "acme", `u/admin/slow${at}`, content, { language: "go" });
    }
    await until(
      () => numbers(CORES).every((at) => asked.get(`example.org/slow${at}`) === 2),
      "all slow builds at once",
    );
    const slow = [run("u/admin/slow0"), run("u/admin/slow0")];
    await deploy(ask, "acme", "u/admin/quick", "package inner\n\nfunc main() int { return 7 }\n", {
      language: "go",
    });
    expect(await run("u/admin/quick")).toBe(7);
    sources.resolve();
    expect(await Promise.all(slow)).toEqual([0, 0]);
    expect(asked.get("example.org/slow0")).toBe(2);
  },
  SLOW_MS,
);

test(
  "locks that wait for an index are limited, and occupy no job slots",
  async () => {
    const path = (at: number) => `u/admin/held${at}`;
    for (const at of numbers(HELD_PACKAGES)) {
      const content = `import { at } from "held${at}";\nexport const main = () => at;`;
      const body = { path: path(at), content, language: "bun" };
      await expectOk(ask("POST", "/w/acme/scripts/create", body));
    }
    await until(() => pending.size >= 2 * CORES, "locks that wait");
    await deploy(ask, "acme", "u/admin/plain", "export const main = () => 1;", { language: "bun" });
    expect(await run("u/admin/plain")).toBe(1);
    answers.resolve();
    const results = await Promise.all(numbers(HELD_PACKAGES).map((at) => run(path(at))));
    expect(results).toEqual(numbers(HELD_PACKAGES));
    expect(most_pending).toBeLessThanOrEqual(4 * CORES);
  },
  SLOW_MS,
);

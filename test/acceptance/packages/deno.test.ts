/** Scripts that use the global `Deno`: run by Deno if it is on the PATH, with npm packages. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Ask, deploy, startTestServer, type TestServer } from "../../support/harness.ts";
import { type NpmRegistry, startNpmRegistry } from "../../support/peers/packages/npm-registry.ts";

let server: TestServer;
let ask: Ask;
let registry: NpmRegistry;

beforeAll(async () => {
  registry = startNpmRegistry([{ name: "greeting", version: "1.2.0", code: "exports.word = 'hello';" }]);
  server = await startTestServer();
  ({ ask } = await server.workspace());
  await server.operator("POST", "/settings/global/npm_config_registry", { value: registry.url });
});
afterAll(async () => {
  await server.stop();
  await registry[Symbol.asyncDispose]();
});

let deployed = 0;
async function run(content: string, args = {}): Promise<unknown> {
  const path = `u/admin/deno_${deployed++}`;
  await deploy(ask, "acme", path, content, { language: "deno" });
  return (await ask("POST", `/w/acme/jobs/run_wait_result/p/${path}`, args)).json();
}

const isThere = Bun.which("deno") !== null;
if (!isThere) console.warn("deno is not installed: scripts that use it are not run by these tests");

test("a script that does not use Deno is run without it", async () => {
  const content = `// Deno.version is not used
import greeting from "npm:greeting@1";
export const main = (name: string) => [greeting.word, name, "Deno.args", typeof Bun];`;
  expect(await run(content, { name: "ann" })).toEqual(["hello", "ann", "Deno.args", "object"]);
});

test.skipIf(isThere)(
  "a script that uses Deno on a server without it fails with a message on what to install",
  async () => {
    expect(await run("export const main = () => Deno.version;")).toMatchObject({
      error: { name: "DependencyError", message: expect.stringContaining("install Deno") },
    });
  },
);

test("a script whose import uses Deno is run by Deno, deployed, as a preview and as a step", async () => {
  const language = "deno";
  const lib = "export const where = () => Deno.build.os;";
  await deploy(ask, "acme", "u/admin/uses_deno", lib, { language });
  const content = `import { where } from "/u/admin/uses_deno.ts";\nexport const main = () => where();`;
  const missing = { error: { name: "DependencyError", message: expect.stringContaining("install Deno") } };
  const check = (answer: unknown) =>
    isThere ? expect(answer).toBe("linux") : expect(answer).toMatchObject(missing);
  check(await run(content));
  const path = "u/admin/imports_deno";
  check(
    (await ask("POST", "/w/acme/jobs/run_wait_result/preview", { language, content, path, args: {} })).json(),
  );
  const value = {
    modules: [{ id: "a", value: { type: "rawscript", language, content, input_transforms: {} } }],
  };
  check((await ask("POST", "/w/acme/jobs/run_wait_result/preview_flow", { path, value, args: {} })).json());
});

describe.skipIf(!isThere)("with Deno", () => {
  test("arguments, packages, scripts of the workspace and results are as in all TypeScript", async () => {
    await deploy(ask, "acme", "u/admin/lib", "export const twice = (n: number) => n * 2;", {
      language: "deno",
    });
    const content = `import { word } from "npm:greeting@1";
import { twice } from "./lib.ts";
type Person = { name: string };
export async function main(n: number, person: Person, at: Date, tags = ["x"]) {
  console.log("by", Deno.version.deno);
  return { word, n: twice(n), name: person.name, year: at.getUTCFullYear(), tags, set: new Set([1]) };
}`;
    const args = { n: 4, person: { name: "añ" }, at: "2024-05-06T00:00:00Z" };
    const answer = { word: "hello", n: 8, name: "añ", year: 2024, tags: ["x"], set: [1] };
    expect(await run(content, args)).toEqual(answer);
  });

  test("an error fails the job with its message, and a preview runs too", async () => {
    expect(await run('export function main() { Deno.cwd(); throw new TypeError("no luck"); }')).toMatchObject(
      { error: { name: "TypeError", message: "no luck" } },
    );
    const preview = { language: "deno", content: "export const main = () => Deno.build.os;", args: {} };
    expect((await ask("POST", "/w/acme/jobs/run_wait_result/preview", preview)).json()).toBe("linux");
  });

  test("it runs in the sandbox of every script", async () => {
    const content = "export const main = (path: string) => Deno.readTextFile(path);";
    expect(await run(content, { path: `${server.data_dir}/svc.db` })).toHaveProperty("error.message");
    expect(await run(content, { path: "/etc/os-release" })).toContain("NAME=");
  });
});

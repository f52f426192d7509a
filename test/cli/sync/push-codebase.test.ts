/** Scripts of a codebase: bundled with their imports, pushed, run, and pulled without differences. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
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
const run = async (path: string, args: object = {}) =>
  (await ask("POST", `/w/acme/jobs/run_wait_result/p/${path}`, args)).json();
const show = async () =>
  (await expectOk(ask("GET", "/w/acme/scripts/get/p/f/shop/total"))).json() as { hash: string };

const SETTINGS =
  "codebases:\n  - relative_path: f/shop\n    includes: ['**']\n    define: { SHOP: '\"Corner\"' }\n";
const TOTAL =
  "import { plus } from './lib/sums.js';\nimport { tax } from 'taxes';\ndeclare const SHOP: string;\nexport const main = (net: number) => `${SHOP} ${plus(net, tax)}`;\n";

test("a codebase is bundled, runs, and is deployed again when one of its files changes", async () => {
  using place = createCliEnvironment();
  await writeFiles(place.folder, {
    "wmill.yaml": SETTINGS,
    "f/shop/total.ts": TOTAL,
    "f/shop/lib/sums.js": "export const plus = (a, b) => a + b;\n",
    "f/shop/node_modules/taxes/package.json": '{"name":"taxes","main":"index.js"}',
    "f/shop/node_modules/taxes/index.js": "exports.tax = 7;\n",
  });
  const push = () => svc(place, "push", "--yes");
  expect(await push()).toMatchObject({ code: 0 });
  expect(await run("f/shop/total", { net: 3 })).toBe("Corner 10");
  expect(await show()).toMatchObject({ content: TOTAL, schema: { properties: { net: { type: "number" } } } });

  const { hash } = await show();
  expect((await push()).out).toBe("nothing to change\n");
  expect((await svc(place, "pull", "--dry-run")).out).toBe("nothing to change\n");
  using back = createCliEnvironment();
  await writeFiles(back.folder, { "wmill.yaml": SETTINGS });
  expect(await svc(back, "pull", "--yes")).toMatchObject({ code: 0 });
  for (const name of ["total.ts", "total.script.yaml"]) {
    const read = ({ folder }: CliEnvironment) => Bun.file(join(folder, "f/shop", name)).text();
    expect(await read(back)).toBe(await read(place));
  }

  await writeFiles(place.folder, { "f/shop/lib/sums.js": "export const plus = (a, b) => a + b + 100;\n" });
  expect(await push()).toMatchObject({ code: 0 });
  expect(await run("f/shop/total", { net: 3 })).toBe("Corner 110");
  expect((await show()).hash).not.toBe(hash);
}, 60_000);

test("a codebase beside the folder counts for every script that its globs name", async () => {
  using place = createCliEnvironment();
  await writeFiles(place.folder, {
    "src/words.ts": "export const word: string = 'beside';\n",
    "all/wmill.yaml": "codebases:\n  - relative_path: ../src\n    includes: ['u/admin/b*']\n",
    "all/u/admin/bundled.ts":
      "import { word } from '../../../src/words.ts';\nexport const main = () => word;\n",
    "all/u/admin/plain.ts": "export const main = () => 'plain';\n",
  });
  const push = () =>
    place.svc(["push", "all", "--yes", "--url", server.url, "--token", token, "--workspace", "acme"]);
  expect(await push()).toMatchObject({ code: 0 });
  expect([await run("u/admin/bundled"), await run("u/admin/plain")]).toEqual(["beside", "plain"]);
  const codebaseOf = async (path: string) =>
    (await expectOk(ask("GET", `/w/acme/scripts/get/p/${path}`))).json().codebase ?? undefined;
  expect(await codebaseOf("u/admin/bundled")).toEqual(expect.any(String));
  expect(await codebaseOf("u/admin/plain")).toBeUndefined();
  expect((await push()).out).toContain("\nnothing to change\n");
}, 60_000);

test.each([
  ["{ relative_path: f/shop, customBundler: make }", "the option customBundler, which only wmill has"],
  ["{ relative_path: f/shop }", "could not be bundled"],
])(
  "bundling errors are reported: %s",
  async (codebase, says) => {
    using place = createCliEnvironment();
    await writeFiles(place.folder, { "wmill.yaml": `codebases: [${codebase}]\n`, "f/shop/broken.ts": TOTAL });
    const { code, err } = await svc(place, "push", "--yes");
    expect([code, err]).toEqual([1, expect.stringContaining(says)]);
    expect(await (await ask("GET", "/w/acme/scripts/exists/p/f/shop/broken")).json()).toBe(false);
  },
  60_000,
);

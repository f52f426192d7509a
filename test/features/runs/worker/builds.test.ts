/** Runs that wait for a compiler or a package client: other jobs use the only slot meanwhile. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listProcesses } from "../../../../src/engines/runner/process/kill-tree.ts";
import {
  type Ask,
  createTemporaryFolder,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";
import { type NpmRegistry, startNpmRegistry } from "../../../support/peers/packages/npm-registry.ts";

let server: TestServer;
let ask: Ask;
let registry: NpmRegistry;
const sysroot = createTemporaryFolder("svc-compiler-");
const gate = join(sysroot, "gate");
/** Requests for the package that have arrived, and what each waits for. */
let asked = 0;
const answers = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
const path_before = process.env.PATH;

/** A compiler that waits for a file. Its program returns the script's first line. */
const COMPILER = `#!/bin/sh
[ "$1" = --print ] && exec echo ${sysroot}
while [ ! -e ${gate} ]; do sleep 0.05; done
printf '#!/bin/sh\\nprintf %%s "%s" > result.json\\n' "$(head -n1 inner.rs | tr -dc 0-9)" > program
`;

beforeAll(async () => {
  mkdirSync(join(sysroot, "bin"));
  for (const folder of [sysroot, join(sysroot, "bin")]) chmodSync(folder, 0o755);
  writeFileSync(join(sysroot, "bin", "rustc"), COMPILER, { mode: 0o755 });
  process.env.PATH = `${join(sysroot, "bin")}:${path_before}`;
  registry = startNpmRegistry([{ name: "held", version: "1.0.0", code: "exports.at = 5;" }], async () => {
    await answers[asked++]?.promise;
  });
  server = await startTestServer({ workers: 1, builds: 1 });
  ({ ask } = await server.workspace());
  await server.operator("POST", "/settings/global/npm_config_registry", { value: registry.url });
});
afterAll(async () => {
  process.env.PATH = path_before;
  for (const { resolve } of answers) resolve();
  writeFileSync(gate, "");
  await server.stop();
  await registry[Symbol.asyncDispose]();
});

const preview = async (language: string, content: string, query = "") =>
  (await expectOk(ask("POST", `/w/acme/jobs/run/preview${query}`, { content, language, args: {} }))).text;
const stateOf = async (id: string) =>
  (await ask("GET", `/w/acme/jobs_u/completed/get_result_maybe/${id}?get_started=true`)).json();
const ended = (id: string) =>
  until(async () => {
    const state = await stateOf(id);
    return state.completed ? state : undefined;
  }, `the end of ${id}`);
const rust = (number: number, query?: string) => preview("rust", `// ${number}\nfn main() {}\n`, query);
const plain = async () => (await ended(await preview("bun", "export const main = () => 1;"))).result;

async function countCompilers(): Promise<number> {
  let count = 0;
  for (const { pid } of listProcesses()) {
    const read = (name: string) =>
      Bun.file(`/proc/${pid}/${name}`)
        .text()
        .catch(() => "");
    const isOurs = (await read("cmdline")).includes(`${sysroot}/bin/rustc`);
    if (isOurs && (await read("environ")).includes(server.data_dir)) count++;
  }
  return count;
}

test("a compiler occupies no job slot, and at most SVC_BUILDS run", async () => {
  const first = await rust(1);
  await until(async () => (await countCompilers()) === 1, "the compiler");
  const canceled = await rust(2);
  const timed = await rust(3, "?timeout=1");
  const last = await rust(4);
  expect(await plain()).toBe(1);
  expect(await countCompilers()).toBe(1);
  expect(await stateOf(first)).toEqual({ completed: false, result: null, success: null, started: true });
  await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${canceled}`, { reason: "no need" }));
  expect((await ended(canceled)).result.error.message).toContain("no need");
  expect((await ended(timed)).result.error.message).toContain("1 s");
  writeFileSync(gate, "");
  expect((await ended(first)).result).toBe(1);
  expect((await ended(last)).result).toBe(4);
}, 60_000);

test("neither does a package client that resolves or installs imports of undeployed code", async () => {
  const waits = await preview("bun", `import { at } from "held";\nexport const main = () => at;`);
  await until(() => asked === 1, "the resolution");
  expect(await plain()).toBe(1);
  answers[0]!.resolve();
  await until(() => asked === 2, "the installation");
  expect(await plain()).toBe(1);
  answers[1]!.resolve();
  expect((await ended(waits)).result).toBe(5);
}, 60_000);

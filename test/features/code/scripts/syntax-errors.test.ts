/** Code with syntax errors is stored unchanged; its run reports the file, the line and the error. */
import { afterAll, beforeAll, expect, test } from "bun:test";
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

const BROKEN: [language: string, content: string, place: string, tool?: string][] = [
  ["bun", "export const main = (\n) => {", "line 2, column 7"],
  ["deno", "export const main = (\n) => {", "line 2, column 7"],
  ["python3", "def main(:\n", "line 1, column 10"],
  ["bash", "true\ndone\n", "line 2, column 1"],
  ["postgresql", "SELECT 1;\nSELECT 'abc", "line 2, column 1"],
  ["graphql", "query($a: String {\n  x\n", "line 1, column 1"],
  ["go", "package inner\n\nfunc main() int {\n\treturn 1 +\n}\n", "line 5, column 1", "gofmt"],
  ["php", "<?php\n\nfunction main() {\n  return 1 +;\n}\n", "line 4, column 1", "php"],
  ["ruby", "#!/usr/bin/ruby -rnowhere\ndef main\n  1 +\nend\n", "line 4, column 1", "ruby"],
];

const run = (path: string) => ask("POST", `/w/acme/jobs/run_wait_result/p/${path}`, {});

for (const [language, content, place, tool] of BROKEN) {
  test.skipIf(tool !== undefined && !Bun.which(tool))(`in ${language}`, async () => {
    const path = `u/admin/broken_${language}`;
    const hash = await deploy(ask, "acme", path, content, { language, summary: "kept" });
    const status = (await ask("GET", `/w/acme/scripts/deployment_status/h/${hash}`)).json();
    expect(status).toEqual({ lock_error_logs: expect.stringContaining(place) });
    const stored = (await ask("GET", `/w/acme/scripts/get/p/${path}`)).json();
    expect(stored).toMatchObject({ content, summary: "kept" });
    const answer = await run(path);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(place)]);
    expect(answer.text).toContain(`script ${path} cannot run: Syntax error`);
  });
}

test("code with a lock of the client keeps the lock", async () => {
  const lock = "# py: 3.11\n";
  const hash = await deploy(ask, "acme", "u/admin/with_lock", "def main(:\n", { language: "python3", lock });
  await until(async () => {
    const status = (await ask("GET", `/w/acme/scripts/deployment_status/h/${hash}`)).json();
    return status.lock_error_logs;
  }, "the error");
  expect((await ask("GET", "/w/acme/scripts/get/p/u/admin/with_lock")).json().lock).toBe(lock);
});

test("the previous version stays in use, and the next one that parses runs again", async () => {
  const path = "u/admin/mended";
  for (const [content, result] of [
    ["export const main = () => 1;", 1],
    ["export const main = () =>", 1],
    ["export const main = () => 3;", 3],
  ] as const) {
    await deploy(ask, "acme", path, content);
    expect((await run(path)).json()).toBe(result);
  }
});

test("an importer names the invalid script, and runs once that is fixed", async () => {
  await deploy(ask, "acme", "u/admin/library", "export const one = (");
  const hash = await deploy(
    ask,
    "acme",
    "u/admin/importer",
    'import { one } from "./library";\nexport const main = () => one;',
  );
  const status = (await ask("GET", `/w/acme/scripts/deployment_status/h/${hash}`)).json();
  expect(status.lock_error_logs).toContain(
    "u/admin/importer imports ./library: u/admin/library: Syntax error at line 1, column",
  );
  await deploy(ask, "acme", "u/admin/library", "export const one = 1;");
  await until(async () => (await run("u/admin/importer")).text === "1", "the importer's run");
});

test("code of a flow is invalid: its run names the step", async () => {
  const path = "u/admin/flow";
  const content = "export function main() {\n  return (;\n}";
  const value = {
    modules: [{ id: "b", value: { type: "rawscript", language: "bun", content, input_transforms: {} } }],
  };
  await expectOk(ask("POST", "/w/acme/flows/create", { path, summary: "", value }));
  expect((await ask("GET", `/w/acme/flows/get/${path}`)).json().value).toEqual(value);
  const says = "step b, `content`: Syntax error at line 2, column 11";
  const answer = await until(async () => {
    const ran = await ask("POST", `/w/acme/jobs/run_wait_result/f/${path}`, {});
    return ran.text.includes("Syntax error") ? ran : undefined;
  }, "the end of the lock job");
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(says)]);
});

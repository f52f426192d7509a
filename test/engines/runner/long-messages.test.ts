/**
 * Long responses of a process are read in several turns of the event loop: in order, and also if it has ended
 * since.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../support/harness.ts";

let server: TestServer;
let ask: Ask;
beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
});
afterAll(() => server.stop());

const RESULT = "é\\n".repeat(1_000_000);
const run = async (path: string) =>
  (await expectOk(ask("POST", `/w/acme/jobs/run_wait_result/p/${path}`, {}))).json();

test("long results of consecutive runs arrive completely", async () => {
  const code = `let count = 0; export const main = () => [++count, ${JSON.stringify("é\\n")}.repeat(1_000_000)];`;
  await deploy(ask, "acme", "u/admin/long", code);
  for (const count of [1, 2, 3]) expect((await run("u/admin/long")) as unknown).toEqual([count, RESULT]);
});

test("long results of a process that exits right after its response arrive completely", async () => {
  // Written as by a process that exits at the same time.
  const code = `import { writeSync } from "node:fs";
    export function main() {
      const result = JSON.stringify(${JSON.stringify("é\\n")}.repeat(1_000_000));
      const line = Buffer.from(JSON.stringify({ t: "done", fence: 0, leftovers: false, result }) + "\\n");
      for (let at = 0; at < line.length; ) {
        try { at += writeSync(3, line, at) } catch (cause) { if ((cause as { code: string }).code !== "EAGAIN") throw cause }
      }
      process.exit(0);
    }`;
  await deploy(ask, "acme", "u/admin/ends", code);
  expect((await run("u/admin/ends")) as unknown).toBe(RESULT);
});

/** Threads that read long scripts. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { runThread } from "../../../src/engines/languages/reading/off-thread.ts";

const TIMEOUT_MS = 500;
let dir: string;
let program: string;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "svc-analysis-"));
  const path = join(dir, "stuck.ts");
  await Bun.write(path, "self.onmessage = () => { for (let n = 0; n >= 0; n = (n + 1) % 7); };");
  program = pathToFileURL(path).href;
});
afterAll(() => rmSync(dir, { recursive: true }));

test("one that is stuck is ended after the timeout, and takes no more time of the processor", async () => {
  const request = { language: "bun", content: "", entrypoint: "main", owner: { owner: "acme" } } as const;
  expect(await runThread(request, program, TIMEOUT_MS)).toEqual({
    ok: false,
    kind: "request",
    message: "the script takes longer to read than the 0.5 s it may",
  });
  // The thread may end a little later.
  const isIdle = async () => {
    const before = process.cpuUsage();
    await Bun.sleep(200);
    const { user, system } = process.cpuUsage(before);
    return user + system < 100_000;
  };
  let idle = false;
  for (let tries = 0; tries < 25 && !idle; tries++) idle = await isIdle();
  expect(idle).toBe(true);
});

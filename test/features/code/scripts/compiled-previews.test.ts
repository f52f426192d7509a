/** Compilers end with the jobs that wait for them, and the files that previews leave on disk are limited. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, truncate, utimes } from "node:fs/promises";
import { join } from "node:path";
import { limitFolderSize } from "../../../../src/engines/runner/files/prune-files.ts";
import { listProcesses } from "../../../../src/engines/runner/process/kill-tree.ts";
import {
  type Ask,
  createTemporaryFolder,
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

/** Takes a compiler minutes: a constant that is computed at compile time. */
const ENDLESS = `#![allow(long_running_const_eval)]
const fn count(most: u64) -> u64 { let mut at = 0; while at < most { at += 1 } at }
const LONG: u64 = count(u64::MAX);
fn main() -> u64 { LONG }
`;
const preview = (content: string, query = "") =>
  ask("POST", `/w/acme/jobs/run/preview${query}`, { content, language: "rust", args: {} });

async function isCompiling(): Promise<boolean> {
  for (const { pid } of listProcesses()) {
    const command = await Bun.file(`/proc/${pid}/cmdline`)
      .text()
      .catch(() => "");
    const environment = await Bun.file(`/proc/${pid}/environ`)
      .text()
      .catch(() => "");
    if (command.includes("rustc") && environment.includes(server.data_dir)) return true;
  }
  return false;
}
const untilCompiling = (expected: boolean) =>
  until(async () => ((await isCompiling()) === expected ? true : undefined), `a compiler: ${expected}`);

test.skipIf(!Bun.which("rustc"))("a compiler ends with the jobs that wait for it", async () => {
  const first = (await expectOk(preview(ENDLESS))).text;
  await untilCompiling(true);
  const second = (await expectOk(preview(ENDLESS))).text;
  const timed = (await expectOk(preview(`${ENDLESS}// other\n`, "?timeout=1"))).text;
  const cancel = (id: string) => expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${id}`, { reason: "" }));
  const ended = (id: string) =>
    until(
      async () =>
        (await ask("GET", `/w/acme/jobs_u/completed/get_result_maybe/${id}`)).json().completed || undefined,
      id,
    );
  await cancel(first);
  await ended(first);
  // The second job waits for the same program.
  expect(await isCompiling()).toBe(true);
  await cancel(second);
  await ended(second);
  await ended(timed);
  await untilCompiling(false);
  // The compiler is available to others, and the script itself can run again.
  const id = (await expectOk(preview("fn main() -> u64 { 7 }\n"))).text;
  await ended(id);
  expect((await ask("GET", `/w/acme/jobs_u/completed/get_result/${id}`)).json()).toBe(7);
});

test("the least recently used are removed while the total is too large", async () => {
  using folder = { path: createTemporaryFolder("svc-size-"), [Symbol.dispose]() {} };
  const now = Date.now();
  const version = async (name: string, mb: number, minutes_ago: number) => {
    const path = join(folder.path, "versions", "acme", name);
    await mkdir(join(path, "deep"), { recursive: true });
    await Bun.write(join(path, "deep", "program"), "");
    await truncate(join(path, "deep", "program"), mb * 1_000_000);
    const at = (now - minutes_ago * 60_000) / 1000;
    await utimes(path, at, at);
    return path;
  };
  const oldest = await version("a1", 10, 50);
  await version("a2", 10, 40);
  await version("a3", 10, 30);
  const used_now = await version("a4", 10, 60);
  const running = await version("a5", 10, 55);
  const removed: string[] = [];
  const use = {
    used: new Map([[used_now, now]]),
    isLoaded: (path: string) => path === running,
    onRemoved: (path: string) => void removed.push(path),
  };
  expect(await limitFolderSize(folder.path, 50_000_000, use)).toBe(0);
  expect(await limitFolderSize(folder.path, 45_000_000, use)).toBe(1);
  expect(removed).toEqual([oldest]);
  // Files in use are kept, whatever their size.
  expect(await limitFolderSize(folder.path, 1, use)).toBe(2);
  expect(
    [...new Bun.Glob("*").scanSync({ cwd: join(folder.path, "versions", "acme"), onlyFiles: false })].sort(),
  ).toEqual(["a4", "a5"]);
});

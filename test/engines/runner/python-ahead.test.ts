/**
 * Spare Python processes: started while Python is in use, without a script, and ended when it is no longer
 * used.
 */
import { afterEach, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Child } from "../../../src/engines/runner/process/child.ts";
import { createPythonPool } from "../../../src/engines/runner/python-pool.ts";
import { deploy, expectOk, startTestServer, type TestServer, until } from "../../support/harness.ts";

let server: TestServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

/** Lists the Python processes below this test. */
function pythons(): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      try {
        const isOurs =
          Number(readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]!.split(" ")[1]) === process.pid;
        return isOurs && readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("/program.py");
      } catch {
        return false;
      }
    });
}

/** Number of script processes below this test, in any state. */
function countChildren(data_dir: string): number {
  return readdirSync(join(data_dir, "runner/children")).length;
}

const WHO =
  "import os\nLEFT = os.environ.get('LEFT')\ndef main():\n    return [os.getpid(), LEFT, sorted(os.listdir('.'))]\n";

async function start(options: object) {
  server = await startTestServer({ blank_children: 1, ...options });
  const { ask } = await server.workspace();
  const run = async (path: string) =>
    (await expectOk(ask("POST", `/w/acme/jobs/run_wait_result/p/${path}`, {}))).json();
  const push = (path: string, content: string, more: object = {}) =>
    deploy(ask, "acme", path, content, { language: "python3", ...more });
  return { ask, run, push };
}

test("a new script runs in a process that was started before", async () => {
  const { ask, run, push } = await start({ child_idle_s: 600 });
  await deploy(ask, "acme", "u/admin/ts", "export const main = () => 1");
  await run("u/admin/ts");
  expect(pythons()).toEqual([]);
  await push("u/admin/first", WHO, { envs: ["LEFT=first"] });
  const [first, left] = await run("u/admin/first");
  expect(left).toBe("first");
  const ahead = await until(async () => {
    const others = pythons().filter((pid) => pid !== first);
    return others.length > 0 ? others : undefined;
  }, "a process ahead");
  await push("u/admin/second", `${WHO}# another`);
  const [second, ...seen] = await run("u/admin/second");
  expect(ahead).toContain(second);
  expect(seen).toEqual([null, []]);
  expect((await run("u/admin/second"))[0]).toBe(second);
  expect((await run("u/admin/first"))[0]).toBe(first);
});

test("it ends when no script has used it for the idle timeout", async () => {
  const { run, push } = await start({ child_idle_s: 3 });
  await push("u/admin/once", WHO);
  const [first] = await run("u/admin/once");
  await until(async () => pythons().some((pid) => pid !== first), "a process ahead");
  await until(async () => pythons().length === 0, "their end");
});

test("if one was killed from outside, the next script runs all the same", async () => {
  const { run, push } = await start({ child_idle_s: 600 });
  await push("u/admin/first", WHO);
  const [first] = await run("u/admin/first");
  const ahead = await until(async () => pythons().find((pid) => pid !== first), "a process ahead");
  process.kill(ahead, "SIGKILL");
  await push("u/admin/second", `${WHO}# another`);
  expect((await run("u/admin/second"))[0]).not.toBe(ahead);
});

test("ended ones are discarded and never given to a script", async () => {
  const discarded: Child[] = [];
  const started: Child[] = [];
  const ahead = createPythonPool({
    count: 3,
    idle_timeout_ms: 1_000,
    start() {
      const child = { isUsable: true, interpreter: Promise.resolve() } as unknown as Child;
      started.push(child);
      return child;
    },
    discard: (child) => void discarded.push(child),
  });
  const python = { program: "python3", folders: [], is_python: true };
  ahead.use(python);
  ahead.replenish();
  await Promise.resolve();
  const [ended, closed, usable] = started as [Child, Child, Child];
  // One has ended, which was not reported yet; one has closed its channel.
  Object.assign(ended, { isUsable: false });
  closed.onDisconnect!(undefined);
  expect(ahead.count()).toBe(2);
  expect(ahead.take(python)).toBe(usable);
  ended.onExit!({ code: 0, signal: null });
  expect(discarded).toEqual([closed, ended]);
  expect(ahead.count()).toBe(0);
});

test("they count among the idle processes, and are ended first if there are too many", async () => {
  const max_children = 3;
  const { ask, run, push } = await start({ child_idle_s: 600, blank_children: 1, workers: 3, max_children });
  const blank = () => server!.server.app.runner.stats().blank;
  await push("u/admin/python", WHO);
  const [first] = await run("u/admin/python");
  await until(async () => pythons().some((pid) => pid !== first), "a process ahead");
  expect(blank()).toBe(2);
  // Each waits until all run.
  const { promise: all, resolve } = Promise.withResolvers<void>();
  let begun = 0;
  const gate = Bun.serve({
    port: 0,
    async fetch() {
      if (++begun === max_children) resolve();
      await all;
      return new Response();
    },
  });
  try {
    const names = Array.from({ length: max_children }, (_, at) => `u/admin/waits_${at}`);
    for (const name of names) {
      await deploy(ask, "acme", name, `export const main = async () => (await fetch("${gate.url}")).status`);
    }
    const runs = names.map(run);
    await all;
    await until(async () => countChildren(server!.data_dir) === max_children, "the others to go");
    expect(pythons()).toEqual([]);
    expect(await Promise.all(runs)).toEqual(names.map(() => 200));
  } finally {
    gate.stop(true);
  }
});

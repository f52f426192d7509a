/** Python processes that wait for a script: there where Python is in use, blank, and gone when it is not used any more. */
import { afterEach, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { deploy, expectOk, startTestServer, type TestServer, until } from "../../support/harness.ts";

let server: TestServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

/** Lists processes of Python that were started below this test. */
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

const WHO =
  "import os\nLEFT = os.environ.get('LEFT')\ndef main():\n    return [os.getpid(), LEFT, sorted(os.listdir('.'))]\n";

async function start(options: object) {
  server = await startTestServer(options);
  const { ask } = await server.workspace();
  const run = async (path: string) =>
    (await expectOk(ask("POST", `/w/acme/jobs/run_wait_result/p/${path}`, {}))).json();
  const push = (path: string, content: string, more: object = {}) =>
    deploy(ask, "acme", path, content, { language: "python3", ...more });
  return { ask, run, push };
}

test("a script that is new runs in a process that was there before it", async () => {
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

test("it ends when no script has needed it for the time that warm ones wait", async () => {
  const { run, push } = await start({ child_idle_s: 3 });
  await push("u/admin/once", WHO);
  const [first] = await run("u/admin/once");
  await until(async () => pythons().some((pid) => pid !== first), "a process ahead");
  await until(async () => pythons().length === 0, "their end");
});

test("where one has been ended from outside, the next script runs all the same", async () => {
  const { run, push } = await start({ child_idle_s: 600 });
  await push("u/admin/first", WHO);
  const [first] = await run("u/admin/first");
  const ahead = await until(async () => pythons().find((pid) => pid !== first), "a process ahead");
  process.kill(ahead, "SIGKILL");
  await push("u/admin/second", `${WHO}# another`);
  expect((await run("u/admin/second"))[0]).not.toBe(ahead);
});

/** Killing a process with all its descendants, and those that a killed server left. */
import { expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { killTrees, listProcesses } from "../../../../src/engines/runner/process/kill-tree.ts";
import { killOrphans } from "../../../../src/engines/runner/process/orphan-processes.ts";
import { createTemporaryFolder, until } from "../../../support/harness.ts";

/** Starts a process in its own session below a process, and one by a thread; prints all process ids. */
const TREE = `
setsid bash -c 'sleep 100 & echo $$ $!; wait' &
python3 -c '
import subprocess, threading, time
def start(): print(subprocess.Popen(["sleep", "100"]).pid, flush=True); time.sleep(100)
threading.Thread(target=start).start()' &
echo $!
wait`;

test.skipIf(process.platform !== "linux")(
  "a process is killed with all descendants, also those of its threads and in other sessions",
  async () => {
    const root = Bun.spawn(["bash", "-c", TREE], { stdout: "pipe" });
    const reader = root.stdout.getReader();
    let printed = "";
    while ((printed.match(/\d+/g) ?? []).length < 4)
      printed += new TextDecoder().decode((await reader.read()).value);
    const pids = [root.pid, ...printed.match(/\d+/g)!.map(Number)];
    const killed = killTrees([root.pid]);
    expect(killed.toSorted()).toEqual(expect.arrayContaining(pids));
    await root.exited;
    const live = () => listProcesses().filter(({ pid, state }) => pids.includes(pid) && state !== "Z");
    await until(() => live().length === 0);
  },
);

test.skipIf(process.platform !== "linux")(
  "script processes of a killed server are recognised by their program, also those of an older version",
  async () => {
    const directory = createTemporaryFolder("svc-orphans-");
    const folder = join(directory, "runtime/some-version/child");
    mkdirSync(folder, { recursive: true });
    // In another folder and with another environment than at their start.
    const start = (name: string) => {
      writeFileSync(join(folder, name), 'console.log("there"); setInterval(() => {}, 1000);');
      return Bun.spawn([process.execPath, "--no-install", join(folder, name)], { cwd: "/", env: {} });
    };
    const [current, older, other] = ["program.js", "program.ts", "other.js"].map(start);
    const all = [current!, older!, other!];
    for (const each of all) await each.stdout.getReader().read();
    await killOrphans(directory, undefined);
    for (const each of [current!, older!]) await each.exited;
    expect(all.map(({ signalCode }) => signalCode)).toEqual(["SIGKILL", "SIGKILL", null]);
    other!.kill();
    rmSync(directory, { recursive: true });
  },
);

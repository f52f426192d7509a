/** The end of a process with all that it has started. */
import { expect, test } from "bun:test";
import { killTrees, listProcesses } from "../../../../src/engines/runner/process/kill-tree.ts";
import { until } from "../../../support/harness.ts";

/** Starts a process in a session of its own below a process, and one by a thread; prints all process ids. */
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

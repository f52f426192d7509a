/**
 * Runs that a process completes, or that are stopped, while the server is busy and has not read their messages.
 * The server shares this process, so it is busy while a test computes.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { RunOutcome, RunRequest } from "../../../../src/engines/runner/types.ts";
import { StopRequest } from "../../../../src/lib/async/sleep.ts";
import { startTestServer, type TestServer, until } from "../../../support/harness.ts";

/** A process gets prefetched runs after 100 fast ones. */
const WARM_UP = 110;
/** Time in which a process completes all runs of a burst. */
const BUSY_MS = 400;

/** The numbers of the started runs, and the processes of each. */
const begun: number[] = [];
const pids: number[] = [];
/** Called when a run has started. */
let onBegun: ((n: number) => void) | undefined;
const desk = Bun.listen({
  hostname: "127.0.0.1",
  port: 0,
  socket: {
    data(_, bytes) {
      for (const line of bytes.toString().trim().split("\n")) {
        const [n, pid] = line.split(" ").map(Number) as [number, number];
        begun.push(n);
        pids.push(pid);
        onBegun?.(n);
      }
    },
  },
});

const SCRIPT = `
  import { existsSync, writeSync } from "node:fs";
  const desk = await Bun.connect({ hostname: "127.0.0.1", port: ${desk.port}, socket: { data() {} } });
  export function main({ n, act }: { n: number; act?: string }) {
    if (act === "wait") return Bun.sleep(400).then(() => n);
    desk.write(n + " " + process.pid + "\\n");
    if (act === "exit") process.exit(3);
    if (act === "print") console.log("x");
    if (act === "fail") { Bun.sleepSync(12); throw new Error("no"); }
    if (act === "block") Bun.sleepSync(300);
    if (act === "recalled") writeSync(3, '{"t":"recalled","number":0,"count":3}\\n');
    if (act === "look") return existsSync("shared");
    if (act?.startsWith("{")) writeSync(3, act + "\\n");
    return n;
  }`;

const VERSION: RunRequest["version"] = {
  id: "b".repeat(64),
  workspace_id: "acme",
  path: "u/admin/burst",
  language: "bun",
  content: SCRIPT,
  lock: undefined,
  parameters: [{ name: "args", kind: "whole" }],
  preprocessor_parameters: undefined,
  envs: [],
  isolation: "shared",
};

const servers: TestServer[] = [];
let one: TestServer;
let two: TestServer;
beforeAll(async () => {
  [one, two] = (await Promise.all([open(1), open(2)])) as [TestServer, TestServer];
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  desk.stop(true);
});

async function open(workers: number): Promise<TestServer> {
  const server = await startTestServer({ workers, child_idle_s: 600, sandbox: "off" });
  servers.push(server);
  return server;
}

function run(
  on: TestServer,
  n: number,
  act?: string,
  more: Partial<RunRequest> = {},
  stop = new StopRequest(),
) {
  const request: RunRequest = {
    job_id: crypto.randomUUID(),
    version: VERSION,
    entrypoint: "main",
    permissioned_as: "u/admin",
    email: "admin@example.org",
    args: JSON.stringify({ n, act }),
    environment: {},
    timeout_ms: 60_000,
    onLog: () => {},
    onStream: () => {},
    ...more,
  };
  return on.server.app.runner.run(request, stop);
}

/** Makes the script's process one whose runs are known to be fast, and clears the records. */
async function warmUp(on: TestServer, act?: string): Promise<void> {
  for (let n = 0; n < WARM_UP; n++) await run(on, -1, act);
  begun.length = 0;
  pids.length = 0;
}

/**
 * Starts runs 0 to 11 at once. When the first starts, the server is busy until all have ended, and then does
 * `then`.
 */
function burst(on: TestServer, acts: Record<number, string>, then?: () => void, first = new StopRequest()) {
  onBegun = (n) => {
    if (n !== 0) return;
    onBegun = undefined;
    Bun.sleepSync(BUSY_MS);
    then?.();
  };
  const stops = [first, ...Array.from({ length: 11 }, () => new StopRequest())];
  return Promise.all(stops.map((stop, n) => run(on, n, acts[n], {}, stop)));
}

const NUMBERS = Array.from({ length: 12 }, (_, n) => n);
const kinds = (outcomes: RunOutcome[]) => outcomes.map(({ kind }) => kind);
/** Returns the started runs, once all of them were reported. */
async function inOrder(): Promise<number[]> {
  await until(() => begun.length >= NUMBERS.length || undefined);
  return begun.toSorted((a, b) => a - b);
}

test.each([undefined, "print"])(
  "runs before and behind one that exits run once, the first does %p",
  async (act) => {
    await warmUp(one);
    const outcomes = await burst(one, { 0: act ?? "", 5: "exit" });
    expect(kinds(outcomes)).toEqual(NUMBERS.map((n) => (n === 5 ? "failure" : "success")));
    expect(await inOrder()).toEqual(NUMBERS);
  },
);

test("runs that were completed when the first is canceled do not run again", async () => {
  await warmUp(one);
  const stop = new StopRequest();
  const outcomes = await burst(one, {}, () => stop.abort(), stop);
  expect(kinds(outcomes)).toEqual(NUMBERS.map(() => "success"));
  expect(await inOrder()).toEqual(NUMBERS);
});

test("a run that is canceled while it is prepared does not start", async () => {
  await warmUp(one);
  const stop = new StopRequest();
  stop.abort();
  const [, outcome] = await Promise.all([run(one, 0), run(one, 1, undefined, {}, stop)]);
  expect(outcome).toEqual({ kind: "canceled" });
  await until(() => begun.length > 0 || undefined);
  expect(begun).toEqual([0]);
});

test("a run that completes when the server takes prefetched runs back does not affect those behind it", async () => {
  await warmUp(one);
  const outcomes = await burst(one, { 0: "recalled" });
  expect(kinds(outcomes)).toEqual(NUMBERS.map(() => "success"));
  expect(await inOrder()).toEqual(NUMBERS);
});

test.each([
  ["ran_ms", -1],
  ["ran_ms", "soon"],
  ["dropped", 1.5],
  ["dropped", -1],
])("a response with %s %p is not accepted", async (name, value) => {
  const answer = { t: "done", result: "1", fence: 0, leftovers: false, [name]: value };
  expect(await run(one, 0, JSON.stringify(answer))).toMatchObject({
    kind: "failure",
    error: { message: expect.stringContaining("something that is not a result") },
  });
});

test("a response to another run is not accepted", async () => {
  const answer = { t: "done", sequence: 1_000_000, result: "1", fence: 0, leftovers: false };
  expect(await run(one, 0, JSON.stringify(answer))).toMatchObject({
    kind: "failure",
    error: { message: expect.stringContaining("answered for another job") },
  });
});

test("the response to a recall of runs that have ended is not used for a later recall", async () => {
  await warmUp(one);
  for (let round = 0; round < 3; round++) {
    const ended = NUMBERS.slice(0, 9).map((n) => run(one, n));
    // Their process completes them meanwhile. The server recalls them before it reads their completions.
    Bun.sleepSync(BUSY_MS);
    await Promise.all(ended);
    // The response arrives while the server is busy again, which then recalls the runs behind the waiting one.
    const outcomes = NUMBERS.map((n) => run(one, n, n === 0 ? "wait" : undefined));
    Bun.sleepSync(BUSY_MS);
    expect(await Promise.all(outcomes)).toMatchObject(NUMBERS.map((n) => ({ result: String(n) })));
  }
}, 60_000);

test("a folder that a run shares with others does not exist for the next run", async () => {
  await warmUp(one);
  const outcomes = await Promise.all([run(one, 0, "look", { shared: "some" }), run(one, 1, "look")]);
  // The first run of a process that was loaded without the folder also has it.
  expect(outcomes).toMatchObject([{ result: "true" }, { result: "false" }]);
  one.server.app.runner.removeShared("some");
});

test("runs that fail after a while use every slot", async () => {
  await warmUp(two, "fail");
  await Promise.all([run(two, 0, "fail"), run(two, 1, "fail")]);
  await until(() => pids.length === 2 || undefined);
  expect(new Set(pids).size).toBe(2);
});

/** Starts runs at once. @returns the number of processes that ran them */
async function countProcesses(acts: (string | undefined)[], more?: Partial<RunRequest>): Promise<number> {
  pids.length = 0;
  await Promise.all(acts.map((act, n) => run(two, n, act, more)));
  await until(() => pids.length >= acts.length || undefined);
  return new Set(pids).size;
}

test("a run waits for a very fast one while a slot is free, unless another job may wait for it", async () => {
  await until(async () => (await countProcesses([undefined, undefined])) === 1 || undefined);
  expect(await countProcesses([undefined, undefined], { has_parent: true })).toBe(2);
});

test("few runs wait behind one that blocks its process while a slot is free", async () => {
  await until(async () => (await countProcesses([undefined, undefined])) === 1 || undefined);
  expect(await countProcesses(["block", ...Array.from({ length: 20 }, () => undefined)])).toBe(2);
});

test("runs that were completed when the server stops are not requeued", async () => {
  await warmUp(one);
  const outcomes = await burst(one, {}, () => void one.server.app.runner.stop());
  expect(kinds(outcomes)).toEqual(NUMBERS.map(() => "success"));
  expect(await inOrder()).toEqual(NUMBERS);
});

test("the run in a slot and those that wait for it are released when the server stops", async () => {
  const server = await startTestServer({ workers: 1, sandbox: "off" });
  const outcomes = Promise.all([0, 1, 2].map((n) => run(server, n, "wait")));
  await server.stop();
  expect(kinds(await outcomes)).toEqual(["released", "released", "released"]);
});

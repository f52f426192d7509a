/** Runs that a process receives before its current one has ended: each behaves as if it ran alone. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

/** A process gets prefetched runs after 100 fast ones. */
const WARM_UP = 110;
const BURST = 40;
const PATH = "u/admin/quick";

/** Messages of the runs to the test, and the promise that holds waiting runs. */
const told: string[] = [];
let release: (() => void) | undefined;
const desk = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const text = await request.text();
    told.push(text);
    if (text === "wait") await new Promise<void>((resolve) => (release = resolve));
    return new Response("");
  },
});

const SCRIPT = `
  import { createHash } from "node:crypto";
  import { writeFileSync } from "node:fs";
  const tell = (text: string) => fetch("${desk.url}", { method: "POST", body: text });
  export async function main(n: number, act?: string) {
    const token = createHash("sha256").update(process.env.WM_TOKEN!).digest("hex");
    if (act === "wait") await tell("wait");
    if (act === "print") console.log("this is", n);
    if (act === "fail") throw new Error("no " + n);
    if (act === "exit") process.exit(3);
    if (act === "large") return { n, text: "x".repeat(100_000) };
    if (act === "leave") Bun.spawn(["sleep", "60"]);
    if (act === "file") writeFileSync("left", String(n));
    if (act === "count") await tell(String(n));
    if (act === "pause") await Bun.sleep(5);
    return { n, job: process.env.WM_JOB_ID, token, pid: process.pid };
  }`;

const servers: TestServer[] = [];
/** Call a server with one slot, and one with two. */
let one: Ask;
let two: Ask;
beforeAll(async () => {
  [one, two] = (await Promise.all([open(1), open(2)])) as [Ask, Ask];
});
afterAll(async () => {
  release?.();
  await Promise.all(servers.map((server) => server.stop()));
  desk.stop(true);
});

async function open(workers: number): Promise<Ask> {
  const server = await startTestServer({ workers, child_idle_s: 600 });
  servers.push(server);
  const { ask } = await server.workspace();
  await deploy(ask, "acme", PATH, SCRIPT);
  return ask;
}

interface Ended {
  id: string;
  n: number;
  success: boolean;
  result: { n: number; job: string; token: string; pid: number; error?: { message: string } };
  logs: string;
}

/** Makes the script's process one whose runs are known to be fast. */
async function warmUp(ask: Ask): Promise<void> {
  for (let n = 0; n < WARM_UP; n++)
    await expectOk(ask("POST", `/w/acme/jobs/run_wait_result/p/${PATH}`, { n }));
}

/** Starts a run. @returns the id of its job */
async function start(ask: Ask, n: number, act?: string): Promise<string> {
  return (await expectOk(ask("POST", `/w/acme/jobs/run/p/${PATH}`, { n, act }))).text;
}

async function read(ask: Ask, n: number, id: string): Promise<Ended> {
  const job = await until(async () => {
    const answer = await ask("GET", `/w/acme/jobs_u/completed/get/${id}`);
    return answer.status === 200 ? answer.json<Pick<Ended, "success" | "result">>() : undefined;
  });
  const log = (await expectOk(ask("GET", `/w/acme/jobs_u/get_logs/${id}`))).text;
  // The header of a log ends with an empty line.
  const logs = log.slice(log.indexOf("\n\n") + 2);
  return { id, n, success: job.success, result: job.result, logs };
}

/** Starts runs at the same time and waits for all. @param acts what the runs with these numbers do */
async function burst(ask: Ask, acts: Record<number, string>): Promise<Ended[]> {
  const numbers = Array.from({ length: BURST }, (_, n) => n);
  return Promise.all(numbers.map(async (n) => read(ask, n, await start(ask, n, acts[n]))));
}

test("each has its own arguments, job, token and result", async () => {
  await warmUp(one);
  const ended = await burst(one, {});
  for (const { id, n, result } of ended) expect(result).toMatchObject({ n, job: id });
  expect(new Set(ended.map(({ result }) => result.token)).size).toBe(BURST);
});

test("output of each run is in its own log", async () => {
  await warmUp(one);
  const ended = await burst(one, { 3: "print", 4: "print", 11: "print", 30: "print" });
  const printed = ended.filter(({ logs }) => logs !== "").map(({ n, logs }) => [n, logs]);
  expect(printed).toEqual([3, 4, 11, 30].map((n) => [n, `this is ${n}\n`]));
});

test.each(["exit", "fail", "leave", "file", "large", "print"])(
  "a run that does `%s` disturbs none of those behind it",
  async (act) => {
    await warmUp(one);
    told.length = 0;
    const acts = Object.fromEntries(Array.from({ length: BURST }, (_, n) => [n, "count"]));
    const ended = await burst(one, { ...acts, 0: act, 7: act, 21: act });
    const others = ended.filter(({ n }) => ![0, 7, 21].includes(n));
    for (const { id, n, success, result } of others)
      expect({ success, ...result }).toMatchObject({ success: true, n, job: id });
    expect(told.toSorted()).toEqual(others.map(({ n }) => String(n)).toSorted());
    const failed = ended.filter(({ success }) => !success).map(({ n }) => n);
    expect(failed).toEqual(act === "exit" || act === "fail" ? [0, 7, 21] : []);
  },
);

test("no run waits behind a long one while another process is free", async () => {
  await warmUp(two);
  told.length = 0;
  const long = start(two, 1_000, "wait");
  await until(() => told.includes("wait") || undefined);
  const ended = await burst(two, {});
  expect(ended.map(({ result }) => result.n)).toEqual(ended.map(({ n }) => n));
  release!();
  expect(await read(two, 1_000, await long)).toMatchObject({ success: true });
});

test("a run prefetched behind one that turns out long runs in another process", async () => {
  await warmUp(two);
  told.length = 0;
  const starts = [start(two, 1_000, "wait"), ...Array.from({ length: 10 }, (_, n) => start(two, n))];
  const [long, ...short] = await Promise.all(starts);
  await until(() => told.includes("wait") || undefined);
  for (const [n, id] of short.entries()) expect(await read(two, n, id)).toMatchObject({ success: true });
  release!();
  expect(await read(two, 1_000, long!)).toMatchObject({ success: true });
});

test("runs that wait a little use every slot", async () => {
  for (let n = 0; n < WARM_UP; n++)
    await expectOk(two("POST", `/w/acme/jobs/run_wait_result/p/${PATH}`, { n, act: "pause" }));
  const ended = await burst(two, Object.fromEntries(Array.from({ length: BURST }, (_, n) => [n, "pause"])));
  expect(new Set(ended.map(({ result }) => result.pid)).size).toBe(2);
});

test("a canceled run does not start, and the one before it continues", async () => {
  await warmUp(one);
  told.length = 0;
  const long = await start(one, 1_000, "wait");
  await until(() => told.includes("wait") || undefined);
  const behind = await start(one, 1, "count");
  await expectOk(one("POST", `/w/acme/jobs_u/queue/cancel/${behind}`, { reason: "not needed" }));
  expect(await read(one, 1, behind)).toMatchObject({ success: false });
  release!();
  expect(await read(one, 1_000, long)).toMatchObject({ success: true });
  expect(told).toEqual(["wait"]);
});

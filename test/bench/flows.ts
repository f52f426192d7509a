/**
 * Flows compared with their parts: steps with calls of the same script, parallel steps with bare processes,
 * items of a loop with jobs.
 *
 *     bun test/bench/flows.ts        by itself, after `bun run build`
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Report } from "./tools/load.ts";
import { type Bench, EXECUTABLE, load, residentMb, startServer } from "./tools/processes.ts";
import { startRestate } from "./tools/restate.ts";

/** As `record` of run.ts takes it. */
interface Figure {
  what: string;
  measured: string;
  floor: string;
  ratio: number;
  target: string;
  holds: boolean;
}

const FIB = "const fib = (n: number): number => (n < 2 ? n : fib(n - 1) + fib(n - 2));\n";
const SMALL = `${FIB}export const main = (n: number) => fib(n);\n`;
const STEPS = 40;
const TRIVIAL = "export const main = (n: number) => n + 1;\n";

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;
const ms = (value: number) => `${value.toFixed(value < 10 ? 2 : 0)} ms`;

const js = (expr: string) => ({ type: "javascript", expr });
const script = (id: string, content: string, n: string) => ({
  id,
  value: { type: "rawscript", language: "bun", content, input_transforms: { n: js(n) } },
});
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function push(server: Bench, path: string, modules: object[]): Promise<void> {
  await server.post("/flows/create", { path, summary: "", value: { modules } });
}

/** @param scale share of the work that is done, for a quick look */
export async function flows(scale = 1): Promise<Figure[]> {
  const server = await startServer();
  try {
    const rounds = Math.max(3, Math.round(15 * scale));
    return [
      await sequential(server, rounds),
      ...(await bySyncWebhook(server, scale)),
      ...(await parallel(server, Math.max(1, Math.round(3 * scale)))),
      ...(await loops(server, scale)),
    ];
  } finally {
    await server.stop();
  }
}

async function sequential(server: Bench, rounds: number): Promise<Figure> {
  await server.post("/scripts/create", { path: "u/ann/fib", content: SMALL, language: "bun" });
  const steps = numbers(STEPS).map((at) => script(`s${at}`, SMALL, "flow_input.n"));
  await push(server, "u/ann/forty", steps);
  const took = { flow: [] as number[], calls: [] as number[] };
  for (let round = -2; round < rounds; round++) {
    const flow = await timed(() => server.post("/jobs/run_wait_result/f/u/ann/forty", { n: 10 }));
    const calls = await timed(async () => {
      for (let at = 0; at < STEPS; at++) await server.post("/jobs/run_wait_result/p/u/ann/fib", { n: 10 });
    });
    if (round < 0) continue;
    took.flow.push(flow);
    took.calls.push(calls);
  }
  const ratio = median(took.flow) / median(took.calls);
  return {
    what: `flow of ${STEPS} steps of fib(10)`,
    measured: ms(median(took.flow)),
    floor: `${STEPS} sync calls ${ms(median(took.calls))}`,
    ratio,
    target: "<= 1 × the calls",
    holds: ratio <= 1,
  };
}

const THREE = { body: '{"n":1}', path: "/jobs/run_wait_result/f/u/ann/three" };

async function pushThree(server: Bench): Promise<void> {
  const steps = [
    ["a", "flow_input.n"],
    ["b", "results.a"],
    ["c", "results.b"],
  ] as const;
  await push(
    server,
    "u/ann/three",
    steps.map(([id, n]) => script(id, TRIVIAL, n)),
  );
}

function callOf({ url, token }: Bench, path: string) {
  return { url: `${url}/api/w/acme${path}`, body: THREE.body, headers: { authorization: `Bearer ${token}` } };
}

async function bySyncWebhook(server: Bench, scale: number): Promise<Figure[]> {
  await server.post("/scripts/create", { path: "u/ann/plus", content: TRIVIAL, language: "bun" });
  await pushThree(server);
  const three = callOf(server, THREE.path);
  const plus = callOf(server, "/jobs/run_wait_result/p/u/ann/plus");
  const figures: Figure[] = [];
  // As on a server that has been up for a minute.
  await load({ ...three, connections: 64, requests: Math.round(12_000 * scale) });
  await load({ ...plus, connections: 64, requests: Math.round(36_000 * scale) });
  for (const connections of [1, 64]) {
    const requests = Math.round((connections === 1 ? 400 : 3_000) * scale);
    const rounds: { flow: Report; call: Report }[] = [];
    for (let round = 0; round < 5; round++) {
      rounds.push({
        flow: await load({ ...three, connections, requests }),
        call: await load({ ...plus, connections, requests: requests * 3 }),
      });
    }
    const ratio = median(rounds.map(({ flow, call }) => call.per_second / 3 / flow.per_second));
    const middle = (what: "flow" | "call", field: "p50_ms" | "per_second") =>
      median(rounds.map((round) => round[what][field]));
    figures.push({
      what: `flow of 3 trivial steps, ${connections} connections`,
      measured: `p50 ${ms(middle("flow", "p50_ms"))}, ${Math.round(middle("flow", "per_second"))} flows/s`,
      floor: `3 sync calls ${ms(middle("call", "p50_ms") * 3)}, ${Math.round(middle("call", "per_second") / 3)}/s`,
      ratio,
      target: "<= 1.5 × three calls",
      holds: ratio <= 1.5,
    });
  }
  return figures;
}

/**
 * The same three steps in Restate, whose steps are functions of one process; rounds alternate, so that both run
 * under the same load.
 */
export async function besideRestate(scale: number): Promise<Figure[]> {
  const server = await startServer();
  const restate = await startRestate().catch(async (cause) => {
    await server.stop();
    throw cause;
  });
  try {
    await pushThree(server);
    const ours = callOf(server, THREE.path);
    const theirs = { url: restate.url, body: THREE.body };
    const figures: Figure[] = [];
    for (const connections of [1, 64]) {
      const requests = Math.round((connections === 1 ? 1_000 : 6_000) * scale);
      const rounds: { ours: Report; theirs: Report }[] = [];
      for (let round = -1; round < 3; round++) {
        const both = {
          theirs: await load({ ...theirs, connections, requests }),
          ours: await load({ ...ours, connections, requests }),
        };
        if (round >= 0) rounds.push(both);
      }
      const rate = (who: "ours" | "theirs") => median(rounds.map((round) => round[who].per_second));
      const p50 = (who: "ours" | "theirs") => median(rounds.map((round) => round[who].p50_ms));
      const ratio = rate("ours") / rate("theirs");
      figures.push({
        what: `flow of 3 trivial steps beside Restate, ${connections} connections`,
        measured: `p50 ${ms(p50("ours"))}, ${Math.round(rate("ours"))} flows/s`,
        floor: `Restate ${ms(p50("theirs"))}, ${Math.round(rate("theirs"))}/s`,
        ratio,
        target: ">= 1 × its flows a second",
        holds: ratio >= 1,
      });
    }
    return figures;
  } finally {
    await Promise.all([server.stop(), restate.stop()]);
  }
}

async function parallel(server: Bench, rounds: number): Promise<Figure[]> {
  const branches = numbers(10).map((at) => ({ modules: [script(`p${at}`, SMALL, "flow_input.n")] }));
  await push(server, "u/ann/ten", [{ id: "all", value: { type: "branchall", parallel: true, branches } }]);
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const file = join(folder, "fib.ts");
  writeFileSync(file, `${FIB}console.log(fib(33));\n`);
  const bare = () =>
    Bun.spawn([EXECUTABLE, file], { env: { BUN_BE_BUN: "1" }, stdout: "pipe" }).stdout.text();
  const took = { flow: [] as number[], bare: [] as number[] };
  const run = () => timed(() => server.post("/jobs/run_wait_result/f/u/ann/ten", { n: 33 }));
  // The first run of a new version starts its processes, which takes most of the time.
  const first = await run();
  const cold = await timed(() => Promise.all(numbers(10).map(bare)));
  for (let round = 0; round < rounds; round++) {
    took.flow.push(await run());
    took.bare.push(await timed(() => Promise.all(numbers(10).map(bare))));
  }
  rmSync(folder, { recursive: true, force: true });
  const beside = (what: string, flow: number, processes: number, most: number): Figure => ({
    what,
    measured: ms(flow),
    floor: `10 processes at once ${ms(processes)}`,
    ratio: flow / processes,
    target: `<= ${most} × the processes`,
    holds: flow / processes <= most,
  });
  return [
    beside("flow of 10 parallel steps of fib(33), first run", first, cold, 2),
    beside("flow of 10 parallel steps of fib(33)", median(took.flow), median(took.bare), 1.2),
  ];
}

/** Items of a loop compared with as many synchronous calls over 64 connections, which are jobs too. */
async function loops(server: Bench, scale: number): Promise<Figure[]> {
  const inner = script("i", TRIVIAL, "flow_input.iter.value");
  const value = { type: "forloopflow", parallel: true, skip_failures: false, modules: [inner] };
  await push(server, "u/ann/loop", [{ id: "l", value: { ...value, iterator: js("flow_input.items") } }]);
  const call = { body: '{"n":1}', headers: { authorization: `Bearer ${server.token}` } };
  const url = `${server.url}/api/w/acme/jobs/run_wait_result/p/u/ann/plus`;
  const floor = await load({ ...call, url, connections: 64, requests: Math.round(6_000 * scale) });
  const each = 1_000 / floor.per_second;
  const run = (items: number) => server.post("/jobs/run_wait_result/f/u/ann/loop", { items: numbers(items) });
  const sizes = scale < 1 ? [100, 1_000] : [100, 1_000, 10_000];
  const taken: { items: number; each: number; mb: number }[] = [];
  for (const items of sizes) {
    const rounds: number[] = [];
    await run(100);
    for (let done = 0; done < Math.max(items, 10_000 * scale); done += items)
      rounds.push(await timed(() => run(items)));
    taken.push({ items, each: median(rounds) / items, mb: residentMb(server.pid) });
  }
  const figures: Figure[] = taken.map((size) => ({
    what: `parallel loop of ${size.items.toLocaleString("en")} trivial scripts, each item`,
    measured: ms(size.each),
    floor: `a sync call of 64 ${ms(each)}`,
    ratio: size.each / each,
    target: "<= 2 × a call",
    holds: size.each / each <= 2,
  }));
  const [first, last, before] = [taken[0]!, taken.at(-1)!, taken.at(-2)!];
  const growth = last.each / first.each;
  const memory = last.mb / before.mb;
  figures.push(
    {
      what: `an item of ${last.items.toLocaleString("en")} against one of ${first.items}`,
      measured: ms(last.each),
      floor: ms(first.each),
      ratio: growth,
      target: "<= 1.25: the cost is flat",
      holds: growth <= 1.25,
    },
    {
      what: `memory after ${last.items.toLocaleString("en")} items`,
      measured: `${Math.round(last.mb)} MB`,
      floor: `after ${before.items.toLocaleString("en")} ${Math.round(before.mb)} MB`,
      ratio: memory,
      target: "<= 1.2: it is flat",
      holds: memory <= 1.2,
    },
  );
  return figures;
}

if (import.meta.main) {
  const scale = process.argv.includes("--quick") ? 0.1 : 1;
  const figures = process.argv.includes("--peers") ? await besideRestate(scale) : await flows(scale);
  for (const { what, measured, floor, ratio } of figures) {
    process.stdout.write(`${what}: ${measured} (${floor}), ${ratio.toFixed(2)}\n`);
  }
}

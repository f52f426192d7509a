/**
 * What the walls around scripts cost: two servers, one with them and one without, asked in turns, so that both see the
 * same machine. Warm: the throughput of a script that does nothing. Cold: its first call in a new process, which was
 * started ahead, as by default, or was not. Of calls that are counted one by one the fastest quarter stands for all: what
 * others do on the machine at the time is left out. The processor time of the processes that ran them does not hang on
 * what else the machine does at all.
 *
 *   bun run build && bun test/bench/jobs/sandbox.ts
 */
import { listProcessTree, measureProcesses } from "../../../src/engines/runner/sandbox/watch/process-tree.ts";
import { type Bench, load, startServer } from "../tools/processes.ts";

const ROUNDS = 12;
const REQUESTS = 4_000;
const COLD_CALLS = 60;
const AHEAD_MS = 100;

const say = (text: string) => process.stdout.write(`${text}\n`);
const at = (values: number[], part: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * part)]!;

async function started(sandbox: string, blank_children: number): Promise<Bench> {
  const server = await startServer({ SVC_SANDBOX: sandbox, SVC_BLANK_CHILDREN: String(blank_children) });
  const content = "export const main = () => 1";
  await server.post("/scripts/create", { path: "u/ann/warm", content, language: "bun" });
  await server.post("/scripts/create", { path: "u/ann/cold", content, language: "bun", isolation: "fresh" });
  return server;
}

async function throughput({ url, token }: Bench): Promise<number> {
  const report = await load({
    url: `${url}/api/w/acme/jobs/run_wait_result/p/u/ann/warm`,
    connections: 8,
    requests: REQUESTS,
    body: "{}",
    headers: { authorization: `Bearer ${token}` },
  });
  return report.per_second;
}

async function coldMs(server: Bench): Promise<number> {
  // Until a process has been started in advance.
  await Bun.sleep(AHEAD_MS);
  const began = performance.now();
  await server.post("/jobs/run_wait_result/p/u/ann/cold", {});
  return performance.now() - began;
}

/** Processor time of a server with all processes that it has started so far. */
const cpuMs = ({ pid }: Bench) => measureProcesses(listProcessTree(pid)).cpu_s * 1000;

interface Pair {
  walls: Bench;
  none: Bench;
}

const cpuOf = ({ walls, none }: Pair) => ({ walls: cpuMs(walls), none: cpuMs(none) });

/** Measures both servers in turns; the order alternates. */
async function inTurns(servers: Pair, times: number, measure: (server: Bench) => Promise<number>) {
  const found: Record<"walls" | "none", number[]> = { walls: [], none: [] };
  for (let turn = 0; turn < times; turn++) {
    const names = turn % 2 === 0 ? (["walls", "none"] as const) : (["none", "walls"] as const);
    for (const name of names) found[name].push(await measure(servers[name]));
  }
  return found;
}

async function withPair(blank_children: number, measure: (pair: Pair) => Promise<void>): Promise<void> {
  const pair = {
    walls: await started("required", blank_children),
    none: await started("off", blank_children),
  };
  try {
    await measure(pair);
  } finally {
    await Promise.all(Object.values(pair).map((server) => server.stop()));
  }
}

async function measureWarm(pair: Pair): Promise<void> {
  for (const server of Object.values(pair)) await throughput(server);
  const before = cpuOf(pair);
  const { walls, none } = await inTurns(pair, ROUNDS, throughput);
  const after = cpuOf(pair);
  const cpu = ((after.none - before.none) / (after.walls - before.walls)).toFixed(2);
  const ratios = walls.map((value, turn) => value / none[turn]!);
  const [low, middle, high] = [0.25, 0.5, 0.75].map((part) => at(ratios, part).toFixed(2));
  say(
    `warm: ${middle} of the throughput without walls (quartiles ${low} and ${high}); ${at(walls, 0.5).toFixed(0)}/s; ${cpu} by processor time`,
  );
}

async function measureCold(pair: Pair, how: string): Promise<void> {
  const before = cpuOf(pair);
  const found = await inTurns(pair, COLD_CALLS, coldMs);
  // Until the last processes have ended.
  await Bun.sleep(AHEAD_MS);
  const after = cpuOf(pair);
  const cpu = ((after.walls - before.walls - (after.none - before.none)) / COLD_CALLS).toFixed(1);
  const [walls, none] = [at(found.walls, 0.25), at(found.none, 0.25)];
  const more = (walls - none).toFixed(1);
  say(
    `cold, ${how}: ${walls.toFixed(1)} ms behind walls, ${none.toFixed(1)} ms without: ${more} ms more, and ${cpu} ms more of processor time for each`,
  );
}

await withPair(2, async (pair) => {
  await measureWarm(pair);
  await measureCold(pair, "started ahead");
});
await withPair(0, (pair) => measureCold(pair, "not started ahead"));

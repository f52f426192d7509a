/**
 * Webhooks compared with the prototype (`tools/prototype.ts`), which does the same durable work without
 * features. Both are loaded alternately, so that a busy moment of the machine affects both.
 *
 *     bun test/bench/hot-path.ts        by itself, after `bun run build`
 */
import { type Figure, median, ms, perSecond, printFigures } from "./tools/figures.ts";
import { type Bench, load, startPrototype, startServer, WARM_UP_CALLS } from "./tools/processes.ts";

const BODY = '{"name":"Bob"}';
const SCRIPT = "export function main(name: string) {\n  return { hello: name };\n}\n";
const MANY = 64;
const ROUNDS = 5;

/** @param scale share of the requests that is made, for a quick look */
export async function hotPath(scale = 1): Promise<Figure[]> {
  const prototype = await startPrototype();
  const server = await startServer();
  const times = (count: number) => Math.max(1, Math.round(count * scale));
  try {
    await server.post("/scripts/create", { path: "u/ann/warm", content: SCRIPT, language: "bun" });
    const figures = await synchronous(server, prototype.url, times);
    return [...figures, await asynchronous(server, prototype.url, times(10_000))];
  } finally {
    await server.stop();
    await prototype.stop();
  }
}

/** Returns the request that the load generator sends to an operation that runs the script. */
function callOf(server: Bench, operation: "run" | "run_wait_result") {
  return {
    url: `${server.url}/api/w/acme/jobs/${operation}/p/u/ann/warm`,
    body: BODY,
    headers: { authorization: `Bearer ${server.token}` },
  };
}

async function synchronous(
  server: Bench,
  prototype: string,
  times: (count: number) => number,
): Promise<Figure[]> {
  const call = callOf(server, "run_wait_result");
  const floor = { url: prototype, body: BODY };
  await load({ ...call, connections: MANY, requests: times(WARM_UP_CALLS) });
  await load({ ...floor, connections: MANY, requests: times(WARM_UP_CALLS) });
  const many: [ours: number, floor: number][] = [];
  const above: number[] = [];
  const lone: [ours: number, floor: number][] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const fast = await load({ ...floor, connections: MANY, requests: times(40_000) });
    const ours = await load({ ...call, connections: MANY, requests: times(15_000) });
    many.push([ours.per_second, fast.per_second]);
    const one = await load({ ...floor, connections: 1, requests: times(2_000) });
    const own = await load({ ...call, connections: 1, requests: times(2_000) });
    lone.push([own.p50_ms, one.p50_ms]);
    above.push(own.p50_ms - one.p50_ms);
  }
  const share = median(many.map(([ours, fast]) => ours / fast));
  const gap = median(above);
  return [
    {
      what: `sync webhook, ${MANY} connections`,
      measured: perSecond(median(many.map(([ours]) => ours))),
      floor: `prototype ${perSecond(median(many.map(([, fast]) => fast)))}`,
      ratio: share,
      target: ">= 0.50 of the prototype",
      holds: share >= 0.5,
    },
    {
      what: "sync webhook, 1 connection, p50",
      measured: ms(median(lone.map(([ours]) => ours))),
      floor: `prototype ${ms(median(lone.map(([, fast]) => fast)))}`,
      ratio: gap,
      target: "<= 0.25 ms above the prototype",
      holds: gap <= 0.25,
    },
  ];
}

async function asynchronous(server: Bench, prototype: string, jobs: number): Promise<Figure> {
  const rounds: [ours: number, floor: number][] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const floor = await load({ url: prototype, body: BODY, connections: MANY, requests: 2 * jobs });
    const { began_at } = await load({ ...callOf(server, "run"), connections: MANY, requests: jobs });
    while (Number(JSON.parse(await server.get("/jobs/queue/count")).database_length) > 0) await Bun.sleep(10);
    while (JSON.parse(await server.get("/jobs/list?running=true&per_page=1")).length > 0) await Bun.sleep(5);
    rounds.push([(jobs * 1000) / (Date.now() - began_at), floor.per_second]);
  }
  const ratio = median(rounds.map(([ours, floor]) => ours / floor));
  return {
    what: `async webhook, ${jobs.toLocaleString("en")} jobs to completion`,
    measured: perSecond(median(rounds.map(([ours]) => ours))),
    floor: `prototype ${perSecond(median(rounds.map(([, floor]) => floor)))}`,
    ratio,
    target: ">= 0.50 of the prototype",
    holds: ratio >= 0.5,
  };
}

if (import.meta.main) printFigures(await hotPath(process.argv.includes("--quick") ? 0.1 : 1));

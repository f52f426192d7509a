/**
 * What the walls around scripts cost: two servers, one with them and one without, asked in turns, so that both see the
 * same machine. Warm: the throughput of a script that does nothing. Cold: its first call in a new process, with no
 * process started ahead.
 *
 *   bun run build && bun test/bench/sandbox.ts
 */
import { type Bench, load, startServer } from "./processes.ts";

const ROUNDS = 12;
const REQUESTS = 4_000;
const COLD_CALLS = 60;

const say = (text: string) => process.stdout.write(`${text}\n`);
const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;

async function started(sandbox: string): Promise<Bench> {
  const server = await startServer({ SVC_SANDBOX: sandbox, SVC_BLANK_CHILDREN: "0" });
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
  const began = performance.now();
  await server.post("/jobs/run_wait_result/p/u/ann/cold", {});
  return performance.now() - began;
}

/** Which of the two is first changes from turn to turn. */
async function inTurns(times: number, measure: (server: Bench) => Promise<number>) {
  const found: Record<"walls" | "none", number[]> = { walls: [], none: [] };
  for (let turn = 0; turn < times; turn++) {
    const names = turn % 2 === 0 ? (["walls", "none"] as const) : (["none", "walls"] as const);
    for (const name of names) found[name].push(await measure(servers[name]));
  }
  return found;
}

const servers = { walls: await started("required"), none: await started("off") };
try {
  for (const server of Object.values(servers)) await throughput(server);
  const warm = await inTurns(ROUNDS, throughput);
  const ratios = warm.walls.map((value, turn) => value / warm.none[turn]!);
  say(
    `warm: ${median(warm.walls).toFixed(0)}/s behind walls, ${median(warm.none).toFixed(0)}/s without: ${median(ratios).toFixed(2)} of it`,
  );
  const cold = await inTurns(COLD_CALLS, coldMs);
  const [walls, none] = [median(cold.walls), median(cold.none)];
  say(
    `cold: ${walls.toFixed(1)} ms behind walls, ${none.toFixed(1)} ms without: ${(walls - none).toFixed(1)} ms more`,
  );
} finally {
  await Promise.all(Object.values(servers).map((server) => server.stop()));
}

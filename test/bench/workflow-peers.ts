/**
 * A webhook that runs two lines of JavaScript, in svc and in Node-RED and n8n with default settings, one after
 * the other in one run. svc stores the job twice and runs it in a separate process; Node-RED stores nothing.
 *
 *     bun test/bench/workflow-peers.ts        by itself, after `bun run build`
 */
import { type Figure, ms, perSecond, printFigures } from "./tools/figures.ts";
import { load, startServer, WARM_UP_CALLS } from "./tools/processes.ts";
import { startN8n, startNodeRed, type WorkflowPeer } from "./tools/workflow-peers.ts";

const SCRIPT = "export function main(name: string) {\n  return { hello: name };\n}\n";
const BODY = '{"name":"Bob"}';
const MANY = 64;

/** Least share of a peer's rate, and greatest multiple of its latency, that svc must have. */
interface Goals {
  rate: number;
  latency: number;
}

interface Rates {
  per_second: number;
  p50_ms: number;
}

async function measure(
  url: string,
  headers: Record<string, string>,
  scale: number,
  slow: boolean,
): Promise<Rates> {
  const call = { url, body: BODY, headers };
  const times = (count: number) => Math.max(20, Math.round((slow ? count / 20 : count) * scale));
  await load({ ...call, connections: MANY, requests: times(WARM_UP_CALLS) });
  const { per_second } = await load({ ...call, connections: MANY, requests: times(20_000) });
  const { p50_ms } = await load({ ...call, connections: 1, requests: times(2_000) });
  return { per_second, p50_ms };
}

/** @param scale share of the requests that is made, for a quick look */
export async function besideWorkflows(scale = 1): Promise<Figure[]> {
  const server = await startServer();
  await server.post("/scripts/create", { path: "u/ann/warm", content: SCRIPT, language: "bun" });
  const url = `${server.url}/api/w/acme/jobs/run_wait_result/p/u/ann/warm`;
  const ours = await measure(url, { authorization: `Bearer ${server.token}` }, scale, false);
  await server.stop();
  const figures: Figure[] = [];
  for (const [start, goals] of [
    // It answers before anything is stored: two commits to disk take longer than its whole answer.
    [startNodeRed, { rate: 1, latency: 3 }],
    [startN8n, { rate: 10, latency: 0.1 }],
  ] as const) {
    let peer: WorkflowPeer;
    try {
      peer = await start();
    } catch (cause) {
      process.stderr.write(`left out: ${(cause as Error).message}\n`);
      continue;
    }
    const theirs = await measure(peer.url, {}, scale, start === startN8n).finally(peer.stop);
    figures.push(...compare(peer.name, ours, theirs, goals));
  }
  return figures;
}

function compare(name: string, ours: Rates, theirs: Rates, goals: Goals): Figure[] {
  const rate = ours.per_second / theirs.per_second;
  const latency = ours.p50_ms / theirs.p50_ms;
  return [
    {
      what: `synchronous webhook, ${MANY} connections, beside ${name}`,
      measured: perSecond(ours.per_second),
      floor: `${name} ${perSecond(theirs.per_second)}`,
      ratio: rate,
      target: `>= ${goals.rate} × ${name}`,
      holds: rate >= goals.rate,
    },
    {
      what: `synchronous webhook, 1 connection, p50, beside ${name}`,
      measured: ms(ours.p50_ms),
      floor: `${name} ${ms(theirs.p50_ms)}`,
      ratio: latency,
      target: `<= ${goals.latency} × ${name}`,
      holds: latency <= goals.latency,
    },
  ];
}

if (import.meta.main) printFigures(await besideWorkflows(process.argv.includes("--quick") ? 0.1 : 1));

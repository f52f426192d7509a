/**
 * What telling others of changes costs those who make them: the same changes without a webhook, and with one whose
 * receiver fails half of the time, answers slowly, and is down for a while. Then every event has to have arrived.
 *
 *   bun test/bench/events.ts        by itself, after `bun run build`
 */
import { type Bench, load, startServer } from "./processes.ts";

interface Figure {
  what: string;
  measured: string;
  floor: string;
  ratio: number;
  target: string;
  holds: boolean;
}

const ms = (value: number) => `${value.toFixed(2)} ms`;
const count = (value: number) => value.toLocaleString("en");
const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;

/** In a process of its own, since it would else wait for the load generator; its counts are asked for by GET. */
const RECEIVER = `
const seen = new Set();
let requests = 0, failing = true;
const server = Bun.serve({ port: 0, hostname: "127.0.0.1", async fetch(request) {
  if (request.method === "GET") {
    if (request.url.endsWith("/well")) failing = false;
    return Response.json({ distinct: seen.size, requests });
  }
  const body = await request.text();
  requests++;
  // Down for a while, in the middle of it all.
  if (failing && Date.now() - began > 3_000 && Date.now() - began < DOWN) return new Response("", { status: 503 });
  if (failing && Math.random() < 0.5) return new Response("", { status: 500 });
  if (failing && Math.random() < 0.1) await Bun.sleep(200);
  seen.add(request.headers.get("webhook-id"));
  return new Response("");
} });
const began = Date.now();
console.log(server.port);
`;

async function change(server: Bench, requests: number): Promise<number> {
  const report = await load({
    url: `${server.url}/api/w/acme/variables/update/u/ann/changed`,
    headers: { authorization: `Bearer ${server.token}` },
    body: '{"value":"x"}',
    connections: 8,
    requests,
  });
  return report.p50_ms;
}

/** @param scale share of the work that is done, for a quick look */
export async function events(scale = 1): Promise<Figure[]> {
  const rounds = 5;
  const changes = Math.round((100_000 / rounds) * scale);
  const server = await startServer({ SVC_ALLOWED_TARGETS: "127.0.0.1" });
  const down = Math.round(60_000 * scale) + 3_000;
  const receiver = Bun.spawn([process.execPath, "-e", RECEIVER.replace("DOWN", String(down))], {
    stdout: "pipe",
  });
  try {
    const port = new TextDecoder().decode((await receiver.stdout.getReader().read()).value).trim();
    const url = `http://127.0.0.1:${port}/`;
    const variable = { path: "u/ann/changed", value: "", is_secret: false, description: "" };
    await server.post("/variables/create", variable);
    await change(server, Math.ceil(changes / 4));
    const plain: number[] = [];
    for (let round = 0; round < rounds; round++) plain.push(await change(server, changes));
    await server.post("/webhooks/create", { url });
    const told: number[] = [];
    for (let round = 0; round < rounds; round++) told.push(await change(server, changes));
    const ratio = median(told) / median(plain);
    await fetch(`${url}well`);
    const began = performance.now();
    const all = changes * rounds;
    let arrived = 0;
    for (let looks = 0; arrived < all && looks < 1_200; looks++) {
      arrived = ((await (await fetch(url)).json()) as { distinct: number }).distinct;
      if (arrived < all) await Bun.sleep(500);
    }
    const { requests } = (await (await fetch(url)).json()) as { requests: number };
    const seconds = (performance.now() - began) / 1000;
    return [
      {
        what: `${count(all)} changes beside a webhook that fails half of the time`,
        measured: `p50 ${ms(median(told))}`,
        floor: `without ${ms(median(plain))}`,
        ratio,
        target: "<= 1.2 × without",
        holds: ratio <= 1.2,
      },
      {
        what: "their events, all of which arrive",
        measured: `${count(arrived)} in ${count(requests)} tries`,
        floor: `the last ${seconds.toFixed(0)} s after the receiver was well`,
        ratio: arrived / all,
        target: ">= 1 of the changes",
        holds: arrived >= all,
      },
    ];
  } finally {
    receiver.kill();
    await receiver.exited;
    await server.stop();
  }
}

if (import.meta.main) {
  for (const { what, measured, floor, ratio } of await events(process.argv.includes("--quick") ? 0.1 : 1)) {
    process.stdout.write(`${what}: ${measured} (${floor}), ${ratio.toFixed(2)}\n`);
  }
}

/**
 * Cost of webhook events for the changes that cause them, and whether each event arrives. Two servers get the
 * same changes alternately, one of them with a webhook whose receiver fails half of the time, answers slowly,
 * and is down for a minute; the other idles meanwhile. Finally the server with the webhook is killed (-9)
 * during changes, and the next server sends the remaining events.
 *
 *     bun test/bench/events.ts        by itself, after `bun run build`
 */
import { type Bench, load, serveOn, startServer, stop } from "./tools/processes.ts";

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

/** In a separate process, so that it does not wait for the load generator; GET returns the received events. */
const RECEIVER = `
const seen = new Set();
let requests = 0, down_until = 0, well = false;
const server = Bun.serve({ port: 0, hostname: "127.0.0.1", async fetch(request) {
  const { pathname } = new URL(request.url);
  if (pathname.startsWith("/down/")) down_until = Date.now() + Number(pathname.slice(6));
  if (pathname === "/well") well = true;
  if (request.method === "GET") return Response.json({ distinct: seen.size, requests });
  await request.text();
  requests++;
  if (!well && Date.now() < down_until) return new Response("", { status: 503 });
  if (!well && Math.random() < 0.5) return new Response("", { status: 500 });
  if (!well && Math.random() < 0.1) await Bun.sleep(200);
  seen.add(request.headers.get("webhook-id"));
  return new Response("");
} });
console.log(server.port);
`;

const ENVIRONMENT = { SVC_ALLOWED_TARGETS: "127.0.0.1" };
const ROUNDS = 20;
const CONNECTIONS = 8;

const planOf = ({ url, token }: Bench) => ({
  url: `${url}/api/w/acme/variables/update/u/ann/changed`,
  headers: { authorization: `Bearer ${token}` },
  body: '{"value":"x"}',
});

async function change(server: Bench, requests: number): Promise<number> {
  return (await load({ ...planOf(server), connections: CONNECTIONS, requests })).p50_ms;
}

/** @returns the number of changes that were answered before the server was killed, after `enough` of them */
async function changeAndKill(server: Bench, enough: number): Promise<number> {
  const { url, headers, body } = planOf(server);
  const init = { method: "POST", headers: { ...headers, "content-type": "application/json" }, body };
  let answered = 0;
  let up = true;
  const client = async () => {
    while (up) {
      const response = await fetch(url, init).catch(() => undefined);
      if (response?.ok) answered++;
      if (answered >= enough && up) {
        up = false;
        process.kill(server.pid, "SIGKILL");
      }
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
  return answered;
}

/** @param scale share of the work that is done, for a quick look */
export async function events(scale = 1): Promise<Figure[]> {
  const changes = Math.round((100_000 / ROUNDS) * scale);
  const sides = { plain: await startServer(ENVIRONMENT), told: await startServer(ENVIRONMENT) };
  const p50s: Record<keyof typeof sides, number[]> = { plain: [], told: [] };
  const receiver = Bun.spawn([process.execPath, "-e", RECEIVER], { stdout: "pipe" });
  let next: Bun.Subprocess | undefined;
  try {
    const port = new TextDecoder().decode((await receiver.stdout.getReader().read()).value).trim();
    const url = `http://127.0.0.1:${port}/`;
    const counts = async () => (await (await fetch(url)).json()) as { distinct: number; requests: number };
    for (const server of Object.values(sides)) {
      const variable = { path: "u/ann/changed", value: "", is_secret: false, description: "" };
      await server.post("/variables/create", variable);
      await change(server, changes * 2);
    }
    await sides.told.post("/webhooks/create", { url });
    for (let round = 0; round < ROUNDS; round++) {
      if (round === ROUNDS / 4) await fetch(`${url}down/${Math.round(60_000 * scale)}`);
      for (const side of round % 2 === 0 ? (["plain", "told"] as const) : (["told", "plain"] as const)) {
        const other = sides[side === "plain" ? "told" : "plain"];
        process.kill(other.pid, "SIGSTOP");
        p50s[side].push(await change(sides[side], changes));
        process.kill(other.pid, "SIGCONT");
      }
    }
    const ratio = median(p50s.told.map((told, round) => told / p50s.plain[round]!));
    const answered = changes * ROUNDS + (await changeAndKill(sides.told, Math.round(2_000 * scale)));
    const before = (await counts()).distinct;
    ({ child: next } = await serveOn(sides.told.data_dir, ENVIRONMENT));
    // The receiver keeps failing and being slow for a while after all waiting events are sent.
    await Bun.sleep(60_000 * scale);
    await fetch(`${url}well`);
    const began = performance.now();
    let arrived = 0;
    for (let looks = 0; arrived < answered && looks < 1_200; looks++) {
      arrived = (await counts()).distinct;
      if (arrived < answered) await Bun.sleep(500);
    }
    const seconds = (performance.now() - began) / 1000;
    return [
      {
        what: `${count(changes * ROUNDS)} changes beside a webhook that fails half of the time`,
        measured: `p50 ${ms(median(p50s.told))}`,
        floor: `without ${ms(median(p50s.plain))}`,
        ratio,
        target: "<= 1.2 × without",
        holds: ratio <= 1.2,
      },
      {
        what: "their events, all of which arrive, also over a kill -9",
        measured: `${count(arrived)} in ${count((await counts()).requests)} tries`,
        floor: `${count(answered)} changes, ${count(before)} told before the kill, the last ${seconds.toFixed(0)} s after the receiver was well`,
        ratio: arrived / answered,
        target: ">= 1 of the changes",
        holds: arrived >= answered,
      },
    ];
  } finally {
    if (next) await stop(next);
    receiver.kill();
    await receiver.exited;
    for (const { pid } of Object.values(sides)) {
      try {
        process.kill(pid, "SIGCONT");
      } catch {
        // It was killed above.
      }
    }
    for (const server of Object.values(sides)) await server.stop();
  }
}

if (import.meta.main) {
  for (const { what, measured, floor, ratio } of await events(process.argv.includes("--quick") ? 0.1 : 1)) {
    process.stdout.write(`${what}: ${measured} (${floor}), ${ratio.toFixed(2)}\n`);
  }
}

/**
 * Jobs a second on one PostgreSQL that keeps what it says (default settings, fsync on): ours, each a warm TypeScript
 * script in its subprocess behind a webhook, against queues that run functions which do nothing in their own process.
 * What is enqueued one job a call there is so here, and what many a call there, here too, by as many clients.
 *
 *   bun test/bench/queues.ts        by itself, after `bun run build`
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { startPostgres } from "../support/peers/postgres-server.ts";
import { type Bench, EXECUTABLE, load, startServer, stop, untilOutput } from "./tools/processes.ts";
import { BULK, PEERS, type Peer } from "./tools/queue-peers.ts";

interface Figure {
  what: string;
  measured: string;
  floor: string;
  ratio: number;
  target: string;
  holds: boolean;
}

interface Target {
  name: string;
  /** Minimum share of its jobs per second that svc must reach. */
  least: number;
  /** Jobs per round, as many as for svc if it is fast enough. */
  most: number;
}

const TARGETS: Record<Peer, Target> = {
  graphile: { name: "graphile-worker", least: 1, most: 2_000 },
  "graphile-local": { name: "graphile-worker with local queue", least: 0.5, most: 2_000 },
  "graphile-bulk": {
    name: `graphile-worker with local queue, ${BULK.a_call} enqueued a call`,
    least: 0.7,
    most: 10_000,
  },
  "pg-boss": { name: "pg-boss with workers that are woken, and batches", least: 1, most: 10_000 },
};

const ROUNDS = 5;
const WARM = "export function main(name: string) {\n  return { hello: name };\n}\n";
const WAITING = "export async function main() {\n  await Bun.sleep(100);\n}\n";
/** Concurrent jobs of one worker when comparing two workers with one. */
const SLOTS = 8;

const perSecond = (value: number) => `${Math.round(value).toLocaleString("en")}/s`;
const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;

/** Enqueues jobs of a script, one per call, and waits until all are completed. @returns jobs per second */
function ours(server: Bench, path: string, jobs: number): Promise<number> {
  return completing(server, jobs, async () => {
    await load({
      url: `${server.url}/api/w/acme/jobs/run/p/${path}`,
      body: '{"name":"Bob"}',
      connections: 64,
      requests: jobs,
      headers: { authorization: `Bearer ${server.token}` },
    });
  });
}

/** The same, enqueued in bulk. */
function oursInBulk(server: Bench, path: string, jobs: number): Promise<number> {
  let added = 0;
  const client = async () => {
    while (added < jobs) {
      const count = Math.min(BULK.a_call, jobs - added);
      added += count;
      await server.post(`/jobs/add_batch_jobs/${count}`, { kind: "script", path });
    }
  };
  return completing(server, jobs, () => Promise.all(Array.from({ length: BULK.clients }, client)));
}

async function completing(server: Bench, jobs: number, enqueue: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await enqueue();
  while (Number(JSON.parse(await server.get("/jobs/queue/count")).database_length) > 0) await Bun.sleep(10);
  while (JSON.parse(await server.get("/jobs/list?running=true&per_page=1")).length > 0) await Bun.sleep(10);
  return (jobs * 1000) / (performance.now() - began);
}

async function theirs(peer: Peer, url: string, jobs: number): Promise<number> {
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, "tools/queue-peers.ts"), peer, url, String(jobs)],
    {
      stdout: "pipe",
      stderr: "inherit",
    },
  );
  const spent = Number(await child.stdout.text());
  if ((await child.exited) !== 0 || !(spent > 0)) throw new Error(`${TARGETS[peer].name} failed`);
  return (jobs * 1000) / spent;
}

/** Rounds of all of them alternate, so that each runs under the same load. */
async function besideOthers(database: string, jobs: number): Promise<Figure[]> {
  const rates = new Map<Peer, { ours: number; theirs: number }[]>(PEERS.map((peer) => [peer, []]));
  const server = await startServer({ DATABASE_URL: database }, { super_admin: true });
  try {
    await server.post("/scripts/create", { path: "u/ann/warm", content: WARM, language: "bun" });
    await ours(server, "u/ann/warm", jobs);
    for (let round = 0; round < ROUNDS; round++) {
      const single = await ours(server, "u/ann/warm", jobs);
      const bulk = await oursInBulk(server, "u/ann/warm", jobs);
      for (const peer of PEERS) {
        const rate = await theirs(peer, database, Math.min(jobs, TARGETS[peer].most));
        rates.get(peer)!.push({ ours: peer === "graphile-bulk" ? bulk : single, theirs: rate });
      }
    }
  } finally {
    await server.stop();
  }
  return PEERS.map((peer) => {
    const rounds = rates.get(peer)!;
    const { name, least } = TARGETS[peer];
    const ratio = median(rounds.map((round) => round.ours / round.theirs));
    return {
      what: `jobs on PostgreSQL, enqueued and completed, beside ${name}`,
      measured: perSecond(median(rounds.map((round) => round.ours))),
      floor: perSecond(median(rounds.map((round) => round.theirs))),
      ratio,
      target: `>= ${least} of it`,
      holds: ratio >= least,
    };
  });
}

async function startWorker(database: string, key: string): Promise<() => Promise<void>> {
  const data_dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const child = Bun.spawn([EXECUTABLE, "worker", "--json", "--tags", "far", "--data-dir", data_dir], {
    stdout: "pipe",
    stderr: "inherit",
    env: {
      PATH: "/usr/bin:/bin",
      SVC_LOG_LEVEL: "error",
      SVC_WORKERS: String(SLOTS),
      DATABASE_URL: database,
      SVC_SECRET_KEY: key,
    },
  });
  await untilOutput(child.stdout, /\n}\n$/);
  return async () => {
    await stop(child);
    rmSync(data_dir, { recursive: true, force: true });
  };
}

/** Jobs that mostly wait, as most real ones do, so that the number of cores is not what is measured. */
async function twoWorkers(database: string, jobs: number): Promise<Figure> {
  const key = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64");
  const server = await startServer({
    DATABASE_URL: database,
    SVC_SECRET_KEY: key,
    SVC_WORKER_TAGS: "near",
    SVC_CUSTOM_TAGS: '["far"]',
  });
  const script = { path: "u/ann/far", content: WAITING, language: "bun", tag: "far" };
  const measure = async (workers: number) => {
    const stops = await Promise.all(Array.from({ length: workers }, () => startWorker(database, key)));
    try {
      await ours(server, "u/ann/far", SLOTS * 10);
      return await ours(server, "u/ann/far", jobs);
    } finally {
      await Promise.all(stops.map((end) => end()));
    }
  };
  const rounds: { one: number; two: number }[] = [];
  try {
    await server.post("/scripts/create", script);
    for (let round = 0; round < 3; round++) {
      rounds.push({ one: await measure(1), two: await measure(2) });
    }
  } finally {
    await server.stop();
  }
  const ratio = median(rounds.map(({ one, two }) => two / one));
  return {
    what: "two workers, jobs of 100 ms",
    measured: perSecond(median(rounds.map(({ two }) => two))),
    floor: `one worker ${perSecond(median(rounds.map(({ one }) => one)))}`,
    ratio,
    target: ">= 1.7 of one",
    holds: ratio >= 1.7,
  };
}

/** @param scale share of the work that is done, for a quick look */
export async function besideQueues(scale = 1): Promise<Figure[]> {
  // With PostgreSQL's default settings.
  const postgres = await startPostgres({ settings: [] });
  try {
    const beside = await besideOthers(postgres.url, Math.round(10_000 * scale));
    const url = new URL(postgres.url);
    url.pathname = "/two";
    await using client = new SQL(postgres.url);
    await client`CREATE DATABASE two`;
    return [...beside, await twoWorkers(url.href, Math.max(400, Math.round(800 * scale)))];
  } finally {
    await postgres.stop();
  }
}

if (import.meta.main) {
  const scale = process.argv.includes("--quick") ? 0.1 : 1;
  for (const { what, measured, floor, ratio, target } of await besideQueues(scale)) {
    process.stdout.write(`${what}: ${measured} (${floor}), ${ratio.toFixed(2)} (${target})\n`);
  }
}

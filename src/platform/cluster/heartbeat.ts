/** What this process says of itself as a worker, and who else has said so lately. */
import { availableParallelism, freemem, hostname, networkInterfaces, totalmem } from "node:os";
import { desc, eq, gte, lt } from "drizzle-orm";
import { perApp } from "../../lib/async/per-app.ts";
import { createGroup, createService, type Service } from "../../lib/async/start-stop.ts";
import { VERSION } from "../../lib/version.ts";
import type { App } from "../app/context.ts";
import { createPeriodicTask } from "../loops/periodic-task.ts";
import { takenTags } from "./group-tags.ts";
import { type WorkerFacts, workers } from "./tables.ts";

const SAMPLE_MS = 1_000;
/** How many samples lie between two signs of life, at most; and how many of these there are in a lease, at least. */
const PING_EVERY = 5;
const PINGS_A_LEASE = 3;
/** Samples kept: half an hour. */
const KEPT = 1_800;
/** Rows of workers that never said goodbye are removed after this. */
const GONE_MS = 24 * 3_600_000;

/** Makes the facts of this process, where it has a worker. */
const selfOf = perApp<App, { facts: (() => WorkerFacts) | undefined }>(() => ({ facts: undefined }));

export interface Work {
  /** Jobs taken since the start. */
  executed: number;
  last: { id: string; workspace_id: string } | undefined;
}

/** Lists this process among the workers, from `start` to `stop`. */
export function createPresence(app: App, work: () => Work): Service {
  const started_at = app.clock();
  const pingEvery = Math.max(1, Math.min(PING_EVERY, Math.floor(app.config.lease_s / PINGS_A_LEASE)));
  const busy: number[] = [];
  const share = (seconds: number) => {
    const some = busy.slice(-seconds);
    return some.length === 0 ? 0 : some.reduce((sum, each) => sum + each, 0) / some.length;
  };
  const facts = () => ({
    name: app.queue.worker,
    instance: hostname(),
    ip: ownAddress(),
    worker_group: app.config.worker_group,
    version: VERSION,
    tags: takenTags(app) ?? null,
    slots: app.config.workers,
    started_at,
    last_ping: app.clock(),
    jobs_executed: work().executed,
    last_job: work().last ?? null,
    occupancy: { last_15s: share(15), last_5m: share(300), last_30m: share(KEPT) },
    vcpus: availableParallelism(),
    memory: { total: totalmem(), used: totalmem() - freemem(), own: process.memoryUsage.rss() },
  });

  const sampler = createPeriodicTask(app, {
    failure: "how busy this worker is could not be sampled",
    interval_ms: SAMPLE_MS,
    async run() {
      busy.push(Math.min(1, app.runner.stats().running / Math.max(1, app.config.workers)));
      if (busy.length > KEPT) busy.shift();
    },
  });
  const heartbeat = createPeriodicTask(app, {
    failure: "what this worker says of itself could not be stored",
    interval_ms: pingEvery * SAMPLE_MS,
    run: () => ping(app),
    async last() {
      await app.db.write((tx) => tx.delete(workers).where(eq(workers.name, app.queue.worker)));
    },
  });
  const self = createService(() => {
    selfOf(app).facts = facts;
    return () => {
      selfOf(app).facts = undefined;
    };
  });
  const parts: [string, Service][] = [
    ["facts", self],
    ["sampler", sampler],
  ];
  if (app.db.channel) parts.push(["heartbeat", heartbeat]);
  return createGroup(app.log, parts);
}

async function ping(app: App): Promise<void> {
  const row = selfOf(app).facts?.();
  if (!row) return;
  await app.db.write(async (tx) => {
    await tx.insert(workers).values(row).onConflictDoUpdate({ target: workers.name, set: row });
    await tx.delete(workers).where(lt(workers.last_ping, new Date(row.last_ping.getTime() - GONE_MS)));
  });
}

/**
 * The workers that said something in the last seconds, the one heard of last first. This process is among them at once.
 * @param seconds how long ago
 */
export async function presentWorkers(app: App, seconds: number): Promise<WorkerFacts[]> {
  const self = selfOf(app).facts?.();
  if (!app.db.channel) return self ? [self] : [];
  const since = new Date(app.clock().getTime() - seconds * 1000);
  const rows = await app.db.read
    .select()
    .from(workers)
    .where(gte(workers.last_ping, since))
    .orderBy(desc(workers.last_ping), workers.name);
  return self ? [self, ...rows.filter((row) => row.name !== self.name)] : rows;
}

/** Names of the other servers and workers of this database that live: they said so within a lease's time. */
export async function othersAlive(app: App): Promise<string[]> {
  const present = await presentWorkers(app, app.config.lease_s);
  return present.map(({ name }) => name).filter((name) => name !== app.queue.worker);
}

/** An address of this machine that others can know it by. */
function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return all.find(({ internal, family }) => !internal && family === "IPv4")?.address ?? "127.0.0.1";
}

/** Heartbeat of this process as a worker, and the list of live workers. */
import { availableParallelism, freemem, hostname, networkInterfaces, totalmem } from "node:os";
import { desc, eq, gte, lt } from "drizzle-orm";
import { memoizePerApp } from "../../lib/async/per-app.ts";
import { createService, createServiceGroup, type Service } from "../../lib/async/service.ts";
import { VERSION } from "../../lib/version.ts";
import type { App } from "../app/context.ts";
import { createPeriodicTask } from "../loops/periodic-task.ts";
import { getWorkerTags } from "./group-tags.ts";
import { type WorkerFacts, workers } from "./tables.ts";

const SAMPLE_INTERVAL_MS = 1_000;
/** Maximum number of samples between two heartbeats, and minimum number of heartbeats within a lease. */
const SAMPLES_PER_HEARTBEAT = 5;
const HEARTBEATS_PER_LEASE = 3;
/** Half an hour of samples. */
const MAX_SAMPLES = 1_800;
/** Rows of workers that crashed are deleted after this. */
const ROW_RETENTION_MS = 24 * 3_600_000;

/** Builds this process's row, if it has a worker. */
const ownWorkerOf = memoizePerApp<App, { facts: (() => WorkerFacts) | undefined }>(() => ({
  facts: undefined,
}));

export interface WorkerActivity {
  /** Jobs started since the process began. */
  executed: number;
  last: { id: string; workspace_id: string } | undefined;
}

/** Registers this process as a worker from `start` to `stop`. */
export function createHeartbeat(app: App, work: () => WorkerActivity): Service {
  const started_at = app.clock();
  const pingEvery = Math.max(
    1,
    Math.min(SAMPLES_PER_HEARTBEAT, Math.floor(app.config.lease_s / HEARTBEATS_PER_LEASE)),
  );
  const busy: number[] = [];
  const share = (seconds: number) => {
    const some = busy.slice(-seconds);
    return some.length === 0 ? 0 : some.reduce((sum, each) => sum + each, 0) / some.length;
  };
  const facts = () => ({
    name: app.queue.worker,
    instance: hostname(),
    ip: findOwnAddress(),
    worker_group: app.config.worker_group,
    version: VERSION,
    tags: getWorkerTags(app) ?? null,
    slots: app.config.workers,
    started_at,
    last_ping: app.clock(),
    jobs_executed: work().executed,
    last_job: work().last ?? null,
    occupancy: { last_15s: share(15), last_5m: share(300), last_30m: share(MAX_SAMPLES) },
    vcpus: availableParallelism(),
    memory: { total: totalmem(), used: totalmem() - freemem(), own: process.memoryUsage.rss() },
  });

  const sampler = createPeriodicTask(app, {
    failure_message: "the occupancy of this worker could not be sampled",
    interval_ms: SAMPLE_INTERVAL_MS,
    async run() {
      busy.push(Math.min(1, app.runner.stats().running / Math.max(1, app.config.workers)));
      if (busy.length > MAX_SAMPLES) busy.shift();
    },
  });
  const heartbeat = createPeriodicTask(app, {
    failure_message: "the heartbeat of this worker could not be stored",
    interval_ms: pingEvery * SAMPLE_INTERVAL_MS,
    run: () => storeHeartbeat(app),
    async after_stop() {
      await app.db.write((tx) => tx.delete(workers).where(eq(workers.name, app.queue.worker)));
    },
  });
  const self = createService(() => {
    ownWorkerOf(app).facts = facts;
    return () => {
      ownWorkerOf(app).facts = undefined;
    };
  });
  const parts: [string, Service][] = [
    ["facts", self],
    ["sampler", sampler],
  ];
  if (app.db.channel) parts.push(["heartbeat", heartbeat]);
  return createServiceGroup(app.log, parts);
}

async function storeHeartbeat(app: App): Promise<void> {
  const row = ownWorkerOf(app).facts?.();
  if (!row) return;
  await app.db.write(async (tx) => {
    await tx.insert(workers).values(row).onConflictDoUpdate({ target: workers.name, set: row });
    await tx
      .delete(workers)
      .where(lt(workers.last_ping, new Date(row.last_ping.getTime() - ROW_RETENTION_MS)));
  });
}

/**
 * Lists workers with a recent heartbeat, the most recent first. This process comes first, even before its first
 * heartbeat.
 * @param seconds maximum age of the heartbeat
 */
export async function listLiveWorkers(app: App, seconds: number): Promise<WorkerFacts[]> {
  const self = ownWorkerOf(app).facts?.();
  if (!app.db.channel) return self ? [self] : [];
  const since = new Date(app.clock().getTime() - seconds * 1000);
  const rows = await app.db.read
    .select()
    .from(workers)
    .where(gte(workers.last_ping, since))
    .orderBy(desc(workers.last_ping), workers.name);
  return self ? [self, ...rows.filter((row) => row.name !== self.name)] : rows;
}

/**
 * Lists the names of the other live servers and workers of this database: those with a heartbeat within the lease time.
 */
export async function listOtherLiveWorkers(app: App): Promise<string[]> {
  const present = await listLiveWorkers(app, app.config.lease_s);
  return present.map(({ name }) => name).filter((name) => name !== app.queue.worker);
}

/** Returns an address of this machine under which others can identify it. */
function findOwnAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return all.find(({ internal, family }) => !internal && family === "IPv4")?.address ?? "127.0.0.1";
}

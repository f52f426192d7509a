/**
 * One round of another queue, in a process of its own: jobs that do nothing are enqueued, by 64 clients one at a time or
 * by some that enqueue 64 by each call, while its own workers in this process complete them. Prints how many milliseconds passed until the last was completed in the
 * database.
 *
 *   bun queue-peers.ts <peer> <database url> <jobs>
 */
import { SQL } from "bun";

export const PEERS = ["graphile", "graphile-local", "graphile-bulk", "pg-boss"] as const;
export type Peer = (typeof PEERS)[number];

interface Queue {
  /** Enqueues several jobs by one call. */
  add(count: number): Promise<unknown>;
  /** SQL that counts incomplete jobs. */
  left: string;
  stop(): Promise<unknown>;
}

const CLIENTS = 64;
/**
 * Bulk enqueuing, by svc and by the others: number of clients, and of jobs per call. With one client, as many
 * jobs are in flight as with single calls; `BULK_CLIENTS` sets more.
 */
export const BULK = { clients: Number(process.env.BULK_CLIENTS ?? 1), a_call: 64 };
const QUEUE = "noop";
const PAYLOAD = { name: "Bob" };

/** Settings that its documentation recommends for performance. */
const LOCAL = {
  concurrentJobs: 24,
  maxPoolSize: 25,
  localQueue: { size: 500 },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
};

/** By default, pg-boss takes one job every two seconds. Here, each job that is enqueued wakes one of several workers. */
const PG_BOSS = {
  max_connections: 25,
  workers: 8,
  options: { pollingIntervalSeconds: 0.5, batchSize: 100 },
};

async function graphile(connectionString: string, settings: object): Promise<Queue> {
  const { Logger, makeWorkerUtils, run } = await import("graphile-worker");
  const logger = new Logger(() => () => {});
  const utils = await makeWorkerUtils({ connectionString, logger });
  await utils.migrate();
  const runner = await run({
    preset: { worker: { connectionString, ...settings } },
    logger,
    taskList: { [QUEUE]: async () => {} },
  });
  return {
    add: (count) =>
      count === 1
        ? utils.addJob(QUEUE, PAYLOAD)
        : utils.addJobs(Array.from({ length: count }, () => ({ identifier: QUEUE, payload: PAYLOAD }))),
    left: "SELECT count(*) AS left FROM graphile_worker._private_jobs",
    async stop() {
      await runner.stop();
      await utils.release();
    },
  };
}

async function pgBoss(connectionString: string): Promise<Queue> {
  const { default: PgBoss } = await import("pg-boss");
  const boss = new PgBoss({ connectionString, max: PG_BOSS.max_connections });
  await boss.start();
  await boss.createQueue(QUEUE);
  const workers: string[] = [];
  while (workers.length < PG_BOSS.workers)
    workers.push(await boss.work(QUEUE, PG_BOSS.options, async () => {}));
  let sent = 0;
  return {
    async add() {
      await boss.send(QUEUE, PAYLOAD);
      boss.notifyWorker(workers[sent++ % workers.length]!);
    },
    left: `SELECT count(*) AS left FROM pgboss.job WHERE name = '${QUEUE}' AND state < 'completed'`,
    stop: () => boss.stop({ graceful: false }),
  };
}

const SINGLE = { clients: CLIENTS, a_call: 1 };

/** Start and enqueue functions of each queue. */
const START: Record<Peer, { start(url: string): Promise<Queue>; clients: number; a_call: number }> = {
  graphile: { start: (url) => graphile(url, {}), ...SINGLE },
  "graphile-local": { start: (url) => graphile(url, LOCAL), ...SINGLE },
  "graphile-bulk": { start: (url) => graphile(url, LOCAL), ...BULK },
  "pg-boss": { start: pgBoss, ...SINGLE },
};

async function round(peer: Peer, url: string, jobs: number): Promise<number> {
  const { start, clients, a_call } = START[peer];
  const queue = await start(url);
  const database = new SQL({ url, max: 1 });
  const began = performance.now();
  let added = 0;
  const client = async () => {
    while (added < jobs) {
      const count = Math.min(a_call, jobs - added);
      added += count;
      await queue.add(count);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  while (Number((await database.unsafe(queue.left))[0].left) > 0) await Bun.sleep(10);
  const spent = performance.now() - began;
  await queue.stop();
  await database.close();
  return spent;
}

if (import.meta.main) {
  const [peer, url, jobs] = process.argv.slice(2) as [Peer, string, string];
  process.stdout.write(String(await round(peer, url, Number(jobs))));
  process.exit(0);
}

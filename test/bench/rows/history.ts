/**
 * A long history: lists, counts and webhooks beside many completed jobs, and how retention removes half of them, and
 * PostgreSQL vacuums, while others call.
 *
 *   bun test/bench/rows/history.ts [jobs] [days] [months]     by itself, after `bun run build`
 *
 * On PostgreSQL with DATABASE_URL set; with the word `months`, in monthly partitions.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { median, ms } from "../tools/figures.ts";
import { type Bench, EXECUTABLE, load, startServer } from "../tools/processes.ts";
import { storeHistory } from "../tools/stored-jobs.ts";

const JOBS = Number(process.argv[2] ?? 10_000_000);
const DAYS = Number(process.argv[3] ?? 100);
const IN_MONTHS = process.argv[4] === "months";
const RETENTION_MS = 120_000;
/** The server looks for expired jobs once a minute. */
const FIRST_DELETION_MS = 90_000;
const database_url = process.env.DATABASE_URL;
const SCRIPT = "export function main(name: string) {\n  return { hello: name };\n}\n";

const PAGES = {
  "newest 30": "/jobs/list?per_page=30",
  "newest 30 of a script": "/jobs/list?per_page=30&script_path_exact=u/ann/script7",
  "newest 30 failures": "/jobs/list?per_page=30&success=false",
  "newest 30 of a person": "/jobs/list?per_page=30&created_by=user3",
  "30 from 50 days ago": `/jobs/list?per_page=30&created_before=${new Date(Date.now() - 50 * 86_400_000).toISOString()}`,
  "count of the last day": "/jobs/completed/count_jobs?completed_after_s_ago=86400",
  "count of all": "/jobs/completed/count",
  "queue count": "/jobs/queue/count",
};

const say = (...cells: string[]) => process.stdout.write(`| ${cells.join(" | ")} |\n`);

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** Bytes of the database. */
async function readSize({ data_dir }: Bench): Promise<number> {
  if (database_url === undefined) return statSync(join(data_dir, "svc.db")).size;
  const client = new SQL(database_url);
  const [row] = await client.unsafe("SELECT pg_database_size(current_database()) AS size");
  await client.end();
  return Number(row.size);
}

const gb = (bytes: number) => `${(bytes / 1e9).toFixed(2)} GB`;

async function pages(server: Bench): Promise<void> {
  for (const [name, path] of Object.entries(PAGES)) {
    const took: number[] = [];
    const end = performance.now() + 10_000;
    while (took.length < 20 && performance.now() < end) took.push(await timed(() => server.get(path)));
    say(name, `p50 ${ms(median(took))}`, `most ${ms(Math.max(...took))}`);
  }
}

async function webhooks(server: Bench): Promise<void> {
  const call = {
    url: `${server.url}/api/w/acme/jobs/run_wait_result/p/u/ann/warm`,
    body: '{"name":"Bob"}',
    headers: { authorization: `Bearer ${server.token}` },
  };
  await load({ ...call, connections: 64, requests: 10_000 });
  const { per_second } = await load({ ...call, connections: 64, requests: 20_000 });
  const { p50_ms, p99_ms } = await load({ ...call, connections: 1, requests: 1_000 });
  const alone = `one connection p50 ${ms(p50_ms)}, p99 ${ms(p99_ms)}`;
  say("synchronous webhooks", `${Math.round(per_second)}/s`, alone);
}

/** @param days 0: forever */
async function keepJobs(server: Bench, days: number): Promise<void> {
  const answer = await fetch(`${server.url}/api/settings/global/retention_period_secs`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.token}`, "content-type": "application/json" },
    body: JSON.stringify({ value: days * 86_400 }),
  });
  if (!answer.ok) throw new Error(await answer.text());
}

/** Lets half of the jobs expire, and makes calls meanwhile. */
async function retention(server: Bench): Promise<void> {
  const count = async () => Number(await server.get("/jobs/completed/count_jobs"));
  const before = await readSize(server);
  const before_count = await count();
  await keepJobs(server, DAYS / 2);
  const asked = performance.now();
  while ((await count()) === before_count && performance.now() - asked < FIRST_DELETION_MS)
    await Bun.sleep(500);
  const waits: number[] = [];
  const began_count = await count();
  const began = performance.now();
  let left = began_count;
  let counted_at = began;
  while (performance.now() - began < RETENTION_MS && left > before_count - JOBS / 2 + 1_000) {
    waits.push(await timed(() => server.get("/jobs/list?per_page=30")));
    waits.push(await timed(() => server.post("/jobs/run_wait_result/p/u/ann/warm", { name: "Bob" })));
    if (performance.now() - counted_at < 20_000) continue;
    left = await count();
    counted_at = performance.now();
  }
  left = await count();
  const seconds = (performance.now() - began) / 1000;
  const sorted = waits.toSorted((a, b) => a - b);
  const p99 = sorted[Math.floor(sorted.length * 0.99)]!;
  say(
    "retention",
    // Whole months are dropped at once.
    IN_MONTHS ? `${before_count - left} jobs` : `${Math.round((began_count - left) / seconds)} jobs/s`,
    `others p99 ${ms(p99)}, most ${ms(sorted.at(-1)!)}`,
  );
  say("size", `before ${gb(before)}`, `after ${gb(await readSize(server))}, ${left} jobs left`);
}

/** Runs VACUUM, as PostgreSQL does automatically after a while, during other calls. */
async function vacuum(server: Bench): Promise<void> {
  const client = new SQL(database_url!);
  let isDone = false;
  const vacuuming = timed(() => client.unsafe("VACUUM ANALYZE")).finally(() => {
    isDone = true;
  });
  const waits: number[] = [];
  while (!isDone)
    waits.push(await timed(() => server.post("/jobs/run_wait_result/p/u/ann/warm", { name: "Bob" })));
  const took = await vacuuming;
  await client.end();
  say(
    "vacuum",
    `in ${Math.round(took / 1000)} s`,
    `webhooks p50 ${ms(median(waits))}, most ${ms(Math.max(...waits))}`,
  );
}

/** Converts the tables between two servers. */
async function partition(server: Bench): Promise<void> {
  await server.halt();
  const took = await timed(async () => {
    const command = [EXECUTABLE, "partition-jobs", "--data-dir", server.data_dir];
    const child = Bun.spawn(command, { env: environment, stdout: "ignore" });
    if ((await child.exited) !== 0) throw new Error("the jobs could not be partitioned");
  });
  say("partitioned", `in ${Math.round(took / 1000)} s`);
  await server.restart();
}

const environment: Record<string, string> = database_url === undefined ? {} : { DATABASE_URL: database_url };
const server = await startServer(environment, { super_admin: true });
try {
  await keepJobs(server, 0);
  await server.post("/scripts/create", { path: "u/ann/warm", content: SCRIPT, language: "bun" });
  await webhooks(server);
  const filling = await timed(() => storeHistory(server.data_dir, database_url, JOBS, DAYS));
  say(
    `${JOBS.toLocaleString("en")} jobs`,
    gb(await readSize(server)),
    `stored in ${Math.round(filling / 1000)} s`,
  );
  if (IN_MONTHS) await partition(server);
  await pages(server);
  await webhooks(server);
  await retention(server);
  if (database_url !== undefined) await vacuum(server);
} finally {
  await server.stop();
}
process.exit(0);

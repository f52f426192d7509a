/**
 * Three servers and three workers on one PostgreSQL, while machines fail in every way. `SVC_TEST_JOBS` sets the
 * number of jobs: few by default, 20,000 if there is time.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { SQL, type Subprocess } from "bun";
import { startProxy } from "../../../support/peers/cuttable-proxy.ts";
import { type PostgresServer, startPostgres } from "../../../support/peers/postgres-server.ts";
import { createInstallation, type Serving, setUp, until } from "../executable.ts";

const JOBS = Number(process.env.SVC_TEST_JOBS ?? 2_000);
const LEASE_S = 3;
/** Concurrent calls, over all servers. */
const CALLERS = 18;

interface Worker {
  name: string;
  process: Subprocess;
}

const place = createInstallation();
const spawned: Subprocess[] = [];
let postgres: PostgresServer;
let sql: SQL;

beforeAll(async () => {
  postgres = await startPostgres();
}, 60_000);
afterAll(async () => {
  for (const each of spawned) if (each.exitCode === null && each.signalCode === null) each.kill("SIGKILL");
  place.remove();
  await sql?.close();
  await postgres?.stop();
});

const environment = (name: string, url = postgres.url) => ({
  SVC_DATA_DIR: join(place.folder, name),
  SVC_SECRET_KEY: "0123456789abcdef0123456789abcdef",
  SVC_LEASE_S: String(LEASE_S),
  DATABASE_URL: url,
});

async function startWorker(name: string, url?: string): Promise<Worker> {
  const child = Bun.spawn([join(place.folder, "svc"), "worker", "--group", "runners", "--json"], {
    cwd: place.folder,
    env: { ...place.environment, ...environment(name, url), SVC_WORKERS: "4" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  spawned.push(child);
  let text = "";
  for await (const piece of child.stdout) {
    text += new TextDecoder().decode(piece);
    if (text.includes("\n}\n")) break;
  }
  return { name: JSON.parse(text).worker, process: child };
}

/** Records each claim of a job, and each completion. */
async function watchJobs(): Promise<void> {
  await sql.unsafe(`
    CREATE TABLE seen (job text NOT NULL, state text NOT NULL, worker text);
    CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO seen VALUES (NEW.id, NEW.state, NEW.worker); RETURN NULL; END $$;
    CREATE TRIGGER note_insert AFTER INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION note();
    CREATE TRIGGER note_update AFTER UPDATE ON jobs FOR EACH ROW
      WHEN (NEW.state <> OLD.state OR NEW.state = 'completed') EXECUTE FUNCTION note()`);
}

test(`${JOBS} jobs through three servers: none is lost and each ends once, whatever happens to workers and the database`, async () => {
  const began = performance.now();
  const first = await place.serve({ env: environment("server-1") });
  const token = await setUpAt(first, "server-1");
  const others = [];
  for (const name of ["server-2", "server-3"]) others.push(await place.serve({ env: environment(name) }));
  const servers = [first, ...others];
  sql = new SQL({ url: postgres.url, max: 2 });
  const call = (server: Serving, path: string, body: unknown) =>
    fetch(`${server.url}/api${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const ok = async (answer: Promise<Response>) => {
    const response = await answer;
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return response.text();
  };
  const content =
    "export async function main(n: number) { await Bun.sleep(n % 20); return process.env.WM_JOB_ID }";
  await ok(call(first, "/w/acme/scripts/create", { path: "u/ann/own", language: "bun", content }));
  await ok(call(first, "/w/acme/jobs/run_wait_result/p/u/ann/own", { n: 0 }));
  // From now on the servers leave scripts to the workers.
  await ok(call(first, "/configs/update/worker__default", { worker_tags: ["dependency"] }));
  await watchJobs();

  const { hostname, port } = new URL(postgres.url);
  using proxy = await startProxy({ hostname, port: Number(port) });
  const through = new URL(postgres.url);
  through.port = String(proxy.port);
  const killed = await startWorker("worker-1");
  const stopped = await startWorker("worker-2");
  const cutOff = await startWorker("worker-3", through.href);
  let replacement: Worker | undefined;

  const acknowledged = new Set<string>();
  let refused = 0;
  let at = 0;
  /** New jobs are submitted as long as machines fail. */
  let isOver = false;
  const caller = async (index: number) => {
    const server = servers[index % servers.length]!;
    while (acknowledged.size < JOBS || !isOver) {
      const response = await call(server, "/w/acme/jobs/run/p/u/ann/own", { n: at++ });
      const text = await response.text();
      if (response.ok) acknowledged.add(text);
      else {
        // While the database is away, nothing is acknowledged.
        expect(response.status).toBeGreaterThanOrEqual(500);
        refused++;
        await Bun.sleep(50);
      }
    }
  };
  const callers = Promise.all(Array.from({ length: CALLERS }, (_, index) => caller(index)));

  const share = (part: number) =>
    until(() => (acknowledged.size >= JOBS * part ? true : undefined), "more jobs", 300_000);
  /** Started there and not completed. */
  const held = async ({ name }: Worker) =>
    Number((await sql`SELECT count(*) AS n FROM jobs WHERE state = 'running' AND worker = ${name}`)[0].n);
  const atWork = (worker: Worker) =>
    until(async () => ((await held(worker)) > 0 ? true : undefined), `${worker.name} at work`);
  /** The lease has expired, and other workers have the jobs. */
  const givenToOthers = (worker: Worker) =>
    until(
      async () => ((await held(worker)) === 0 ? true : undefined),
      `the jobs of ${worker.name} to be given to others`,
    );
  const faults = (async () => {
    await share(0.1);
    await atWork(killed);
    killed.process.kill("SIGKILL");
    replacement = await startWorker("worker-4");
    await share(0.25);
    await atWork(stopped);
    stopped.process.kill("SIGSTOP");
    await givenToOthers(stopped);
    stopped.process.kill("SIGCONT");
    await share(0.45);
    await atWork(cutOff);
    proxy.cut();
    await givenToOthers(cutOff);
    proxy.mend();
    await share(0.7);
    await postgres.halt();
    await Bun.sleep(1_000);
    await postgres.start();
  })().finally(() => {
    isOver = true;
  });
  await Promise.all([callers, faults]);
  const enqueued_ms = performance.now() - began;

  const left = () =>
    sql`SELECT count(*)::int AS n FROM jobs WHERE script_path = 'u/ann/own' AND state <> 'completed'`;
  await until(
    async () => ((await left().catch(() => [{ n: 1 }]))[0].n === 0 ? true : undefined),
    "the last job",
    120_000,
  );
  const all_ms = performance.now() - began;

  const rows: { id: string; status: string; result: string; losses: number }[] =
    await sql`SELECT id, status, result, losses::int FROM jobs WHERE script_path = 'u/ann/own' AND kind = 'script'`;
  const byId = new Map(rows.map((row) => [row.id, row]));
  const missing = [...acknowledged].filter((id) => !byId.has(id));
  expect(missing).toEqual([]);
  const wrong = rows.filter(
    ({ id, status, result }) => status !== "success" || result !== JSON.stringify(id),
  );
  expect(wrong).toEqual([]);
  const twice = await sql`SELECT job FROM seen WHERE state = 'completed' GROUP BY job HAVING count(*) > 1`;
  expect([...twice]).toEqual([]);
  // A job records how many workers it lost: it was claimed once more for each.
  const again = rows.filter(({ losses }) => losses > 0);
  expect(again.length).toBeGreaterThanOrEqual(3);
  const begun = await sql`SELECT job, count(*)::int AS n FROM seen WHERE state = 'running' GROUP BY job`;
  const times = new Map<string, number>(begun.map(({ job, n }: { job: string; n: number }) => [job, n]));
  for (const { id, losses } of again) expect([id, times.get(id)! > losses]).toEqual([id, true]);
  // Workers that were cut off run jobs again.
  const last = await sql`SELECT DISTINCT worker FROM jobs WHERE script_path = 'u/ann/own'`;
  const workers = new Set(last.map(({ worker }: { worker: string }) => worker));
  for (const { name } of [stopped, cutOff, replacement!]) expect(workers).toContain(name);
  console.log(
    `${rows.length} jobs, ${acknowledged.size} acknowledged, ${refused} refused, ${again.length} begun again; ` +
      `enqueued in ${(enqueued_ms / 1000).toFixed(1)} s, all ended in ${(all_ms / 1000).toFixed(1)} s`,
  );

  for (const { process } of [stopped, cutOff, replacement!, ...servers]) process.kill("SIGTERM");
  for (const { process } of [stopped, cutOff, replacement!, ...servers]) expect(await process.exited).toBe(0);
}, 600_000);

/** The local admin's socket is in the data directory of the server. */
async function setUpAt(server: Serving, name: string): Promise<string> {
  const data_dir = join(place.folder, name);
  const operator = async (path: string, body: unknown) => {
    const response = await fetch(`http://localhost/api${path}`, {
      unix: join(data_dir, "svc.sock"),
      method: "POST",
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.text();
  };
  return setUp({ ...server, operator });
}

/**
 * Simulates larger machines with the measured costs of a job: processor time of the server, of the script's
 * process and of PostgreSQL, and the time of a flush.
 *
 *   bun test/bench/jobs/scale.ts        by itself, after `bun run build`; prints the tables of the reference
 */
import {
  closeSync,
  fdatasyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { startPostgres } from "../../support/peers/postgres-server.ts";
import { median } from "../tools/figures.ts";
import { load, startServer } from "../tools/processes.ts";
import { type Cluster, type JobCosts, simulate } from "../tools/simulation.ts";

const SCRIPT = "export function main(name: string) {\n  return { hello: name };\n}\n";
const WARM_UP = 40_000;
const JOBS = 20_000;
const CLIENTS = 64;
/** Clock ticks of proc(5). */
const TICK_US = 10_000;

interface Process {
  parent: number;
  name: string;
  cpu_us: number;
}

function readProcesses(): Map<number, Process> {
  const found = new Map<number, Process>();
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const text = readFileSync(`/proc/${entry}/stat`, "utf8");
      const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
      const name = text.slice(text.indexOf("(") + 1, text.lastIndexOf(")"));
      const cpu_us = (Number(fields[11]) + Number(fields[12])) * TICK_US;
      found.set(Number(entry), { parent: Number(fields[1]), name, cpu_us });
    } catch {
      // It has ended.
    }
  }
  return found;
}

/** Processor time that these have used, in microseconds. */
function sum(processes: Map<number, Process>, matches: (pid: number, process: Process) => boolean): number {
  let total = 0;
  for (const [pid, process] of processes) if (matches(pid, process)) total += process.cpu_us;
  return total;
}

/** Measures what a job costs. @param database_url of PostgreSQL; undefined: embedded */
async function measureCosts(database_url: string | undefined): Promise<JobCosts> {
  const server = await startServer(database_url === undefined ? {} : { DATABASE_URL: database_url });
  try {
    await server.post("/scripts/create", { path: "u/ann/warm", content: SCRIPT, language: "bun" });
    const call = {
      url: `${server.url}/api/w/acme/jobs/run_wait_result/p/u/ann/warm`,
      body: '{"name":"Bob"}',
      headers: { authorization: `Bearer ${server.token}` },
      connections: CLIENTS,
    };
    await load({ ...call, requests: WARM_UP });
    const before = readProcesses();
    await load({ ...call, requests: JOBS });
    const after = readProcesses();
    const used = (matches: (pid: number, process: Process) => boolean) =>
      (sum(after, matches) - sum(before, matches)) / JOBS;
    const isBelow = (pid: number, { parent }: Process): boolean => {
      const above = after.get(parent);
      return parent === server.pid || (above !== undefined && parent > 1 && isBelow(pid, above));
    };
    return {
      server_us: used((pid) => pid === server.pid),
      script_us: used(isBelow),
      database_us: database_url === undefined ? 0 : used((_, { name }) => name === "postgres"),
      flush_us: measureFlush(server.data_dir),
    };
  } finally {
    await server.stop();
  }
}

/** Median time in microseconds in which a few pages reach the disk. */
function measureFlush(folder: string): number {
  const file = join(mkdtempSync(join(folder, "flush-")), "log");
  const descriptor = openSync(file, "w");
  const pages = Buffer.alloc(32_768, 1);
  const took = Array.from({ length: 200 }, () => {
    writeSync(descriptor, pages);
    const began = performance.now();
    fdatasyncSync(descriptor);
    return (performance.now() - began) * 1000;
  });
  closeSync(descriptor);
  rmSync(file);
  return median(took);
}

function print(costs: JobCosts, clusters: Omit<Cluster, "clients_per_server">[]): void {
  const us = (value: number) => `${Math.round(value)} µs`;
  process.stdout.write(
    `a job: server ${us(costs.server_us)}, script ${us(costs.script_us)}, database ${us(costs.database_us)}; flush ${us(costs.flush_us)}\n`,
  );
  for (const code_ms of [0, 20]) {
    for (const cluster of clusters) {
      const whole = { ...costs, script_us: costs.script_us + code_ms * 1000 };
      // Enough clients to keep the slowest resource busy.
      const clients_per_server = code_ms === 0 ? 4 * CLIENTS : 16 * CLIENTS;
      const { per_second, limit, use } = simulate(whole, { ...cluster, clients_per_server });
      const { servers, cores } = cluster;
      const line = [
        `${servers} × ${cores} cores`,
        `code of ${code_ms} ms`,
        `${Math.round(per_second).toLocaleString("en")}/s`,
        `${limit} (${Math.round(use[limit] * 100)} %)`,
      ];
      process.stdout.write(`| ${line.join(" | ")} |\n`);
    }
  }
}

const CORES = [4, 16, 64];
const postgres = await startPostgres({ settings: ["max_connections=300"] });
try {
  process.stdout.write("embedded database\n");
  print(
    await measureCosts(undefined),
    CORES.map((cores) => ({ servers: 1, cores })),
  );
  process.stdout.write("PostgreSQL on a machine of its own\n");
  print(
    await measureCosts(postgres.url),
    CORES.flatMap((cores) => [1, 3, 10].map((servers) => ({ servers, cores }))),
  );
} finally {
  await postgres.stop();
}
process.exit(0);

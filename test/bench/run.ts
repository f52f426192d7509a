/**
 * `bun run bench`: each figure against its floor in the same run, since only ratios say something on another machine.
 * Prints a table, writes dist/bench.json, and says which targets hold. `--quick` asks for a tenth of the work,
 * `--peers` for Restate, graphile-worker, pg-boss, Node-RED and n8n beside us.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { events } from "./events.ts";
import { besideRestate, flows } from "./flows.ts";
import { hotPath } from "./hot-path.ts";
import { lists } from "./lists.ts";
import { people } from "./people.ts";
import { besideQueues } from "./queues.ts";
import { starts } from "./starts.ts";
import { type Measured, measureStreams, type StreamReport } from "./streams.ts";
import { type Figure, median, ms, printFigures, type Report } from "./tools/figures.ts";
import { type Bench, load, residentMb, startServer } from "./tools/processes.ts";
import { besideWorkflows } from "./workflow-peers.ts";

const scale = process.argv.includes("--quick") ? 0.1 : 1;
const BODY = '{"name":"Bob"}';
const WARM = "export function main(name: string) {\n  return { hello: name };\n}\n";
const figures: Figure[] = [];

function record(figure: Figure): void {
  figures.push(figure);
  process.stderr.write(`${figure.what}: ${figure.ratio.toFixed(3)} (${figure.target})\n`);
}

const times = (count: number) => Math.max(1, Math.round(count * scale));

async function deploy(server: Bench, path: string, content: string): Promise<void> {
  await server.post("/scripts/create", { path, content, language: "bun" });
}

async function streams(): Promise<void> {
  const readers = times(1_000);
  const count = readers.toLocaleString("en");
  const server = await startServer();
  const { each, one } = await measureStreams(server, readers, 3);
  await server.stop();
  const compare = (what: string, rounds: Measured[], field: keyof StreamReport, most: number) => {
    const ratio = median(rounds.map(({ ours, floor }) => ours[field] / floor[field]));
    record({
      what,
      measured: ms(median(rounds.map(({ ours }) => ours[field]))),
      floor: `bare server ${ms(median(rounds.map(({ floor }) => floor[field])))}`,
      ratio,
      target: `<= ${most} × the bare server`,
      holds: ratio <= most,
    });
  };
  compare(`${count} streams of 100 pieces, a job each, first byte p50`, each, "first_p50_ms", 3);
  compare(`${count} streams of 100 pieces, a job each, all read`, each, "total_ms", 6);
  compare(`one job's 100 pieces read by ${count}`, one, "streaming_ms", 1.5);
}

async function memory(): Promise<void> {
  const server = await startServer();
  await deploy(server, "u/ann/warm", WARM);
  await Bun.sleep(2_000);
  const idle = residentMb(server.pid);
  record({
    what: "resident memory of an idle server",
    measured: `${idle.toFixed(0)} MB`,
    floor: "",
    ratio: idle,
    target: "<= 120 MB",
    holds: idle <= 120,
  });
  const call = {
    url: `${server.url}/api/w/acme/jobs/run_wait_result/p/u/ann/warm`,
    connections: 16,
    body: BODY,
    headers: { authorization: `Bearer ${server.token}` },
  };
  await load({ ...call, requests: times(20_000) });
  const before = residentMb(server.pid);
  await load({ ...call, requests: times(100_000) });
  // Memory is freed after ten idle seconds (features/runs/worker/idle-collection.ts).
  await Bun.sleep(15_000);
  const after = residentMb(server.pid);
  await server.stop();
  record({
    what: `resident memory after ${times(100_000).toLocaleString("en")} more jobs`,
    measured: `${after.toFixed(0)} MB`,
    floor: `after the first ${times(20_000).toLocaleString("en")}: ${before.toFixed(0)} MB`,
    ratio: after,
    target: "<= 150 MB",
    holds: after <= 150,
  });
}

for (const figure of await hotPath(scale)) record(figure);
await streams();
(await lists(scale)).forEach(record);
(await people(scale)).forEach(record);
for (const figure of await flows(scale)) record(figure);
for (const figure of await events(scale)) record(figure);
if (process.argv.includes("--peers")) {
  for (const figure of await besideRestate(scale)) record(figure);
  for (const figure of await besideQueues(scale)) record(figure);
  for (const figure of await besideWorkflows(scale)) record(figure);
}
for (const figure of await starts(scale)) record(figure);
await memory();

printFigures(figures);
const report: Report = { at: new Date().toISOString(), cores: navigator.hardwareConcurrency, figures };
writeFileSync(join(import.meta.dir, "../../dist/bench.json"), `${JSON.stringify(report, undefined, 2)}\n`);

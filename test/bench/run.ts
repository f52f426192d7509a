/**
 * `bun run bench`: each figure against its floor in the same run, since only ratios say something on another machine.
 * Prints a table, writes dist/bench.json, and says which targets hold. `--quick` asks for a tenth of the work,
 * `--peers` for Restate, graphile-worker and pg-boss beside us.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Table from "cli-table3";
import { events } from "./events.ts";
import { besideRestate, flows } from "./flows.ts";
import { lists } from "./lists.ts";
import { people } from "./people.ts";
import { besideQueues } from "./queues.ts";
import { type Measured, measureStreams, type StreamReport } from "./streams.ts";
import {
  type Bench,
  EXECUTABLE,
  load,
  residentMb,
  startEcho,
  startServer,
  untilOutput,
} from "./tools/processes.ts";

interface Figure {
  what: string;
  measured: string;
  floor: string;
  /** What the target is about. */
  ratio: number;
  target: string;
  holds: boolean;
}

const scale = process.argv.includes("--quick") ? 0.1 : 1;
const BODY = '{"name":"Bob"}';
const WARM = "export function main(name: string) {\n  return { hello: name };\n}\n";
const figures: Figure[] = [];

function record(figure: Figure): void {
  figures.push(figure);
  process.stderr.write(`${figure.what}: ${figure.ratio.toFixed(3)} (${figure.target})\n`);
}

const perSecond = (value: number) => `${Math.round(value).toLocaleString("en")}/s`;
const ms = (value: number) => `${value.toFixed(2)} ms`;
const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;
const times = (count: number) => Math.max(1, Math.round(count * scale));

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function deploy(server: Bench, path: string, content: string): Promise<void> {
  await server.post("/scripts/create", { path, content, language: "bun" });
}

/** Completes `jobs` sync calls and measures against the echo, alternating, so that both see the same machine. */
async function webhooks(server: Bench, echo: string): Promise<void> {
  const call = {
    url: `${server.url}/api/w/acme/jobs/run_wait_result/p/u/ann/warm`,
    body: BODY,
    headers: { authorization: `Bearer ${server.token}` },
  };
  await load({ ...call, connections: 64, requests: times(5_000) });
  const many: { echo: number; sync: number }[] = [];
  for (let round = 0; round < 3; round++) {
    const floor = await load({ url: echo, body: BODY, connections: 64, requests: times(40_000) });
    const sync = await load({ ...call, connections: 64, requests: times(15_000) });
    many.push({ echo: floor.per_second, sync: sync.per_second });
  }
  const ratio = median(many.map((round) => round.sync / round.echo));
  record({
    what: "sync webhook, 64 connections",
    measured: perSecond(median(many.map((round) => round.sync))),
    floor: `echo ${perSecond(median(many.map((round) => round.echo)))}`,
    ratio,
    target: ">= 0.40 of the echo",
    holds: ratio >= 0.4,
  });
  const one = await load({ url: echo, body: BODY, connections: 1, requests: times(5_000) });
  const lone = await load({ ...call, connections: 1, requests: times(3_000) });
  const above = lone.p50_ms - one.p50_ms;
  record({
    what: "sync webhook, 1 connection, p50",
    measured: ms(lone.p50_ms),
    floor: `echo ${ms(one.p50_ms)}`,
    ratio: above,
    target: "<= 1 ms above the echo",
    holds: above <= 1,
  });
}

async function asynchronous(server: Bench, echo: string): Promise<void> {
  const jobs = times(10_000);
  const floor = await load({ url: echo, body: BODY, connections: 64, requests: times(40_000) });
  const { began_at } = await load({
    url: `${server.url}/api/w/acme/jobs/run/p/u/ann/warm`,
    body: BODY,
    connections: 64,
    requests: jobs,
    headers: { authorization: `Bearer ${server.token}` },
  });
  while (Number(JSON.parse(await server.get("/jobs/queue/count")).database_length) > 0) await Bun.sleep(10);
  while (JSON.parse(await server.get("/jobs/list?running=true&per_page=1")).length > 0) await Bun.sleep(5);
  const spent = Date.now() - began_at;
  const rate = (jobs * 1000) / spent;
  const ratio = rate / floor.per_second;
  record({
    what: `async webhook, ${jobs.toLocaleString("en")} jobs to completion`,
    measured: perSecond(rate),
    floor: `echo ${perSecond(floor.per_second)}`,
    ratio,
    target: ">= 0.25 of the echo",
    holds: ratio >= 0.25,
  });
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

/** Rounds are a moment apart: nobody deploys a script every 20 ms, and the blank children are started again meanwhile. */
async function firstCalls(server: Bench): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const cold: number[] = [];
  const first: number[] = [];
  for (let round = 0; round < Math.max(5, times(21)); round++) {
    const file = join(folder, `script-${round}.ts`);
    writeFileSync(file, `${WARM}console.log(JSON.stringify(main("Bob")), ${round});\n`);
    const bun = {
      command: [EXECUTABLE, file],
      options: { env: { BUN_BE_BUN: "1" }, stdout: "pipe" } as const,
    };
    cold.push(await timed(() => Bun.spawn(bun.command, bun.options).stdout.text()));
    const path = `u/ann/first_${round}`;
    await deploy(server, path, `${WARM}// ${round}\n`);
    await Bun.sleep(200);
    first.push(await timed(() => server.post(`/jobs/run_wait_result/p/${path}`, { name: "Bob" })));
  }
  rmSync(folder, { recursive: true, force: true });
  const ratio = median(first) / median(cold);
  record({
    what: "first call of a fresh script",
    measured: ms(median(first)),
    floor: `bun script.ts ${ms(median(cold))}`,
    ratio,
    target: "<= 2 × bun script.ts",
    holds: ratio <= 2,
  });
}

async function starts(): Promise<void> {
  const version: number[] = [];
  const serve: number[] = [];
  for (let round = 0; round < 7; round++) {
    version.push(await timed(() => Bun.spawn([EXECUTABLE, "--version"], { stdout: "pipe" }).stdout.text()));
    const data_dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
    const began = performance.now();
    const child = Bun.spawn([EXECUTABLE, "serve", "--port", "0", "--json", "--data-dir", data_dir], {
      stdout: "pipe",
      stderr: "ignore",
      env: { PATH: "/usr/bin:/bin" },
    });
    const { url } = JSON.parse(await untilOutput(child.stdout, /\n}\n$/)) as { url: string };
    await (await fetch(`${url}/api/version`)).text();
    serve.push(performance.now() - began);
    child.kill("SIGTERM");
    await child.exited;
    rmSync(data_dir, { recursive: true, force: true });
  }
  const ratio = median(serve) / median(version);
  record({
    what: "svc serve, to its first answer, new data directory",
    measured: ms(median(serve)),
    floor: `svc --version ${ms(median(version))}`,
    ratio,
    target: "<= 5 × svc --version",
    holds: ratio <= 5,
  });
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
  const after = residentMb(server.pid);
  await server.stop();
  record({
    what: `resident memory after ${times(100_000).toLocaleString("en")} more jobs`,
    measured: `${after.toFixed(0)} MB`,
    floor: `after the first ${times(20_000).toLocaleString("en")}: ${before.toFixed(0)} MB`,
    ratio: after / before,
    target: "<= 1.2 × before",
    holds: after / before <= 1.2,
  });
}

const echo = await startEcho();
const server = await startServer();
await deploy(server, "u/ann/warm", WARM);
await webhooks(server, echo.url);
await asynchronous(server, echo.url);
await firstCalls(server);
await server.stop();
await echo.stop();
await streams();
(await lists(scale)).forEach(record);
(await people(scale)).forEach(record);
for (const figure of await flows(scale)) record(figure);
for (const figure of await events(scale)) record(figure);
if (process.argv.includes("--peers")) {
  for (const figure of await besideRestate(scale)) record(figure);
  for (const figure of await besideQueues(scale)) record(figure);
}
await starts();
await memory();

const table = new Table({
  head: ["what", "measured", "floor", "ratio", "target", "holds"],
  style: { head: [], border: [] },
});
for (const { what, measured, floor, ratio, target, holds } of figures) {
  table.push([what, measured, floor, ratio.toFixed(2), target, holds ? "yes" : "NO"]);
}
process.stdout.write(`${table.toString()}\n`);
const missed = figures.filter((figure) => !figure.holds);
process.stdout.write(
  `${figures.length - missed.length} of ${figures.length} targets hold${missed.map((figure) => `; missed: ${figure.what}`).join("")}\n`,
);
const report = { at: new Date().toISOString(), cores: navigator.hardwareConcurrency, figures };
writeFileSync(join(import.meta.dir, "../../dist/bench.json"), `${JSON.stringify(report, undefined, 2)}\n`);

/**
 * Startup times: of commands, a server, a new script, and a shell.
 *
 *   bun test/bench/starts.ts        by itself, after `bun run build`
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Figure, median, ms, printFigures } from "./tools/figures.ts";
import { type Bench, EXECUTABLE, startServer, untilOutput } from "./tools/processes.ts";

const SCRIPT = "export function main(name: string) {\n  return { hello: name };\n}\n";
const SHELL = 'echo "hello $1"\n';
const ROUNDS = 9;
/** The runtime's own start where the targets in milliseconds were set, in milliseconds; machines differ severalfold. */
const REFERENCE_START_MS = 5;

/** @param scale share of the rounds that is made, for a quick look */
export async function starts(scale = 1): Promise<Figure[]> {
  const rounds = Math.max(3, Math.round(ROUNDS * scale));
  const runtime = await repeat(rounds, startRuntime);
  const most = (what: string, measured: number, target: number) =>
    compareWithStart(what, { measured, target, runtime });
  const version = await repeat(rounds, () => runCommand([EXECUTABLE, "--version"]));
  const figures = [most("svc --version", version, 20)];
  const server = await startServer();
  const list = [EXECUTABLE, "workspace", "list", "--data-dir", server.data_dir];
  try {
    figures.push(await firstCalls(server, Math.max(5, Math.round(21 * scale))));
    figures.push(await shells(server, Math.max(10, Math.round(100 * scale))));
    const up = await repeat(rounds, () => runCommand(list));
    figures.push(most("svc workspace list, through the server's socket", up, 50));
  } finally {
    await server.stop();
  }
  const data_dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const alone = [EXECUTABLE, "workspace", "list", "--data-dir", data_dir];
  await serveOnce(data_dir);
  figures.push(
    most("svc workspace list, without a server", await repeat(rounds, () => runCommand(alone)), 150),
  );
  rmSync(data_dir, { recursive: true, force: true });
  const served = await repeat(rounds, serveInNewFolder);
  return [...figures, most("svc serve, to its first answer, new data directory", served, 150)];
}

/** A time that holds if it is at most the target here, or as many starts of the runtime as the target was. */
function compareWithStart(
  what: string,
  { measured, target, runtime }: Record<"measured" | "target" | "runtime", number>,
): Figure {
  const ratio = measured / runtime;
  const starts = target / REFERENCE_START_MS;
  return {
    what,
    measured: ms(measured),
    floor: `runtime ${ms(runtime)}`,
    ratio,
    target: `<= ${target} ms or ${starts} × runtime`,
    holds: measured <= target || ratio <= starts,
  };
}

/** Starts the runtime with a script of one number. */
async function startRuntime(): Promise<void> {
  await runCommand([EXECUTABLE, "--eval", "0"], { BUN_BE_BUN: "1" });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function repeat(rounds: number, work: () => Promise<unknown>): Promise<number> {
  const spent: number[] = [];
  for (let round = 0; round < rounds; round++) spent.push(await timed(work));
  return median(spent);
}

async function runCommand(command: string[], environment: Record<string, string> = {}): Promise<void> {
  const env = { PATH: "/usr/bin:/bin", ...environment };
  const child = Bun.spawn(command, { env, stdout: "pipe", stderr: "inherit" });
  await child.stdout.text();
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")} failed`);
}

/** Starts a server, and waits for its first response; the caller ends it. */
async function serve(data_dir: string) {
  const child = Bun.spawn([EXECUTABLE, "serve", "--port", "0", "--json", "--data-dir", data_dir], {
    stdout: "pipe",
    stderr: "ignore",
    env: { PATH: "/usr/bin:/bin" },
  });
  const { url } = JSON.parse(await untilOutput(child.stdout, /\n}\n$/)) as { url: string };
  await (await fetch(`${url}/api/version`)).text();
  return child;
}

async function serveOnce(data_dir: string): Promise<void> {
  const child = await serve(data_dir);
  child.kill("SIGTERM");
  await child.exited;
}

const ended: Promise<unknown>[] = [];

/** Ends the server later, outside of the measured time. */
async function serveInNewFolder(): Promise<void> {
  await Promise.all(ended.splice(0));
  const data_dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const child = await serve(data_dir);
  child.kill("SIGTERM");
  ended.push(child.exited.then(() => rmSync(data_dir, { recursive: true, force: true })));
}

/**
 * Pauses before each measurement, also of the floor: nobody deploys a script every 20 ms, the spare processes are
 * started again meanwhile, and a processor that has just been busy is faster.
 */
async function firstCalls(server: Bench, rounds: number): Promise<Figure> {
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const cold: number[] = [];
  const first: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const file = join(folder, `script-${round}.ts`);
    writeFileSync(file, `${SCRIPT}console.log(JSON.stringify(main("Bob")), ${round});\n`);
    await Bun.sleep(200);
    cold.push(await timed(() => runCommand([EXECUTABLE, file], { BUN_BE_BUN: "1" })));
    const path = `u/ann/first_${round}`;
    await server.post("/scripts/create", { path, content: `${SCRIPT}// ${round}\n`, language: "bun" });
    await Bun.sleep(200);
    first.push(await timed(() => server.post(`/jobs/run_wait_result/p/${path}`, { name: "Bob" })));
  }
  rmSync(folder, { recursive: true, force: true });
  return times("first call of a fresh script", { ours: first, floor: cold, of: "bun script.ts", most: 1.3 });
}

/** Calls of one shell script, each after the next spare process was started; both after the same pause. */
async function shells(server: Bench, rounds: number): Promise<Figure> {
  const alone: number[] = [];
  const warm: number[] = [];
  await server.post("/scripts/create", { path: "u/ann/shell", content: SHELL, language: "bash" });
  for (let round = 0; round < rounds; round++) {
    await Bun.sleep(100);
    alone.push(await timed(() => runCommand(["bash", "-c", SHELL, "bash", "Bob"])));
    await Bun.sleep(100);
    warm.push(await timed(() => server.post("/jobs/run_wait_result/p/u/ann/shell", {})));
  }
  return times("bash, warm, p50", { ours: warm, floor: alone, of: "bash -c", most: 3 });
}

function times(
  what: string,
  { ours, floor, of, most }: { ours: number[]; floor: number[]; of: string; most: number },
): Figure {
  const ratio = median(ours) / median(floor);
  return {
    what,
    measured: ms(median(ours)),
    floor: `${of} ${ms(median(floor))}`,
    ratio,
    target: `<= ${most} × ${of}`,
    holds: ratio <= most,
  };
}

if (import.meta.main) printFigures(await starts(process.argv.includes("--quick") ? 0.2 : 1));

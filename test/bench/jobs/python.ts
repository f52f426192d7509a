/**
 * `bun run build && bun test/bench/jobs/python.ts`: the first call of a new Python script compared with
 * `python3 script.py`, and calls of a loaded one with those of the same script in TypeScript. They alternate,
 * so that other load affects all.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Figure, median, ms, printFigures } from "../tools/figures.ts";
import { startServer } from "../tools/processes.ts";

const PYTHON = "def main(name: str):\n    return {'hello': name}\n";
const TYPESCRIPT = "export const main = (name: string) => ({ hello: name });\n";
const FIRST_CALLS = 21;
const WARM_CALLS = 1_000;
const MAX_FIRST_RATIO = 1.5;
const MAX_WARM_MORE_MS = 1;

// The interpreter itself, because the one on the PATH may be a shell script.
const python = Bun.spawnSync(["python3", "-c", "import sys; print(sys.executable)"]).stdout.toString().trim();
const server = await startServer({ PATH: `${dirname(python)}:/usr/bin:/bin` });

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

const create = (path: string, language: string, content: string) =>
  server.post("/scripts/create", { path, language, content });
const call = (path: string) => server.post(`/jobs/run_wait_result/p/${path}`, { name: "Bob" });

async function measureFirstCalls(): Promise<Figure> {
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const [alone, first]: [number[], number[]] = [[], []];
  for (let round = 0; round < FIRST_CALLS; round++) {
    const file = join(folder, `script_${round}.py`);
    writeFileSync(file, `import json\n${PYTHON}print(json.dumps(main("Bob")), ${round})\n`);
    alone.push(await timed(() => Bun.spawn([python, file], { stdout: "ignore" }).exited));
    const path = `u/ann/first_${round}`;
    await create(path, "python3", `${PYTHON}# ${round}\n`);
    // Until the next child has been started in advance.
    await Bun.sleep(400);
    first.push(await timed(() => call(path)));
  }
  rmSync(folder, { recursive: true, force: true });
  const ratio = median(first) / median(alone);
  return {
    what: "first call of a fresh Python script",
    measured: ms(median(first)),
    floor: `python3 script.py ${ms(median(alone))}`,
    ratio,
    target: `<= ${MAX_FIRST_RATIO} × python3 script.py`,
    holds: ratio <= MAX_FIRST_RATIO,
  };
}

async function measureWarmCalls(): Promise<Figure> {
  await create("u/ann/warm_py", "python3", PYTHON);
  await create("u/ann/warm_ts", "bun", TYPESCRIPT);
  const [py, ts]: [number[], number[]] = [[], []];
  for (let round = 0; round < WARM_CALLS; round++) {
    py.push(await timed(() => call("u/ann/warm_py")));
    ts.push(await timed(() => call("u/ann/warm_ts")));
  }
  const more = median(py) - median(ts);
  return {
    what: "Python, warm, p50",
    measured: ms(median(py)),
    floor: `TypeScript ${ms(median(ts))}`,
    ratio: median(py) / median(ts),
    target: `<= TypeScript + ${MAX_WARM_MORE_MS} ms`,
    holds: more <= MAX_WARM_MORE_MS,
  };
}

try {
  printFigures([await measureFirstCalls(), await measureWarmCalls()]);
} finally {
  await server.stop();
}

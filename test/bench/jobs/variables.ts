/**
 * Reading variables from a running script, as an SDK does it: over loopback, one call after the other, with the job's own
 * token. Each figure is a ratio to the bare echo that the same script calls, in turns with it, so that both see the same
 * machine; of a secret the first reading waits for its audit row to be flushed, the disk's own time, and those that follow do not.
 * And the exchange of the key of 10,000 secrets while they are read.
 *
 *   bun run build && bun test/bench/jobs/variables.ts
 */
import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { startEcho, startServer } from "../tools/processes.ts";

const SECRETS = 10_000;

/** Alternately, so that a busy moment of the machine affects all. */
const SCRIPT = `
export async function main(echo: string) {
  const base = process.env.BASE_INTERNAL_URL + "/api/w/acme/variables/get_value/";
  const headers = { authorization: "Bearer " + process.env.WM_TOKEN };
  const asked: Record<string, () => Promise<Response>> = {
    echo: () => fetch(echo, { method: "POST", body: "{}" }),
    plain: () => fetch(base + "u/ann/plain", { headers }),
    secret: () => fetch(base + "u/ann/secret", { headers }),
  };
  const spent: Record<string, number[]> = { echo: [], plain: [], secret: [] };
  for (let round = 0; round < 1100; round++) {
    for (const [name, ask] of Object.entries(asked)) {
      const began = performance.now();
      const answer = await ask();
      await answer.text();
      if (!answer.ok) throw new Error(name + ": " + answer.status);
      if (round >= 100) spent[name]!.push(performance.now() - began);
    }
  }
  return Object.fromEntries(Object.entries(spent).map(([name, ms]) => {
    ms.sort((a, b) => a - b);
    return [name, { p50: ms[ms.length >> 1], p99: ms[Math.floor(ms.length * 0.99)] }];
  }));
}`;

type Spent = Record<"echo" | "plain" | "secret", { p50: number; p99: number }>;

/**
 * Measures a flush, the minimum delay of the first read of a secret: its audit row is on disk before the
 * response.
 */
function flushTime(folder: string): number {
  const file = openSync(join(folder, "flush"), "w");
  const spent: number[] = [];
  for (let n = 0; n < 500; n++) {
    const began = performance.now();
    writeSync(file, Buffer.alloc(8192, n));
    fdatasyncSync(file);
    spent.push(performance.now() - began);
  }
  closeSync(file);
  return spent.toSorted((a, b) => a - b)[spent.length >> 1]!;
}

const ms = (value: number) => `${value.toFixed(2)} ms`;
const say = (text: string) => process.stdout.write(`${text}\n`);

const server = await startServer();
const echo = await startEcho();
try {
  const store = (path: string, is_secret: boolean) =>
    server.post("/variables/create", { path, value: `value of ${path}`, is_secret, description: "" });
  await store("u/ann/plain", false);
  await store("u/ann/secret", true);
  await server.post("/scripts/create", { path: "u/ann/reads", content: SCRIPT, language: "bun" });
  for (let run = 0; run < 3; run++) {
    const spent = JSON.parse(
      await server.post("/jobs/run_wait_result/p/u/ann/reads", { echo: echo.url }),
    ) as Spent;
    say(`flush of the disk: p50 ${ms(flushTime(server.data_dir))}`);
    for (const name of ["plain", "secret"] as const) {
      const { p50, p99 } = spent[name];
      const ratio = p50 / spent.echo.p50;
      say(`${name}: p50 ${ms(p50)}, p99 ${ms(p99)}; echo ${ms(spent.echo.p50)}: ${ratio.toFixed(2)} of it`);
    }
  }

  const paths = Array.from({ length: SECRETS }, (_, index) => `u/ann/many_${index}`);
  for (let at = 0; at < SECRETS; at += 200) {
    await Promise.all(paths.slice(at, at + 200).map((path) => store(path, true)));
  }
  let done = false;
  const waits: number[] = [];
  const reading = (async () => {
    for (let index = 0; !done; index = (index + 37) % SECRETS) {
      const began = performance.now();
      const value = JSON.parse(await server.get(`/variables/get_value/${paths[index]}`));
      if (value !== `value of ${paths[index]}`) throw new Error(`${paths[index]} is another`);
      waits.push(performance.now() - began);
    }
  })();
  const began = performance.now();
  await server.post("/workspaces/encryption_key", { new_key: "k".repeat(64) });
  const spent = performance.now() - began;
  done = true;
  await reading;
  const worst = Math.max(...waits);
  say(
    `key of ${SECRETS} secrets exchanged in ${ms(spent)}; ${waits.length} reads meanwhile, the longest ${ms(worst)}`,
  );
} finally {
  await echo.stop();
  await server.stop();
}

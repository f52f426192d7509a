/**
 * Largest delay that hostile requests or results cause for a small concurrent call, and the memory they take.
 * Each attack is bounded; together they take about two minutes.
 *
 *     bun test/bench/jobs/hostile.ts [part of a name]      by itself, after `bun run build`
 */
import { readFileSync } from "node:fs";
import type { Longest, ToPinger } from "../tools/pinger.ts";
import { type Bench, startServer } from "../tools/processes.ts";

const MB = 1_000_000;
/** Longest duration of a small call, during hostile requests and during large ones. */
const HOSTILE_MS = 100;
const BIG_MS = 200;
/** Peak memory, as a multiple of the bodies' size, beyond that of the idle server. */
const WEIGHTS = 2;

interface Attack {
  what: string;
  most_ms: number;
  /** Total size of all bodies and results, up to the stated limits; small ones do not count. */
  bytes?: number;
  run: (bench: Bench) => Promise<unknown>;
}

const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
const times = <T>(count: number, work: () => Promise<T>) => Promise.all(Array.from({ length: count }, work));
const dense = (bytes: number) => `[${'{"a":1.5,"b":[true,null],"c":"x"},'.repeat(bytes / 35)}1]`;

async function send(bench: Bench, path: string, body: string, type = "application/json"): Promise<number> {
  const headers = { authorization: `Bearer ${bench.token}`, "content-type": type };
  const response = await fetch(`${bench.url}/api/w/acme${path}`, { method: "POST", headers, body });
  await response.arrayBuffer();
  return response.status;
}

const RUN = "/jobs/run_wait_result/p/u/ann/size";
const resource = (path: string, value: string) =>
  `{"path":"u/ann/${path}","resource_type":"any","value":${value}}`;
const text = (bytes: number) => `{"x":"${"x".repeat(bytes)}"}`;

const ATTACKS: Attack[] = [
  { what: "nothing, for comparison", most_ms: HOSTILE_MS, run: () => Bun.sleep(3_000) },
  {
    what: "six deep arguments",
    most_ms: HOSTILE_MS,
    run: (b) => times(6, () => send(b, RUN, `{"x":${deep(50_000)}}`)),
  },
  {
    what: "deep resources",
    most_ms: HOSTILE_MS,
    run: (b) => times(6, () => send(b, "/resources/create", resource("deep", deep(50_000)))),
  },
  {
    what: "20 MB of brackets",
    most_ms: HOSTILE_MS,
    bytes: 20 * MB,
    run: (b) => send(b, RUN, "[]".repeat(10 * MB)),
  },
  {
    what: "500,000 form fields",
    most_ms: HOSTILE_MS,
    run: (b) => send(b, RUN, "a=1&".repeat(500_000), "application/x-www-form-urlencoded"),
  },
  {
    what: "a script of 4 MB",
    most_ms: HOSTILE_MS,
    run: (b) => {
      const content = `export const main = () => 1;\n${"{ const x = { a: [1, 2, 3] } }\n".repeat(130_000)}`;
      return send(b, "/scripts/create", JSON.stringify({ path: "u/ann/long", language: "bun", content }));
    },
  },
  {
    what: "the densest script that is read",
    most_ms: HOSTILE_MS,
    run: (b) => {
      const content = `export const main = () => 1;\n${"{ const x = { a: [1, 2, 3] } }\n".repeat(17_000)}`;
      return send(b, "/scripts/create", JSON.stringify({ path: "u/ann/long", language: "bun", content }));
    },
  },
  {
    what: "the interface's description",
    most_ms: HOSTILE_MS,
    run: async (b) => (await fetch(`${b.url}/api/openapi.yaml`)).text(),
  },
  {
    what: "dense arguments of 20 MB",
    most_ms: HOSTILE_MS,
    bytes: 20 * MB,
    run: (b) => send(b, RUN, `{"x":${dense(20 * MB)}}`),
  },
  {
    what: "dense arguments of 20 MB with a reference",
    most_ms: HOSTILE_MS,
    bytes: 20 * MB,
    run: (b) => send(b, RUN, `{"y":"$WM_TOKEN","x":${dense(20 * MB)}}`),
  },
  {
    what: "dense arguments of 20 MB, wrapped",
    most_ms: HOSTILE_MS,
    bytes: 20 * MB,
    run: (b) => send(b, `${RUN}?wrap_body=true&include_query=a&a=1`, dense(20 * MB)),
  },
  {
    what: "dense arguments of a cached script",
    most_ms: HOSTILE_MS,
    bytes: 5 * MB,
    run: (b) => send(b, `${RUN}?cache_ttl=60`, `{"x":${dense(5 * MB)}}`),
  },
  {
    what: "a dense resource of 10 MB",
    most_ms: HOSTILE_MS,
    bytes: 10 * MB,
    run: (b) => send(b, "/resources/create", resource("dense", dense(10 * MB))),
  },
  {
    what: "dense results of 10 MB",
    most_ms: HOSTILE_MS,
    bytes: 40 * MB,
    run: (b) => times(4, () => send(b, "/jobs/run_wait_result/p/u/ann/dense", `{"bytes":${10 * MB}}`)),
  },
  {
    what: "20 arguments of 20 MB",
    most_ms: BIG_MS,
    bytes: 400 * MB,
    run: (b) => times(20, () => send(b, RUN, text(20 * MB))),
  },
  {
    what: "50 results of 10 MB",
    most_ms: BIG_MS,
    bytes: 500 * MB,
    run: (b) => times(50, () => send(b, "/jobs/run_wait_result/p/u/ann/big", `{"bytes":${10 * MB}}`)),
  },
];

const SCRIPTS = {
  size: "export const main = (x: unknown) => JSON.stringify(x ?? null).length",
  big: "export const main = (bytes: number) => 'x'.repeat(bytes)",
  dense:
    "export const main = (bytes: number) => Array.from({ length: bytes / 30 }, () => ({ a: 1.5, b: [true, null], c: 'x' }))",
};

/** Resident memory in bytes: now, or its peak since it was reset. */
function memoryOf(pid: number, field: "VmRSS" | "VmHWM"): number {
  const found = new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(found![1]) * 1024;
}

async function measure(
  bench: Bench,
  idle: number,
  attack: Attack,
  longest: () => Promise<Longest>,
): Promise<boolean> {
  await Bun.write(`/proc/${bench.pid}/clear_refs`, "5");
  const before = memoryOf(bench.pid, "VmRSS");
  await longest();
  const began = performance.now();
  await attack.run(bench);
  const took = performance.now() - began;
  const { wait_ms, computed_ms } = await longest();
  const grown = memoryOf(bench.pid, "VmHWM") - before;
  const weights = attack.bytes === undefined ? 0 : grown / attack.bytes;
  const holds = wait_ms <= attack.most_ms && grown <= idle + WEIGHTS * (attack.bytes ?? 0);
  const memory = `${Math.round(grown / MB)} MB more${attack.bytes === undefined ? "" : ` (${weights.toFixed(1)} of ${WEIGHTS})`}`;
  console.log(
    `${holds ? "holds" : "FAILS"}  ${attack.what}: a small call waits ${Math.round(wait_ms)} ms at most (of ${attack.most_ms}), ${Math.round(computed_ms)} ms of them for the serving thread, ${memory}, ${Math.round(took)} ms`,
  );
  return holds;
}

const bench = await startServer();
const pinger = new Worker(new URL("../tools/pinger.ts", import.meta.url).href);
const tell = (message: ToPinger) => pinger.postMessage(message);
const longest = () =>
  new Promise<Longest>((resolve, reject) => {
    pinger.onerror = ({ message }) => reject(new Error(message));
    pinger.onmessage = ({ data }: MessageEvent<Longest>) => resolve(data);
    tell("longest");
  });
let good = true;
try {
  for (const [name, content] of Object.entries(SCRIPTS)) {
    await bench.post("/scripts/create", { path: `u/ann/${name}`, language: "bun", content });
    await bench.post(`/jobs/run_wait_result/p/u/ann/${name}`, { bytes: 30 });
  }
  tell({ url: `${bench.url}/api/version`, pid: bench.pid });
  await Bun.sleep(500);
  const idle = memoryOf(bench.pid, "VmRSS");
  const wanted = process.argv[2] ?? "";
  for (const attack of ATTACKS.filter(({ what }) => what.includes(wanted))) {
    good = (await measure(bench, idle, attack, longest)) && good;
  }
} finally {
  pinger.terminate();
  await bench.stop();
}
process.exit(good ? 0 : 1);

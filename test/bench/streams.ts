/**
 * Streams: 1,000 callers of run_and_stream at once, a job each, and 1,000 readers of one job. The floor is a bare
 * Bun.serve that sends the same events to as many readers, without jobs. Every stream is read to its end and compared:
 * one that lacks a piece, or has one twice or out of order, fails the bench.
 *
 * As a program it is one side of that, in a process of its own:
 *
 *   bun streams.ts floor
 *   bun streams.ts '{"url":…,"readers":1000,"method":"POST","headers":{…}}'
 */
import { type Bench, untilOutput } from "./tools/processes.ts";

interface Plan {
  url: string;
  readers: number;
  method: "GET" | "POST";
  headers?: Record<string, string>;
}

export interface StreamReport {
  /** From the call to the first byte of the response body. */
  first_p50_ms: number;
  /** From the first call to the end of the last stream. */
  total_ms: number;
  /** From the first chunk that any reader received to the end of the last stream. */
  streaming_ms: number;
  /** Streams that lacked a part of the text, or had one out of order. */
  wrong: number;
}

/** A measurement, and its baseline in the same round. */
export interface Measured {
  ours: StreamReport;
  floor: StreamReport;
}

const PIECES = 100;
/** Between two chunks of the job that all read. */
const PAUSE_MS = 5;
/** Delay until all readers of the job are connected. */
const SOON_S = 2;

const piece = (i: number) => `piece ${i} of a text that is read while it is made\n`;
const whole = Array.from({ length: PIECES }, (_, i) => piece(i)).join("");
const source = (pause: string) => `export async function* main() {
  for (let i = 0; i < ${PIECES}; i++) { yield "piece " + i + " of a text that is read while it is made\\n"; ${pause} }
}`;

/**
 * Measures both, in rounds: one job per caller, and one job for all readers.
 * @throws if a stream was incomplete
 */
export async function measureStreams(server: Bench, readers: number, rounds: number) {
  const headers = { authorization: `Bearer ${server.token}` };
  const base = `${server.url}/api/w/acme`;
  const scripts = { quick: source(""), paced: source(`await Bun.sleep(${PAUSE_MS});`) };
  for (const [name, content] of Object.entries(scripts))
    await server.post("/scripts/create", { path: `u/ann/${name}`, content, language: "bun" });

  const callers: Plan = {
    url: `${base}/jobs/run_and_stream/p/u/ann/quick`,
    method: "POST",
    readers,
    headers,
  };
  await read(callers);
  const floor = await startFloor();
  const each: Measured[] = [];
  const one: Measured[] = [];
  try {
    for (let round = 0; round < rounds; round++) {
      each.push({
        floor: await read({ url: `${floor.url}/each`, method: "POST", readers }),
        ours: await read(callers),
      });
      const id = await server.post(`/jobs/run/p/u/ann/paced?scheduled_in_secs=${SOON_S}`, {});
      const followed = `${base}/jobs_u/getupdate_sse/${id}?only_result=true&no_logs=true`;
      one.push({
        ours: await read({ url: followed, method: "GET", readers, headers }),
        floor: await read({ url: `${floor.url}/one`, method: "GET", readers }),
      });
    }
  } finally {
    await floor.stop();
  }
  return { each, one };
}

async function read(plan: Plan): Promise<StreamReport> {
  const child = Bun.spawn([process.execPath, import.meta.path, JSON.stringify(plan)], {
    stdout: "pipe",
    stderr: "inherit",
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: String(plan.readers) },
  });
  const report = JSON.parse(await child.stdout.text()) as StreamReport;
  if (report.wrong > 0)
    throw new Error(`${report.wrong} of ${plan.readers} streams of ${plan.url} were not whole`);
  return report;
}

async function startFloor() {
  const child = Bun.spawn([process.execPath, import.meta.path, "floor"], { stdout: "pipe" });
  return {
    url: `http://127.0.0.1:${(await untilOutput(child.stdout, /^\d+\n/)).trim()}`,
    async stop() {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}

const encoder = new TextEncoder();

/** The events of the text, generated for each stream. */
function* events(): Generator<Uint8Array> {
  const frame = (event: object) => encoder.encode(`data: ${JSON.stringify(event)}\n\n`);
  let stream_offset = 0;
  for (let i = 0; i < PIECES; i++) {
    const new_result_stream = piece(i);
    stream_offset += new_result_stream.length;
    yield frame({ type: "update", new_result_stream, stream_offset });
  }
  yield frame({ type: "update", completed: true, only_result: whole });
}

function serveFloor(): void {
  const waiting = new Set<ReadableStreamDefaultController<Uint8Array>>();
  const sendToAll = async () => {
    for (const event of events()) {
      for (const controller of waiting) controller.enqueue(event);
      await Bun.sleep(PAUSE_MS);
    }
    for (const controller of waiting) controller.close();
    waiting.clear();
  };
  const streamToOne = () => {
    const own = events();
    return new ReadableStream<Uint8Array>({
      pull(controller) {
        const { done, value } = own.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    });
  };
  const streamToAll = () => {
    if (waiting.size === 0) setTimeout(sendToAll, SOON_S * 1000);
    return new ReadableStream<Uint8Array>({ start: (controller) => void waiting.add(controller) });
  };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: ({ url }) =>
      new Response(url.endsWith("/one") ? streamToAll() : streamToOne(), {
        headers: { "content-type": "text/event-stream" },
      }),
  });
  process.stdout.write(`${server.port}\n`);
}

async function readAll({ url, readers, method, headers = {} }: Plan): Promise<StreamReport> {
  const first: number[] = [];
  let firstPiece = Number.POSITIVE_INFINITY;
  let wrong = 0;
  const init: RequestInit = { method, headers, ...(method === "POST" ? { body: "{}" } : {}) };
  const readOne = async () => {
    const began = performance.now();
    const response = await fetch(url, init);
    const decoder = new TextDecoder();
    let text = "";
    let partial = "";
    let result: unknown;
    let seen = false;
    for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
      if (!seen) first.push(performance.now() - began);
      seen = true;
      const frames = (partial + decoder.decode(bytes, { stream: true })).split("\n\n");
      partial = frames.pop()!;
      for (const frame of frames) {
        const event = JSON.parse(frame.slice("data: ".length));
        if (event.new_result_stream !== undefined) {
          firstPiece = Math.min(firstPiece, performance.now());
          text += event.new_result_stream;
        }
        if (event.completed) result = event.only_result;
      }
    }
    if (text !== whole || result !== whole) wrong++;
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: readers }, readOne));
  const ended = performance.now();
  first.sort((a, b) => a - b);
  return {
    first_p50_ms: first[first.length >> 1] ?? 0,
    total_ms: ended - began,
    streaming_ms: ended - firstPiece,
    wrong,
  };
}

if (import.meta.main) {
  if (process.argv[2] === "floor") serveFloor();
  else process.stdout.write(JSON.stringify(await readAll(JSON.parse(process.argv[2]!) as Plan)));
}

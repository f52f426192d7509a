/**
 * A load generator of its own process: keep-alive connections, one request in flight on each, bodies of fixed length.
 * It parses no more of an answer than it must, so that little of the machine is taken from what is measured.
 *
 *   bun load.ts '{"url":…,"connections":64,"requests":20000,"body":"{}","headers":{…}}'
 */
export interface Plan {
  url: string;
  connections: number;
  requests: number;
  body: string;
  headers?: Record<string, string>;
  /** Answers are kept: the ids of asynchronous runs. */
  keep?: boolean;
}

export interface Report {
  requests: number;
  failures: number;
  seconds: number;
  per_second: number;
  p50_ms: number;
  p99_ms: number;
  first_failure?: string;
  bodies?: string[];
}

const plan = JSON.parse(process.argv[2]!) as Plan;
const url = new URL(plan.url);
const headers = { host: url.host, "content-type": "application/json", ...plan.headers };
const request = Buffer.from(
  `POST ${url.pathname}${url.search} HTTP/1.1\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}content-length: ${Buffer.byteLength(plan.body)}\r\n\r\n${plan.body}`,
);

const latencies = new Float64Array(plan.requests);
const bodies: string[] = [];
let sent = 0;
let done = 0;
let failures = 0;
let firstFailure: string | undefined;
let finish!: () => void;
const finished = new Promise<void>((resolve) => {
  finish = resolve;
});

interface Connection {
  began: number;
  rest: string;
}

function next(socket: { write(data: Buffer): number; data: Connection }): void {
  if (sent >= plan.requests) return;
  sent++;
  socket.data.began = performance.now();
  socket.write(request);
}

const began = performance.now();
const sockets = await Promise.all(
  Array.from({ length: plan.connections }, () =>
    Bun.connect<Connection>({
      hostname: url.hostname,
      port: Number(url.port),
      data: { began: 0, rest: "" },
      socket: {
        open: next,
        data(socket, bytes) {
          const text = socket.data.rest + bytes.toString("latin1");
          const head = text.indexOf("\r\n\r\n");
          if (head < 0) {
            socket.data.rest = text;
            return;
          }
          const length = /content-length: (\d+)/i.exec(text)?.[1];
          if (text.length < head + 4 + Number(length ?? 0)) {
            socket.data.rest = text;
            return;
          }
          socket.data.rest = "";
          latencies[done++] = performance.now() - socket.data.began;
          if (!text.startsWith("HTTP/1.1 20")) {
            failures++;
            firstFailure ??= text.slice(0, 400);
          } else if (plan.keep) bodies.push(text.slice(head + 4));
          if (done === plan.requests) finish();
          else next(socket);
        },
        close() {
          if (done < plan.requests) {
            firstFailure ??= "the connection was closed";
            finish();
          }
        },
      },
    }),
  ),
);
await finished;
const seconds = (performance.now() - began) / 1000;
for (const socket of sockets) socket.end();
const sorted = latencies.subarray(0, done).sort();
const report: Report = {
  requests: done,
  failures,
  seconds,
  per_second: done / seconds,
  p50_ms: sorted[Math.floor(done * 0.5)] ?? 0,
  p99_ms: sorted[Math.floor(done * 0.99)] ?? 0,
  ...(firstFailure ? { first_failure: firstFailure } : {}),
  ...(plan.keep ? { bodies } : {}),
};
process.stdout.write(JSON.stringify(report));
process.exit(0);

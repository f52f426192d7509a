/**
 * Starts the measured servers, each in its own process: a minimal echo server and the compiled executable.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Plan, Report } from "./load.ts";

/** Calls after which a runtime has compiled hot functions, as on a server that has been up for a minute. */
export const WARM_UP_CALLS = 60_000;
export const EXECUTABLE = join(import.meta.dir, "../../../dist/svc");
const ECHO =
  "const s = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: async (r) => Response.json(await r.json()) }); console.log(s.port)";

/** The baseline: a plain Bun.serve that parses JSON and returns it. */
export async function startEcho() {
  const child = Bun.spawn([process.execPath, "-e", ECHO], { stdout: "pipe" });
  const url = `http://127.0.0.1:${(await untilOutput(child.stdout, /^\d+\n/)).trim()}/`;
  return { url, stop: () => stop(child) };
}

/**
 * The baseline of webhooks: the same durable work without features, with as many children as a server has
 * slots.
 */
export async function startPrototype() {
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const command = [process.execPath, join(import.meta.dir, "prototype.ts"), folder];
  const child = Bun.spawn([...command, String(navigator.hardwareConcurrency)], { stdout: "pipe" });
  const port = (await untilOutput(child.stdout, /^\d+\n/)).trim();
  const url = `http://127.0.0.1:${port}/api/w/acme/jobs/run_wait_result/p/u/ann/warm`;
  const end = async () => {
    await stop(child);
    rmSync(folder, { recursive: true, force: true });
  };
  return { url, stop: end };
}

export interface Bench {
  url: string;
  pid: number;
  data_dir: string;
  token: string;
  /** POST below /api of the workspace. @throws if it is rejected */
  post: (path: string, body: unknown) => Promise<string>;
  get: (path: string) => Promise<string>;
  /** Stops the server, and keeps its data directory. */
  halt: () => Promise<void>;
  /** Starts the executable again after `halt`, at another address. */
  restart: () => Promise<void>;
  stop: () => Promise<void>;
}

/** Starts the executable on a data directory, which an earlier server may have used. */
export async function serveOn(data_dir: string, environment: Record<string, string> = {}) {
  const child = Bun.spawn([EXECUTABLE, "serve", "--port", "0", "--json", "--data-dir", data_dir], {
    stdout: "pipe",
    stderr: "inherit",
    env: { PATH: "/usr/bin:/bin", SVC_LOG_LEVEL: "error", ...environment },
  });
  const { url } = JSON.parse(await untilOutput(child.stdout, /\n}\n$/)) as { url: string };
  return { child, url };
}

/** A server on a new data directory, with a workspace and a token, on request a super admin's. */
export async function startServer(
  environment: Record<string, string> = {},
  { super_admin = false } = {},
): Promise<Bench> {
  const data_dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
  let { child, url } = await serveOn(data_dir, environment);
  const ask = async (address: string, init: RequestInit & { unix?: string }) => {
    const response = await fetch(address, init);
    const text = await response.text();
    if (!response.ok) throw new Error(`${address}: ${response.status} ${text}`);
    return text;
  };
  const operator = (path: string, body: unknown) =>
    ask(`http://localhost/api${path}`, {
      unix: join(data_dir, "svc.sock"),
      method: "POST",
      body: JSON.stringify(body),
    });
  await operator("/users/create", { email: "ann@example.org", password: "of the bench", super_admin });
  await operator("/workspaces/create", {
    id: "acme",
    name: "Acme",
    owner: "ann@example.org",
    username: "ann",
  });
  const token = await operator("/users/tokens/impersonate", { impersonate_email: "ann@example.org" });
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const base = () => `${url}/api/w/acme`;
  return {
    get url() {
      return url;
    },
    get pid() {
      return child.pid;
    },
    data_dir,
    token,
    post: (path, body) => ask(`${base()}${path}`, { method: "POST", headers, body: JSON.stringify(body) }),
    get: (path) => ask(`${base()}${path}`, { headers }),
    halt: () => stop(child),
    async restart() {
      ({ child, url } = await serveOn(data_dir, environment));
    },
    async stop() {
      await stop(child);
      rmSync(data_dir, { recursive: true, force: true });
    },
  };
}

export async function load(plan: Plan): Promise<Report> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "load.ts"), JSON.stringify(plan)], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const report = JSON.parse(await child.stdout.text()) as Report;
  if (report.failures > 0)
    throw new Error(`${report.failures} of ${report.requests} requests to ${plan.url} failed`);
  return report;
}

/** Resident memory of one process, without its children, in MB. */
export function residentMb(pid: number): number {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]);
  return (pages * 4096) / 1e6;
}

export async function untilOutput(stream: ReadableStream<Uint8Array>, wanted: RegExp): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of stream) {
    text += decoder.decode(piece, { stream: true });
    if (wanted.test(text)) return text;
  }
  throw new Error(`a process ended before it said what was waited for: ${text}`);
}

export async function stop(child: Bun.Subprocess): Promise<void> {
  child.kill("SIGTERM");
  await child.exited;
}

/** A server whose scripts stream, and calls that follow them. */
import { stripLogHeader } from "../../src/features/runs/job/log-header.ts";
import { type Ask, deploy, expectOk, startTestServer, type TestServer, until } from "./harness.ts";

export interface Streaming extends AsyncDisposable {
  server: TestServer;
  ask: Ask;
  gates: Gates;
  /** Deploys a script. @returns its path */
  script: (content: string, more?: object) => Promise<string>;
  /** Calls below /api/w/acme, without reading the response. */
  open: (path: string, init?: RequestInit) => Promise<Response>;
  runAndStream: (path: string, query?: string, init?: RequestInit) => Promise<Response>;
  follow: (id: string, query?: string) => Promise<Response>;
  /** @returns the id of the job */
  start: (path: string) => Promise<string>;
  /** Returns the log of a job. */
  log: (id: string) => Promise<string>;
  /** The header of a job's log. */
  head: (id: string) => Promise<string>;
  /** The completed job. */
  completed: (id: string) => Promise<any>;
  stop: () => Promise<void>;
}

export async function startStreaming(
  overrides: Parameters<typeof startTestServer>[0] = {},
): Promise<Streaming> {
  const gates = startGates();
  const server = await startTestServer(overrides);
  const { ask, token } = await server.workspace();
  let deployed = 0;
  // Gates first, because stopping waits for scripts at them.
  const stop = async () => {
    await gates.stop();
    await server.stop();
  };
  const open: Streaming["open"] = (path, init = {}) =>
    fetch(`${server.url}/api/w/acme${path}`, { ...init, headers: { authorization: `Bearer ${token}` } });
  const wholeLog = async (id: string) => (await ask("GET", `/w/acme/jobs_u/get_logs/${id}`)).text;
  return {
    server,
    ask,
    gates,
    open,
    async script(content, more = {}) {
      const path = `u/admin/streams_${++deployed}`;
      await deploy(ask, "acme", path, content, more);
      return path;
    },
    runAndStream: (path, query = "", init = {}) =>
      open(`/jobs/run_and_stream/p/${path}${query}`, { method: "POST", body: "{}", ...init }),
    follow: (id, query = "") => open(`/jobs_u/getupdate_sse/${id}?${query}`),
    start: async (path) => (await expectOk(ask("POST", `/w/acme/jobs/run/p/${path}`, {}))).text,
    log: async (id) => stripLogHeader(await wholeLog(id)),
    async head(id) {
      const whole = await wholeLog(id);
      return whole.slice(0, whole.length - stripLogHeader(whole).length);
    },
    completed: (id) =>
      until(async () => {
        const answer = await ask("GET", `/w/acme/jobs_u/completed/get/${id}`);
        return answer.status === 200 ? answer.json() : undefined;
      }, `job ${id}`),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

type Gates = ReturnType<typeof startGates>;

/** Gates at which scripts wait: `await pass("name")` in a script until `gates.open("name")` in the test. */
function startGates() {
  const waiting = new Map<string, PromiseWithResolvers<void>>();
  const gate = (name: string) => {
    let found = waiting.get(name);
    if (!found) {
      found = Promise.withResolvers<void>();
      waiting.set(name, found);
    }
    return found;
  };
  const listener = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      await gate(new URL(request.url).pathname.slice(1)).promise;
      return new Response("go on");
    },
  });
  const url = `http://127.0.0.1:${listener.port}`;
  return {
    script: `const pass = (name: string) => fetch("${url}/" + name).then((answer) => answer.text());\n`,
    open: (name: string) => gate(name).resolve(),
    async stop() {
      for (const { resolve } of waiting.values()) resolve();
      await listener.stop(true);
    },
  };
}

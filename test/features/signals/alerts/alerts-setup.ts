/** A server per test, alerts that it raises, and a receiver. */
import { afterEach, beforeEach } from "bun:test";
import { raiseAlert } from "../../../../src/features/signals/alerts/service.ts";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

export let server: TestServer;
export let ask: Ask;

export const app = () => server.server.app;
export const listAlerts = async (query = "") =>
  (await expectOk(ask("GET", `/settings/critical_alerts${query}`))).json();
export const set = (key: string, value: unknown) =>
  expectOk(ask("POST", `/settings/global/${key}`, { value }));
export const raiseTestAlert = (message: string, more: object = {}) =>
  raiseAlert(app(), { kind: "trial", message, ...more });

/** Sets the server's clock forward during the work. */
export async function later(ms: number, work: () => Promise<void>): Promise<void> {
  const running = app() as { clock: () => Date };
  const { clock } = running;
  running.clock = () => new Date(Date.now() + ms);
  try {
    await work();
  } finally {
    running.clock = clock;
  }
}

/** A server on another host that accepts posted messages. */
export function receiver(
  answer: (request: Request) => Response | Promise<Response> = () => new Response("ok"),
) {
  const bodies: any[] = [];
  const headers: Headers[] = [];
  const listener = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      headers.push(request.headers);
      bodies.push(await request.clone().json());
      return answer(request);
    },
  });
  return {
    url: `http://127.0.0.1:${listener.port}`,
    bodies,
    headers,
    [Symbol.dispose]: () => void listener.stop(true),
  };
}

/** Stops the server, and starts another one with new data. */
export async function replaceServer(): Promise<void> {
  await server.stop();
  server = await startTestServer();
}

/** Gives each test of a file its own server. */
export function setUpAlerts(): void {
  beforeEach(async () => {
    server = await startTestServer({ min_free_mb: 0 });
    ask = (await server.user("root", { super_admin: true })).ask;
  });
  afterEach(() => server.stop());
}

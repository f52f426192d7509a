/** Shared setup of webhook tests: a server, a receiver on loopback, and requests to both. */
import { afterAll, beforeAll, beforeEach } from "bun:test";
import { type Ask, expectOk, startTestServer, type TestServer, until } from "../../../support/harness.ts";

export let server: TestServer;
export let ask: Ask;
export let receiver: Receiver;

export const WEBHOOKS = "/w/acme/webhooks";

/** Opens a server and a receiver for the tests of a file; each test starts without endpoints and messages. */
export function setUpWebhooks(): void {
  beforeAll(async () => {
    server = await startTestServer({ allowed_targets: "127.0.0.1" });
    ({ ask } = await server.workspace());
    receiver = startReceiver();
  });
  afterAll(async () => {
    await server.stop();
    await receiver.stop();
  });
  beforeEach(async () => {
    for (const { id } of (await ask("GET", `${WEBHOOKS}/list`)).json()) {
      await expectOk(ask("DELETE", `${WEBHOOKS}/delete/${id}`));
    }
    receiver.reset();
  });
}

export interface Message {
  path: string;
  body: string;
  headers: Headers;
}

export interface Receiver {
  url: string;
  messages: Message[];
  /** Response of the receiver from now on. */
  answer: (message: Message) => Response | Promise<Response>;
  reset(): void;
  stop(): Promise<void>;
}

export function startReceiver(): Receiver {
  const ok = () => new Response("thanks");
  const messages: Message[] = [];
  const http = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const message = {
        path: new URL(request.url).pathname,
        body: await request.text(),
        headers: request.headers,
      };
      messages.push(message);
      return made.answer(message);
    },
  });
  const made: Receiver = {
    url: `http://127.0.0.1:${http.port}`,
    messages,
    answer: ok,
    reset() {
      messages.length = 0;
      made.answer = ok;
    },
    stop: () => http.stop(true),
  };
  return made;
}

export async function createEndpoint(
  path = "/hook",
  more: object = {},
): Promise<{ id: string; secret: string }> {
  return (await expectOk(ask("POST", `${WEBHOOKS}/create`, { url: receiver.url + path, ...more }))).json();
}

export const listDeliveries = async (id: string, query = "") =>
  (await expectOk(ask("GET", `${WEBHOOKS}/deliveries/${id}${query}`))).json();
export const awaitMessages = (count: number) =>
  until(async () => (receiver.messages.length >= count ? receiver.messages : undefined), `${count} messages`);
export const awaitDeliveries = (id: string, state: string, count = 1) =>
  until(async () => {
    const found = await listDeliveries(id, `?state=${state}&per_page=1000`);
    return found.length >= count ? found : undefined;
  }, `${count} deliveries that are ${state}`);

let names = 0;
export const createVariableBody = (path = `u/admin/told_${++names}`) => ({
  path,
  value: "1",
  is_secret: false,
  description: "",
});
/** Makes any change: it creates an event, and wakes the sender. */
export const change = async () => {
  const body = createVariableBody();
  await expectOk(ask("POST", "/w/acme/variables/create", body));
  return body.path;
};

/** Moves the server's clock forward by this much. */
export function advanceClock(ms: number): void {
  const { app } = server.server;
  const before = app.clock;
  Object.assign(app, { clock: () => new Date(before().getTime() + ms) });
}

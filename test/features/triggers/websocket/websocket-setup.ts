/** A peer that triggers connect to, a server, and triggers created for a test. */
import { afterAll, beforeAll } from "bun:test";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

interface Peer extends Disposable {
  url: string;
  /** As clients sent it. */
  received: string[];
  paths: string[];
  hosts: string[];
  open: Set<Bun.ServerWebSocket<unknown>>;
  send(text: string | Uint8Array): void;
  /** Resolves once a client is connected. */
  connected(): Promise<true>;
}

/** @param refuse number of connections to reject before the first is accepted */
export function startPeer({ refuse = 0, port = 0 } = {}): Peer {
  const open: Peer["open"] = new Set();
  const received: string[] = [];
  const paths: string[] = [];
  const hosts: string[] = [];
  let refused = 0;
  const server = Bun.serve({
    port,
    hostname: "127.0.0.1",
    fetch(request, on) {
      paths.push(new URL(request.url).pathname);
      hosts.push(request.headers.get("host") ?? "");
      if (refused++ < refuse) return new Response("not now", { status: 503 });
      return on.upgrade(request, { data: undefined }) ? undefined : new Response("no", { status: 400 });
    },
    websocket: {
      open: (socket) => void open.add(socket),
      close: (socket) => void open.delete(socket),
      message: (_, text) => void received.push(String(text)),
    },
  });
  return {
    url: `ws://127.0.0.1:${server.port}/feed`,
    received,
    paths,
    hosts,
    open,
    send(text) {
      for (const socket of open) socket.send(text);
    },
    connected: () => until(() => (open.size > 0 ? (true as const) : undefined), "a connection"),
    [Symbol.dispose]: () => void server.stop(true),
  };
}

export let server: TestServer;
export let ask: Ask;

export const base = "/w/acme/websocket_triggers";
let count = 0;
export const createTriggerBody = (more: object = {}) => ({
  path: `u/admin/ws_${++count}`,
  script_path: "u/admin/say",
  url: "ws://127.0.0.1:9/",
  ...more,
});
export async function create(more: object = {}): Promise<string> {
  return (await expectOk(ask("POST", `${base}/create`, createTriggerBody(more)))).text;
}
export const get = async (path: string) => (await expectOk(ask("GET", `${base}/get/${path}`))).json();
export const deleteTrigger = (path: string) => expectOk(ask("DELETE", `${base}/delete/${path}`));
export const runsOf = async (path: string): Promise<any[]> =>
  (await expectOk(ask("GET", `/w/acme/jobs/list?created_by=ws-${path}`)))
    .json()
    .filter((job: any) => !job.is_flow_step);
export const ran = (path: string, times = 1) =>
  until(async () => {
    const found = (await runsOf(path)).filter(({ type }) => type === "CompletedJob");
    return found.length >= times ? found : undefined;
  }, `${times} runs of ${path}`);

export const errorOf = (path: string) =>
  until(async () => (await get(path)).error ?? undefined, `an error of ${path}`);

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpSockets(): void {
  beforeAll(async () => {
    server = await startTestServer({ allowed_targets: "127.0.0.1" });
    ({ ask } = await server.workspace());
    await deploy(ask, "acme", "u/admin/say", "export const main = (msg: string) => 'got ' + msg");
    await deploy(ask, "acme", "u/admin/quiet", "export const main = (msg: string) => null");
    await deploy(ask, "acme", "u/admin/fail", "export const main = () => { throw new Error('never') }");
    await deploy(ask, "acme", "u/admin/where", "export const main = (at: string) => at");
    const event =
      "export const preprocessor = (event: any) => ({ event }); export const main = (event: any) => event;";
    await deploy(ask, "acme", "u/admin/event", event);
    const named =
      "export const preprocessor = (wm_trigger: any, msg: string) => ({ got: [wm_trigger, msg] }); export const main = (got: any) => got;";
    await deploy(ask, "acme", "u/admin/named", named);
    const flow = {
      path: "u/admin/flow",
      summary: "",
      value: { modules: [{ id: "a", value: { type: "identity" } }] },
    };
    await expectOk(ask("POST", "/w/acme/flows/create", flow));
  });
  afterAll(() => server.stop());
}

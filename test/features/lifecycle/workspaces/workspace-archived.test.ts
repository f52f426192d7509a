/**
 * Accesses to a workspace that need no account, and the server's own tasks: in an archived workspace, none
 * works.
 */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

/** A server on another host whose responses a test chooses. */
function startPeer() {
  const open = new Set<Bun.ServerWebSocket<unknown>>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, on) => (on.upgrade(request, { data: undefined }) ? undefined : new Response("no")),
    websocket: {
      open: (socket) => void open.add(socket),
      close: (socket) => void open.delete(socket),
      message: () => {},
    },
  });
  return { open, url: `ws://127.0.0.1:${server.port}/`, stop: () => server.stop(true) };
}

type Status = 200 | 201 | 400 | 404;

/** Returns the statuses of requests, to compare those of an open and an archived workspace. */
async function statuses(server: TestServer, paths: { secret: string; job: string }) {
  const nobody = server.as(undefined);
  const component = { component: "a", path: "script/u/admin/hello", args: {} };
  const found: [string, number][] = [];
  for (const [method, path, body] of [
    ["GET", "/r/in"],
    ["GET", `/w/acme/apps_u/public_app/${paths.secret}`],
    ["GET", "/apps_u/public_app_by_custom_path/acme-app"],
    ["POST", "/w/acme/apps_u/execute_component/u/admin/app", component],
    ["GET", `/w/acme/jobs_u/get/${paths.job}`],
    ["GET", `/w/acme/jobs_u/getupdate_sse/${paths.job}`],
  ] as const) {
    found.push([path.split("/")[4] ?? path, (await nobody(method, path, body)).status]);
  }
  return found;
}

const answers = (...codes: [Status, Status, Status, Status, Status, Status]) => {
  const [route, app, custom, component, job, updates] = codes;
  return [
    ["/r/in", route],
    ["public_app", app],
    ["/apps_u/public_app_by_custom_path/acme-app", custom],
    ["execute_component", component],
    ["get", job],
    ["getupdate_sse", updates],
  ];
};
const OPEN = answers(200, 200, 200, 200, 200, 200);
const ARCHIVED = answers(404, 400, 404, 400, 400, 400);

async function furnish(ask: Ask, peer: string): Promise<void> {
  await deploy(ask, "acme", "u/admin/hello", "export const main = () => 'hello'");
  const trigger = { script_path: "u/admin/hello", is_flow: false };
  const route = { route_path: "in", http_method: "get", authentication_method: "none" };
  await expectOk(ask("POST", "/w/acme/http_triggers/create", { ...trigger, ...route, path: "u/admin/in" }));
  const feed = { ...trigger, path: "u/admin/feed", url: peer };
  await expectOk(ask("POST", "/w/acme/websocket_triggers/create", feed));
  const policy = {
    execution_mode: "anonymous",
    on_behalf_of: "u/admin",
    on_behalf_of_email: "admin_acme@example.org",
    triggerables_v2: { "a:script/u/admin/hello": {} },
  };
  const app = { path: "u/admin/app", summary: "", value: {}, policy, custom_path: "acme-app" };
  await expectOk(ask("POST", "/w/acme/apps/create", app));
}

test("routes, public apps, anonymous jobs and messages are closed at once and after a restart, and open again", async () => {
  const data_dir = mkdtempSync(join(tmpdir(), "svc-test-"));
  const peer = startPeer();
  const config = { data_dir, allowed_targets: "127.0.0.1" };
  let server = await startTestServer(config);
  try {
    const { ask, token } = await server.workspace();
    await server.operator("POST", "/settings/global/root_route_workspaces", { value: ["acme"] });
    await furnish(ask, peer.url);
    const secret = (await expectOk(ask("GET", "/w/acme/apps/secret_of/u/admin/app"))).text;
    const component = { component: "a", path: "script/u/admin/hello", args: {} };
    const run = server.as(undefined)("POST", "/w/acme/apps_u/execute_component/u/admin/app", component);
    const paths = { secret, job: (await expectOk(run)).text };
    const heard = async (of: Ask) => {
      const found = await of("GET", "/w/acme/jobs/completed/list?created_by=ws-u/admin/feed");
      return found.json().length as number;
    };
    await until(() => (peer.open.size > 0 ? true : undefined), "a connection");
    for (const socket of peer.open) socket.send("one");
    await until(async () => ((await heard(ask)) === 1 ? true : undefined), "the run for a message");
    expect(await statuses(server, paths)).toEqual(OPEN as never);

    await expectOk(ask("POST", "/w/acme/workspaces/archive"));
    for (const socket of peer.open) socket.send("two");
    expect(await statuses(server, paths)).toEqual(ARCHIVED as never);
    if (process.env.DATABASE_URL === undefined) {
      await server.stop();
      server = await startTestServer(config);
      for (const socket of peer.open) socket.send("three");
      expect(await statuses(server, paths)).toEqual(ARCHIVED as never);
    }

    const again = server.as(token);
    await expectOk(again("POST", "/workspaces/unarchive/acme"));
    expect(await statuses(server, paths)).toEqual(OPEN as never);
    expect(await heard(again)).toBe(1);
    await until(async () => {
      for (const socket of peer.open) socket.send("four");
      return (await heard(again)) > 1 ? true : undefined;
    }, "the run for a message, once it is brought back");
  } finally {
    await server.stop();
    await peer.stop();
    rmSync(data_dir, { recursive: true, force: true });
  }
}, 60_000);

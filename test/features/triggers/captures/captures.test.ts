/**
 * Captures: real requests of senders are kept for the author of the receiver, for a while and without
 * credentials.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { captureConfigs, captures } from "../../../../src/features/triggers/captures/tables.ts";
import { type Ask, expectOk, startTestServer, type TestServer, until } from "../../../support/harness.ts";

let at: TestServer;
let ask: Ask;
let nobody: Ask;
const w = "/w/captures";

beforeAll(async () => {
  at = await startTestServer({ allowed_targets: "127.0.0.1" });
  ask = (await at.workspace("captures")).ask;
  nobody = at.as(undefined);
});
afterAll(() => at.stop());

const capture = async (trigger_kind: string, path: string, trigger_config?: object) =>
  await expectOk(
    ask("POST", `${w}/capture/set_config`, { trigger_kind, path, is_flow: false, trigger_config }),
  );
const list = async (path: string, query = "") =>
  (await expectOk(ask("GET", `${w}/capture/list/script/${path}${query}`))).json();
/** Makes the last pings of the configs an hour old. */
const letConfigsEnd = () =>
  at.server.app.db.write((tx) =>
    tx.update(captureConfigs).set({ last_client_ping: new Date(Date.now() - 3_600_000) }),
  );

test("a webhook's request is captured with its headers and payload, without credentials", async () => {
  const path = "u/admin/hook";
  const to = `${w}/capture_u/webhook/script/${path}`;
  expect((await nobody("POST", to, { early: true })).status).toBe(404);
  await capture("webhook", path);
  const headers = {
    "x-event": "push",
    "x-api-key": "sk_live",
    authorization: "Bearer abc",
    cookie: "token=abc",
  };
  const sent = '{"n":12345678901234567890,"who":"ann"}';
  const answer = await nobody("POST", `${to}?include_header=x-event&token=abc&plan=pro`, sent, headers);
  expect([answer.status, answer.text]).toEqual([204, ""]);

  const found = await ask("GET", `${w}/capture/list/script/${path}`);
  expect(found.text).toContain("12345678901234567890");
  for (const secret of ["sk_live", "abc"]) expect(found.text).not.toContain(secret);
  const [one] = found.json();
  expect(one.trigger_kind).toBe("webhook");
  expect(one.payload).toEqual(one.main_args);
  expect(one.main_args).toMatchObject({ who: "ann", x_event: "push" });
  const { event } = one.preprocessor_args;
  expect(event).toMatchObject({ kind: "webhook", raw_string: sent, query: { plan: "pro" } });
  expect(event.headers).toMatchObject({ "x-event": "push", "x-api-key": "*****" });
  expect(Object.keys(event.headers)).not.toContain("authorization");
  expect((await ask("GET", `${w}/capture/${one.id}`)).json()).toEqual(one);

  // The captured arguments can be used as arguments.
  const code = "export function main(who: string) { return who }";
  const run = await ask("POST", `${w}/jobs/run_wait_result/preview`, {
    content: code,
    language: "bun",
    args: one.payload,
  });
  expect(run.json()).toBe("ann");

  await expectOk(ask("DELETE", `${w}/capture/${one.id}`));
  expect((await ask("GET", `${w}/capture/${one.id}`)).status).toBe(404);
});

test("a config expires a while after its last ping", async () => {
  const path = "u/admin/ping";
  const to = `${w}/capture_u/webhook/script/${path}`;
  const ping = `${w}/capture/ping_config/webhook/script/${path}`;
  expect((await ask("POST", ping)).status).toBe(404);
  await capture("webhook", path, { note: 1 });
  await letConfigsEnd();
  expect((await nobody("POST", to, {})).status).toBe(404);
  await expectOk(ask("POST", ping));
  expect((await nobody("POST", to, {})).status).toBe(204);
  const [config] = (await expectOk(ask("GET", `${w}/capture/get_configs/script/${path}`))).json();
  expect(config).toMatchObject({ trigger_kind: "webhook", trigger_config: { note: 1 }, edited_by: "admin" });
});

test("a route's request is captured with its method, path and parameters; forms show their files", async () => {
  await capture("http", "u/admin/route", { route_path: "orders/:id/items" });
  const to = `${w}/capture_u/http/script/u.admin.route/orders/7/items`;
  expect((await nobody("PUT", `${to}?api_key=sk_live&x=1`, { a: 1 })).status).toBe(204);
  const form = new FormData();
  form.append("title", "a");
  form.append("file", new File(["hello"], "a.txt", { type: "text/plain" }));
  expect((await fetch(`${at.url}/api${to}`, { method: "POST", body: form })).status).toBe(204);
  const [posted, put] = await list("u/admin/route", "?trigger_kind=http");
  expect(put.main_args).toEqual({ a: 1, id: "7", api_key: "*****", x: "1" });
  expect(put.preprocessor_args.event).toMatchObject({
    kind: "http",
    method: "put",
    path: "/orders/7/items",
    route: "orders/:id/items",
    params: { id: "7" },
  });
  expect(posted.main_args).toMatchObject({ title: "a", file: { filename: "a.txt", size: 5 } });
  expect(await list("u/admin/route", "?trigger_kind=webhook")).toEqual([]);
});

test("size and number are limited", async () => {
  const path = "u/admin/many";
  await capture("webhook", path);
  const to = `${w}/capture_u/webhook/script/${path}`;
  for (let n = 0; n < 23; n++) expect((await nobody("POST", to, { n })).status).toBe(204);
  const kept = await list(path);
  expect(kept.map((row: { payload: { n: number } }) => row.payload.n)).toEqual(
    Array.from({ length: 20 }, (_, at) => 22 - at),
  );
  expect(await list(path, "?per_page=2&page=2")).toEqual(kept.slice(2, 4));
  expect((await nobody("POST", to, "x".repeat(1_000_001))).status).toBe(413);
});

test("only users who may write at the path capture, read, delete and move", async () => {
  const path = "u/admin/mine";
  await capture("webhook", path);
  expect((await nobody("POST", `${w}/capture_u/webhook/script/${path}`, { a: 1 })).status).toBe(204);
  const [one] = await list(path);
  const other = (await at.member("captures", "bob")).ask;
  const refused = [
    await other("POST", `${w}/capture/set_config`, { trigger_kind: "webhook", path, is_flow: false }),
    await other("POST", `${w}/capture/ping_config/webhook/script/${path}`),
    await other("GET", `${w}/capture/get_configs/script/${path}`),
    await other("GET", `${w}/capture/list/script/${path}`),
    await other("GET", `${w}/capture/${one.id}`),
    await other("DELETE", `${w}/capture/${one.id}`),
    await other("POST", `${w}/capture/move/script/${path}`, { new_path: "u/bob/theirs" }),
    await ask("GET", `${w}/capture/list/script/${path}`),
  ];
  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 403, 403, 200]);
  const elsewhere = (await at.workspace("elsewhere")).ask;
  expect((await elsewhere("GET", `/w/elsewhere/capture/${one.id}`)).status).toBe(404);
  const email = await ask("POST", `${w}/capture/set_config`, { trigger_kind: "email", path, is_flow: false });
  expect([email.status, email.text.includes("captures exist for webhook, http, websocket")]).toEqual([
    400,
    true,
  ]);
});

test("captures and configs follow a script to its new path", async () => {
  await capture("webhook", "u/admin/before");
  expect((await nobody("POST", `${w}/capture_u/webhook/script/u/admin/before`, { a: 1 })).status).toBe(204);
  await expectOk(ask("POST", `${w}/capture/move/script/u/admin/before`, { new_path: "u/admin/after" }));
  expect(await list("u/admin/before")).toEqual([]);
  expect(await list("u/admin/after")).toHaveLength(1);
  expect((await nobody("POST", `${w}/capture_u/webhook/script/u/admin/after`, { a: 2 })).status).toBe(204);
});

test("a WebSocket's messages are captured in addition to the jobs that they start", async () => {
  const sockets = new Set<Bun.ServerWebSocket<unknown>>();
  const peer = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, on) => (on.upgrade(request, { data: undefined }) ? undefined : new Response("no")),
    websocket: { open: (socket) => void sockets.add(socket), message: () => {} },
  });
  const script_path = "u/admin/feed";
  const content = "export function main(msg: string) { return msg }";
  await expectOk(ask("POST", `${w}/scripts/create`, { path: script_path, content, language: "bun" }));
  await capture("websocket", script_path);
  const url = `ws://127.0.0.1:${peer.port}/`;
  const trigger = { path: "u/admin/ws", script_path, url };
  await expectOk(ask("POST", `${w}/websocket_triggers/create`, trigger));
  await until(() => (sockets.size > 0 ? true : undefined));
  for (const socket of sockets) socket.send("hello");
  const one = await until(async () => (await list(script_path))[0]);
  expect(one).toMatchObject({
    trigger_kind: "websocket",
    payload: { msg: "hello" },
    trigger_extra: { event: { kind: "websocket", msg: "hello", url } },
  });
  await peer.stop(true);
});

test("old captures are deleted", async () => {
  const { app } = at.server;
  await capture("webhook", "u/admin/old");
  await app.db.write((tx) => tx.update(captures).set({ created_at: new Date(Date.now() - 8 * 86_400_000) }));
  const { feature } = await import("../../../../src/features/triggers/captures/feature.ts");
  for await (const _ of feature.retention!.deleteExpired(app, app.clock()));
  expect(await app.db.read.select().from(captures)).toEqual([]);
  expect((await app.db.read.select().from(captureConfigs)).length).toBeGreaterThan(0);
});

test("older clients capture requests of a flow", async () => {
  const flow = "u/admin/some_flow";
  expect((await nobody("POST", `${w}/capture_u/${flow}`, { n: 1 })).status).toBe(404);
  expect((await ask("PUT", `${w}/capture/${flow}`)).status).toBe(201);
  expect((await ask("GET", `${w}/capture/${flow}`)).status).toBe(404);
  expect((await nobody("POST", `${w}/capture_u/${flow}`, { n: 1 })).status).toBe(204);
  expect((await expectOk(ask("GET", `${w}/capture/${flow}`))).json()).toEqual({ n: 1 });
  const { ask: stranger } = await at.member("captures", "stranger");
  expect((await stranger("GET", `${w}/capture/${flow}`)).status).toBe(403);
});

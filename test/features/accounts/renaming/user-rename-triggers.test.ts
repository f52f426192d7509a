/**
 * A user is renamed: their triggers continue under the new name, for callers and for servers they listen to.
 */
import { expect, test } from "bun:test";
import { deploy, expectOk, startTestServer, until } from "../../../support/harness.ts";

test("routes and WebSocket triggers move with their targets, secrets and connections", async () => {
  await using server = await startTestServer({ allowed_targets: "127.0.0.1" });
  await server.workspace();
  const root = (await server.user("root", { super_admin: true })).ask;
  const { ask } = await server.member("acme", "kim");
  const code = "export const main = (msg: string) => [msg, process.env.WM_USERNAME]";
  await deploy(ask, "acme", "u/kim/hear", code);
  const put = (kind: string, body: object) => expectOk(ask("POST", `/w/acme/${kind}/create`, body));
  const secret = { value: "open sesame", is_secret: true, description: "" };
  await put("variables", { path: "u/kim/key", ...secret });
  const runs = { script_path: "u/kim/hear", is_flow: false };
  const route = {
    ...runs,
    path: "u/kim/route",
    route_path: "kim/in",
    http_method: "post",
    workspaced_route: true,
  };
  const key = { authentication_method: "api_key", authentication_resource_path: "$var:u/kim/key" };
  await put("http_triggers", { ...route, ...key });
  const signed = { ...route, path: "u/kim/signed", route_path: "kim/signed" };
  const signature = { scheme: "github", secret: "u/kim/key" };
  await put("http_triggers", { ...signed, authentication_method: "signature", signature });
  const listens = { url: "$script:u/kim/hear", script_path: "u/kim/hear", note: "of u/kim/hear" };
  const capture = { trigger_kind: "websocket", path: "u/kim/hear", is_flow: false, trigger_config: listens };
  await expectOk(ask("POST", "/w/acme/capture/set_config", capture));
  const sockets = new Set<Bun.ServerWebSocket<unknown>>();
  const said: string[] = [];
  const peer = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, on) => (on.upgrade(request, { data: undefined }) ? undefined : new Response("no")),
    websocket: {
      open: (socket) => void sockets.add(socket),
      close: (socket) => void sockets.delete(socket),
      message: (_, text) => void said.push(String(text)),
    },
  });
  await using _ = { [Symbol.asyncDispose]: () => peer.stop(true) };
  const listening = { ...runs, path: "u/kim/feed", url: `ws://127.0.0.1:${peer.port}/`, enabled: true };
  const first = { runnable_result: { path: "u/kim/hear", is_flow: false, args: { msg: "hi" } } };
  await put("websocket_triggers", {
    ...listening,
    initial_messages: [first, { raw_message: '{"path":"u/kim/x"}' }],
    can_return_message: true,
  });
  const asked = { url: "$script:u/kim/hear", url_runnable_args: { msg: "$var:u/kim/key" }, enabled: false };
  await put("websocket_triggers", { ...listening, path: "u/kim/asked", ...asked });
  const call = () =>
    fetch(`${server.url}/api/r/acme/kim/in`, { method: "POST", body: '{"msg":"x"}', headers });
  const headers = { "x-api-key": "open sesame", "content-type": "application/json" };
  expect(await (await call()).json()).toEqual(["x", "kim"]);
  await until(() => (said.length === 2 ? true : undefined), "what is said first");

  await expectOk(root("POST", "/users/rename/kim@example.org", { new_username: "kim_lee" }));

  expect(await (await call()).json()).toEqual(["x", "kim_lee"]);
  const read = async (kind: string, name: string) =>
    (await expectOk(ask("GET", `/w/acme/${kind}/get/u/kim_lee/${name}`))).json();
  expect(await read("http_triggers", "route")).toMatchObject({
    script_path: "u/kim_lee/hear",
    authentication_resource_path: "$var:u/kim_lee/key",
    edited_by: "kim_lee",
  });
  const [captured] = (await expectOk(ask("GET", "/w/acme/capture/get_configs/script/u/kim_lee/hear"))).json();
  const moved = { url: "$script:u/kim_lee/hear", script_path: "u/kim_lee/hear", note: "of u/kim/hear" };
  expect(captured).toMatchObject({ trigger_config: moved, edited_by: "kim_lee" });
  expect((await read("http_triggers", "signed")).signature.secret).toBe("u/kim_lee/key");
  expect(await read("websocket_triggers", "feed")).toMatchObject({
    script_path: "u/kim_lee/hear",
    initial_messages: [
      { runnable_result: { path: "u/kim_lee/hear" } },
      { raw_message: '{"path":"u/kim/x"}' },
    ],
    edited_by: "kim_lee",
  });
  expect(await read("websocket_triggers", "asked")).toMatchObject({
    url: "$script:u/kim_lee/hear",
    url_runnable_args: { msg: "$var:u/kim_lee/key" },
  });
  // The listener reconnects, and runs the script at its new path.
  await until(() => (said.length === 4 ? true : undefined), "what is said first, by the new name");
  expect(JSON.parse(said[2]!)).toEqual(["hi", "kim_lee"]);
  for (const socket of sockets) socket.send("news");
  await until(() => said[4], "the answer to a message");
  expect(JSON.parse(said[4]!)).toEqual(["news", "kim_lee"]);
  await expectOk(ask("DELETE", "/w/acme/websocket_triggers/delete/u/kim_lee/feed"));
}, 60_000);

test("a trigger of another user that runs a moved script reconnects and runs it at its new path", async () => {
  await using server = await startTestServer({ allowed_targets: "127.0.0.1" });
  const { ask: admin } = await server.workspace();
  const root = (await server.user("root", { super_admin: true })).ask;
  const { ask } = await server.member("acme", "kim");
  await deploy(ask, "acme", "u/kim/hear", "export const main = (msg: string) => msg");
  const said: string[] = [];
  const peer = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, on) => (on.upgrade(request, { data: undefined }) ? undefined : new Response("no")),
    websocket: { message: (_, text) => void said.push(String(text)) },
  });
  await using _ = { [Symbol.asyncDispose]: () => peer.stop(true) };
  const trigger = {
    path: "f/shared/feed",
    script_path: "u/kim/hear",
    is_flow: false,
    url: `ws://127.0.0.1:${peer.port}/`,
    enabled: true,
    initial_messages: [{ runnable_result: { path: "u/kim/hear", is_flow: false, args: { msg: "hi" } } }],
  };
  await expectOk(admin("POST", "/w/acme/folders/create", { name: "shared" }));
  await expectOk(admin("POST", "/w/acme/websocket_triggers/create", trigger));
  await until(() => (said.length === 1 ? true : undefined), "what is said first");
  await expectOk(root("POST", "/users/rename/kim@example.org", { new_username: "kim_lee" }));
  await until(() => (said.length === 2 ? true : undefined), "what is said first, anew");
  expect(said).toEqual(["hi", "hi"]);
}, 60_000);

/** `wmill` syncs all kinds of items: triggers, users, settings, the encryption key. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";
import { isOffline } from "../registry.ts";
import { filesOf } from "../workspace-files.ts";
import { changesIn, installWmill, VERSIONS, type Wmill } from "./wmill.ts";

setDefaultTimeout(90_000);

const EVERYTHING = [
  ..."--yes --plain-secrets --include-schedules --include-triggers --include-users --include-groups".split(
    " ",
  ),
  ..."--include-settings --include-key".split(" "),
];

const ROUTE = "f/data/orders.http_trigger.yaml";
const FEED = "f/data/feed.websocket_trigger.yaml";
const EVENTS = "f/data/events.nats_trigger.yaml";
const NIGHTLY = "f/data/nightly.schedule.yaml";
const OPS = "groups/ops.group.yaml";
const ANN = "users/ann@example.org.user.yaml";

describe.skipIf(isOffline).each(VERSIONS)("wmill %s, syncing everything,", (version) => {
  let server: TestServer;
  let ask: Ask;
  let wmill: Wmill;
  let local: string;

  const get = async (path: string) => (await expectOk(ask("GET", `/w/acme${path}`))).json();
  const post = (path: string, body: unknown) => expectOk(ask("POST", `/w/acme${path}`, body));
  const sync = async (direction: "push" | "pull") =>
    changesIn(await wmill.ok(local, ["sync", direction, ...EVERYTHING]));
  const nothingIsLeft = async () => expect([await sync("push"), await sync("pull")]).toEqual([0, 0]);
  const edit = async (name: string, from: string, to: string) => {
    const file = Bun.file(join(local, name));
    const before = await file.text();
    expect(before).toContain(from);
    await file.write(before.replace(from, to));
  };

  beforeAll(async () => {
    [server, wmill] = await Promise.all([startTestServer(), installWmill(version)]);
    const made = await server.workspace("acme");
    await server.operator("POST", "/settings/global/root_route_workspaces", { value: ["acme"] });
    ask = made.ask;
    await server.member("acme", "ann");
    local = await wmill.folder("local");
    await wmill.ok(local, ["workspace", "add", "acme", "acme", `${server.url}/`, "--token", made.token]);
    await post("/folders/create", { name: "data", summary: "Things" });
    await deploy(ask, "acme", "f/data/hello", "export const main = (a = 1) => a");
    const runs = { script_path: "f/data/hello", is_flow: false };
    await post("/http_triggers/create", {
      ...runs,
      path: "f/data/orders",
      route_path: "orders/:id",
      http_method: "post",
      summary: "Orders",
      wrap_body: true,
    });
    await post("/websocket_triggers/create", {
      ...runs,
      path: "f/data/feed",
      url: "ws://localhost:1/feed",
      enabled: false,
      filters: [{ key: "kind", value: "order" }],
      initial_messages: [{ raw_message: '"hello"' }],
      can_return_message: true,
    });
    await post("/nats_triggers/create", { ...runs, path: "f/data/events", subjects: ["a"], enabled: true });
    await post("/schedules/create", {
      ...runs,
      path: "f/data/nightly",
      schedule: "0 0 3 * * *",
      timezone: "UTC",
      args: { a: 2 },
      enabled: false,
    });
    await post("/groups/create", { name: "ops", summary: "Ops" });
  }, 120_000);
  afterAll(async () => {
    await server.stop();
    await wmill[Symbol.asyncDispose]();
  });

  test("pulls everything, and finds no difference afterwards", async () => {
    await sync("pull");
    const kinds = [ROUTE, FEED, EVENTS, NIGHTLY, OPS, ANN, "settings.yaml", "encryption_key.yaml"];
    const files = await filesOf(local);
    expect(Object.keys(files)).toEqual(expect.arrayContaining(kinds));
    expect(files[FEED]).toContain("kind");
    await nothingIsLeft();
  });

  test("pushes local edits and nothing else", async () => {
    await edit(ROUTE, "orders/:id", "shop/:id");
    await edit(ROUTE, "request_type: sync", "request_type: async");
    await edit(FEED, "localhost:1/feed", "localhost:2/feed");
    await edit(FEED, "can_return_message: true", "can_return_message: false");
    await edit(EVENTS, "- a", "- b");
    await edit(EVENTS, "enabled: true", "enabled: false");
    await edit(NIGHTLY, "0 0 3", "0 30 3");
    await edit(OPS, "members: []", "members:\n  - u/ann");
    await edit(ANN, "role: developer", "role: operator");
    // The older version writes each setting separately, the newer one groups them.
    const handler = version === VERSIONS[0] ? "script/f/data/hello" : "{path: script/f/data/hello}";
    await edit("settings.yaml", "error_handler: null", `error_handler: ${handler}`);
    await edit("settings.yaml", "webhook: null", "webhook: https://hooks.example.org/acme");
    await sync("push");
    expect(await get("/http_triggers/get/f/data/orders")).toMatchObject({
      route_path: "shop/:id",
      request_type: "async",
      summary: "Orders",
      wrap_body: true,
    });
    expect(await get("/websocket_triggers/get/f/data/feed")).toMatchObject({
      url: "ws://localhost:2/feed",
      can_return_message: false,
      filters: [{ key: "kind", value: "order" }],
      initial_messages: [{ raw_message: '"hello"' }],
    });
    expect(await get("/nats_triggers/get/f/data/events")).toMatchObject({ subjects: ["b"], enabled: false });
    expect((await get("/schedules/get/f/data/nightly")).schedule).toBe("0 30 3 * * *");
    expect((await get("/groups/get/ops")).members).toEqual(["admin", "ann"]);
    expect((await get("/users/get/ann")).operator).toBe(true);
    expect(await get("/workspaces/get_settings")).toMatchObject({
      error_handler: "script/f/data/hello",
      webhook: "https://hooks.example.org/acme",
    });
    await nothingIsLeft();
  });

  test("pulls remote edits and nothing else", async () => {
    await post("/http_triggers/setenabled/f/data/orders", { enabled: false });
    await post("/schedules/setenabled/f/data/nightly", { enabled: true });
    await post("/nats_triggers/setenabled/f/data/events", { enabled: true });
    const { workspace_id: _, ...feed } = await get("/websocket_triggers/get/f/data/feed");
    await post("/websocket_triggers/update/f/data/feed", { ...feed, filters: [] });
    await post("/groups/removeuser/ops", { username: "ann" });
    await post("/users/update/ann", { is_admin: true });
    await post("/workspaces/edit_webhook", { webhook: "https://hooks.example.org/other" });
    expect(await sync("pull")).toBe(7);
    const files = await filesOf(local);
    expect(files[ROUTE]).toContain("enabled: false");
    expect(files[NIGHTLY]).toContain("enabled: true");
    expect(files[EVENTS]).toContain("enabled: true");
    expect(files[FEED]).toContain("filters: []");
    expect(files[OPS]).not.toContain("u/ann");
    expect(files[ANN]).toContain("role: admin");
    expect(files["settings.yaml"]).toContain("https://hooks.example.org/other");
    await nothingIsLeft();
  });

  test("deletes on each side what was deleted on the other", async () => {
    for (const name of [ROUTE, EVENTS, OPS, ANN]) rmSync(join(local, name));
    expect(await sync("push")).toBe(4);
    expect(await get("/http_triggers/list")).toEqual([]);
    expect(await get("/nats_triggers/list")).toEqual([]);
    expect(await get("/groups/listnames")).toEqual(["all"]);
    expect(await get("/users/list_usernames")).toEqual(["admin"]);
    await expectOk(ask("DELETE", "/w/acme/websocket_triggers/delete/f/data/feed"));
    await expectOk(ask("DELETE", "/w/acme/schedules/delete/f/data/nightly"));
    expect(await sync("pull")).toBe(2);
    expect(Object.keys(await filesOf(local))).not.toContain(FEED);
    await nothingIsLeft();
  });

  // The older version asks at a terminal whether to encrypt secrets again, and changes nothing without one.
  test.skipIf(version.startsWith("1.5"))(
    "rotates the key when its file contains another one, and secrets keep their values",
    async () => {
      await post("/variables/create", {
        path: "f/data/secret",
        value: "moon",
        is_secret: true,
        description: "",
      });
      await sync("pull");
      const { key } = await get("/workspaces/encryption_key");
      const next = "k".repeat(key.length);
      await edit("encryption_key.yaml", key, next);
      await sync("push");
      expect((await get("/workspaces/encryption_key")).key).toBe(next);
      expect(await get("/variables/get_value/f/data/secret")).toBe("moon");
      await nothingIsLeft();
    },
  );

  test("pushes a single trigger, new or existing", async () => {
    const trigger = `script_path: f/data/hello\nis_flow: false\nroute_path: again\nhttp_method: get\nis_static_website: false\nauthentication_method: none\n`;
    await Bun.write(join(local, ROUTE), trigger);
    await wmill.ok(local, ["trigger", "push", ROUTE, ROUTE]);
    expect(await get("/http_triggers/get/f/data/orders")).toMatchObject({ route_path: "again" });
    await edit(ROUTE, "again", "another");
    await wmill.ok(local, ["trigger", "push", ROUTE, ROUTE]);
    expect(await get("/http_triggers/get/f/data/orders")).toMatchObject({ route_path: "another" });
    const url = { script_path: "f/data/hello", is_flow: false, url: "ws://localhost:3", enabled: false };
    await Bun.write(join(local, FEED), JSON.stringify({ ...url, filters: [] }));
    for (let again = 0; again < 2; again++) {
      await wmill.ok(local, ["trigger", "push", FEED, FEED]);
      expect(await get("/websocket_triggers/get/f/data/feed")).toMatchObject({ url: "ws://localhost:3" });
    }
    await sync("pull");
    await nothingIsLeft();
  });
});

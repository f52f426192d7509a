/** `svc trigger`: routes and WebSocket triggers are created, shown, disabled and deleted. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { deploy, startTestServer, type TestServer } from "../../../support/harness.ts";
import { type CliEnvironment, createCliEnvironment } from "../../program.ts";

let server: TestServer;
let place: CliEnvironment;

beforeAll(async () => {
  place = createCliEnvironment();
  server = await startTestServer({ data_dir: place.data_dir });
  const { ask } = await server.workspace("acme");
  await deploy(ask, "acme", "u/admin/order", "export const main = (id: string) => `order ${id}`");
});
afterAll(async () => {
  await server.stop();
  place[Symbol.dispose]();
});

const trigger = (...args: string[]) => place.svc(["trigger", ...args, "--workspace", "acme"]);

test("a route is created, changed and deleted", async () => {
  const path = "u/admin/orders";
  const made = await trigger(
    "http",
    "create",
    "orders/:id",
    path,
    "--run",
    "u/admin/order",
    "--method",
    "get",
    "--public",
  );
  expect([made.code, made.out, made.err]).toEqual([
    0,
    "GET /api/r/orders/:id\n",
    `trigger ${path} created\nanybody can call it, without credentials; it runs with the rights of admin_acme@example.org\n`,
  ]);
  const call = async () => {
    const answer = await fetch(`${server.url}/api/r/orders/7`);
    return answer.status === 200 ? answer.json() : answer.status;
  };
  expect(await call()).toBe("order 7");
  const [first, second, third] = (await trigger("show", path)).out.split("\n");
  expect([first, second, third]).toEqual([
    `${path}: GET /api/r/orders/:id`,
    // Created locally, without a user: it runs as the owner of the workspace.
    "runs u/admin/order as admin_acme@example.org",
    "answers sync, anybody can call it",
  ]);
  expect((await trigger("disable", path)).err).toBe(`HTTP route ${path} disabled\n`);
  expect(await call()).toBe(404);
  expect((await trigger("list")).out).toBe(`${path}\thttp\tGET /api/r/orders/:id\tu/admin/order\toff\n`);
  expect((await trigger("enable", path)).code).toBe(0);
  expect(await call()).toBe("order 7");
  expect((await trigger("delete", path)).code).toBe(0);
  expect((await trigger("list")).out).toBe("");
}, 60_000);

test("a WebSocket trigger, and a trigger of each kind at the same path", async () => {
  const path = "u/admin/prices";
  const url = "wss://feed.example.org/";
  const more = [
    "--run",
    "u/admin/order",
    "--off",
    "--filter",
    'type="order"',
    "--filter",
    "of=plain",
    "--send",
    "hi",
    "--answer",
  ];
  const made = await trigger("websocket", "create", url, path, ...more, "--json");
  expect(JSON.parse(made.out)).toMatchObject({
    path,
    url,
    enabled: false,
    filters: [
      { key: "type", value: "order" },
      { key: "of", value: "plain" },
    ],
    initial_messages: [{ raw_message: "hi" }],
    can_return_message: true,
    can_return_error_result: false,
  });
  expect((await trigger("show", path)).out).toContain("switched off");
  const route = await trigger(
    "http",
    "create",
    "prices",
    path,
    "--run",
    "u/admin/order",
    "--below-workspace",
    "--caller-token",
    "--json",
  );
  expect(JSON.parse(route.out)).toMatchObject({ workspaced_route: true, authentication_method: "token" });
  expect((await trigger("show", path)).code).toBe(2);
  expect(JSON.parse((await trigger("list", "--json")).out).map((one: any) => one.kind)).toEqual([
    "http",
    "websocket",
  ]);
  const { ask } = await server.user("root", { super_admin: true });
  expect((await ask("POST", "/w/acme/nats_triggers/create", { path })).status).toBe(201);
  expect((await trigger("list")).out).toContain(
    `${path}\tnats\t\t\tstored; svc does not run NATS triggers\n`,
  );
  expect((await trigger("disable", path, "--kind", "nats")).err).toBe(`NATS trigger ${path} disabled\n`);
  expect((await trigger("delete", path, "--kind", "nats")).code).toBe(0);
  expect((await trigger("delete", path, "--kind", "websocket")).code).toBe(0);
  expect((await trigger("delete", path)).err).toBe(`HTTP route ${path} deleted\n`);
}, 60_000);

test.each([
  ["a script that is not there", ["http", "create", "x", "u/admin/x", "--public"], 1, "u/admin/x"],
  ["a route that is open by oversight", ["http", "create", "x", "u/admin/order"], 2, "--public"],
  ["two ways to answer", ["http", "create", "x", "u/admin/x", "--async", "--stream"], 2, "--stream"],
  [
    "two ways to ask",
    ["http", "create", "x", "u/admin/x", "--caller-token", "--api-key", "u/admin/k"],
    2,
    "one of",
  ],
  ["a filter that is none", ["websocket", "create", "ws://x", "u/admin/x", "--filter", "x"], 2, "key=value"],
  ["a trigger that is not there", ["show", "u/admin/none"], 1, "no trigger at u/admin/none"],
])(
  "%s is rejected",
  async (_, args, code, says) => {
    const refused = await trigger(...args);
    expect([refused.code, refused.err]).toEqual([code, expect.stringContaining(says)]);
  },
  60_000,
);

test("help fits a terminal of 80 columns, and shows how", async () => {
  for (const words of [["http", "create"], ["websocket", "create"], ["list"], ["show"]]) {
    const { out } = await place.svc(["trigger", ...words, "--help"], { env: { COLUMNS: "80" } });
    expect(out).toContain("$ svc trigger");
    for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  }
}, 60_000);

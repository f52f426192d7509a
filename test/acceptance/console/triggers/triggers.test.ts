/**
 * HTTP routes, WebSocket triggers and outgoing webhooks in a real browser: created, tried, paused and deleted.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Server } from "bun";
import { expectSoon, type Visit } from "../browser.ts";
import { createMember } from "../filled.ts";
import { useSite } from "../site.ts";

const site = useSite({ SVC_ALLOWED_TARGETS: "all" });

/** An external server: it sends WebSocket messages to its clients, and receives posted events. */
let others: Server<undefined>;
let answer = 500;
const received: string[] = [];

beforeAll(async () => {
  others = Bun.serve({
    port: 0,
    async fetch(request, server) {
      if (server.upgrade(request)) return;
      received.push(await request.text());
      return new Response("noted", { status: answer });
    },
    websocket: { open: (socket) => void socket.send(`{"type":"price","of":"tea"}`), message: () => {} },
  });
  await site.filled.script("f/finance/order", `export const main = (id: string) => ({ order: id })`);
});
afterAll(async () => {
  await others?.stop(true);
});

const choose = async ({ page }: Visit, label: string, option: string | RegExp) => {
  await page.getByRole("combobox", { name: label }).click();
  await page.getByRole("option", { name: option }).click();
};

test("a route is created, called as its page shows, paused and deleted", async () => {
  await using seen = await site.visit();
  const { page } = seen;
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  await seen.open("w/acme/triggers");
  await page.getByText("No HTTP routes yet").waitFor();
  await seen.picture("routes-none");
  await seen.accessible("no routes");
  await page.getByRole("link", { name: "New HTTP route" }).click();
  await choose(seen, "What it runs", /f\/finance\/order/);
  await choose(seen, "Method", "GET");
  await page.getByLabel("Address").fill("orders/:id");
  await page.getByText("/api/r/acme/orders/:id").waitFor();
  await choose(seen, "Who may call it", "Callers with an API key");
  await page.getByRole("combobox", { name: "Resource with the secret" }).waitFor();
  await expectSoon(() => button("Create the route").isDisabled(), true);
  await choose(seen, "Who may call it", "Everybody");
  await page.getByLabel("Path").fill("f/finance/orders");
  await page.getByLabel("Summary").fill("Orders");
  await seen.picture("route-new");
  await seen.accessible("new route");
  await button("Create the route").click();
  await page.getByRole("heading", { name: "Orders" }).waitFor();
  const address = await page.getByLabel("Address of the route").inputValue();
  expect(address).toBe(`${site.serving.url}/api/r/acme/orders/:id`);
  await page.getByLabel("Example").getByText("curl").first().waitFor();
  const called = await fetch(address.replace(":id", "7"));
  expect(await called.json()).toEqual({ order: "7" });
  await page.getByText("Succeeded").first().waitFor();
  await seen.picture("route");
  await seen.accessible("route");
  await button("Pause").click();
  await button("Resume").waitFor();
  expect((await fetch(address.replace(":id", "7"))).status).toBe(404);
  await page.getByRole("link", { name: "Edit" }).click();
  await choose(seen, "Who may call it", "Callers with a token");
  await choose(seen, "When a run fails", "Retry with a constant delay, then with backoff");
  await page.getByLabel("Times", { exact: true }).fill("2");
  await page.getByLabel("Retry only if").fill("error.name === 'Busy'");
  await button("Save").click();
  await page.getByText("YOUR_TOKEN").first().waitFor();
  await page.getByText("2 times, every 60 s; then 3 times, with exponential backoff").waitFor();
  const { retry } = JSON.parse(await site.filled.ask("GET", "/w/acme/http_triggers/get/f/finance/orders"));
  expect(retry).toEqual({
    constant: { attempts: 2, seconds: 60 },
    exponential: { attempts: 3, multiplier: 1, seconds: 5 },
    retry_if: { expr: "error.name === 'Busy'" },
  });
  await button("Resume").click();
  await button("Pause").waitFor();
  await page.getByRole("link", { name: "HTTP routes" }).click();
  await page.getByText("GET acme/orders/:id").waitFor();
  await page.getByText("Callers with a token").waitFor();
  await seen.picture("routes");
  await seen.accessible("routes");
  expect((await fetch(address.replace(":id", "7"))).status).toBe(401);
  // The script's page lists what starts it.
  await seen.open("w/acme/scripts/f/finance/order?tab=triggers");
  await page.getByRole("link", { name: "f/finance/orders" }).click();
  await button("Delete").click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("No HTTP routes yet").waitFor();
  expect(seen.wrongs).toEqual([]);
}, 90_000);

test("the page of a route shows the runs that it started, not those of another route to the same script", async () => {
  const route = (path: string) =>
    site.filled.ask("POST", "/w/acme/http_triggers/create", {
      path: `f/finance/${path}`,
      script_path: "f/finance/order",
      is_flow: false,
      route_path: `${path}/:id`,
      workspaced_route: true,
      http_method: "get",
      request_type: "sync",
      authentication_method: "none",
    });
  await Promise.all([route("called"), route("uncalled")]);
  expect((await fetch(`${site.serving.url}/api/r/acme/called/7`)).status).toBe(200);
  await using seen = await site.visit();
  await seen.open("w/acme/triggers/http/p/f/finance/called");
  await seen.page.getByRole("table", { name: "Last runs" }).getByText("Succeeded").waitFor();
  await seen.open("w/acme/triggers/http/p/f/finance/uncalled");
  await seen.page.getByText("It has not run yet").waitFor();
  await seen.page.getByRole("button", { name: "More for f/finance/uncalled" }).click();
  await seen.page.getByRole("menuitem", { name: "Who may use it" }).click();
  const who = seen.page.getByRole("dialog").getByRole("table", { name: "Permissions" });
  await who.getByRole("row", { name: /^ann owns it an admin of the workspace/ }).waitFor();
  await seen.accessible("who may use a route");
  for (const path of ["called", "uncalled"])
    await site.filled.ask("DELETE", `/w/acme/http_triggers/delete/f/finance/${path}`);
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("a WebSocket trigger runs a script for a message, and reports when it cannot connect", async () => {
  await using seen = await site.visit();
  const { page } = seen;
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  await site.filled.script("f/finance/price", `export const main = (msg: string) => msg`);
  await seen.open("w/acme/triggers?tab=websockets");
  await page.getByText("No WebSocket triggers yet").waitFor();
  await seen.picture("sockets-none");
  await seen.accessible("no sockets");
  await page.getByRole("link", { name: "New WebSocket trigger" }).click();
  await choose(seen, "What it runs", /f\/finance\/price/);
  await page.getByLabel("Address").fill(`ws://127.0.0.1:${others.port}/feed`);
  await page.getByLabel("Only messages with").fill("nonsense");
  await page.getByText("Write a field").waitFor();
  await page.getByLabel("Only messages with").fill('type = "price"');
  await page.getByLabel("Path").fill("f/finance/prices");
  await seen.picture("socket-new");
  await seen.accessible("new socket");
  await button("Create the trigger").click();
  await page.getByRole("heading", { name: "f/finance/prices" }).waitFor();
  await page.getByText("Connected").waitFor();
  await page.getByText("Succeeded").first().waitFor();
  await seen.picture("socket");
  await seen.accessible("socket");
  await page.getByRole("link", { name: "Edit" }).click();
  await expectSoon(() => page.getByLabel("Only messages with").inputValue(), 'type = "price"');
  await page.getByLabel("Address").fill("ws://127.0.0.1:1/nobody");
  await choose(seen, "When a run fails", /constant delay$/);
  await button("Save").click();
  await page.getByText("3 times, every 60 s").waitFor();
  await page.getByText("Not connected; it reconnects automatically").waitFor();
  await seen.picture("socket-failed");
  await page.getByRole("link", { name: "WebSockets" }).click();
  await page.getByText("not connected").waitFor();
  await seen.picture("sockets");
  await seen.accessible("sockets");
  // The script's page shows the same for every trigger, and cron rules in words.
  await site.filled.ask("POST", "/w/acme/schedules/create", {
    path: "f/finance/price_daily",
    script_path: "f/finance/price",
    schedule: "0 30 9 * * 1-5",
    timezone: "Europe/Berlin",
    args: { msg: "daily" },
    paused_until: "2031-05-06T00:00:00Z",
  });
  await seen.open("w/acme/scripts/f/finance/price?tab=triggers");
  const row = (name: string) => page.getByRole("row").filter({ hasText: name });
  await row("f/finance/prices").getByText("not connected").waitFor();
  await row("price_daily").getByText("At 09:30, Monday through Friday (Europe/Berlin)").waitFor();
  await row("price_daily").getByText("paused until").waitFor();
  await seen.picture("script-triggers");
  await seen.accessible("triggers of a script");
  await site.filled.ask("DELETE", "/w/acme/schedules/delete/f/finance/price_daily");
  await seen.open("w/acme/triggers?tab=websockets");
  await page.getByRole("switch", { name: /prices/ }).click({ force: true });
  await page.getByText("paused", { exact: true }).waitFor();
  expect(seen.wrongs).toEqual([]);
}, 90_000);

test("users who may not change triggers are not offered changes, and outgoing webhooks are for admins", async () => {
  await site.filled.ask("POST", "/w/acme/http_triggers/create", {
    path: "f/finance/root",
    script_path: "f/finance/order",
    route_path: "everywhere/:id",
    http_method: "get",
    summary: `<img src=x onerror=alert(1)>`,
  });
  await createMember(site.serving, site.filled, "bob");
  await site.filled.ask("POST", "/w/acme/folders/update/finance", { extra_perms: { "u/bob": true } });
  const token = await site.serving.operator("/users/tokens/impersonate", {
    impersonate_email: "bob@example.org",
  });
  await using seen = await site.visit({ token, scheme: "dark" });
  const { page } = seen;
  await seen.open("w/acme/triggers");
  await page.getByText("onerror=alert(1)").waitFor();
  // He may write in the folder, but not create routes of the whole instance.
  await expectSoon(() => page.getByRole("switch", { name: /root/ }).isDisabled(), true);
  await page.getByRole("link", { name: /onerror/ }).click();
  await page.getByText("/everywhere/:id").first().waitFor();
  expect(await page.getByRole("button", { name: "Delete" }).count()).toBe(0);
  expect(await page.getByRole("link", { name: "Outgoing webhooks" }).count()).toBe(0);
  await page.getByRole("link", { name: "HTTP routes" }).click();
  await page.getByRole("link", { name: "New HTTP route" }).click();
  await page.getByLabel("Path").waitFor();
  expect(await page.getByText("Below the name of the workspace").count()).toBe(0);
  await seen.accessible("new route of a member");
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("an endpoint receives events, and rejected ones are sent again", async () => {
  await using seen = await site.visit();
  const { page } = seen;
  const dialog = page.getByRole("dialog");
  await seen.open("w/acme/webhooks");
  await page.getByText("No endpoints yet").waitFor();
  await seen.picture("endpoints-none");
  await seen.accessible("no endpoints");
  await page.getByRole("button", { name: "New endpoint" }).click();
  await dialog.getByLabel("Address").fill(`http://127.0.0.1:${others.port}/hook`);
  await dialog.getByRole("combobox", { name: "Events" }).click();
  await page.getByRole("option", { name: "CreateVariable", exact: true }).click();
  await dialog.getByLabel("Description").focus();
  await page.getByRole("listbox").waitFor({ state: "hidden" });
  await dialog.getByLabel("Description").fill("Their system");
  await seen.accessible("new endpoint");
  await dialog.getByRole("button", { name: "Create" }).click();
  const secret = await dialog.getByLabel("Secret").inputValue();
  expect(secret).toStartWith("whsec_");
  await seen.picture("endpoint-secret");
  await seen.accessible("secret of an endpoint");
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.getByText("CreateVariable").waitFor();
  await seen.picture("endpoints");
  await seen.accessible("endpoints");
  await page.getByRole("link", { name: /Their system/ }).click();
  await page.getByText("No deliveries yet").waitFor();
  await seen.picture("endpoint-quiet");
  await site.filled.ask("POST", "/w/acme/variables/create", {
    path: "u/ann/told",
    value: "not told",
    is_secret: true,
    description: "",
  });
  await page.getByText("500").first().waitFor();
  await page.getByRole("button", { name: "CreateVariable", exact: true }).click();
  await page.getByText("u/ann/told").waitFor();
  await seen.picture("endpoint");
  await seen.accessible("endpoint");
  answer = 200;
  // It is retried automatically.
  await page.getByText("Delivered", { exact: true }).nth(1).waitFor({ timeout: 30_000 });
  const before = received.length;
  await page.getByRole("button", { name: /Send CreateVariable .* again/ }).click();
  await page.getByText("It is sent again").waitFor();
  for (const end = Date.now() + 15_000; received.length === before && Date.now() < end; ) await Bun.sleep(50);
  expect(received.at(-1)).toContain("u/ann/told");
  expect(received.join()).not.toContain("not told");
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  await dialog.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("button", { name: "Pause", exact: true }).waitFor();
  await page.getByRole("button", { name: /More for/ }).click();
  await page.getByRole("menuitem", { name: "New secret" }).click();
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByLabel("Secret").waitFor();
  expect(await dialog.getByLabel("Secret").inputValue()).not.toBe(secret);
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: /More for/ }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByText("No endpoints yet").waitFor();
  expect(seen.wrongs).toEqual([]);
}, 120_000);

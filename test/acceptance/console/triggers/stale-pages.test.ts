/** Forms that are opened from a page whose values another user has changed meanwhile, in a real browser. */
import { test } from "bun:test";
import { expectSoon } from "../browser.ts";
import { useSite } from "../site.ts";

const site = useSite();

test("a form starts with the stored values, although its page showed older ones", async () => {
  await site.filled.script("f/finance/order", `export const main = (id: string) => ({ order: id })`);
  const route = { path: "f/finance/stale", script_path: "f/finance/order", is_flow: false };
  const http = { ...route, route_path: "stale", http_method: "get", request_type: "sync" };
  const more = { authentication_method: "none", is_static_website: false };
  await site.filled.ask("POST", "/w/acme/http_triggers/create", { ...http, ...more, summary: "As it was" });
  const timed = { path: "f/finance/stale", script_path: "f/finance/order", is_flow: false, args: {} };
  const rule = { schedule: "0 0 9 * * *", timezone: "UTC", enabled: false };
  await site.filled.ask("POST", "/w/acme/schedules/create", { ...timed, ...rule, summary: "As it was" });
  await site.filled.ask("POST", "/w/acme/resources/create", {
    path: "f/finance/stale",
    resource_type: "any",
    description: "As it was",
    value: { a: 1 },
  });
  await using seen = await site.visit();
  const { page } = seen;
  const edit = () => page.getByRole("link", { name: "Edit", exact: true }).click();
  await seen.open("w/acme/triggers/http/p/f/finance/stale");
  await page.getByRole("heading", { name: "As it was" }).waitFor();
  await site.filled.ask("POST", "/w/acme/http_triggers/update/f/finance/stale", {
    ...http,
    ...more,
    summary: "Theirs",
  });
  await edit();
  await expectSoon(() => page.getByLabel("Summary").inputValue(), "Theirs");
  await seen.open("w/acme/schedules/p/f/finance/stale");
  await page.getByRole("heading", { name: "As it was" }).waitFor();
  await site.filled.ask("POST", "/w/acme/schedules/update/f/finance/stale", {
    ...rule,
    args: {},
    summary: "Theirs",
  });
  await edit();
  await expectSoon(() => page.getByLabel("Summary").inputValue(), "Theirs");
  await seen.open("w/acme/resources/p/f/finance/stale");
  await page.getByLabel("Description of the resource").waitFor();
  await page.getByRole("link", { name: "Resources", exact: true }).first().click();
  await site.filled.ask("POST", "/w/acme/resources/update/f/finance/stale", { description: "Theirs" });
  await page.goBack();
  await expectSoon(() => page.getByLabel("Description of the resource").inputValue(), "Theirs");
}, 60_000);

/** The settings of a script in a real browser: changed without its code, and signed requests. */
import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import type { Visit } from "../browser.ts";
import { useSite } from "../site.ts";

const site = useSite();

const button = ({ page }: Visit, name: string) => page.getByRole("button", { name, exact: true });

test("settings are changed separately, and a script lists its importers", async () => {
  await site.filled.script("f/finance/rates", "export const rate = 2; export const main = () => rate;");
  await site.filled.script(
    "f/finance/prices",
    `import { rate } from "./rates.ts"; export const main = (price: number) => price * rate;`,
  );
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme/scripts/f/finance/rates");
  const importers = page.getByRole("region", { name: "Imported by" });
  await importers.getByRole("link", { name: "f/finance/prices" }).click();
  await page
    .getByRole("region", { name: "Imports" })
    .getByRole("link", { name: "f/finance/rates" })
    .waitFor();
  await page.getByText("Settings", { exact: true }).last().click();
  const changes = {
    "Timeout, in seconds": "30",
    "Runs at the same time": "2",
    "Keep results, in seconds": "60",
    "Concurrency key": "shop",
    Tag: "prices",
  };
  for (const [label, value] of Object.entries(changes)) {
    await page.getByRole("textbox", { name: label, exact: true }).fill(value);
  }
  await page.getByRole("combobox", { name: "Process" }).click();
  await page.getByRole("option", { name: "A new one for each run" }).click();
  await page.getByLabel("A failure does not start the workspace's error handler").check();
  await page.getByLabel("Reject calls whose arguments do not match the schema").check();
  // Input made before the page has loaded the new version is kept.
  const read = Promise.withResolvers<void>();
  await page.route("**/scripts/get/p/f/finance/prices*", (route) =>
    read.promise.then(() => route.continue()),
  );
  await button(seen, "Deploy with these settings").click();
  await page.getByText("Deployed with these settings").waitFor();
  const timeout = page.getByRole("textbox", { name: "Timeout, in seconds", exact: true });
  await timeout.fill("");
  const stored = JSON.parse(await site.filled.ask("GET", "/w/acme/scripts/get/p/f/finance/prices"));
  expect(stored).toMatchObject({
    content: expect.stringContaining("price * rate"),
    timeout: 30,
    concurrent_limit: 2,
    concurrency_key: "shop",
    validate: true,
    cache_ttl: 60,
    tag: "prices",
    isolation: "fresh",
    ws_error_handler_muted: true,
  });
  // A further change is based on the version that was just created.
  read.resolve();
  await page.locator("form.settings-form button[type=submit]:not([data-loading])").waitFor();
  expect(await timeout.inputValue()).toBe("");
  const again = page.waitForResponse((response) => response.url().endsWith("/scripts/create"));
  await button(seen, "Deploy with these settings").click();
  expect((await again).status()).toBe(201);
  const last = JSON.parse(await site.filled.ask("GET", "/w/acme/scripts/get/p/f/finance/prices"));
  expect([last.timeout ?? null, last.tag]).toEqual([null, "prices"]);
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("a script asks for signed requests, and its pages say so", async () => {
  const path = "f/finance/on_push";
  await site.filled.script(path, "export const main = (ref: string) => `pushed to ${ref}`;");
  await site.filled.ask("POST", "/w/acme/variables/create", {
    path: "f/finance/push_secret",
    value: "a shared secret",
    is_secret: true,
    description: "",
  });
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open(`w/acme/scripts/${path}?tab=settings`);
  await page.getByLabel("Require signed requests").check();
  expect(await button(seen, "Deploy with these settings").isDisabled()).toBe(true);
  await page.getByRole("combobox", { name: "Variable with the secret" }).fill("push");
  await page.getByRole("option", { name: "f/finance/push_secret" }).click();
  await page.getByRole("combobox", { name: "How it is signed" }).click();
  await page.getByRole("option", { name: "GitHub" }).click();
  await seen.picture("script-signature");
  await seen.accessible("a script's signature");
  await button(seen, "Deploy with these settings").click();
  await page.getByText("Deployed with these settings").waitFor();
  const request = (headers: Record<string, string>) =>
    fetch(`${site.serving.url}/api/w/acme/jobs/run_wait_result/p/${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${site.filled.token}`,
        "content-type": "application/json",
        ...headers,
      },
      body: '{"ref":"main"}',
    });
  const digest = createHmac("sha256", "a shared secret").update('{"ref":"main"}').digest("hex");
  expect((await request({})).status).toBe(401);
  expect(await (await request({ "x-hub-signature-256": `sha256=${digest}` })).text()).toBe(
    '"pushed to main"',
  );
  await page.getByText("Webhooks", { exact: true }).click();
  await page.getByRole("region", { name: "Signature" }).getByText("f/finance/push_secret").waitFor();
  await seen.accessible("webhooks of a script with a signature");
  await page.getByRole("link", { name: "Run", exact: true }).click();
  await page.getByText("Requests must have a GitHub signature").waitFor();
  expect(seen.wrongs).toEqual([]);
}, 60_000);

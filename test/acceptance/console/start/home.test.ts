/**
 * Home and the palette: the latest run of each item, however long ago, and everything that can be found by
 * name.
 */
import { expect, test } from "bun:test";
import { useSite } from "../site.ts";

const site = useSite();

test("a script that ran before hundreds of other runs is shown with its outcome, and a planned run does not count", async () => {
  const { ask, script, run } = site.filled;
  await script("u/ann/rare", "export const main = () => { throw new Error('no'); };", {
    summary: "Rarely run",
  });
  const rare = await run("u/ann/rare", {});
  await ask("POST", "/w/acme/jobs/run/p/u/ann/hello?scheduled_in_secs=90000", { name: "later" });
  for (let nth = 0; nth < 310; nth += 62)
    await Promise.all(
      Array.from({ length: 62 }, () =>
        ask("POST", "/w/acme/jobs/run/p/u/ann/hello?scheduled_in_secs=9000", {}),
      ),
    );
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme");
  const row = page.locator(".item-row").filter({ hasText: "Rarely run" });
  await row.getByText("Failed").waitFor();
  await row.locator(`a[href$="/runs/${rare}"]`).click();
  await page.getByRole("heading", { name: "u/ann/rare" }).waitFor();
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("the palette finds apps and words of runs, with matches at the beginning first", async () => {
  const { ask, script, run } = site.filled;
  const value = {
    grid: [],
    hiddenInlineScripts: [],
    unusedComponents: [],
    css: {},
    fullscreen: false,
    norefreshbar: false,
  };
  await ask("POST", "/w/acme/apps/create", {
    path: "f/finance/desk",
    summary: "Desk of refunds",
    value,
    policy: { execution_mode: "viewer", triggerables: {} },
  });
  await script("u/ann/later", "export const main = (word: string) => word;", { summary: "A desk for later" });
  const found = await run("u/ann/later", { word: "Wolpertinger" });
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme");
  await page.getByText("Nightly report").waitFor();
  const type = async (text: string) => {
    await page.keyboard.press("Control+k");
    await page.getByRole("textbox", { name: "Search", exact: true }).and(page.locator(":focus")).waitFor();
    await page.keyboard.type(text);
  };
  await type("desk");
  await page.locator("[data-selected]", { hasText: "Desk of refunds" }).waitFor();
  await page.getByText("A desk for later").last().waitFor();
  await seen.accessible("the palette");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/apps\/f\/finance\/desk$/);
  await type("Wolpertinger");
  await page.locator("[data-selected]", { hasText: "Runs with “Wolpertinger”" }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(/text=Wolpertinger/);
  await page.locator(`a[href$="/runs/${found}"]`).waitFor();
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("an address of a missing item names it", async () => {
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acmee/runs");
  await page.getByRole("heading", { name: "You are not in acmee" }).waitFor();
  for (const address of ["scripts", "schedules/p", "triggers/http/p", "resources/p"]) {
    await seen.open(`w/acme/${address}/u/ann/gone`);
    await page
      .getByRole("alert")
      .getByText(/^Not found: .*u\/ann\/gone/)
      .waitFor();
  }
  seen.wrongs.splice(0, seen.wrongs.length, ...seen.wrongs.filter((each) => !each.includes("status of 404")));
}, 60_000);

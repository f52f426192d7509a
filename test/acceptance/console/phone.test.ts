/** Narrow windows show the selected tab, and nothing covers the steps. */
import { expect, test } from "bun:test";
import { expectSoon, PHONE } from "./browser.ts";
import { useSite } from "./site.ts";

const site = useSite();

test("the selected tab is scrolled into view", async () => {
  await using seen = await site.visit({ viewport: PHONE });
  const { page } = seen;
  for (const [address, name] of [
    ["w/acme/instance?tab=license", "License"],
    ["w/acme/instance?tab=accounts", "Accounts"],
    ["w/acme/settings?tab=usage", "Usage"],
    ["w/acme/scripts/f/finance/refund?tab=access", "Access"],
  ] as const) {
    await seen.open(address);
    const tab = page.locator(".tab-bar label", { hasText: name });
    await expectSoon(async () => {
      const box = await tab.boundingBox();
      return box !== null && box.x >= 0 && box.x + box.width <= PHONE.width;
    }, true);
  }
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("the zoom buttons do not cover the graph's last step", async () => {
  await using seen = await site.visit({ viewport: PHONE });
  const { page } = seen;
  await seen.open("w/acme/flows/f/finance/nightly");
  const step = await page.locator('.step[data-step="b"]').boundingBox();
  const buttons = await page.locator(".graph-zoom").boundingBox();
  expect(step!.y + step!.height).toBeLessThan(buttons!.y);
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("the hint of an empty search is not cut off", async () => {
  await using seen = await site.visit({ viewport: PHONE });
  const { page } = seen;
  await seen.open("w/acme");
  await page.keyboard.press("ControlOrMeta+k");
  const field = page.getByRole("dialog", { name: "Search" }).getByRole("textbox");
  await field.fill((await field.getAttribute("placeholder"))!);
  const isWhole = await field.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth);
  expect(isWhole).toBe(true);
  expect(seen.wrongs).toEqual([]);
}, 60_000);

/** The Back and Forward buttons at a form with unsaved changes. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { expectSoon } from "../browser.ts";
import { useSite } from "../site.ts";

const site = useSite();

const question = (page: Page) => page.getByRole("dialog", { name: "Leave without saving?" });
const answer = async (page: Page, name: string) => {
  await question(page).getByRole("button", { name }).click();
  await question(page).waitFor({ state: "detached" });
};
const pathname = (page: Page) => new URL(page.url()).pathname;
/** As the browser's own buttons: without waiting. */
const traverse = (page: Page, delta: number) => page.evaluate(`history.go(${delta})`);

test("Back and Forward ask before they discard a form", async () => {
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme/schedules");
  await page.getByRole("link", { name: "New schedule" }).first().click();
  const path = page.getByLabel("Path");
  await path.waitFor();
  await page.getByRole("link", { name: "Runs", exact: true }).click();
  await page.getByRole("heading", { name: "Runs" }).waitFor();
  await traverse(page, -1);
  await path.fill("f/finance/typed");

  for (const delta of [-1, 1, -2]) {
    if (delta !== -2) await traverse(page, delta);
    else await page.evaluate(`history.pushState(null, "", "?kept=1"), history.go(-2)`);
    await question(page).waitFor();
    expect(pathname(page)).toBe("/w/acme/schedules/new");
    await answer(page, "Stay");
    expect(await path.inputValue()).toBe("f/finance/typed");
  }
  // Going back within the page loses nothing.
  await traverse(page, -1);
  await expectSoon(() => new URL(page.url()).search, "");
  expect(await question(page).count()).toBe(0);

  await traverse(page, -1);
  await answer(page, "Leave");
  await expectSoon(() => pathname(page), "/w/acme/schedules");
  await page.getByRole("heading", { name: "Schedules", exact: true }).waitFor();
  // The later history entries still exist, and an empty form is left without a question.
  await traverse(page, 1);
  await path.waitFor();
  expect(await path.inputValue()).not.toBe("f/finance/typed");
  await traverse(page, -1);
  await page.getByRole("heading", { name: "Schedules", exact: true }).waitFor();
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("Back pressed twice, before the browser has navigated, asks for confirmation once", async () => {
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme/runs");
  for (const name of ["Variables", "Schedules"]) {
    await page.getByRole("link", { name, exact: true }).click();
    await page.getByRole("heading", { name, exact: true }).waitFor();
  }
  await page.getByRole("link", { name: "New schedule" }).first().click();
  const path = page.getByLabel("Path");
  await path.fill("f/finance/typed");
  const twice = `navigation.addEventListener("currententrychange", () => history.back(), { once: true }), history.back()`;
  for (const choice of ["Stay", "Leave"]) {
    await page.evaluate(twice);
    await question(page).waitFor();
    await expectSoon(() => pathname(page), "/w/acme/schedules/new");
    expect(await path.inputValue()).toBe("f/finance/typed");
    await answer(page, choice);
  }
  await page.getByRole("heading", { name: "Variables", exact: true }).waitFor();
  expect(pathname(page)).toBe("/w/acme/variables");
  expect(seen.wrongs).toEqual([]);
}, 60_000);

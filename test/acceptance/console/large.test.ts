/** A million runs, and a log of 100 MB: shown at once, without filling the page's memory. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { storeJobs } from "../../support/many-jobs.ts";
import { createInstallation, type Installation } from "../e2e/executable.ts";
import { keepAnswers, openBrowser, visit } from "./browser.ts";
import { createSampleWorkspace } from "./filled.ts";

let place: Installation;
let browser: Browser;

beforeEach(async () => {
  place = createInstallation();
  browser = await openBrowser();
});
afterEach(async () => {
  await browser?.close();
  place?.remove();
});

async function took(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return Math.round(performance.now() - began);
}

const nodes = (page: Page) => page.evaluate("document.querySelectorAll('*').length") as Promise<number>;

/** In MB, after garbage collection. */
async function heap(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  return Math.round(usedSize / 1e6);
}

test("a million runs are browsed page by page", async () => {
  const serving = await place.serve({ env: { JOB_RETENTION_SECS: "0" } });
  const filled = await createSampleWorkspace(serving);
  storeJobs(place.data_dir, 1_000_000);
  await using seen = await visit(browser, serving.url, { token: filled.token });
  const { page } = seen;
  const lists = keepAnswers(page, (url) => url.includes("/jobs/list?"));
  const rows = page.getByRole("row");
  const first = await took(async () => {
    await seen.open("w/acme/runs");
    await rows.nth(100).waitFor();
  });
  await page.getByRole("link", { name: "Home" }).click();
  await page.getByText("Nightly report").first().waitFor();
  const again = await took(async () => {
    await page.getByRole("link", { name: "Runs" }).click();
    await rows.nth(100).waitFor();
  });
  const filtered = await took(async () => {
    await page.getByLabel("Path begins with").fill("u/ann/script7");
    await page.waitForURL(/path=/);
    await page.getByRole("link", { name: "f/finance/refund" }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "u/ann/script7" }).first().waitFor();
  });
  for (let more = 2; more <= 4; more++) {
    await page.getByRole("button", { name: "Show earlier runs" }).click();
    // Each page starts with the last rows of the previous one.
    await rows.nth(more * 95).waitFor();
  }
  const names = await page.locator(".run-path").allTextContents();
  expect(new Set(names)).toEqual(new Set(["Script or flow", "u/ann/script7"]).intersection(new Set(names)));
  console.log(
    `ms: Runs loaded ${first}, come to from Home ${again}, by path ${filtered}; heap ${await heap(page)} MB`,
  );
  // Lists contain neither arguments nor results: the first, the filtered one, and three pages of earlier runs.
  const bodies = (await lists()).filter((body) => body.includes('"script_path":'));
  expect(bodies.length).toBeGreaterThanOrEqual(5);
  expect(bodies.filter((body) => /"(args|result|logs)":/.test(body))).toEqual([]);
  expect(seen.wrongs).toEqual([]);
}, 180_000);

test("a log of a hundred megabytes is read at both ends and searched", async () => {
  const serving = await place.serve({ env: { SVC_MAX_LOG_MB: "150" } });
  const filled = await createSampleWorkspace(serving);
  await filled.script(
    "u/ann/talk",
    `export const main = () => {
  const line = "a line of the log that is about as long as lines usually are, with a number: ";
  for (let part = 0; part < 1_000; part++) {
    console.log(Array.from({ length: 1_000 }, (_, i) => line + (part * 1_000 + i)).join("\\n"));
  }
};`,
  );
  const id = await filled.run("u/ann/talk", {});
  await using seen = await visit(browser, serving.url, { token: filled.token });
  const { page } = seen;
  const opened = await took(async () => {
    await seen.open(`w/acme/runs/${id}`);
    await page.getByRole("log").getByText("with a number: 0", { exact: false }).first().waitFor();
  });
  const log = page.getByRole("log");
  await log.focus();
  const ended = await took(async () => {
    while (!(await log.getByText("with a number: 999999").count())) {
      await page.keyboard.press("End");
      await page.waitForTimeout(100);
    }
  });
  const searched = await took(async () => {
    await page.getByLabel("Search the log").fill("number: 777777");
    await page.getByText("1 of 1").waitFor();
    await log.locator("mark").waitFor();
  });
  console.log(
    `ms: log opened ${opened}, its end read ${ended}, searched ${searched}; ${await nodes(page)} elements, heap ${await heap(page)} MB`,
  );
  expect(await nodes(page)).toBeLessThan(1_500);
  expect(seen.wrongs).toEqual([]);
}, 180_000);

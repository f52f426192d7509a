/**
 * `npx bun run build && npx bun test/bench/console/pages.ts [parts] [--quick] [--minutes=60]`: how soon pages of the
 * console can be used in a real browser, which draws without a graphics processor, and what they keep in memory. Parts,
 * all unless some are named: `home`, `flow` (one of 500 steps, and its run), `log` (100 MB), `runs` (a list of a
 * million) and `live` (an hour of runs, with the list open; memory is told every ten minutes). `--quick` takes a
 * hundredth of the runs, a tenth of the log and of the steps, and a minute.
 */
import type { Page } from "playwright-core";
import { openBrowser, type Visit, visit } from "../../acceptance/console/browser.ts";
import { createSampleWorkspace, type SampleWorkspace } from "../../acceptance/console/filled.ts";
import { createInstallation } from "../../acceptance/e2e/executable.ts";
import { storeJobs } from "../../support/many-jobs.ts";
import { panPage, watchPage, watchPaint } from "../tools/page-work.ts";

const quick = process.argv.includes("--quick");
const RUNS = quick ? 10_000 : 1_000_000;
const LOG_MB = quick ? 10 : 100;
const STEPS = quick ? 50 : 500;
const minutes = process.argv.find((each) => each.startsWith("--minutes="))?.slice("--minutes=".length);
const LIVE_MINUTES = Number(minutes ?? (quick ? 1 : 60));
const REPORTS = Math.max(3, Math.ceil(LIVE_MINUTES / 10));
const FRAMES = 120;
const LARGE = "f/finance/large";

const named = process.argv.slice(2).filter((each) => !each.startsWith("--"));

const place = createInstallation();
const [serving, browser] = await Promise.all([
  place.serve({ env: { JOB_RETENTION_SECS: "0", SVC_MAX_LOG_MB: "150" } }),
  openBrowser(),
]);
try {
  const filled = await createSampleWorkspace(serving);
  for (const [name, part] of Object.entries({ home, flow: largeFlow, log: largeLog, runs, live: liveRuns }))
    if (named.length === 0 || named.includes(name)) await onPage(filled, part);
} finally {
  await browser.close();
  place.remove();
}

/** Runs the work in a separate visit, so that memory of one page does not count for the next. */
async function onPage(
  filled: SampleWorkspace,
  work: (seen: Visit, filled: SampleWorkspace) => Promise<void>,
): Promise<void> {
  await using seen = await visit(browser, serving.url, { token: filled.token });
  seen.page.setDefaultTimeout(120_000);
  await work(seen, filled);
}

/** Waits until a page shows its content, is idle, and responds at once. */
async function usable(page: Page): Promise<void> {
  await page.evaluate("new Promise((done) => requestIdleCallback(() => done()))");
}

async function home(seen: Visit): Promise<void> {
  const { page } = seen;
  const sizes: Promise<number>[] = [];
  page.on("requestfinished", (request) => {
    if (!new URL(request.url()).pathname.startsWith("/assets/")) return;
    sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
  });
  const { measure, heapMb } = await watchPage(page);
  const shown = async () => {
    await page.getByText("Nightly report").first().waitFor();
    await usable(page);
  };
  const open = async () => {
    await seen.open("w/acme");
    await shown();
  };
  await measure("Home, first visit", open);
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  console.log(`Home, first visit: ${Math.round(bytes / 1_000)} kB of files, as they travel`);
  await measure("Home, files kept by the browser", open);
  console.log(`Home: heap ${(await heapMb()).toFixed(1)} MB`);
}

async function runs(seen: Visit): Promise<void> {
  storeJobs(place.data_dir, RUNS);
  const { page } = seen;
  const { measure, heapMb } = await watchPage(page);
  const painted = await watchPaint(page, "[role=row]", 101);
  const shown = async () => {
    await page.getByRole("row").nth(100).waitFor();
    await usable(page);
  };
  const many = `Runs with ${RUNS.toLocaleString("en")}`;
  await measure(`${many}, loaded`, async () => {
    await seen.open("w/acme/runs");
    await shown();
  });
  console.log(`${many}, loaded: list painted after ${(await painted()).toFixed(0)} ms`);
  await measure(`${many}, loaded anew`, async () => {
    await seen.open("w/acme/runs");
    await shown();
  });
  console.log(`${many}, loaded anew: list painted after ${(await painted()).toFixed(0)} ms`);
  await page.getByRole("link", { name: "Home" }).click();
  await page.getByText("Nightly report").first().waitFor();
  await measure(`${many}, come to from Home`, async () => {
    await page.getByRole("link", { name: "Runs", exact: true }).click();
    await shown();
  });
  await measure(`${many}, by path`, async () => {
    await page.getByLabel("Path begins with").fill("u/ann/script7");
    await page.getByRole("link", { name: "u/ann/script6" }).first().waitFor({ state: "detached" });
    await page.getByRole("link", { name: "u/ann/script7" }).first().waitFor();
  });
  console.log(`${many}: heap ${(await heapMb()).toFixed(1)} MB`);
}

async function largeLog(seen: Visit, filled: SampleWorkspace): Promise<void> {
  const { page } = seen;
  const lines = LOG_MB * 10_000;
  await filled.script(
    "u/ann/talk",
    `export const main = () => {
  const line = "a line of the log that is about as long as lines usually are, with a number: ";
  for (let part = 0; part < ${lines / 1_000}; part++) {
    console.log(Array.from({ length: 1_000 }, (_, i) => line + (part * 1_000 + i)).join("\\n"));
  }
};`,
  );
  const id = await filled.run("u/ann/talk", {});
  const { measure, heapMb } = await watchPage(page);
  const log = page.getByRole("log");
  await measure(`a run with a log of ${LOG_MB} MB, opened`, async () => {
    await seen.open(`w/acme/runs/${id}`);
    await log.getByText("with a number: 0", { exact: false }).first().waitFor();
    await usable(page);
  });
  await log.focus();
  await measure("its end", async () => {
    while (!(await log.getByText(`with a number: ${lines - 1}`).count())) {
      await page.keyboard.press("End");
      await page.waitForTimeout(50);
    }
  });
  await measure("a search in it", async () => {
    await page.getByLabel("Search the log").fill(`number: ${Math.floor(lines * 0.77)}`);
    await log.locator("mark").first().waitFor();
  });
  console.log(`a log of ${LOG_MB} MB: heap ${(await heapMb()).toFixed(1)} MB`);
}

async function largeFlow(seen: Visit, filled: SampleWorkspace): Promise<void> {
  const { page } = seen;
  const modules = Array.from({ length: STEPS }, (_, index) => ({
    id: `s${index}`,
    value: { type: "identity" },
  }));
  await filled.ask("POST", "/w/acme/flows/create", { path: LARGE, summary: "Large", value: { modules } });
  const id = await filled.ask("POST", `/w/acme/jobs/run/f/${LARGE}`, {});
  const { measure, heapMb } = await watchPage(page);
  const last = page.locator(`.step[data-step="s${STEPS - 1}"]`);
  const graph = async (what: string, address: string, ready: () => Promise<unknown>) => {
    await measure(`${what} of ${STEPS} steps`, async () => {
      await seen.open(address);
      await ready();
      await usable(page);
    });
    await measure("  a frame while panning", () => panPage(page, FRAMES), FRAMES);
    console.log(`  heap ${(await heapMb()).toFixed(1)} MB`);
  };
  await graph("the graph of a flow", `w/acme/flows/${LARGE}`, () => last.waitFor());
  await page.goto(`${serving.url}/w/acme/runs/${id}`);
  await page.getByText("Succeeded").first().waitFor();
  await graph("the graph of a run", `w/acme/runs/${id}`, () => last.getByText("Succeeded").waitFor());
}

async function liveRuns(seen: Visit, filled: SampleWorkspace): Promise<void> {
  const { page } = seen;
  const { heapMb, nodes } = await watchPage(page);
  await seen.open("w/acme/runs");
  await page.getByRole("link", { name: "u/ann/hello" }).first().waitFor();
  let count = 0;
  // Collects garbage first, so that unreferenced nodes do not count.
  const report = async (minute: number) =>
    console.log(
      `Runs, open for ${minute.toFixed(1).replace(".0", "")} min of ${count} runs: ` +
        `heap ${(await heapMb()).toFixed(1)} MB, ${await nodes()} nodes`,
    );
  await report(0);
  const begun = Date.now();
  for (let index = 1; index <= REPORTS; index++) {
    const minute = (LIVE_MINUTES * index) / REPORTS;
    for (const end = begun + minute * 60_000; Date.now() < end; count++) {
      await filled.run("u/ann/hello", { name: `number ${count}` });
      await Bun.sleep(500);
    }
    await report(minute);
  }
}

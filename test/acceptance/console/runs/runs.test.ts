/** The list of runs: the queue, time ranges to zoom into, search words, and selected runs. */
import { expect, test } from "bun:test";
import { expectSoon } from "../browser.ts";
import { useSite } from "../site.ts";

const site = useSite({ SVC_WORKER_TAGS: "bun,flow,dependency" });

test("the queue is shown by tag, with links to its jobs", async () => {
  await site.filled.script("u/ann/slow", "export const main = () => Bun.sleep(60_000);");
  await site.filled.ask("POST", "/w/acme/flows/create", {
    path: "u/ann/asks",
    summary: "",
    description: "",
    value: {
      modules: [
        {
          id: "a",
          suspend: { required_events: 1 },
          value: {
            type: "rawscript",
            language: "bun",
            content: "export const main = () => 1",
            input_transforms: {},
          },
        },
        { id: "b", value: { type: "script", path: "u/ann/hello", input_transforms: {} } },
      ],
    },
    schema: {},
  });
  await using seen = await site.visit();
  const { page } = seen;
  await site.filled.ask("POST", "/w/acme/jobs/run/f/u/ann/asks", {});
  await seen.open("w/acme/runs");
  const queue = page.getByRole("list", { name: "Queue" });
  await queue.getByRole("button", { name: "1 waiting for approval or a timer" }).waitFor();
  const ids = [];
  for (let nth = 0; nth < 2; nth++)
    ids.push(await site.filled.ask("POST", "/w/acme/jobs/run/p/u/ann/slow?tag=bun", {}));
  const nowhere = await site.filled.ask("POST", "/w/acme/jobs/run/preview", {
    content: "export const main = () => 1",
    language: "bun",
    tag: "nobody-works-on-this",
    args: {},
  });
  const lonely = queue.getByRole("listitem").filter({ hasText: "nobody-works-on-this" });
  await lonely.getByRole("button", { name: "1 waiting for a worker" }).waitFor();
  await queue.getByRole("button", { name: /running/ }).waitFor();
  await seen.picture("runs-queue");
  await seen.accessible("the queue");
  await lonely.getByRole("button").click();
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
    tag: "nobody-works-on-this",
    status: "waiting",
    kind: "everything",
  });
  await page.getByRole("table", { name: "Runs" }).getByText("Waiting").waitFor();
  for (const id of [...ids, nowhere]) await site.filled.ask("POST", `/w/acme/jobs_u/queue/cancel/${id}`, {});
  await lonely.waitFor({ state: "detached" });
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("dragging zooms into a time range, and its chip resets it", async () => {
  const early = await site.filled.run("u/ann/hello", { name: "early" });
  await Bun.sleep(1_500);
  const late = await site.filled.run("u/ann/hello", { name: "late" });
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme/runs?path=u/ann/hello");
  const strip = page.getByRole("img", { name: /runs between/ });
  const box = (await strip.boundingBox())!;
  const row = (id: string) => page.locator(`a[href$="/runs/${id}"]`);
  await row(early).waitFor();
  // Only the last run is at the right edge.
  await page.mouse.move(box.x + box.width - 2, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 60, box.y + 50, { steps: 5 });
  await page.mouse.up();
  await page.waitForURL(/after=.*before=/);
  await row(early).waitFor({ state: "detached" });
  await row(late).waitFor();
  await page.getByRole("button", { name: /Remove this filter/ }).click();
  await row(early).waitFor();
  // Each step can be undone.
  await page.goBack();
  await row(early).waitFor({ state: "detached" });
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("runs are filtered by time, outcome and trigger, and Back undoes each filter", async () => {
  const cancelled = await site.filled.ask(
    "POST",
    "/w/acme/jobs/run/p/u/ann/hello?scheduled_in_secs=5000",
    {},
  );
  await site.filled.ask("POST", `/w/acme/jobs_u/queue/cancel/${cancelled}`, {});
  await using seen = await site.visit();
  const { page } = seen;
  const row = (id: string) => page.locator(`a[href$="/runs/${id}"]`);
  const choose = async (name: string, option: string) => {
    await page.getByRole("combobox", { name, exact: true }).click();
    await page.getByRole("option", { name: option, exact: true }).click();
  };
  await seen.open("w/acme/runs");
  await row(site.filled.failed).waitFor();
  await choose("Status", "Failed");
  await row(cancelled).waitFor({ state: "detached" });
  await row(site.filled.failed).waitFor();
  await choose("Status", "Cancelled");
  await row(cancelled).waitFor();
  await row(site.filled.failed).waitFor({ state: "detached" });
  await choose("Status", "Any status");
  await page.getByRole("button", { name: "More filters" }).click();
  await choose("Trigger", "A schedule");
  await page.getByText("No run matches").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /^Trigger: A schedule/ }).click();
  await row(site.filled.failed).waitFor();
  await page.getByRole("button", { name: "Time", exact: true }).click();
  await seen.picture("runs-time");
  await seen.accessible("the choice of a time");
  await page.getByRole("button", { name: "Last hour" }).click();
  await page.waitForURL(/after=/);
  await row(site.filled.failed).waitFor();
  await page.getByRole("button", { name: "Time", exact: true }).click();
  await page.getByLabel("To", { exact: true }).fill("2020-01-02T03:04");
  await page.getByLabel("To", { exact: true }).press("Enter");
  await page.getByText("No run matches").waitFor();
  await page.goBack();
  await row(site.filled.failed).waitFor();
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("a search that takes too long shows how far it got, and continues from there", async () => {
  const early = await site.filled.run("u/ann/hello", { name: "early" });
  await using seen = await site.visit();
  const { page } = seen;
  // The server's response when its time limit ended before it found one.
  await page.route(/jobs\/list\?.*label=none/, (route) =>
    route.request().url().includes("created_before=")
      ? route.continue({ url: route.request().url().replace("label=none", "") })
      : route.fulfill({ json: [], headers: { "searched-until": new Date().toISOString() } }),
  );
  await seen.open("w/acme/runs?label=none");
  await page.getByRole("heading", { name: "No matching run found yet" }).waitFor();
  await page.getByText(/Only runs queued after/).waitFor();
  await page.getByRole("button", { name: "Search earlier runs" }).click();
  await page.locator(`a[href$="/runs/${early}"]`).waitFor();
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("a dot opens its run, whose version and script are a click away", async () => {
  await site.filled.script("u/ann/twice", "export const main = () => 'the first';");
  const first = await site.filled.run("u/ann/twice", {});
  const { hash } = JSON.parse(await site.filled.ask("GET", "/w/acme/scripts/get/p/u/ann/twice"));
  await site.filled.script("u/ann/twice", "export const main = () => 'the second';", { parent_hash: hash });
  await site.filled.run("u/ann/twice", {});
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme/runs?path=u/ann/twice");
  await page.locator(".strip .dot").first().click();
  await page.waitForURL(/\/runs\/[0-9a-f-]{36}$/);
  await seen.open(`w/acme/runs/${first}`);
  await page.getByRole("link", { name: hash }).click();
  await page.getByText(`What changed from version ${hash} to the deployed one`).waitFor();
  await page.getByText("Code", { exact: true }).last().click();
  await page.getByText("the first").waitFor();
  await page.goBack();
  await page.getByRole("link", { name: "Other runs" }).click();
  await expectSoon(() => page.getByRole("table", { name: "Runs" }).getByRole("row").count(), 3);
  const read = async () => JSON.parse(await site.filled.ask("GET", "/w/acme/flows/get/f/finance/nightly"));
  const flow = await read();
  await site.filled.ask("POST", "/w/acme/flows/update/f/finance/nightly", { ...flow, summary: "Renamed" });
  const { version_id } = await read();
  expect(version_id).not.toBe(flow.version_id);
  await seen.open(`w/acme/runs/${site.filled.flow}`);
  await page.getByRole("link", { name: `Version ${flow.version_id}`, exact: true }).click();
  await page.getByRole("table", { name: "Versions" }).getByText(`${version_id}`, { exact: true }).waitFor();
  const version = (name: string) => page.getByRole("combobox", { name }).inputValue();
  await expectSoon(async () => (await version("From version")).split(",")[0]!, `${flow.version_id}`);
  expect((await version("To version")).split(",")[0]).toBe(`${version_id}`);
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("runs are found by words in their arguments and results", async () => {
  const found = await site.filled.run("u/ann/hello", { name: "Wolperdinger" });
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme/runs");
  await page.getByRole("button", { name: "More filters" }).click();
  await page.getByLabel("Text", { exact: true }).fill("Wolperdinger");
  await page.getByLabel("Text", { exact: true }).press("Enter");
  await page.waitForURL(/text=Wolperdinger/);
  await page.locator(`a[href$="/runs/${found}"]`).waitFor();
  await expectSoon(() => page.getByRole("table", { name: "Runs" }).getByRole("row").count(), 2);
  // The selection in the address survives a reload.
  await page.reload();
  await page.getByText("Text: Wolperdinger").waitFor();
  await seen.open("w/acme/runs?text=no-such-word-anywhere");
  await page.getByText("No run matches").waitFor();
  await page.getByRole("button", { name: "Clear the filters" }).click();
  await page.locator(`a[href$="/runs/${found}"]`).waitFor();
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("a script that its route retries is listed among the runs, and not among test runs", async () => {
  const retried = { path: "u/ann/retried", script_path: "u/ann/hello", is_flow: false };
  await site.filled.ask("POST", "/w/acme/http_triggers/create", {
    ...retried,
    ...{ route_path: "retried", workspaced_route: true, http_method: "post", request_type: "async" },
    retry: { constant: { attempts: 1, seconds: 0 } },
  });
  const run = await site.filled.ended(await site.filled.ask("POST", "/r/acme/retried", { name: "Retried" }));
  await using seen = await site.visit();
  const { page } = seen;
  const link = page.locator(`a[href$="/runs/${run}"]`);
  await seen.open("w/acme/runs?trigger=http&kind=previews");
  await page.getByText("No run matches").waitFor();
  for (const kind of ["scripts", "runs"]) {
    await seen.open(`w/acme/runs?trigger=http&kind=${kind}`);
    await link.waitFor();
  }
  await page.getByLabel("Select the run of u/ann/hello").check();
  expect(await page.getByRole("button", { name: "Run again" }).isEnabled()).toBe(true);
  await link.click();
  await page.getByText("by an HTTP route").waitFor();
  await page.getByRole("link", { name: "The script" }).waitFor();
  await page.getByRole("button", { name: "Run again" }).click();
  await page.waitForURL((url) => /\/runs\/[0-9a-f-]{36}$/.test(url.pathname) && !url.pathname.endsWith(run));
  await page.getByText("Hello Retried").first().waitFor();
  expect(seen.wrongs).toEqual([]);
}, 60_000);

/** Complete user journeys in a real browser, against the executable. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { createInstallation, type Installation } from "../e2e/executable.ts";
import { expectSoon, openBrowser, PHONE, type Visit, visit } from "./browser.ts";
import { createSampleWorkspace, PASSWORD, type SampleWorkspace } from "./filled.ts";

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

const button = ({ page }: Visit, name: string) => page.getByRole("button", { name, exact: true });
const heading = ({ page }: Visit, name: string) => page.getByRole("heading", { name, exact: true });

/** The browser also logs rejected requests, which cannot be prevented. */
function expectOnly(seen: Visit, ...statuses: number[]): void {
  const isTold = (wrong: string) => statuses.some((status) => wrong.includes(`status of ${status}`));
  expect(seen.wrongs.filter((each) => !isTold(each))).toEqual([]);
  seen.wrongs.length = 0;
}

async function signIn(seen: Visit, email: string, password: string): Promise<void> {
  await heading(seen, "Sign in").waitFor();
  await seen.page.getByLabel("E-mail").fill(email);
  await seen.page.getByRole("textbox", { name: "Password" }).fill(password);
  await button(seen, "Sign in").click();
}

test("from the setup link to the first run", async () => {
  const serving = await place.serve();
  {
    await using seen = await visit(browser, serving.url);
    const { page } = seen;
    await page.goto(serving.setup_url!);
    await heading(seen, "Set up svc").waitFor();
    await seen.accessible("setup");
    await page.getByLabel("E-mail").fill("ann@example.org");
    await page.getByRole("textbox", { name: "Password", exact: true }).fill(PASSWORD);
    await page.getByRole("textbox", { name: "The same password again" }).fill("another one");
    await page.getByText("The passwords differ").waitFor();
    await page.getByRole("textbox", { name: "The same password again" }).fill(PASSWORD);
    await button(seen, "Create the account").click();
    await heading(seen, "Make a workspace").waitFor();
    await seen.accessible("first workspace");
    await page.getByLabel("Name").fill("Team One");
    await page.getByText("Its id will be team-one.").waitFor();
    await button(seen, "Make the workspace").click();
    await heading(seen, "Start with a script").waitFor();
    await seen.accessible("empty home");
    await button(seen, "Use it").first().click();
    await page.getByLabel("name").fill("Zoë");
    await button(seen, "Run").click();
    await page.getByText("Succeeded").first().waitFor();
    await page.getByText("Hello, Zoë!").waitFor();
    await page.getByRole("log").getByText("greeting Zoë").waitFor();
    await page.getByRole("link", { name: "Home" }).click();
    await page.getByText("Greet somebody").waitFor();
    await page.getByText("Succeeded").waitFor();
  }
  // A visitor who is not logged in is asked to, and then returns to the page they opened.
  await using seen = await visit(browser, serving.url);
  await seen.page.goto(`${serving.url}/w/team-one/runs?kind=scripts`);
  await signIn(seen, "ann@example.org", "wrong");
  await seen.page.getByRole("alert").waitFor();
  await seen.page.getByRole("textbox", { name: "Password" }).fill(PASSWORD);
  await button(seen, "Sign in").click();
  await heading(seen, "Runs").waitFor();
  expect(seen.page.url()).toBe(`${serving.url}/w/team-one/runs?kind=scripts`);
  expectOnly(seen, 401, 400);
}, 60_000);

async function begun(): Promise<{ url: string; filled: SampleWorkspace }> {
  const serving = await place.serve();
  return { url: serving.url, filled: await createSampleWorkspace(serving) };
}

test("a failed run is found, read, and run again with other arguments, on a phone", async () => {
  const { url, filled } = await begun();
  await using seen = await visit(browser, url, { token: filled.token, viewport: PHONE });
  const { page } = seen;
  await seen.open("w/acme");
  await page.getByRole("button", { name: "Open the navigation" }).click();
  await page.getByRole("link", { name: "Runs" }).click();
  await page.getByRole("combobox", { name: "Status" }).click();
  await page.getByRole("option", { name: "Failed" }).click();
  await page.getByRole("link", { name: "f/finance/refund" }).click();
  await expectSoon(() => new URL(page.url()).pathname, `/w/acme/runs/${filled.failed}`);
  await page.getByText("no such customer").first().waitFor();
  const line = page.getByLabel("Line 4 of the script").locator("[data-here]");
  await line.getByText('throw new Error("no such customer")').waitFor();
  await page.getByRole("link", { name: "Change and run" }).click();
  const order = page.getByLabel("order");
  await order.waitFor();
  await expectSoon(() => order.inputValue(), "7");
  await order.fill("8");
  await page.getByRole("button", { name: "Add to items" }).click();
  await seen.accessible("form with a list");
  await seen.picture("form-list");
  await page.getByLabel("name").fill("cup");
  await order.press("Control+Enter");
  await page.waitForURL(
    (now) => /runs\/[0-9a-f-]{36}$/.test(now.pathname) && !now.pathname.endsWith(filled.failed),
  );
  await page.getByText("Failed").first().waitFor();
  const id = page.url().slice(-36);
  const args = JSON.parse(await filled.ask("GET", `/w/acme/jobs_u/get_args/${id}`));
  expect(args).toEqual({ order: 8, reason: "damaged", items: [{ name: "cup" }] });
  const sideways = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
  expect(sideways).toBe(false);
}, 60_000);

test("runs are selected, rerun and canceled together", async () => {
  const { url, filled } = await begun();
  await filled.script(
    "u/ann/long",
    "export const main = async () => { console.log('begun'); await Bun.sleep(60_000); };",
  );
  await filled.ask("POST", "/w/acme/jobs/run/p/u/ann/long", {});
  await using seen = await visit(browser, url, { token: filled.token });
  const { page } = seen;
  await seen.open("w/acme/runs?path=u/ann/");
  await page.getByLabel("Select the run of u/ann/hello").first().check();
  await button(seen, "Run again").click();
  await seen.accessible("dialog");
  await page.getByRole("dialog").getByRole("button", { name: "Start again" }).click();
  await page.getByText("1 run started again").waitFor();
  await page.getByLabel("Select the run of u/ann/long").check();
  await button(seen, "Cancel").click();
  await seen.accessible("dialog of a cancellation");
  await page.getByRole("dialog").getByRole("button", { name: "Cancel them" }).click();
  await page.getByText("1 of 1 run cancelled").waitFor();
  await page
    .getByRole("row", { name: /u\/ann\/long/ })
    .getByText("Cancelled")
    .waitFor();
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("log and stream of a running job are shown live, and then its outcome", async () => {
  const { url, filled } = await begun();
  await filled.script(
    "u/ann/steps",
    `export const main = async () => {
  for (let step = 1; step <= 4; step++) { console.log("step " + step); await Bun.sleep(400); }
  return { html: "<h1>Done</h1><script>parent.alert(1)</script>" };
};`,
  );
  // On PostgreSQL, the page comes from another server than the one that runs the job.
  const other = { SVC_DATA_DIR: join(place.folder, "other"), SVC_WORKER_TAGS: "nothing" };
  const page_url = process.env.DATABASE_URL ? (await place.serve({ env: other })).url : url;
  const id = await filled.ask("POST", "/w/acme/jobs/run/p/u/ann/steps", {});
  await using seen = await visit(browser, page_url, { token: filled.token });
  await seen.open(`w/acme/runs/${id}`);
  await seen.page.getByRole("log").getByText("step 1", { exact: true }).waitFor();
  await seen.page.getByText("Succeeded").first().waitFor();
  await seen.page.frameLocator("iframe").getByRole("heading", { name: "Done" }).waitFor();
  const lines = await seen.page
    .getByRole("log")
    .getByText(/^step \d$/)
    .allInnerTexts();
  expect(lines).toEqual(["step 1", "step 2", "step 3", "step 4"]);
}, 60_000);

test("when the session ended elsewhere or the server is down, the page shows it and recovers", async () => {
  const serving = await place.serve();
  const filled = await createSampleWorkspace(serving);
  await using seen = await visit(browser, serving.url, { token: filled.token });
  await seen.open("w/acme/begin/script/f/finance/refund");
  await seen.page.getByLabel("order").fill("5");
  await filled.ask("POST", "/auth/logout");
  await button(seen, "Run").click();
  await heading(seen, "Your session has ended").waitFor();
  await seen.accessible("session ended");
  await seen.picture("session-ended");
  await seen.page.getByRole("textbox", { name: "Password" }).fill(PASSWORD);
  await seen.page.getByRole("dialog").getByRole("button", { name: "Sign in" }).click();
  await heading(seen, "Your session has ended").waitFor({ state: "hidden" });
  await expectSoon(() => seen.page.getByLabel("order").inputValue(), "5");
  expectOnly(seen, 401);
  await seen.context.setOffline(true);
  await button(seen, "Run").click();
  await seen.page.getByText("The server cannot be reached. The data shown may be out of date").waitFor();
  await seen.picture("lost");
  await seen.context.setOffline(false);
  await seen.page.getByText("The data shown may be out of date").waitFor({ state: "hidden" });
  expect(seen.wrongs.filter((each) => !each.includes("ERR_INTERNET_DISCONNECTED"))).toEqual([]);
  seen.wrongs.length = 0;
}, 60_000);

test("with the keyboard alone, a script is found in the palette, filled in, run and read", async () => {
  const { url, filled } = await begun();
  await using seen = await visit(browser, url, { token: filled.token });
  const { page } = seen;
  await seen.open("w/acme");
  await page.getByText("Nightly report").waitFor();
  await page.keyboard.press("Control+k");
  const search = page.getByRole("textbox", { name: "Search", exact: true });
  await search.and(page.locator(":focus")).waitFor();
  await seen.picture("palette");
  await page.keyboard.type("refund");
  await page.locator("[data-selected]", { hasText: "Refund an order" }).waitFor();
  await seen.accessible("palette");
  await page.keyboard.press("Enter");
  await page.getByRole("textbox", { name: "order" }).focus();
  await page.keyboard.type("9");
  await page.keyboard.press("Control+Enter");
  await page.getByText("no such customer").first().waitFor();
  await page.locator("h1").focus();
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await heading(seen, "Runs").waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("u/ann");
  await page.waitForURL(/path=u%2Fann/);
  await page.getByRole("link", { name: "f/finance/refund" }).first().waitFor({ state: "detached" });
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("a form accepts files, JSON and a later time, and can be shared prefilled", async () => {
  const { url, filled } = await begun();
  await filled.script("u/ann/take", "export const main = (data: string, big: any) => ({ data, big });", {
    schema: {
      type: "object",
      required: ["data"],
      properties: { data: { type: "string", contentEncoding: "base64" }, big: {} },
    },
  });
  await using seen = await visit(browser, url, { token: filled.token });
  const { page } = seen;
  await seen.open("w/acme/begin/script/u/ann/take");
  // Required arguments are asked for before anything is sent.
  await button(seen, "Run").click();
  await page.getByText("is required").filter({ visible: true }).waitFor();
  const chooser = page.waitForEvent("filechooser");
  await page.getByText("Choose a file").click();
  await (await chooser).setFiles({ name: "a.bin", mimeType: "text/plain", buffer: Buffer.from("xyz") });
  await page.getByRole("textbox", { name: "big" }).fill("[3544790567247868102]");
  await button(seen, "More ways to run it").click();
  await page.getByRole("menuitem", { name: "Copy a link with these arguments" }).click();
  await page.getByText("The link is copied").waitFor();
  const link = (await page.evaluate("navigator.clipboard.readText()")) as string;
  expect(new URL(link).search).toBe("");
  await page.goto("about:blank");
  await page.goto(link);
  await page.getByText("JSON", { exact: true }).click();
  await page.getByText("3544790567247868102").waitFor();
  await button(seen, "Run").click();
  await page.getByText("Succeeded").first().waitFor();
  const id = page.url().slice(-36);
  const args = await filled.ask("GET", `/w/acme/jobs_u/get_args/${id}`);
  expect(args.replaceAll(" ", "")).toBe(`{"data":"${btoa("xyz")}","big":[3544790567247868102]}`);
  await page.goto(link);
  await button(seen, "More ways to run it").click();
  await page.getByRole("menuitem", { name: "Run it later, once" }).click();
  const asked: string[] = [];
  page.on("request", (request) => request.url().includes("/jobs/run/") && asked.push(request.url()));
  await page.getByRole("textbox", { name: "big" }).waitFor();
  // Without a time it does not run, whichever way it is submitted.
  await page.getByLabel("When it runs").fill("");
  await page.keyboard.press("Control+Enter");
  await page.getByLabel("When it runs").fill("2030-01-02T03:04");
  await page.keyboard.press("Control+Enter");
  await page.keyboard.press("Control+Enter");
  await page.getByText("Scheduled").first().waitFor();
  expect(asked.map((each) => new URL(each).searchParams.has("scheduled_for"))).toEqual([true]);
  await button(seen, "Cancel").click();
  await page.getByText("Cancelled").first().waitFor();
  expect(seen.wrongs).toEqual([]);
}, 60_000);

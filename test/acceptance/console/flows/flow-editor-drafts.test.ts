/**
 * Drafts are stored on the server: available in another browser, reviewed before the first deployment, never
 * lost to another tab.
 */
import { beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../../e2e/executable.ts";
import type { Visit } from "../browser.ts";
import { createMember } from "../filled.ts";
import { useSite } from "../site.ts";

const site = useSite();

let bob: string;

beforeAll(async () => {
  await createMember(site.serving, site.filled, "bob");
  bob = await site.serving.operator("/users/tokens/impersonate", { impersonate_email: "bob@example.org" });
  await site.filled.ask("POST", "/w/acme/folders/addowner/finance", { owner: "u/bob" });
});

const read = async (path: string) => JSON.parse(await site.filled.ask("GET", `/w/acme/${path}`));
const card = (page: Page, id: string) => page.locator(`.step[data-step="${id}"]`);

async function begin({ page, open }: Visit, name: string, summary: string): Promise<void> {
  await open("/w/acme/new/flow");
  await page.getByLabel("Belongs to").first().click();
  await page.getByRole("option", { name: "f/finance" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill(name);
  await page.getByRole("textbox", { name: "Summary" }).fill(summary);
  await page.getByRole("button", { name: "Create and edit" }).click();
  await page.getByRole("heading", { name: summary }).waitFor();
}

async function insertCode(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Add a step", exact: true }).click();
  await page.getByRole("textbox", { name: "Search steps, scripts and flows" }).fill("Code in TypeScript");
  await page.keyboard.press("Enter");
  await card(page, "a").waitFor();
}

async function rename(page: Page, summary: string): Promise<void> {
  await card(page, "a").click();
  await page
    .getByRole("region", { name: /^Step / })
    .getByRole("textbox", { name: "Summary" })
    .fill(summary);
}

test("a new flow is found in another browser, reviewed by others, and discarded", async () => {
  const path = "f/finance/begun";
  await using first = await site.visit();
  await begin(first, "begun", "The new one");
  await insertCode(first.page);
  await rename(first.page, "Looks it up");
  await first.page.getByText("The draft is saved").waitFor();
  await first.page.getByRole("button", { name: "Flow", exact: true }).click();
  await first.page.getByRole("menuitem", { name: "Copy a link to the changes" }).click();
  await first.page.getByText("Link copied. Everyone who can read").waitFor();
  const link = String(await first.page.evaluate("navigator.clipboard.readText()"));

  await using other = await site.visit({ token: bob });
  await other.open(new URL(link).pathname + new URL(link).search);
  await other.page.getByText("A new flow, not deployed yet: the draft of ann").waitFor();
  await other.page.getByRole("button", { name: /Looks it up · added/ }).click();
  await other.page.getByText("Looks it up").nth(1).waitFor();
  await other.accessible("The review of a new flow");
  await other.picture("flow-editor-review-new");

  await using second = await site.visit();
  await second.open("/w/acme");
  await second.page.getByRole("link", { name: /The new one/ }).click();
  await card(second.page, "a").getByText("Looks it up").waitFor();
  await second.page.getByRole("button", { name: "Discard the draft" }).click();
  await second.page.getByText("The flow was never deployed: it is deleted").waitFor();
  await second.page.getByRole("button", { name: "Discard", exact: true }).click();
  await second.page.waitForURL(/\/w\/acme$/);
  expect(await read(`flows/exists/${path}`)).toBe(false);

  // The tab that still shows it does not save it again, and says why.
  await rename(first.page, "Too late");
  await first.page.getByText("could not be saved").waitFor();
  first.wrongs.length = 0;
}, 60_000);

test("the page of a flow that was never deployed offers its editor, and no run", async () => {
  const body = { path: "f/finance/unborn", summary: "Unborn", value: { modules: [] }, draft_only: true };
  await site.filled.ask("POST", "/w/acme/flows/create", body);
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme/flows/f/finance/unborn");
  await page.getByText("This flow was never deployed").waitFor();
  await seen.picture("flow-never-deployed");
  await seen.accessible("A flow that was never deployed");
  expect(await page.getByRole("link", { name: "Run", exact: true }).count()).toBe(0);
  await page.getByRole("link", { name: "Test or deploy" }).click();
  await page.getByRole("button", { name: "Deploy" }).first().waitFor();
}, 60_000);

test("two tabs of one user do not overwrite each other", async () => {
  const path = "f/finance/tabs";
  const code = { type: "rawscript", language: "bun", content: "export const main = () => 1" };
  const value = { modules: [{ id: "a", value: code }] };
  await site.filled.ask("POST", "/w/acme/flows/create", { path, summary: "Tabs", value });
  const stored = async () => (await read(`flows/get/draft/${path}`)).draft?.value.modules[0].summary;
  await using first = await site.visit();
  await using second = await site.visit();
  for (const each of [first, second]) await each.open(`/w/acme/draw/${path}`);
  await rename(first.page, "Of the first");
  await first.page.getByText("The draft is saved").waitFor();
  const alertIn = ({ page }: Visit) => page.getByRole("alert").filter({ hasText: "edited this elsewhere" });

  await rename(second.page, "Of the second");
  await alertIn(second).waitFor();
  // The browser logs the rejected save.
  expect(second.wrongs.splice(0)).toEqual([expect.stringContaining("409 (Conflict)")]);
  expect(await stored()).toBe("Of the first");
  expect(await second.page.getByRole("button", { name: "Deploy", exact: true }).isDisabled()).toBe(true);
  await second.accessible("A draft that was saved elsewhere");
  await second.picture("flow-editor-elsewhere");
  await second.page.getByRole("button", { name: "Keep this one" }).click();
  await until(async () => (await stored()) === "Of the second", "the second draft");
  await alertIn(second).waitFor({ state: "detached" });

  // The first has nothing to save: it notices when it is about to delete a draft that it has not seen.
  await first.page.getByRole("button", { name: "Deploy", exact: true }).click();
  const dialog = first.page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Deploy", exact: true }).click();
  await dialog.getByText("in another tab or browser meanwhile").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await alertIn(first).waitFor();
  expect(await stored()).toBe("Of the second");
  await first.page.getByRole("button", { name: "Show the other one" }).click();
  await card(first.page, "a").getByText("Of the second").waitFor();
  await alertIn(first).waitFor({ state: "detached" });
  await rename(first.page, "Of both");
  await until(async () => (await stored()) === "Of both", "the draft of both");
}, 60_000);

test("a save whose response was lost is not mistaken for another tab's", async () => {
  const path = "f/finance/lost";
  const code = { type: "rawscript", language: "bun", content: "export const main = () => 1" };
  await site.filled.ask("POST", "/w/acme/flows/create", {
    path,
    summary: "Lost",
    value: { modules: [{ id: "a", value: code }] },
  });
  await using ann = await site.visit();
  const { page } = ann;
  await ann.open(`/w/acme/draw/${path}`);
  let lost = 0;
  await page.route("**/drafts/create", async (route) => {
    if (lost++ > 0) return route.continue();
    await route.fetch();
    await route.abort();
  });
  await rename(page, "Kept");
  await page.getByText("could not be saved").waitFor();
  await rename(page, "Kept in the end");
  await page.getByText("The draft is saved").waitFor();
  expect(lost).toBeGreaterThan(1);
  expect((await read(`flows/get/draft/${path}`)).draft.value.modules[0].summary).toBe("Kept in the end");
  ann.wrongs.length = 0;
}, 60_000);

test("a new script is saved as a draft, found in another browser, and deployed", async () => {
  await using first = await site.visit();
  await first.open("/w/acme/new/script");
  const save = first.page.getByRole("button", { name: "Save as a draft" });
  expect(await save.isDisabled()).toBe(true);
  await first.page.getByLabel("Name", { exact: true }).fill("hello");
  await first.page.getByLabel("Summary").fill("Not yet");
  await save.click();
  await first.page.getByText("There is a script at u/ann/hello already").waitFor();
  await first.page.getByLabel("Name", { exact: true }).fill("not_yet");
  await save.click();
  await first.page.getByText("This script was never deployed").waitFor();
  await first.accessible("A script that was never deployed");
  await first.page.getByRole("textbox", { name: "Code" }).fill("export const main = () => 4711;");
  await first.page.getByText("The draft is saved").waitFor();
  expect(await read("scripts/list_paths")).not.toContain("u/ann/not_yet");

  await using second = await site.visit();
  await second.open("/w/acme");
  await second.page.getByRole("link", { name: /Not yet/ }).click();
  await second.page.getByText("=> 4711").waitFor();
  await second.page.getByRole("button", { name: "Deploy", exact: true }).click();
  await second.page.getByRole("dialog").getByRole("button", { name: "Deploy", exact: true }).click();
  await second.page.waitForURL(/\/scripts\/u\/ann\/not_yet/);
  const script = await read("scripts/get/p/u/ann/not_yet");
  expect([script.draft_only, script.summary, script.content]).toEqual([
    false,
    "Not yet",
    "export const main = () => 4711;",
  ]);
  await first.open("/w/acme/new/script");
  expect(await first.page.getByLabel("Name", { exact: true }).inputValue()).toBe("");
  first.wrongs.length = 0;
}, 60_000);

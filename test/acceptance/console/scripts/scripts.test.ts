/** Scripts are written, tried, deployed, called and fixed in a real browser on the executable. */

import { expect, test } from "bun:test";
import { expectSoon, type Visit } from "../browser.ts";
import { EMAIL } from "../filled.ts";
import { useSite } from "../site.ts";

const site = useSite();

const button = ({ page }: Visit, name: string) => page.getByRole("button", { name, exact: true });
const editor = ({ page }: Visit) => page.getByRole("textbox", { name: "Code", exact: true });

/** Replaces the whole text of the editor. */
async function write(seen: Visit, code: string): Promise<void> {
  await editor(seen).click();
  await seen.page.keyboard.press("Control+a");
  await seen.page.keyboard.press("Delete");
  await seen.page.keyboard.insertText(code);
}

const GREET = `export async function main(name: string, times: number = 2) {
  console.log("greeting", name);
  return Array.from({ length: times }, () => "Hello " + name);
}`;

test("the shortcut that tests the code starts one run while the first is being submitted", async () => {
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme");
  await page.getByRole("link", { name: "New script" }).click();
  await write(seen, 'export const main = () => "tested once";');
  await page.getByText("It takes no arguments.").waitFor();
  const submit = Promise.withResolvers<void>();
  let submitted = 0;
  await page.route("**/jobs/run/preview", async (route) => {
    submitted++;
    await submit.promise;
    await route.continue();
  });
  await page.keyboard.press("Control+Enter");
  await expectSoon(async () => submitted, 1);
  await page.keyboard.press("Control+Enter");
  submit.resolve();
  await page.getByText("tested once").last().waitFor();
  await page.getByText("Succeeded").waitFor();
  expect(submitted).toBe(1);
}, 60_000);

test("a script is written, tested, deployed, called by its webhook, and its next version compared", async () => {
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme");
  await page.getByRole("link", { name: "New script" }).click();
  await page.getByLabel("Name", { exact: true }).fill("greet");
  await page.getByLabel("Summary").fill("Greet somebody");
  await write(seen, "export function main( {");
  await page
    .getByRole("alert")
    .getByText(/^Line 1: /)
    .waitFor();
  await expectSoon(() => button(seen, "Deploy").isDisabled(), true);
  await write(seen, GREET);
  await page.getByRole("textbox", { name: "name", exact: true }).fill("Zoë");
  await button(seen, "Run what is in the editor").click();
  await page.getByText("Succeeded").waitFor();
  await page.getByRole("log").getByText("greeting Zoë").waitFor();
  await seen.accessible("new script");
  await seen.picture("written-light");
  await button(seen, "Deploy").click();
  await page.getByLabel("What changed").fill("First version");
  await seen.accessible("deploy");
  await page.getByRole("dialog").getByRole("button", { name: "Deploy", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Greet somebody", exact: true }).waitFor();

  await page.getByText("Webhooks", { exact: true }).click();
  await page.getByText("Start and wait").click();
  await button(seen, "Create a token").click();
  const token = await page.getByLabel("Token of the webhook").inputValue();
  const address = await page.getByLabel("Address of the webhook").inputValue();
  const answer = await fetch(address, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "Bob", times: 1 }),
  });
  expect(await answer.json()).toEqual(["Hello Bob"]);
  await page.getByRole("button", { name: "Capture", exact: true }).click();
  await page.getByText("Waiting for a request…").waitFor();
  const capture = await page.getByLabel("Capture address").inputValue();
  const sent = await fetch(capture, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"name":"from a sender"}',
  });
  expect(sent.ok).toBe(true);
  await page.getByRole("region", { name: "Arguments" }).getByText("from a sender").first().waitFor();
  await page.getByText("Schema of these arguments").click();
  await page.getByLabel("Schema of the request").getByText('"string"').waitFor();
  await seen.accessible("captured");
  await button(seen, "Run with it").click();
  await page.getByRole("textbox", { name: "name", exact: true }).waitFor();
  await expectSoon(
    () => page.getByRole("textbox", { name: "name", exact: true }).inputValue(),
    "from a sender",
  );
  expect(page.url()).not.toContain("sender");

  await seen.open("w/acme/edit/u/ann/greet");
  expect(await button(seen, "Discard the draft").count()).toBe(0);
  await write(seen, GREET.replace("Hello", "Good day"));
  await page.getByText("The draft is saved").waitFor();
  await button(seen, "Discard the draft").waitFor();
  await page.reload();
  await page.getByText("This is your saved draft").waitFor();
  await editor(seen).getByText("Good day").waitFor();
  await page.keyboard.press("Control+s");
  await page.getByRole("dialog").getByRole("button", { name: "Deploy", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Greet somebody", exact: true }).waitFor();
  await page.getByText("Versions", { exact: true }).click();
  await page.getByText("First version").waitFor();
  await page.getByRole("button", { name: /^Compare version/ }).click();
  await page.getByRole("region", { name: "Comparison" }).getByText("Good day").waitFor();
  await seen.picture("versions-light");
  await page.getByRole("button", { name: /^Go back to version/ }).click();
  await page.getByText("is as it was in version").waitFor();
  expect(await site.filled.ask("GET", "/w/acme/scripts/raw/p/u/ann/greet.ts")).toBe(GREET);
  expect(seen.wrongs).toEqual([]);
}, 90_000);

test("a draft of an older version is not silently deployed over a newer one, and settings stay", async () => {
  await site.filled.script("u/ann/old", "export const main = () => 1;");
  const { hash } = JSON.parse(await site.filled.ask("GET", "/w/acme/scripts/get/p/u/ann/old"));
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme/edit/u/ann/old");
  await write(seen, "export const main = () => 2;");
  // Leaving at once still saves what was typed last.
  const keeping = page.waitForResponse((response) => response.url().endsWith("/drafts/create"));
  await page.getByRole("link", { name: "u/ann/old" }).first().click();
  expect((await keeping).ok()).toBe(true);
  const { draft } = JSON.parse(await site.filled.ask("GET", "/w/acme/scripts/get/draft/u/ann/old"));
  expect(draft).toMatchObject({ content: "export const main = () => 2;", parent_hash: hash });
  const newer = { parent_hash: hash, summary: "Of somebody else", timeout: 77 };
  await site.filled.script("u/ann/old", "export const main = () => 3;", newer);
  // A deployment deletes the draft; this one was saved just after it.
  await site.filled.ask("POST", "/w/acme/drafts/create", { path: "u/ann/old", typ: "script", value: draft });
  await seen.open("w/acme/edit/u/ann/old");
  await editor(seen).getByText("main = () => 2").waitFor();
  await button(seen, "Deploy").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Deploy", exact: true }).click();
  await dialog.getByText("ann deployed another version meanwhile").waitFor();
  await button(seen, "I have seen it").click();
  await button(seen, "Deploy mine over it").click();
  await page.getByRole("heading", { level: 1, name: "Of somebody else", exact: true }).waitFor();
  expect(JSON.parse(await site.filled.ask("GET", "/w/acme/scripts/get/p/u/ann/old"))).toMatchObject({
    content: "export const main = () => 2;",
    timeout: 77,
  });
  expect(seen.wrongs.filter((each) => !each.includes("status of 400"))).toEqual([]);
  seen.wrongs.length = 0;
}, 60_000);

test("a discarded draft is deleted, including the text typed last", async () => {
  await site.filled.script("u/ann/thrown", "export const main = () => 1;");
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme/edit/u/ann/thrown");
  await write(seen, "export const main = () => 2;");
  await button(seen, "Discard the draft").waitFor();
  await write(seen, "export const main = () => 3;");
  await button(seen, "Discard the draft").click();
  await button(seen, "Discard").click();
  await editor(seen).getByText("main = () => 1").waitFor();
  await page.getByRole("link", { name: "u/ann/thrown" }).first().click();
  await page.getByRole("heading", { level: 1, name: "u/ann/thrown", exact: true }).waitFor();
  const { draft } = JSON.parse(await site.filled.ask("GET", "/w/acme/scripts/get/draft/u/ann/thrown"));
  expect(draft ?? undefined).toBeUndefined();
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("a draft at the path of an archived script says so, and is discarded without restoring the script", async () => {
  const path = "u/ann/shelved";
  await site.filled.script(path, "export const main = () => 1;");
  await site.filled.ask("POST", `/w/acme/scripts/archive/p/${path}`);
  await site.filled.script(path, "export const main = () => 2;", { draft_only: true });
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open(`w/acme/edit/${path}`);
  await page.getByText("The script of this path is archived").waitFor();
  await button(seen, "Discard the draft").click();
  await page.getByText("The archived script of this path is kept.").waitFor();
  await seen.picture("discard-over-archived");
  await button(seen, "Discard").click();
  await page.waitForURL(/\/w\/acme$/);
  const kept = JSON.parse(await site.filled.ask("GET", `/w/acme/scripts/get/p/${path}`));
  expect(kept).toMatchObject({ content: "export const main = () => 1;", archived: true });
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("a new script keeps its code per language, its name and its summary, until its author signs out", async () => {
  const token = await site.serving.operator("/users/tokens/impersonate", { impersonate_email: EMAIL });
  await using seen = await site.visit({ token });
  const { page } = seen;
  const choose = async (language: string) => {
    await page.getByRole("combobox", { name: "Language" }).click();
    await page.getByRole("option", { name: language, exact: true }).click();
  };
  await seen.open("w/acme/new/script");
  await write(seen, "export const main = () => 41;");
  await choose("Python");
  await editor(seen).getByText("def main").waitFor();
  await write(seen, "def main(): return 42");
  await choose("TypeScript");
  await editor(seen).getByText("main = () => 41").waitFor();
  await choose("Python");
  await editor(seen).getByText("return 42").waitFor();
  await page.getByLabel("Name", { exact: true }).fill("hello");
  await page.getByLabel("Summary").fill("Mine");
  await page.getByText("The draft is saved").waitFor();
  await page.reload();
  await editor(seen).getByText("return 42").waitFor();
  await expectSoon(() => page.getByLabel("Name", { exact: true }).inputValue(), "hello");
  await expectSoon(() => page.getByLabel("Summary").inputValue(), "Mine");
  // While typing, the page's shortcuts work, and the editor's own do not interfere.
  await editor(seen).click();
  const begun = page.waitForRequest((request) => request.url().endsWith("/jobs/run/preview"));
  await page.keyboard.press("Control+Enter");
  await begun;
  await expectSoon(() => editor(seen).locator(".cm-line").count(), 1);
  await editor(seen).click();
  await page.keyboard.press("Control+s");
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Deploy", exact: true }).click();
  await dialog.getByText("There is a script at u/ann/hello already, by ann.").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  const keys = () => page.evaluate("Object.keys(localStorage).filter((key) => key.includes('new-script'))");
  expect(await keys()).toEqual([expect.stringContaining(EMAIL)]);
  await page.getByRole("button", { name: EMAIL }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.waitForURL(/login/);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  expect(await keys()).toEqual([]);
  seen.wrongs.length = 0;
}, 90_000);

test("a version deployed by another user in between is shown before it is overwritten", async () => {
  await site.filled.script("u/ann/shared", "export const main = () => 1;");
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme/edit/u/ann/shared");
  await write(seen, "export const main = () => 2;");
  const { hash } = JSON.parse(await site.filled.ask("GET", "/w/acme/scripts/get/p/u/ann/shared"));
  await site.filled.script("u/ann/shared", "export const main = () => 3;", { parent_hash: hash });
  await button(seen, "Deploy").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Deploy", exact: true }).click();
  await dialog.getByText("ann deployed another version meanwhile").waitFor();
  await dialog.getByText("main = () => 3").waitFor();
  await seen.accessible("conflict");
  await button(seen, "I have seen it").click();
  await button(seen, "Deploy mine over it").click();
  await page.getByRole("heading", { level: 1, name: "u/ann/shared", exact: true }).waitFor();
  expect(await site.filled.ask("GET", "/w/acme/scripts/raw/p/u/ann/shared.ts")).toBe(
    "export const main = () => 2;",
  );
  // The browser also logs the rejected deployment.
  expect(seen.wrongs.filter((each) => !each.includes("status of 400"))).toEqual([]);
  seen.wrongs.length = 0;
}, 60_000);

test("user edits of the schema are kept by the next deployment", async () => {
  await using seen = await site.visit();
  await seen.open("w/acme/edit/f/finance/refund");
  await seen.page.getByText("What the customer said").waitFor({ state: "detached" });
  await write(
    seen,
    "export const main = (order: number, reason: string, urgent = false) => ({ order, reason, urgent });",
  );
  await seen.page.getByLabel("urgent").waitFor();
  await button(seen, "Deploy").click();
  await seen.page.getByRole("dialog").getByRole("button", { name: "Deploy", exact: true }).click();
  await seen.page.getByRole("heading", { level: 1, name: "Refund an order", exact: true }).waitFor();
  const { schema } = JSON.parse(await site.filled.ask("GET", "/w/acme/scripts/get/p/f/finance/refund"));
  expect(schema.properties.reason.enum).toEqual(["damaged", "late", "other"]);
  expect(Object.keys(schema.properties)).toEqual(["order", "reason", "urgent"]);
  expect(seen.wrongs).toEqual([]);
}, 60_000);

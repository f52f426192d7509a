/** The flow editor with values of other clients, drafts of other users, and browsers that deny something. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../../e2e/executable.ts";
import { expectSoon } from "../browser.ts";
import { createMember } from "../filled.ts";
import { useSite } from "../site.ts";
import { drag } from "./editor-page.ts";

const site = useSite();

const read = async (path: string) => JSON.parse(await site.filled.ask("GET", `/w/acme/${path}`));
const code = (id: string, content = "export const main = () => 1", more: object = {}) => ({
  id,
  value: { type: "rawscript", language: "bun", content, input_transforms: {} },
  ...more,
});
const deploy = (path: string, value: object) =>
  site.filled.ask("POST", "/w/acme/flows/create", { path, summary: "", value });
const keepDraft = (path: string, value: object) =>
  site.filled.ask("POST", "/w/acme/drafts/create", { path, typ: "flow", value });
const draftOf = async (path: string) => (await read(`flows/get/draft/${path}`)).draft;

const part = (page: Page, name: string) =>
  page.getByRole("radiogroup", { name: "Part of the step" }).getByText(name, { exact: true }).click();
const section = async (page: Page, name: string) => {
  const button = page.getByRole("button", { name: new RegExp(`^${name}`) });
  if ((await button.getAttribute("aria-expanded")) !== "true") await button.click();
};
const kept = (page: Page) => page.getByText("The draft is saved").waitFor();

test("deploying YAML warns of the user's draft in the editor, and links to it", async () => {
  const path = "f/finance/yaml_and_draft";
  await deploy(path, { modules: [code("a")] });
  await keepDraft(path, { path, summary: "Drawn", value: { modules: [code("a"), code("b")] } });
  await using ann = await site.visit();
  const { page } = ann;
  await ann.open(`/w/acme/flows/${path}?tab=yaml`);
  await page.getByRole("textbox", { name: "YAML of the flow" }).focus();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(
    'summary: Written\ndescription: ""\nvalue:\n  modules:\n    - id: a\n      value: { type: identity }\n',
  );
  await page.getByRole("button", { name: "Deploy", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("This deployment deletes them").waitFor();
  const review = await dialog.getByRole("link", { name: "Look at them" }).getAttribute("href");
  await ann.accessible("YAML beside a draft");
  await ann.picture("cures-yaml-draft");
  await dialog.getByRole("button", { name: "Deploy" }).click();
  await page.getByText("No changes since the last deployment").waitFor();
  expect((await draftOf(path)) ?? null).toBeNull();
  expect(review).toBe(`/w/acme/review/${path}?of=ann`);
}, 60_000);

test("discarding a draft that no longer exists is not an error", async () => {
  const path = "f/finance/gone_draft";
  await deploy(path, { modules: [code("a")] });
  await using ann = await site.visit();
  const { page } = ann;
  await ann.open(`/w/acme/draw/${path}`);
  await page.locator('.step[data-step="a"]').click();
  await page.getByRole("textbox", { name: "Summary" }).fill("Mine");
  await kept(page);
  await site.filled.ask("DELETE", `/w/acme/drafts/delete/flow/${path}`);
  await page.getByRole("button", { name: "Discard the draft" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Discard", exact: true }).click();
  await page.getByText("No changes since the last deployment").waitFor();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.locator('.step[data-step="a"]', { hasText: "Mine" }).waitFor({ state: "detached" });
  // The browser itself logs the response.
  ann.wrongs.splice(0, ann.wrongs.length, ...ann.wrongs.filter((each) => !each.includes("404")));
}, 60_000);

test("the JSON of other fields follows undo, may be empty, and keeps fields that it does not show", async () => {
  const path = "f/finance/rest";
  await deploy(path, { modules: [code("a", undefined, { later: { n: 1 }, retry: {} })], odd: 1 });
  await using ann = await site.visit();
  const { page } = ann;
  const rest = page.getByRole("textbox", { name: "Other fields" });
  await ann.open(`/w/acme/draw/${path}`);
  await page.locator('.step[data-step="a"]').click();
  await part(page, "Options");
  await section(page, "Other fields");
  await rest.fill('{ "later": { "n": 2 } }');
  await kept(page);
  await page.locator("h1").click();
  await page.keyboard.press("ControlOrMeta+z");
  await page.getByText("No changes since the last deployment").waitFor();
  await until(async () => JSON.parse(await rest.inputValue()).later.n === 1 || undefined, "the value before");
  // An empty text does not delete all fields.
  await rest.fill("");
  await page.getByText("Write {} for no other fields.").waitFor();
  await page.getByText("No changes since the last deployment").waitFor();
  await rest.fill('{ "value": 1 }');
  await page.getByText("value has an input of its own.").waitFor();
  await rest.fill("{}");
  await kept(page);
  const [step] = (await draftOf(path)).value.modules;
  expect([step.later, step.id, step.value.type]).toEqual([undefined, "a", "rawscript"]);
  expect((await draftOf(path)).value.odd).toBe(1);
}, 60_000);

test("a step that pins a version is run with that version", async () => {
  await site.filled.script("f/finance/pinned", "export const main = () => 'the first'");
  const { hash } = await read("scripts/get/p/f/finance/pinned");
  await site.filled.script("f/finance/pinned", "export const main = () => 'the second'", {
    parent_hash: hash,
  });
  const path = "f/finance/pins";
  const value = { type: "script", path: "f/finance/pinned", hash, input_transforms: {} };
  await deploy(path, { modules: [{ id: "a", value }] });
  await using ann = await site.visit();
  const { page } = ann;
  await ann.open(`/w/acme/draw/${path}?step=a`);
  await part(page, "Try");
  await page.getByRole("button", { name: "Run this step" }).click();
  await page.getByRole("region", { name: "Result" }).getByText("the first").waitFor();
  await page.getByRole("button", { name: "Pin as the step's result" }).click();
  await kept(page);
  expect((await draftOf(path)).value.modules[0]).toEqual({
    id: "a",
    value,
    mock: { enabled: true, return_value: "the first" },
  });
}, 60_000);

test("a step is moved by dragging, a pinned result replaces its step in a run, and a link shows the changes", async () => {
  const path = "f/finance/dragged";
  const steps = [
    code("a"),
    code("b", "export const main = () => { throw new Error('never run') }"),
    code("c", "export const main = (all: unknown) => all"),
  ];
  steps[1] = { ...steps[1]!, mock: { enabled: true, return_value: "pinned" } } as never;
  (steps[2]!.value.input_transforms as object) = { all: { type: "javascript", expr: "results.b" } };
  await deploy(path, { modules: steps });
  await using ann = await site.visit();
  const { page } = ann;
  await ann.open(`/w/acme/draw/${path}`);
  const slots = page.getByRole("button", { name: "Insert a step here" });
  await drag(page, page.locator('.step[data-step="a"]'), slots.last());
  await kept(page);
  const ids = async () => (await draftOf(path)).value.modules.map(({ id }: { id: string }) => id);
  await expectSoon(async () => (await ids()).join(), "b,c,a");
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("No changes since the last deployment").waitFor();
  await drag(page, page.locator('.step[data-step="c"]'), slots.first());
  await kept(page);
  await expectSoon(async () => (await ids()).join(), "c,a,b");

  await page.getByRole("button", { name: "Flow" }).click();
  await page.getByRole("menuitem", { name: "Copy a link to the changes" }).click();
  await page.getByText("Link copied. Everyone who can read").waitFor();
  const link = String(await page.evaluate("navigator.clipboard.readText()"));
  await page.goto(link);
  await page.getByRole("button", { name: /c · moved/ }).waitFor();

  await ann.open(`/w/acme/draw/${path}`);
  await page.getByRole("button", { name: "Undo" }).waitFor();
  await page.getByRole("button", { name: "Run it" }).click();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.locator('.step[data-step="b"][data-tone="good"]').waitFor();
}, 60_000);

test("incomplete numbers change nothing while they are typed", async () => {
  const path = "f/finance/numbers";
  await deploy(path, {
    modules: [code("a", undefined, { retry: { constant: { attempts: 2, seconds: 5 } } })],
  });
  await using ann = await site.visit();
  const { page } = ann;
  await ann.open(`/w/acme/draw/${path}?step=a`);
  await part(page, "Options");
  const attempts = page.getByRole("textbox", { name: "Attempts" }).first();
  await attempts.fill("-");
  await page.getByText("No changes since the last deployment").waitFor();
  await attempts.fill("");
  await kept(page);
  await attempts.fill("7");
  await page.waitForResponse((response) => response.url().endsWith("/drafts/create") && response.ok());
  const text = await site.filled.ask("GET", `/w/acme/flows/get/draft/${path}`);
  expect(JSON.parse(text).draft.value.modules[0].retry.constant).toEqual({ attempts: 7, seconds: 5 });
  expect(text).not.toContain("NaN");
}, 60_000);

test("null in place of a failure step or preprocessor means none, and stays null", async () => {
  const path = "f/finance/nulls";
  await deploy(path, { modules: [code("a")], failure_module: null, preprocessor_module: null });
  const before = (await read(`flows/get/${path}`)).value;
  await using ann = await site.visit();
  const { page } = ann;
  await ann.open(`/w/acme/draw/${path}?step=a`);
  await page.getByRole("textbox", { name: "Summary" }).fill("Named");
  await kept(page);
  const { value } = await draftOf(path);
  delete value.modules[0].summary;
  expect(JSON.stringify(value)).toBe(JSON.stringify(before));
  await ann.open(`/w/acme/flows/${path}`);
  await page.locator(".step").first().waitFor();
  await expectSoon(() => page.locator(".step").count(), 1);
}, 60_000);

test("a draft of another client, without its base version, is deployed over the newest version", async () => {
  const path = "f/finance/of_others";
  await deploy(path, { modules: [code("a")] });
  await keepDraft(path, { path, summary: "Of another client", value: { modules: [code("a"), code("b")] } });
  await using ann = await site.visit();
  const { page } = ann;
  await ann.open(`/w/acme/draw/${path}`);
  await page.getByText("This is your saved draft").waitFor();
  await page.getByRole("button", { name: "Deploy" }).click();
  await page.getByRole("dialog").getByText("b · added").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Deploy" }).click();
  await page.waitForURL(/\/flows\/f\/finance\/of_others/);
  expect((await read(`flows/get/${path}`)).value.modules).toHaveLength(2);
}, 60_000);

test("steps are copied and pasted without browser clipboard, as over plain http", async () => {
  const path = "f/finance/plain";
  await deploy(path, { modules: [code("a")] });
  await using ann = await site.visit();
  const { page } = ann;
  await page.addInitScript('Object.defineProperty(Navigator.prototype, "clipboard", { value: undefined })');
  await ann.open(`/w/acme/draw/${path}`);
  await page.locator('.step[data-step="a"]').focus();
  await page.keyboard.press("ControlOrMeta+c");
  expect(await page.evaluate("document.activeElement.dataset.step")).toBe("a");
  await page.keyboard.press("ControlOrMeta+v");
  await page.locator('.step[data-step="b"]').waitFor();
}, 60_000);

test("the panel keeps the focus while its step gets another id, and the panel of a step follows the selection", async () => {
  const path = "f/finance/focus";
  await deploy(path, { modules: [code("a"), code("b")] });
  await using ann = await site.visit();
  const { page } = ann;
  const focused = () =>
    page.evaluate("document.activeElement.getAttribute('aria-label') ?? document.activeElement.value");
  await ann.open(`/w/acme/draw/${path}?step=a`);
  await page.getByRole("textbox", { name: "Id" }).fill("first");
  await page.getByRole("textbox", { name: "Id" }).press("Tab");
  await page.locator('.step[data-step="first"]').waitFor();
  expect(await focused()).not.toBeNull();
  const summary = page.getByRole("textbox", { name: "Summary" });
  await summary.focus();
  await page.keyboard.type("All of it");
  await expectSoon(() => summary.inputValue(), "All of it");
  await page.locator('.step[data-step="b"]').focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "b", exact: true }).waitFor();
  await expectSoon(() => summary.inputValue(), "");
}, 60_000);

test("users who may not change a flow are not offered its editor", async () => {
  const path = "f/finance/read_only";
  await deploy(path, { modules: [code("a")] });
  await createMember(site.serving, site.filled, "carl");
  await site.filled.ask("POST", "/w/acme/folders/update/finance", { extra_perms: { "u/carl": false } });
  const token = await site.serving.operator("/users/tokens/impersonate", {
    impersonate_email: "carl@example.org",
  });
  await using carl = await site.visit({ token });
  await carl.open(`/w/acme/flows/${path}`);
  await carl.page.locator('.step[data-step="a"]').waitFor();
  await carl.page.getByRole("link", { name: "Run", exact: true }).waitFor();
  expect(await carl.page.getByRole("link", { name: "Edit", exact: true }).count()).toBe(0);
}, 60_000);

test("switches that are off open no section, and an empty optional field has no value", async () => {
  const path = "f/finance/switches_off";
  await deploy(path, { modules: [code("a")] });
  await using ann = await site.visit();
  const { page } = ann;
  await ann.open(`/w/acme/draw/${path}`);
  const others = page.getByRole("button", { name: /^Others/ });
  await others.waitFor();
  expect(await others.textContent()).toBe("Others");
  expect(await others.getAttribute("aria-expanded")).toBe("false");
  await others.click();
  const names = page.getByRole("textbox", { name: "Names and values that all steps can use" });
  await names.waitFor();
  expect(await names.inputValue()).toBe("");
  await names.fill('{ "REGION": "eu" }');
  await kept(page);
  expect((await draftOf(path)).value.flow_env).toEqual({ REGION: "eu" });
  await names.fill("");
  await until(async () => (await draftOf(path))?.value.flow_env === undefined, "no names and values");
  expect(ann.wrongs).toEqual([]);
}, 60_000);

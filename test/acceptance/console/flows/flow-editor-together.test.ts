/** Flows edited by several users, on phones, and with the values of a chosen iteration. */
import { beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../../e2e/executable.ts";
import { PHONE } from "../browser.ts";
import { createMember } from "../filled.ts";
import { useSite } from "../site.ts";

const site = useSite();

let bob: string;

beforeAll(async () => {
  await createMember(site.serving, site.filled, "bob");
  bob = await site.serving.operator("/users/tokens/impersonate", { impersonate_email: "bob@example.org" });
  await site.filled.ask("POST", "/w/acme/folders/addowner/finance", { owner: "u/bob" });
});

const js = (expr: string) => ({ type: "javascript", expr });
const code = (id: string, content: string, inputs: object = {}) => ({
  id,
  value: { type: "rawscript", language: "bun", content, input_transforms: inputs },
});
const deploy = (path: string, value: object) =>
  site.filled.ask("POST", "/w/acme/flows/create", { path, summary: "", value });

async function rename(page: Page, summary: string): Promise<void> {
  await page.locator('.step[data-step="a"]').click();
  await page.getByRole("textbox", { name: "Summary" }).fill(summary);
  await page.getByText("The draft is saved").waitFor();
}

test("two users edit one flow: each has a draft and sees that the other has one", async () => {
  const path = "f/finance/together";
  await deploy(path, { modules: [code("a", "export const main = () => 1")] });
  await using first = await site.visit();
  await first.open(`/w/acme/draw/${path}`);
  await rename(first.page, "Of Ann");
  await using second = await site.visit({ token: bob });
  await second.open(`/w/acme/draw/${path}`);
  await second.page.getByText("ann has a draft of this too").waitFor();
  expect(await second.page.locator('.step[data-step="a"]').textContent()).not.toContain("Of Ann");
  await second.accessible("A flow that another draws");
  await second.picture("flow-editor-together");
  await rename(second.page, "Of Bob");
  await second.page.getByRole("link", { name: "Show its changes" }).click();
  await second.page.getByText("From what is deployed to the draft of ann").waitFor();
  await second.page.getByRole("button", { name: /Of Ann · changed/ }).click();
  await second.page.getByText("Of Ann").first().waitFor();
  await second.accessible("The review of another's draft");
  await first.page.reload();
  await first.page.getByText("bob has a draft of this too").waitFor();
  await first.page.locator('.step[data-step="a"]', { hasText: "Of Ann" }).waitFor();
}, 60_000);

test("a new flow does not replace an existing one, deployed or draft", async () => {
  await using ann = await site.visit();
  const { page } = ann;
  const begin = async (name: string, summary: string) => {
    await ann.open("/w/acme/new/flow");
    await page.getByLabel("Belongs to").first().click();
    await page.getByRole("option", { name: "f/finance" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill(name);
    await page.getByRole("textbox", { name: "Summary" }).fill(summary);
    await page.getByRole("button", { name: "Create and edit" }).click();
  };
  await begin("nightly", "Another");
  await page.getByText("There is a flow at f/finance/nightly already").waitFor();
  await begin("begun", "The first one");
  await page.getByRole("heading", { name: "The first one" }).waitFor();
  await begin("begun", "The second one");
  await page.getByText("You have a draft of a new flow at f/finance/begun, which is not deployed").waitFor();
  await ann.accessible("New flow that is there");
  await page.getByRole("link", { name: "Continue editing" }).click();
  await page.getByRole("heading", { name: "The first one" }).waitFor();
}, 60_000);

test("a new flow at the path of an archived one restores that flow on request", async () => {
  const path = "f/finance/retired";
  const flow = { path, summary: "The retired one", value: { modules: [] } };
  await site.filled.ask("POST", "/w/acme/flows/create", flow);
  await site.filled.ask("POST", `/w/acme/flows/archive/${path}`, {});
  await using ann = await site.visit();
  const { page } = ann;
  await ann.open("/w/acme/new/flow");
  await page.getByLabel("Belongs to").first().click();
  await page.getByRole("option", { name: "f/finance" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("retired");
  await page.getByRole("button", { name: "Create and edit" }).click();
  await page.getByText(`There is an archived flow at ${path}`).waitFor();
  await ann.accessible("New flow at an archived one");
  await page.getByRole("button", { name: "Restore it" }).click();
  await page.getByRole("heading", { name: "The retired one" }).waitFor();
  expect(await site.filled.ask("GET", `/w/acme/flows/exists/${path}`)).toBe("true");
}, 60_000);

test("the picker and the preview show the values of the selected iteration", async () => {
  const path = "f/finance/loop";
  const make = "export const main = (n: number) => ({ made: n * 10 })";
  const modules = [
    {
      id: "l",
      value: {
        type: "forloopflow",
        iterator: js("[1, 2, 3]"),
        skip_failures: false,
        modules: [
          code("x", make, { n: js("flow_input.iter.value") }),
          code("y", make, { n: js("results.x.made") }),
        ],
      },
    },
    code("z", "export const main = (all: unknown) => all", { all: js("results.l") }),
  ];
  await deploy(path, { modules });
  const id = await site.filled.ask("POST", `/w/acme/jobs/run_wait_result/f/${path}`, {});
  expect(JSON.parse(id)).toHaveLength(3);
  await using ann = await site.visit();
  const { page } = ann;
  const inputs = () =>
    page.getByRole("radiogroup", { name: "Part of the step" }).getByText("Inputs", { exact: true }).click();
  await ann.open(`/w/acme/draw/${path}?step=y`);
  await inputs();
  await page.getByText("= 30", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Previous iteration, of l" }).click();
  await page.getByText("= 20", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Pick a value for Expression of n" }).click();
  await page.getByRole("button", { name: 'results.x {"made":20}' }).waitFor();
  await page.keyboard.press("Escape");
  await ann.accessible("A chosen iteration");
  await ann.picture("flow-editor-iteration");
  await ann.open(`/w/acme/draw/${path}?step=x`);
  await inputs();
  await page.getByText("= 3", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Previous iteration, of l" }).click();
  await page.getByText("= 2", { exact: true }).waitFor();
  await ann.open(`/w/acme/draw/${path}?step=z`);
  await inputs();
  await page.getByText(/= \[\{"made":100\},/).waitFor();
}, 60_000);

test("a flow is edited at the width of a phone, without horizontal overflow", async () => {
  const path = "f/finance/narrow";
  const inner = code("b", "export const main = () => 2");
  const loop = (id: string, modules: object[]) => ({
    id,
    value: { type: "forloopflow", iterator: js("[1]"), skip_failures: false, modules },
  });
  await deploy(path, {
    modules: [code("a", "export const main = () => 1"), loop("l", [loop("m", [inner])])],
  });
  await using ann = await site.visit({ viewport: PHONE });
  const { page } = ann;
  await ann.open(`/w/acme/draw/${path}`);
  const overflow = () => page.evaluate("document.documentElement.scrollWidth - innerWidth");
  expect(await overflow()).toBeLessThanOrEqual(0);
  await ann.picture("flow-editor-narrow");
  await page.locator('.step[data-step="a"]').click();
  for (const part of ["Inputs", "Options", "Try", "Step"]) {
    await page.getByRole("radiogroup", { name: "Part of the step" }).getByText(part, { exact: true }).click();
    expect([part, await overflow()]).toEqual([part, 0]);
  }
  await page.getByRole("button", { name: "Details of a" }).click();
  const seen = page.getByRole("heading", { name: "a", exact: true });
  expect((await seen.boundingBox())!.y).toBeLessThan(PHONE.height / 2);
  await ann.picture("flow-editor-narrow-step");
  await page.getByRole("button", { name: "Add a step", exact: true }).click();
  await page.getByRole("textbox", { name: "Search steps, scripts and flows" }).waitFor();
  await ann.picture("flow-editor-narrow-insert");
  await ann.accessible("Insert at the width of a phone");
}, 60_000);

/** Search terms for each kind of step, and the kind that is inserted. */
const KINDS = [
  ["Code in TypeScript", "rawscript bun"],
  ["Code in Python", "rawscript python3"],
  ["Code in Bash", "rawscript bash"],
  ["Code in PostgreSQL", "rawscript postgresql"],
  ["Code in TypeScript, fetch only", "rawscript nativets"],
  ["Code in Go", "rawscript go"],
  ["For each", "forloopflow"],
  ["While", "whileloopflow"],
  ["First matching branch", "branchone"],
  ["All branches", "branchall"],
  ["Approval", "identity"],
  ["Wait Goes on after", "identity"],
  ["Pass on", "identity"],
  ["f/finance/figures", "script f/finance/figures"],
] as const;

test("every kind of step is inserted by key and by click, and pasted as text into another workspace", async () => {
  const path = "f/finance/kinds";
  await deploy(path, { modules: [code("a", "export const main = () => 1")] });
  await site.filled.ask("POST", "/workspaces/create", { id: "second", name: "Second", username: "ann" });
  const other = { path: "u/ann/pasted", summary: "", value: { modules: [] } };
  await site.filled.ask("POST", "/w/second/flows/create", other);
  await using ann = await site.visit();
  const { page } = ann;
  const steps = page.locator(".step");
  const stored = async (workspace: string, at: string) =>
    JSON.parse(await site.filled.ask("GET", `/w/${workspace}/flows/get/draft/${at}`)).draft?.value;
  await ann.open(`/w/acme/draw/${path}`);
  const search = page.getByRole("textbox", { name: "Search steps, scripts and flows" });
  for (const [index, [what]] of KINDS.entries()) {
    await page.locator('.step[data-step="a"]').focus();
    await page.keyboard.press("i");
    await search.fill(what);
    await page.keyboard.press("Enter");
    await steps.nth(index + 1).waitFor();
  }
  // The dialog is the same: a click differs from a key only in how it opens and chooses.
  const clicked = KINDS.filter((_kind, index) => index % 4 === 2);
  for (const [index, [what]] of clicked.entries()) {
    await page.getByRole("button", { name: "Add a step", exact: true }).click();
    await search.fill(what);
    await page.getByRole("dialog").getByRole("option").first().click();
    await steps.nth(KINDS.length + index + 1).waitFor();
  }
  await page.getByRole("button", { name: "Flow", exact: true }).click();
  await page.getByRole("menuitem", { name: "Add a step for failures" }).click();
  await page.getByRole("button", { name: "Flow", exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Add a preprocessor" }).press("Enter");
  await page.locator('.step[data-step="preprocessor"]').waitFor();
  await until(async () => (await stored("acme", path))?.preprocessor_module, "a draft with all of them");
  const drawn = await stored("acme", path);
  expect(drawn.failure_module.id).toBe("failure");
  const kindOf = ({ value }: any) => `${value.type} ${value.language ?? value.path ?? ""}`.trim();
  const inserts = [...KINDS, ...clicked].map(([, kind]) => kind as string);
  const inserted = drawn.modules.filter(({ id }: any) => id !== "a").map(kindOf);
  expect(inserted.toSorted()).toEqual(inserts.sort());

  const first = page.locator('.step[data-step="a"]');
  await first.focus();
  await page.keyboard.press("Shift+ArrowDown");
  await page.keyboard.press("ControlOrMeta+c");
  await ann.open("/w/second/draw/u/ann/pasted");
  await page.getByRole("button", { name: "Step", exact: true }).click();
  await page.getByRole("menuitem", { name: "Paste" }).click();
  await until(
    async () => (await stored("second", "u/ann/pasted"))?.modules.length === 2,
    "a draft of the copy",
  );
  expect((await stored("second", "u/ann/pasted")).modules.map(kindOf)).toEqual(
    drawn.modules.slice(0, 2).map(kindOf),
  );
}, 120_000);

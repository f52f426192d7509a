/** Flows are drawn without a mouse: Tab reaches every control, keys make every change. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../../e2e/executable.ts";
import { useSite } from "../site.ts";

const site = useSite();
const MAX_TABS = 120;

const read = async (path: string) => JSON.parse(await site.filled.ask("GET", `/w/acme/${path}`));
const code = (id: string, content = "export const main = () => 1") => ({
  id,
  value: { type: "rawscript", language: "bun", content, input_transforms: {} },
});

/** Returns the accessible name of the focused element, which a screen reader announces. */
const FOCUSED = `(() => {
  const it = document.activeElement;
  const label = it.getAttribute("aria-label") ?? [...(it.labels ?? [])].map((each) => each.innerText).join(" ");
  return (label || it.innerText || "").trim();
})()`;

const focused = async (page: Page): Promise<string> => String(await page.evaluate(FOCUSED));

/** Presses Tab until the element with this name has the focus. @throws if it is not reached */
async function tabTo(page: Page, name: RegExp, key = "Tab"): Promise<void> {
  const passed: string[] = [];
  for (let times = 0; times < MAX_TABS; times++) {
    await page.keyboard.press(key);
    const now = await focused(page);
    if (name.test(now)) return;
    passed.push(now.slice(0, 30));
  }
  throw new Error(`${name} is not reached by ${key}: ${passed.join(" | ")}`);
}

/** Shows a section of the selected step; the sections are radio buttons, chosen by arrow keys. */
async function choosePart(page: Page, name: string): Promise<void> {
  await tabTo(page, /^(Step|Inputs|Options|Try|Result)$/);
  for (let times = 0; times < 5 && (await focused(page)) !== name; times++)
    await page.keyboard.press("ArrowRight");
  expect(await focused(page)).toBe(name);
}

async function replaceText(page: Page, text: string): Promise<void> {
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(text);
}

async function insert(page: Page, what: string): Promise<void> {
  await page.getByRole("textbox", { name: "Search steps, scripts and flows" }).waitFor();
  await page.keyboard.type(what);
  await page.keyboard.press("Enter");
}

test("the flow of the README is drawn and deployed by keyboard alone", async () => {
  await using ann = await site.visit();
  const { page } = ann;
  await ann.open("/w/acme/new/flow");
  await tabTo(page, /^Name/);
  await page.keyboard.type("refund_by_keys");
  await tabTo(page, /^Summary/);
  await page.keyboard.type("Refunds an order");
  await tabTo(page, /^Create and edit$/);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Refunds an order" }).waitFor();
  await tabTo(page, /^Name of a new input$/);
  await page.keyboard.type("order");
  await page.keyboard.press("Enter");
  await page.getByRole("group", { name: "order" }).waitFor();
  await tabTo(page, /^Add a step here$/, "Shift+Tab");
  await page.keyboard.press("Enter");
  await insert(page, "Code in TypeScript");
  await page.getByRole("textbox", { name: "Code of a" }).waitFor();
  await tabTo(page, /^Code of a$/);
  await replaceText(page, "export const main = (order: string) => `Refund order ${order}?`;");
  await tabTo(page, /^Id$/, "Shift+Tab");
  await replaceText(page, "ask");
  await page.keyboard.press("Enter");
  await page.locator('.step[data-step="ask"]').waitFor();
  await choosePart(page, "Inputs");
  await page.getByRole("button", { name: "Pick a value for order" }).waitFor();
  await tabTo(page, /^Pick a value for order$/);
  await page.keyboard.press("Enter");
  await page.getByRole("textbox", { name: "Search values, variables and resources" }).waitFor();
  await page.keyboard.type("flow_input.order");
  await tabTo(page, /^flow_input\.order/);
  await page.keyboard.press("Enter");
  await page.getByRole("textbox", { name: "Expression of order" }).waitFor();
  await tabTo(page, /^Inputs$/, "Shift+Tab");
  await page.keyboard.press("ArrowRight");
  await tabTo(page, /^Approval$/);
  await page.keyboard.press("Enter");
  await tabTo(page, /^Waits after the step until somebody approves$/);
  await page.keyboard.press("Space");
  await page.getByRole("textbox", { name: "Approvals needed" }).waitFor();
  await tabTo(page, /^ask/, "Shift+Tab");
  await page.keyboard.press("i");
  await insert(page, "Code in TypeScript");
  await page.getByRole("textbox", { name: "Code of a" }).waitFor();
  await tabTo(page, /^Code of a$/);
  await replaceText(
    page,
    "export const main = (answer: { reason: string }) => `refunded: ${answer.reason}`;",
  );
  await tabTo(page, /^Step$/, "Shift+Tab");
  await page.keyboard.press("ArrowRight");
  await page.getByRole("radiogroup", { name: "How answer is given" }).waitFor();
  await tabTo(page, /^Value$/);
  await page.keyboard.press("ArrowRight");
  await page.getByRole("textbox", { name: "Expression of answer" }).waitFor();
  await tabTo(page, /^Expression of answer$/);
  await page.keyboard.insertText("resume");
  await page.keyboard.press("ControlOrMeta+s");
  await page.getByRole("dialog").getByRole("textbox", { name: "What changed" }).waitFor();
  await page.keyboard.type("Drawn by keys");
  await tabTo(page, /^Deploy$/);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/flows\/u\/ann\/refund_by_keys/);
  const { modules } = (await read("flows/get/u/ann/refund_by_keys")).value;
  expect(modules.map(({ id, suspend, value }: any) => [id, suspend, value.input_transforms])).toEqual([
    ["ask", { required_events: 1 }, { order: { type: "javascript", expr: "flow_input.order" } }],
    ["a", undefined, { answer: { type: "javascript", expr: "resume" } }],
  ]);
  const id = await site.filled.ask("POST", "/w/acme/jobs/run/f/u/ann/refund_by_keys", { order: "8" });
  await until(async () => ((await read(`jobs_u/get/${id}`)).suspend ?? 0) > 0, "the approval");
  await site.filled.ask("POST", `/w/acme/jobs/flow/resume/${id}`, { reason: "late" });
  await until(async () => (await read(`jobs_u/completed/get_result_maybe/${id}`)).completed, "its end");
  expect(await read(`jobs_u/completed/get_result/${id}`)).toBe("refunded: late");
}, 180_000);

test("keys select, insert before, collapse, and add the steps of the whole flow", async () => {
  const path = "f/finance/more_keys";
  const loop = {
    id: "l",
    value: {
      type: "forloopflow",
      iterator: { type: "javascript", expr: "[1]" },
      skip_failures: false,
      modules: [code("x")],
    },
  };
  await site.filled.ask("POST", "/w/acme/flows/create", {
    path,
    summary: "",
    value: { modules: [code("a"), code("b"), loop] },
  });
  await using ann = await site.visit();
  const { page } = ann;
  const selected = () =>
    page.evaluate(
      `[...document.querySelectorAll('.step[aria-pressed="true"]')].map((it) => it.dataset.step).join()`,
    );
  const become = (wanted: string) => until(async () => (await selected()) === wanted, `${wanted} selected`);
  await ann.open(`/w/acme/draw/${path}`);
  await page.locator('.step[data-step="a"]').focus();
  // Keys pressed faster than the browser draws act on the step that the previous key focused.
  await page.evaluate(`(async () => {
    for (let times = 0; times < 3; times++) {
      const init = { key: "ArrowDown", shiftKey: true, bubbles: true, cancelable: true };
      document.activeElement.dispatchEvent(new KeyboardEvent("keydown", init));
      for (let turns = 0; turns < 20; turns++) await null;
    }
  })()`);
  await become("a,b,l,x");
  await page.keyboard.press("Escape");
  await become("");
  await page.locator('.step[data-step="a"]').focus();
  await page.keyboard.press("Shift+ArrowDown");
  await page.keyboard.press("Shift+ArrowDown");
  await become("a,b,l");
  await page.keyboard.press("Shift+ArrowUp");
  await become("a,b");
  await page.keyboard.press("ControlOrMeta+a");
  await become("a,b,l,x");
  await page.keyboard.press("Escape");
  await become("");
  await page.getByRole("heading", { name: "Flow", exact: true }).waitFor();
  await page.locator('.step[data-step="l"]').focus();
  await page.keyboard.press("ArrowLeft");
  await page.locator('.step[data-step="x"]').waitFor({ state: "detached" });
  await page.keyboard.press("ArrowRight");
  await page.locator('.step[data-step="x"]').waitFor();
  await page.locator('.step[data-step="a"]').focus();
  await page.keyboard.press("Shift+I");
  await insert(page, "Approval");
  await page.locator(".step").nth(4).waitFor();
  await until(async () => (await focused(page)).startsWith("Approval"), "the focus on the new step");
  await page.locator('.step[data-step="a"]').focus();
  await page.keyboard.press("i");
  await page.getByRole("textbox", { name: "Search steps, scripts and flows" }).waitFor();
  expect(await focused(page)).toBe("Search steps, scripts and flows");
  await page.keyboard.press("Escape");
  await until(async () => /^a\b/.test(await focused(page)), "the focus back on the step");
  await page.keyboard.press("i");
  await insert(page, "Step for failures");
  await page.locator('.step[data-step="failure"]').waitFor();
  await page.locator('.step[data-step="a"]').focus();
  await page.keyboard.press("i");
  await insert(page, "Preprocessor");
  await page.locator('.step[data-step="preprocessor"]').waitFor();
  await until(
    async () => (await read(`flows/get/draft/${path}`)).draft?.value.preprocessor_module,
    "a draft",
  );
  const { value } = (await read(`flows/get/draft/${path}`)).draft;
  expect(value.modules.map(({ summary, id }: any) => summary ?? id)).toEqual(["Approval", "a", "b", "l"]);
  expect([value.failure_module.id, value.preprocessor_module.id]).toEqual(["failure", "preprocessor"]);
}, 60_000);

test("after steps are deleted by the mouse, keys act on the next step", async () => {
  const value = { modules: ["a", "b", "c"].map((id) => code(id)) };
  await site.filled.ask("POST", "/w/acme/flows/create", { path: "f/finance/mouse", summary: "", value });
  await using seen = await site.visit();
  const { page } = seen;
  const focusedStep = () =>
    page.evaluate(`document.activeElement.dataset.step ?? document.activeElement.tagName`);
  const deleteByMouse = async (id: string) => {
    await page.locator(`.step[data-step="${id}"]`).click();
    await page.getByRole("button", { name: "Step", exact: true }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).waitFor({ state: "detached" });
  };
  await seen.open("w/acme/draw/f/finance/mouse");
  await deleteByMouse("b");
  expect(await focusedStep()).toBe("c");
  await deleteByMouse("c");
  expect(await focusedStep()).toBe("a");
  await deleteByMouse("a");
  expect(await focused(page)).toMatch(/insert|add/i);
  expect(seen.wrongs).toEqual([]);
}, 60_000);

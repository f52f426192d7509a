/** Actions of the flow editor's tests on its page, and the steps that they insert. */
import type { Locator, Page } from "playwright-core";

/** Chooses what to insert in the open dialog. */
export async function choose(page: Page, what: string): Promise<void> {
  await page.getByRole("textbox", { name: "Search steps, scripts and flows" }).fill(what);
  await page
    .getByRole("option", { name: new RegExp(what) })
    .first()
    .click();
}

/** Replaces what stands in an editor. */
export async function write(page: Page, label: string, text: string): Promise<void> {
  const editor = page.getByRole("textbox", { name: label, exact: true });
  await editor.click();
  await page.keyboard.press("ControlOrMeta+a");
  // The browser itself would keep the style of the replaced text.
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(text);
}

/** Opens a section of the selected step. */
export const part = (page: Page, name: string) =>
  page.getByRole("radiogroup", { name: "Part of the step" }).getByText(name, { exact: true }).click();

/** Moves the mouse as a user does: the drag starts before the drop target is looked up. */
export async function drag(page: Page, from: Locator, to: Locator): Promise<void> {
  const move = async (locator: Locator) => {
    const { x, y, width, height } = (await locator.boundingBox())!;
    await page.mouse.move(x + width / 2, y + height / 2, { steps: 4 });
  };
  await move(from);
  await page.mouse.down();
  await move(to);
  await page.locator(".flow-editor-canvas[data-dragging]").waitFor();
  await move(to);
  await page.locator(".slot[data-over]").waitFor();
  await page.mouse.up();
}

export const code = (id: string, content: string, inputs: object = {}, more: object = {}) => ({
  id,
  value: { type: "rawscript", language: "bun", content, input_transforms: inputs },
  ...more,
});

export const js = (expr: string) => ({ type: "javascript", expr });

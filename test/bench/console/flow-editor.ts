/**
 * `npx bun run build && npx bun test/bench/console/flow-editor.ts`: the flow editor with 500 steps in a real browser, which
 * draws without a graphics processor, and what a first visit loads.
 */

import { openBrowser, visit } from "../../acceptance/console/browser.ts";
import { createSampleWorkspace } from "../../acceptance/console/filled.ts";
import { createInstallation } from "../../acceptance/e2e/executable.ts";
import { findLongestTask } from "../tools/page-tasks.ts";
import { panPage, watchPage } from "../tools/page-work.ts";

const STEPS = 500;
const FRAMES = 120;
const KEYS = 20;
const PATH = "f/finance/large";
const LOOPS = "f/finance/loops";

const presses = async (press: () => Promise<void>) => {
  for (let times = 0; times < KEYS; times++) await press();
};

/** Presses buttons of the page, and waits after each until the page is drawn. */
const ZOOM = (labels: string[]) => `(async () => {
  const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  for (const label of ${JSON.stringify(labels)}) {
    document.querySelector('.graph-zoom [aria-label="' + label + '"]').click();
    await drawn();
  }
})()`;

const place = createInstallation();
const [serving, browser] = await Promise.all([place.serve(), openBrowser()]);
try {
  const filled = await createSampleWorkspace(serving);
  const modules = Array.from({ length: STEPS }, (_, index) => ({
    id: `s${index}`,
    value: {
      type: "rawscript",
      language: "bun",
      content: "export const main = (n: number) => n",
      input_transforms: { n: { type: "javascript", expr: index === 0 ? "1" : `results.s${index - 1}` } },
    },
  }));
  await filled.ask("POST", "/w/acme/flows/create", { path: PATH, summary: "Large", value: { modules } });
  await using ann = await visit(browser, serving.url, { token: filled.token });
  const { page } = ann;
  page.setDefaultTimeout(60_000);
  const sizes: Promise<number>[] = [];
  page.on("requestfinished", (request) => {
    if (!new URL(request.url()).pathname.startsWith("/assets/")) return;
    sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
  });
  await ann.open("/w/acme");
  await page.getByText("Nightly report").first().waitFor();
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  console.log(`first load of Home: ${Math.round(bytes / 1_000)} kB, as it travels`);
  const watched = await watchPage(page);
  const measure: typeof watched.measure = async (what, action, times) => {
    const longest = await findLongestTask(page, () => watched.measure(what, action, times));
    console.log(`  longest task: ${longest.toFixed(1)} ms of work`);
  };
  const loops = Array.from({ length: STEPS / 5 }, (_, index) => ({
    id: `l${index}`,
    value: {
      type: "forloopflow",
      iterator: { type: "javascript", expr: "[1]" },
      skip_failures: false,
      modules: modules.slice(index * 4, index * 4 + 4),
    },
  }));
  await filled.ask("POST", "/w/acme/flows/create", {
    path: LOOPS,
    summary: "Loops",
    value: { modules: loops },
  });
  await ann.open(`/w/acme/draw/${LOOPS}`);
  await page.locator(`.step[data-step="l${loops.length - 1}"]`).waitFor();
  await measure("a frame while panning over loops", () => panPage(page, FRAMES), FRAMES);
  await measure(`open ${STEPS} steps`, async () => {
    await ann.open(`/w/acme/draw/${PATH}`);
    await page.locator(`.step[data-step="s${STEPS - 1}"]`).waitFor();
  });
  await measure("a frame while panning", () => panPage(page, FRAMES), FRAMES);
  const zooms = ["Zoom out", "Zoom out", "Zoom in", "Zoom in"];
  await measure("zoom", () => page.evaluate(ZOOM(zooms)), zooms.length);
  await page.locator('.step[data-step="s0"]').click();
  await page.locator('.step[data-step="s0"]').focus();
  await measure(
    "select the next step by key",
    () => presses(() => page.keyboard.press("Shift+ArrowDown")),
    KEYS,
  );
  await page.locator('.step[data-step="s0"]').click();
  const summary = page.getByRole("textbox", { name: "Summary" });
  await summary.focus();
  await measure("type a character of a summary", () => presses(() => page.keyboard.press("x")), KEYS);
  await page.waitForFunction(`document.activeElement.value === "${"x".repeat(KEYS)}"`);
  const card = (await page.locator('.step[data-step="s0"]').boundingBox())!;
  await page.mouse.move(card.x + 20, card.y + 20);
  await page.mouse.down();
  await page.mouse.move(card.x + 30, card.y + 40);
  await page.locator(".flow-editor-canvas[data-dragging]").waitFor();
  let at = 0;
  await measure(
    "a move of the mouse while dragging a step",
    () => presses(() => page.mouse.move(card.x + 30, card.y + 40 + 10 * at++)),
    KEYS,
  );
  await page.mouse.move(card.x + 30, card.y + 20);
  await page.mouse.up();
  await measure("insert a step", async () => {
    await page.keyboard.press("ControlOrMeta+d");
    await page.waitForFunction(`document.querySelectorAll(".step").length > ${STEPS}`);
  });
} finally {
  await browser.close();
  place.remove();
}

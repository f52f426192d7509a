/** Each kind of result has its own display, and nothing in it runs. */
import { beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { expectSoon, type Visit } from "../browser.ts";
import { useSite } from "../site.ts";

const site = useSite();

const EVIL = `<img src=x onerror=alert(1)><svg onload=alert(2)><script>alert(3)</script>`;

beforeAll(async () => {
  // The script returns its argument, so a test chooses the result.
  await site.filled.script("u/ann/give", "export const main = (value: any) => value;");
});

/** Opens the run of a script that returns the value. */
async function shown(value: unknown, prepare?: (page: Page) => Promise<unknown>): Promise<Visit> {
  const id = await site.filled.run("u/ann/give", { value });
  const seen = await site.visit();
  await prepare?.(seen.page);
  await seen.open(`w/acme/runs/${id}`);
  return seen;
}

const panel = ({ page }: Visit) => page.getByRole("region", { name: "Result", exact: true });

async function saved(seen: Visit, button: string): Promise<{ name: string; text: string }> {
  const coming = seen.page.waitForEvent("download");
  await panel(seen).getByRole("button", { name: button }).click();
  const download = await coming;
  return { name: download.suggestedFilename(), text: await Bun.file(await download.path()).text() };
}

test("rows are sorted, filtered, charted, and saved as CSV", async () => {
  const rows = [
    { city: "Bonn", day: "2026-01-01", orders: 9, note: "=1+1" },
    { city: "Ulm", day: "2026-01-02", orders: 100, note: 'a "b", c' },
    { city: "Jena", day: "2026-01-03", orders: 20, note: EVIL },
  ];
  await using seen = await shown(rows);
  const result = panel(seen);
  const cities = () => result.locator("tbody tr td:first-child").allTextContents();
  await result.getByRole("button", { name: "orders" }).click();
  expect(await cities()).toEqual(["Bonn", "Jena", "Ulm"]);
  await result.getByRole("button", { name: "orders" }).click();
  expect(await cities()).toEqual(["Ulm", "Jena", "Bonn"]);
  await result.getByLabel("Filter the rows").fill("n");
  await result.getByText("2 of 3 rows").waitFor();
  const { name, text } = await saved(seen, "Save as CSV");
  expect(name).toBe("result.csv");
  expect(text).toBe(`city,day,orders,note\r\nJena,2026-01-03,20,${EVIL}\r\nBonn,2026-01-01,9,'=1+1`);
  await result.getByLabel("Filter the rows").fill("");
  await result.getByText("Chart", { exact: true }).click();
  const chart = result.getByRole("img", { name: /Chart of orders, from Ulm to Bonn/ });
  await chart.waitFor();
  await chart.hover({ position: { x: 70, y: 100 } });
  await result.getByRole("button", { name: "orders 100" }).waitFor();
  await result.getByText("Bars").click();
  await result.locator("rect.chart-fill").nth(2).waitFor();
  await seen.picture("result-chart");
  await seen.accessible("a chart");
  expect(seen.wrongs).toEqual([]);
});

test("numbers are charted, however many there are, with gaps", async () => {
  const numbers = Array.from({ length: 50_000 }, (_, index) => (index === 30_000 ? 1e6 : index % 100));
  await using seen = await shown(numbers);
  const chart = panel(seen).getByRole("img", { name: /Chart of value, from 1 to 50000/ });
  await chart.waitFor();
  // Few points, and among them the outlier.
  const path = (await chart.locator("path").getAttribute("d"))!;
  expect(path.match(/[ML]/g)!.length).toBeLessThan(1_100);
  expect(path).toContain(" 12.0");
  await using gaps = await shown([
    { at: 1, a: 1 },
    { at: 2, a: null },
    { at: 9, a: 3 },
  ]);
  await panel(gaps).getByText("Chart", { exact: true }).click();
  await panel(gaps)
    .getByRole("img", { name: /Chart of a, from 1 to 9/ })
    .waitFor();
  expect([...seen.wrongs, ...gaps.wrongs]).toEqual([]);
});

test("Markdown is formatted; HTML, scripts, images and external links in it have no effect by themselves", async () => {
  const markdown = `# Report\n\nAll **well**, see [the shop](https://example.com/a) and [this](javascript:alert(1)).

| a | b |
|---|---|
| 1 | 2 |

![tracker](https://example.com/pixel.png)

${EVIL}

<iframe src="https://example.com"></iframe>

[data](data:text/html,<script>alert(4)</script>)
`;
  await using seen = await shown({ markdown });
  const result = panel(seen);
  await result.getByRole("heading", { name: "Report" }).waitFor();
  expect(await result.getByRole("link", { name: "the shop" }).getAttribute("rel")).toContain("noopener");
  await expectSoon(() => result.getByRole("cell", { name: "2", exact: true }).count(), 1);
  await result.getByRole("link", { name: "tracker" }).waitFor();
  expect(await result.locator("img, script, iframe, svg[onload]").count()).toBe(0);
  const links = await result.locator("a").evaluateAll((all) => all.map((each) => each.getAttribute("href")));
  expect(links).toEqual(["https://example.com/a", "https://example.com/pixel.png"]);
  await seen.picture("result-markdown");
  await seen.accessible("Markdown");
  expect(seen.wrongs).toEqual([]);
});

test("a PDF is shown in the browser's viewer; a file that only claims to be one is not", async () => {
  const pdf = btoa("%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF");
  // The headless browser has no PDF viewer; with one, the page would contain a frame of that type and nothing
  // else.
  const withViewer = (page: Page) =>
    page.addInitScript(`Object.defineProperty(navigator, "pdfViewerEnabled", { value: true })`);
  await using seen = await shown({ pdf }, withViewer);
  const object = panel(seen).locator("object[type='application/pdf']");
  await object.waitFor({ state: "attached" });
  expect(await object.getAttribute("data")).toStartWith("blob:");
  expect((await saved(seen, "Save result.pdf")).text).toStartWith("%PDF-1.4");
  await using without = await shown({ pdf });
  await panel(without).getByText("This browser cannot show PDF files").waitFor();
  await using hostile = await shown({ pdf: btoa(`<html>${EVIL}</html>`) }, withViewer);
  await panel(hostile).getByText("The run declares a PDF").waitFor();
  expect(await panel(hostile).locator("object, iframe").count()).toBe(0);
  expect([...seen.wrongs, ...without.wrongs, ...hostile.wrongs]).toEqual([]);
});

test("differences are highlighted, for a patch and for two texts", async () => {
  const patch = `--- a/x.ts\n+++ b/x.ts\n@@ -1,2 +1,2 @@\n keep\n-old ${EVIL}\n+new ${EVIL}`;
  await using seen = await shown(patch);
  await panel(seen).locator("[data-kind=added]", { hasText: "+new" }).waitFor();
  await expectSoon(() => panel(seen).locator("[data-kind=removed]").textContent(), `-old ${EVIL}`);
  await seen.picture("result-patch");
  await seen.accessible("a patch");
  await using two = await shown({ diff: { before: `same\nold\n${EVIL}`, after: `same\nnew\n${EVIL}` } });
  await panel(two).locator(".cm-deletedChunk", { hasText: "old" }).waitFor();
  await two.accessible("two texts");
  expect(await panel(two).locator("img, script").count()).toBe(0);
  expect([...seen.wrongs, ...two.wrongs]).toEqual([]);
});

test("files are saved under safe names", async () => {
  await using seen = await shown({ file: { content: btoa("of a file"), filename: "../../report.txt" } });
  const { name, text } = await saved(seen, "Save ../../report.txt");
  expect(name).not.toContain("/");
  expect(text).toBe("of a file");
  await using wrong = await shown({ file: { content: "***", filename: EVIL } });
  await panel(wrong).getByRole("button", { name: "Save <img" }).click();
  await wrong.page.getByText("The file is not valid base64").waitFor();
  await using stored = await shown([{ s3: "reports/a.csv" }, { s3: "reports/b.csv", storage: "cold" }]);
  const link = panel(stored).getByRole("link", { name: "reports/b.csv" });
  expect(await link.getAttribute("href")).toContain("file_key=reports%2Fb.csv&storage=cold");
  expect([...seen.wrongs, ...wrong.wrongs, ...stored.wrongs]).toEqual([]);
});

test("parts of a result are shown one after another, each in its own form", async () => {
  await using seen = await shown({ render_all: [{ markdown: "# One" }, [{ a: 1 }, { a: 2 }], EVIL] });
  const result = panel(seen);
  await result.getByRole("heading", { name: "One" }).waitFor();
  await result.getByText("2 rows").waitFor();
  await result.getByText(EVIL).waitFor();
  expect(seen.wrongs).toEqual([]);
});

test("a large result is opened as it is, and the page stays responsive", async () => {
  await site.filled.script(
    "u/ann/large",
    `export const main = () =>
  ({ list: Array.from({ length: 40_000 }, (_, id) => ({ id, name: "name " + id, tags: ["a", "b"] })) });`,
  );
  const id = await site.filled.run("u/ann/large", {});
  await using seen = await site.visit();
  await seen.open(`w/acme/runs/${id}`);
  const result = panel(seen);
  await result.getByRole("button", { name: /list: \[ 40000 \]/ }).click();
  await result.getByRole("button", { name: "39900 more: show the next 100" }).click();
  await result.getByRole("button", { name: /^199:/ }).click();
  await result.getByText('"name 199"').waitFor();
  const elements = await seen.page.evaluate("document.querySelectorAll('*').length");
  expect(elements as number).toBeLessThan(2_500);
  const { text } = await saved(seen, "Save the result as a file");
  expect(JSON.parse(text).list).toHaveLength(40_000);
  expect(seen.wrongs).toEqual([]);
}, 60_000);

/** Flows in the editor that are very large, or begin with a request or an OpenAPI document, in a real browser. */
import { expect, test } from "bun:test";
import { useSite } from "../site.ts";
import { choose, code, js, part } from "./editor-page.ts";

const site = useSite();

const read = async (path: string) => JSON.parse(await site.filled.ask("GET", `/w/acme/${path}`));

test("500 steps are edited, selected and moved without delay", async () => {
  const path = "f/finance/large";
  const modules = Array.from({ length: 100 }, (_, index) => ({
    id: `l${index}`,
    value: {
      type: "forloopflow",
      iterator: js("[1]"),
      skip_failures: false,
      modules: Array.from({ length: 4 }, (_each, inner) =>
        code(`s${index}_${inner}`, "export const main = () => 1"),
      ),
    },
  }));
  await site.filled.ask("POST", "/w/acme/flows/create", { path, summary: "Large", value: { modules } });
  await using ann = await site.visit();
  const { page } = ann;
  await ann.open(`/w/acme/draw/${path}`);
  await page.locator('.step[data-step="l0"]').waitFor();
  await page.getByRole("button", { name: "Show the steps in l0" }).click();
  await page.locator('.step[data-step="s0_0"]').focus();
  await page.keyboard.press("Alt+ArrowDown");
  await page.getByText("The draft is saved").waitFor();
  const { modules: kept } = (await read(`flows/get/draft/${path}`)).draft.value;
  expect(kept[0].value.modules.map(({ id }: { id: string }) => id).slice(0, 2)).toEqual(["s0_1", "s0_0"]);
  const frames = await page.evaluate(`new Promise((done) => {
    const graph = document.querySelector(".graph");
    const times = [];
    let last = performance.now();
    const step = (now) => {
      times.push(now - last);
      last = now;
      graph.scrollTop += 40;
      if (times.length < 120) requestAnimationFrame(step);
      else done(times.sort((a, b) => a - b)[108]);
    };
    requestAnimationFrame(step);
  })`);
  console.log(`500 steps: a frame while scrolling takes ${Number(frames).toFixed(1)} ms (9 of 10)`);
}, 60_000);

test("inputs are taken from a captured request", async () => {
  const path = "f/finance/hook";
  await site.filled.ask("POST", "/w/acme/flows/create", { path, summary: "Hook", value: { modules: [] } });
  await using ann = await site.visit();
  const { page } = ann;
  await ann.open(`/w/acme/draw/${path}`);
  await page.getByRole("button", { name: "Inputs from a webhook" }).click();
  await page.getByRole("button", { name: "Capture" }).click();
  await page.getByText("Waiting for a request").waitFor();
  const address = await page.getByRole("textbox", { name: "Capture address" }).inputValue();
  const sent = await fetch(address, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ order: 7, customer: { name: "Ann" } }),
  });
  expect(sent.ok).toBe(true);
  await page.getByRole("button", { name: "Use for the inputs" }).click();
  await page.getByRole("group", { name: "order" }).waitFor();
  await page.getByText("The draft is saved").waitFor();
  const { draft } = await read(`flows/get/draft/${path}`);
  expect(draft.schema.properties).toEqual({
    order: { type: "integer" },
    customer: { type: "object", properties: { name: { type: "string" } } },
  });
}, 60_000);

test("an operation of an OpenAPI document becomes a step", async () => {
  const path = "f/finance/api";
  await site.filled.ask("POST", "/w/acme/flows/create", { path, summary: "Api", value: { modules: [] } });
  await using ann = await site.visit();
  const { page } = ann;
  await ann.open(`/w/acme/draw/${path}`);
  await page.getByRole("button", { name: "Add a step here" }).click();
  await choose(page, "API call");
  const document = await (await fetch(`${site.serving.url}/api/openapi.yaml`)).text();
  const file = { name: "openapi.yaml", mimeType: "application/yaml", buffer: Buffer.from(document) };
  await page.locator('input[type="file"]').setInputFiles(file);
  await page.getByRole("combobox", { name: /^Operation of/ }).fill("/version");
  await page
    .getByRole("option", { name: /GET \/version/ })
    .first()
    .click();
  await ann.accessible("OpenAPI");
  await page.getByRole("button", { name: "Insert the step" }).click();
  await part(page, "Try");
  await page.getByRole("textbox", { name: "base_url" }).fill(`${site.serving.url}/api`);
  await page.getByRole("button", { name: "Run this step" }).click();
  await page.getByRole("region", { name: "Result" }).getByText(/CE v1/).waitFor();
}, 60_000);

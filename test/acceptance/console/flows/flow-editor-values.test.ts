/** Values beside the graph: results of steps, names for expressions, and continuing after a fix. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../../e2e/executable.ts";
import { expectSoon } from "../browser.ts";
import { useSite } from "../site.ts";

const site = useSite();

const read = async (path: string) => JSON.parse(await site.filled.ask("GET", `/w/acme/${path}`));
const js = (expr: string) => ({ type: "javascript", expr });
const code = (id: string, content: string, inputs: object = {}) => ({
  id,
  value: { type: "rawscript", language: "bun", content, input_transforms: inputs },
});
const deploy = (path: string, modules: object[]) =>
  site.filled.ask("POST", "/w/acme/flows/create", { path, summary: "", value: { modules } });
const ended = async (path: string, args: object = {}) => {
  const id = await site.filled.ask("POST", `/w/acme/jobs/run/f/${path}`, args);
  await until(async () => (await read(`jobs_u/completed/get_result_maybe/${id}`)).completed, "its end");
  return id.trim();
};
const part = (page: Page, name: string) =>
  page.getByRole("radiogroup", { name: "Part of the step" }).getByText(name, { exact: true }).click();

const ORDERS =
  "export const main = () => ({ orders: [{ total: 40, from: { city: 'Ulm' } }, { total: 60 }] })";

test("results are shown on the cards and in the panel, and pinned from there", async () => {
  const path = "f/finance/results";
  const loop = {
    id: "each",
    value: {
      type: "forloopflow",
      iterator: js("results.read.orders"),
      skip_failures: false,
      modules: [
        code("double", "export const main = (n: number) => n * 2", { n: js("flow_input.iter.value.total") }),
      ],
    },
  };
  await deploy(path, [code("read", ORDERS), loop]);
  const id = await ended(path);
  await using ann = await site.visit();
  const { page } = ann;
  await ann.open(`/w/acme/draw/${path}?run=${id}`);
  await page.locator('.step[data-step="read"]', { hasText: '{"orders":[{"total":40' }).waitFor();
  await page.locator('.step[data-step="double"]', { hasText: "120" }).waitFor();
  await page.locator('.step[data-step="each"]').click();
  await part(page, "Result");
  await page.getByText("Of all iterations or branches together").waitFor();
  await page.getByRole("region", { name: "Result" }).getByText("120").waitFor();
  await page.locator('.step[data-step="read"]').click();
  await part(page, "Result");
  await page
    .getByRole("region", { name: "Result" })
    .getByText(/orders/)
    .first()
    .waitFor();
  await ann.accessible("The result of a step");
  await ann.picture("flow-editor-result");
  await page.getByRole("button", { name: "Pin as the step's result" }).click();
  await page.locator('.step[data-step="read"]', { hasText: "pinned result" }).waitFor();
}, 60_000);

test("values of results, variables and resources are picked, also by search", async () => {
  const path = "f/finance/picked";
  await deploy(path, [
    code("read", ORDERS),
    code("use", "export const main = (city: string, key: string) => city + key"),
  ]);
  await ended(path);
  await site.filled.ask("POST", "/w/acme/variables/create", {
    path: "f/finance/api_key",
    value: "s3cret",
    is_secret: true,
    description: "",
  });
  await site.filled.ask("POST", "/w/acme/resources/create", {
    path: "f/finance/shop",
    value: { url: "https://shop.example" },
    resource_type: "any",
  });
  await using ann = await site.visit();
  const { page } = ann;
  await ann.open(`/w/acme/draw/${path}?step=use`);
  await part(page, "Inputs");
  await page.getByRole("button", { name: "Pick a value for city" }).click();
  await page.getByRole("button", { name: "Fields of results.read", exact: true }).click();
  await page.getByRole("button", { name: "Fields of results.read.orders", exact: true }).click();
  await page.getByRole("button", { name: /^results\.read\.orders\[1\] / }).waitFor();
  await ann.accessible("The names of an expression");
  await ann.picture("flow-editor-names");
  await page.getByRole("textbox", { name: "Search values, variables and resources" }).fill("city");
  await page.getByRole("button", { name: /^results\.read\.orders\[0\]\.from\.city/ }).click();
  await page.getByText('= "Ulm"').waitFor();
  await page.getByRole("button", { name: "Pick a value for key" }).click();
  await page.getByRole("button", { name: "f/finance/shop", exact: true }).waitFor();
  await page.getByRole("button", { name: "f/finance/api_key", exact: true }).click();
  await page.getByRole("textbox", { name: "Expression of key" }).waitFor();
  const transforms = async () =>
    (await read(`flows/get/draft/${path}`)).draft?.value.modules[1].value.input_transforms;
  await until(async () => (await transforms())?.key, "a draft");
  expect(await transforms()).toEqual({
    city: js("results.read.orders[0].from.city"),
    key: js('variable("f/finance/api_key")'),
  });
  expect(await page.content()).not.toContain("s3cret");
}, 60_000);

test("a repaired step is deployed, and the failed run continues from there with its arguments", async () => {
  const path = "f/finance/goes_on";
  const broken = "export const main = (orders: object[]) => { throw new Error(`no ${orders.length}`) }";
  await deploy(path, [code("read", ORDERS), code("count", broken, { orders: js("results.read.orders") })]);
  // More than the record of a run holds.
  const args = { text: "x".repeat(100_000) };
  const id = await ended(path, args);
  await using ann = await site.visit();
  const { page } = ann;
  await ann.open(`/w/acme/runs/${id}`);
  await page.getByRole("link", { name: "Fix the step" }).click();
  await page.locator('.step[data-step="count"]', { hasText: "no 2" }).waitFor();
  await page.getByRole("textbox", { name: "Code of count" }).click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText("export const main = (orders: object[]) => orders.length");
  await page.getByText("The draft is saved").waitFor();
  await page.getByRole("button", { name: "Deploy", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("checkbox", { name: "Then run the failed run again, from step count" }).check();
  await ann.accessible("Deploy and run again");
  await dialog.getByRole("button", { name: "Deploy" }).click();
  await page.waitForURL((url) => url.pathname.includes("/runs/") && !url.pathname.includes(id));
  const again = page.url().split("/").at(-1)!.split("?")[0]!;
  await until(async () => (await read(`jobs_u/completed/get_result_maybe/${again}`)).completed, "its end");
  expect(await read(`jobs_u/completed/get_result/${again}`)).toBe(2);
  expect(await read(`jobs_u/get_args/${again}`)).toEqual(args);
  await expectSoon(
    async () => (await read(`flows/get/${path}`)).value.modules[1].value.content.includes("throw"),
    false,
  );
}, 60_000);

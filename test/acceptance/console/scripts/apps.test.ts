/** Existing apps in a real browser: for members, and at a secret address for anonymous users. */
import { beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { visit } from "../browser.ts";
import { useSite } from "../site.ts";

const site = useSite();

const CODE =
  "export const main = (name: string, times: number) => Array.from({ length: times }, (_, n) => ({ n, name }))";
const PATH = "f/finance/greetings";

const at = (y: number, data: object) => ({ "12": { x: 0, y, w: 12, h: 1 }, data });
const value = {
  grid: [
    at(0, {
      id: "title",
      type: "textcomponent",
      componentInput: { type: "templatev2", eval: "Hello ${who.result}" },
      configuration: { style: { type: "static", value: "Title" } },
    }),
    at(1, {
      id: "who",
      type: "textinputcomponent",
      configuration: {
        label: { type: "static", value: "Your name" },
        defaultValue: { type: "static", value: "Bob" },
      },
    }),
    at(2, {
      id: "go",
      type: "buttoncomponent",
      configuration: { label: { type: "static", value: "Greet" } },
      componentInput: {
        type: "runnable",
        fields: {
          name: { type: "connected", connection: { componentId: "who", path: "result" } },
          times: { type: "static", value: 2 },
        },
        runnable: { type: "runnableByName", name: "greet", inlineScript: { content: CODE, language: "bun" } },
      },
    }),
    at(3, {
      id: "hostile",
      type: "htmlcomponent",
      componentInput: {
        type: "static",
        value: "<script>parent.document.title = 'taken'</script><b>page</b>",
      },
    }),
    at(4, { id: "later", type: "mapcomponent3d", configuration: {} }),
    at(5, {
      id: "code",
      type: "textcomponent",
      componentInput: { type: "evalv2", expr: "alert(document.cookie)" },
    }),
  ],
  subgrids: {},
};

beforeAll(async () => {
  const key = `go:rawscript/${createHash("sha256").update(CODE).digest("hex")}`;
  const policy = { execution_mode: "anonymous", triggerables_v2: { [key]: { static_inputs: { times: 2 } } } };
  await site.filled.ask("POST", "/w/acme/apps/create", { path: PATH, summary: "Greetings", value, policy });
});

async function greet(address: string, options: { token?: string }, name: string): Promise<void> {
  await using person = await visit(site.browser, site.serving.url, options);
  const { page } = person;
  await person.open(address);
  await page.getByRole("heading", { name: "Hello Bob" }).waitFor();
  await page.getByRole("textbox", { name: "Your name" }).fill("Ann");
  await page.getByRole("heading", { name: "Hello Ann" }).waitFor();
  await page.getByRole("button", { name: "Greet" }).click();
  await page.getByRole("region", { name: "Result" }).getByText("Ann").first().waitFor();
  await page
    .getByText("does not show components of the kind mapcomponent3d")
    .or(page.getByText(/components of the kind map/))
    .first()
    .waitFor();
  await page.getByText("computed by code that this page does not run: alert(document.cookie)").waitFor();
  expect(await page.title()).toBe("Greetings · svc");
  await person.accessible(name);
  // The accessibility checker sends messages to frames, and this one has an opaque origin.
  person.wrongs.splice(
    0,
    person.wrongs.length,
    ...person.wrongs.filter((wrong) => !wrong.includes("postMessage")),
  );
  await person.picture(name);
}

test("a member opens an app from Home", async () => {
  await using ann = await site.visit();
  await ann.open("/w/acme");
  await ann.page.getByRole("link", { name: /Greetings/ }).click();
  await ann.page.getByRole("heading", { name: "Greetings" }).waitFor();
});

test("an app is used by a member", () => greet(`/w/acme/apps/${PATH}`, { token: site.filled.token }, "app"));

test("a public app is used without a login", async () => {
  const secret = (await site.filled.ask("GET", `/w/acme/apps/secret_of/${PATH}`)).trim();
  await greet(`/public/acme/${secret}`, {}, "app-public");
});

test("components get the selected row of a table, its result, and the page that it shows", async () => {
  const path = "f/finance/orders";
  const inline = (content: string, fields: object, more: object = {}) => ({
    type: "runnable",
    fields,
    ...more,
    runnable: { type: "runnableByName", name: "code", inlineScript: { content, language: "bun" } },
  });
  const read = "export const main = (page: number) => [1, 2].map((n) => ({ order: page * 2 + n }))";
  const look = "export const main = (order: number) => `order ${order} is looked at`";
  const cancel = "export const main = (order: number) => `order ${order} is cancelled`";
  const evaluated = (expr: string) => ({ type: "evalv2", expr });
  const policies = [
    ["orders", read],
    ["looked", look],
    ["orders_cancel", cancel],
  ].map(([id, code]) => [`${id}:rawscript/${createHash("sha256").update(code!).digest("hex")}`, {}]);
  await site.filled.ask("POST", "/w/acme/apps/create", {
    path,
    summary: "Orders",
    policy: { execution_mode: "viewer", triggerables_v2: Object.fromEntries(policies) },
    value: {
      grid: [
        at(0, {
          id: "orders",
          type: "tablecomponent",
          configuration: { pagination: { type: "oneOf", selected: "manual", configuration: {} } },
          componentInput: inline(read, { page: evaluated("orders.page") }),
          actionButtons: [
            {
              id: "orders_cancel",
              type: "buttoncomponent",
              configuration: { label: { type: "templatev2", eval: "Cancel ${row.value.order}" } },
              componentInput: inline(cancel, { order: evaluated("row.value.order") }),
            },
          ],
        }),
        at(1, {
          id: "chosen",
          type: "textcomponent",
          componentInput: {
            type: "templatev2",
            eval: "${orders.selectedRow.order} of ${orders.result.length}, number ${orders.selectedRowIndex}",
          },
        }),
        at(2, {
          id: "looked",
          type: "textcomponent",
          componentInput: inline(
            look,
            {
              order: { type: "connected", connection: { componentId: "orders", path: "selectedRow.order" } },
            },
            { autoRefresh: true },
          ),
        }),
      ],
      subgrids: {},
    },
  });
  await using ann = await site.visit();
  const { page } = ann;
  await ann.open(`/w/acme/apps/${path}`);
  await page.getByText("1 of 2, number 0").waitFor();
  await page.getByText("order 1 is looked at").waitFor();
  await page.getByRole("cell", { name: "2", exact: true }).click();
  await page.getByText("2 of 2, number 1").waitFor();
  await page.getByText("order 2 is looked at").waitFor();
  await page.getByRole("button", { name: "Cancel 2" }).click();
  await page.getByText("order 2 is cancelled").waitFor();
  await page.getByRole("radio", { name: "Select row 2" }).press("ArrowUp");
  await page.getByText("1 of 2, number 0").waitFor();
  await page.getByRole("button", { name: "Next page" }).click();
  await page.getByText("3 of 2, number 0").waitFor();
  await page.getByText("order 3 is looked at").waitFor();
  await ann.accessible("An app with a table");
  await ann.picture("app-table");
}, 60_000);

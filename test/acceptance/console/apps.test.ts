/** Apps that people already have, in a real browser: for members, and at a secret address for everybody. */
import { beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { visit } from "./browser.ts";
import { useSite } from "./site.ts";

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
  // The means of the check speak to frames, and this one is of no origin.
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

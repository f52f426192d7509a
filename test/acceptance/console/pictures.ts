/**
 * Takes the README's pictures from the built executable, at 1280 pixels in light colours: `bun run
 * console:pictures`.
 */
import { join } from "node:path";
import { parse } from "yaml";
import { createInstallation } from "../e2e/executable.ts";
import { openBrowser, visit } from "./browser.ts";
import { createSampleWorkspace, type SampleWorkspace } from "./filled.ts";

const FOLDER = join(import.meta.dir, "../../../src/console/pictures");
const MAX_BYTES = 150_000;

const SYNC = `// Fetches the orders of a shop and tells how many there are.
type Shop = "bonn" | "ulm" | "jena";

export async function main(shop: Shop, days = 7, notify = true) {
  console.log(\`reading \${days} days of \${shop}\`);
  const orders = Array.from({ length: days * 4 }, (_, nth) => ({
    order: 4_200 + nth,
    shop,
    total: ((nth * 7919) % 900) + 12.5,
  }));
  console.log(\`\${orders.length} orders\`);
  if (notify) console.log("told the channel #orders");
  return orders;
}
`;

const step = (id: string, summary: string, path: string, input_transforms: object = {}) => ({
  id,
  summary,
  value: { type: "script", path, input_transforms },
});
const takes = (expr: string) => ({ type: "javascript", expr });

async function fillMore({ ask, run, script }: SampleWorkspace): Promise<string> {
  await script("f/shop/orders", SYNC, { summary: "Orders of a shop" });
  await script("f/shop/wait", "export const main = (ms: number) => Bun.sleep(ms);", {
    summary: "Sync the stock",
  });
  await script(
    "f/shop/price",
    "export const main = (order: any) => ({ ...order, tax: order.total * 0.19 });",
  );
  await script(
    "f/shop/send",
    `export async function main(to: string) {
  const letter = { to, subject: "Your orders" };
  if (!letter.to.endsWith(".com")) {
    throw new Error(\`the mail server refused \${to}\`);
  }
  return letter;
}
`,
  );
  await ask("POST", "/w/acme/flows/create", {
    path: "f/shop/nightly",
    summary: "Bill the day's orders",
    description: "",
    value: {
      modules: [
        step("a", "Read the orders", "f/shop/orders", { shop: { type: "static", value: "ulm" } }),
        {
          id: "b",
          summary: "For each order",
          value: {
            type: "forloopflow",
            iterator: takes("results.a.slice(0, 12)"),
            parallel: true,
            skip_failures: true,
            modules: [step("c", "Add the tax", "f/shop/price", { order: takes("flow_input.iter.value") })],
          },
        },
        step("d", "Sync the stock", "f/shop/wait", { ms: { type: "static", value: 400 } }),
        {
          ...step("e", "Mail the bill", "f/shop/send", { to: { type: "static", value: "ops@example.org" } }),
          retry: { constant: { attempts: 2, seconds: 0 } },
        },
      ],
    },
    schema: { type: "object", properties: {} },
  });
  for (let nth = 0; nth < 40; nth++) {
    if (nth % 9 === 4) await run("f/finance/refund", { order: nth, reason: "late" });
    else if (nth % 5 === 2) await run("f/shop/orders", { shop: "bonn" });
    else await run("f/shop/wait", { ms: 5 + ((nth * 7919) % 700) });
  }
  const id = await ask("POST", "/w/acme/jobs/run/f/f/shop/nightly", {});
  for (;;) {
    const { completed } = JSON.parse(await ask("GET", `/w/acme/jobs_u/completed/get_result_maybe/${id}`));
    if (completed) return id;
    await Bun.sleep(50);
  }
}

/** Reads the README's flow. */
async function readRefundFlow(): Promise<object> {
  const readme = await Bun.file(join(import.meta.dir, "../../../README.md")).text();
  const [, yaml] = /^```yaml refund\.yaml\n(.*?)^```/ms.exec(readme)!;
  return parse(yaml!);
}

const place = createInstallation();
const browser = await openBrowser();
try {
  const serving = await place.serve();
  const filled = await createSampleWorkspace(serving);
  await filled.ask("POST", "/w/acme/folders/create", { name: "shop" });
  const flow = await fillMore(filled);
  await using seen = await visit(browser, serving.url, { token: filled.token });
  const { page } = seen;
  const take = async (name: string) => {
    const bytes = await page.screenshot({ path: join(FOLDER, `${name}.png`) });
    if (bytes.length > MAX_BYTES) throw new Error(`${name}.png has ${bytes.length} bytes`);
    console.log(`${name}.png: ${Math.round(bytes.length / 1_000)} kB`);
  };
  await seen.open("w/acme/runs");
  await page.getByRole("row").nth(20).waitFor();
  await take("runs");
  await seen.open(`w/acme/runs/${flow}`);
  await page.getByRole("heading", { name: "Steps" }).waitFor();
  await page.getByText("Mail the bill").first().click();
  await page.getByText("the mail server refused").first().waitFor();
  await page.getByRole("heading", { name: "Steps" }).scrollIntoViewIfNeeded();
  await take("flow-run");
  await filled.ask("POST", "/w/acme/flows/create", { path: "u/ann/refund", ...(await readRefundFlow()) });
  await seen.open("w/acme/draw/u/ann/refund?step=pay");
  await page.locator('.step[data-step="pay"]').waitFor();
  await page
    .getByRole("radiogroup", { name: "Part of the step" })
    .getByText("Inputs", { exact: true })
    .click();
  await page.getByRole("group", { name: "answer", exact: true }).waitFor();
  await take("flow-editor");
  await seen.open("w/acme/edit/f/shop/orders");
  await page.getByText("told the channel").first().waitFor();
  await page.getByRole("combobox", { name: /shop/ }).click();
  await page.getByRole("option", { name: "ulm" }).click();
  await page.getByRole("button", { name: /^Run/ }).first().click();
  await page.getByText("28 rows").waitFor();
  await take("script");
} finally {
  await browser.close();
  place.remove();
}

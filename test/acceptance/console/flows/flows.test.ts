/** Flows and their runs in a real browser: displayed, followed, answered and restarted. */
import { expect, test } from "bun:test";
import { expectSoon, PHONE } from "../browser.ts";
import { useSite } from "../site.ts";

const site = useSite();

const js = (expr: string) => ({ type: "javascript", expr });
const code = (id: string, content: string, inputs: object = {}, more: object = {}) => ({
  id,
  value: { type: "rawscript", language: "bun", content, input_transforms: inputs },
  ...more,
});
const flow = (path: string, modules: object[], more: object = {}) =>
  site.filled.ask("POST", "/w/acme/flows/create", { path, summary: "", value: { modules }, ...more });
const ended = async (id: string) => {
  while (
    !JSON.parse(await site.filled.ask("GET", `/w/acme/jobs_u/completed/get_result_maybe/${id}`)).completed
  )
    await Bun.sleep(50);
};

/** Frame time of a browser that renders in software, on a busy machine. */
const MAX_FRAME_MS = 50;

/** A loop whose second iteration fails, a branch that was not taken, and a step that was retried. */
const FAILING = [
  code("a", "export const main = () => [1, 2, 3]", {}, { summary: "Orders of the day" }),
  {
    id: "l",
    summary: "Every order",
    value: {
      type: "forloopflow",
      iterator: js("results.a"),
      skip_failures: false,
      modules: [
        code("x", "export const main = (n: number) => n", { n: js("flow_input.iter.value") }),
        {
          id: "c",
          summary: "Large or small",
          value: {
            type: "branchone",
            branches: [
              {
                summary: "large",
                expr: "results.x > 1",
                modules: [
                  code(
                    "y",
                    `export const main = (n: number) => { console.log("charging", n); throw new Error("card refused") }`,
                    { n: js("results.x") },
                    { summary: "Charge the card", retry: { constant: { attempts: 1, seconds: 0 } } },
                  ),
                ],
              },
            ],
            default: [code("z", "export const main = () => 'small'")],
          },
        },
      ],
    },
  },
  code("end", "export const main = () => 'done'"),
];

test("the failed step of a flow is shown, and the flow is restarted from it", async () => {
  await flow("f/finance/charge", FAILING);
  const id = await site.filled.ask("POST", "/w/acme/jobs/run/f/f/finance/charge", {});
  await ended(id);
  for (const scheme of ["light", "dark"] as const) {
    await using seen = await site.visit({ scheme });
    const { page } = seen;
    await seen.open(`w/acme/runs/${id}`);
    // The failed step is shown first, with its attempts, input and log.
    const panel = page.getByRole("region", { name: "Step Charge the card" });
    await panel.getByText("card refused").first().waitFor();
    await panel.getByText("2 attempts").waitFor();
    await panel.getByRole("log").getByText("charging 2").waitFor();
    await seen.picture(`flow-run-${scheme}`);
    await seen.accessible("flow run");
    // The previous iteration took the other branch.
    await page.getByRole("button", { name: "Previous iteration, of Every order" }).click();
    await page.getByRole("button", { name: /^Code z.*Succeeded/ }).waitFor();
    await page.getByText("Timeline", { exact: true }).click();
    const rows = page.locator(".timeline-row");
    await page.getByRole("button", { name: /Every order 1/ }).waitFor();
    const all = await rows.count();
    const onlyFailed = page.getByRole("checkbox", { name: /^Only what failed, \d of \d/ });
    await onlyFailed.check();
    await page.getByRole("button", { name: /Every order 1/ }).waitFor({ state: "detached" });
    expect(await rows.count()).toBeLessThan(all);
    await onlyFailed.uncheck();
    await page.getByRole("button", { name: /Every order 2/ }).click();
    await page.getByRole("region", { name: "Step Every order" }).getByText("Run of iteration 2").waitFor();
    await seen.picture(`flow-timeline-${scheme}`);
    await seen.accessible("timeline");
    // The address contains the whole selection.
    await page.reload();
    await page.getByRole("region", { name: "Step Every order" }).waitFor();
    if (scheme === "dark") continue;
    await page.getByRole("button", { name: "Run again from here" }).click();
    await page.waitForURL((now) => !now.pathname.endsWith(id));
    const made = page.url().match(/runs\/([0-9a-f-]{36})/)![1]!;
    await ended(made);
    const { flow_status } = JSON.parse(await site.filled.ask("GET", `/w/acme/jobs_u/get/${made}`));
    expect(flow_status.restarted_from).toMatchObject({ flow_job_id: id, step_id: "l" });
    expect(seen.wrongs).toEqual([]);
  }
}, 90_000);

test("an approval is given from a phone, with its form", async () => {
  const resume_form = {
    schema: {
      type: "object",
      properties: { amount: { type: "number" }, note: { type: "string" } },
      required: ["amount"],
    },
  };
  const asks =
    "export const main = () => ({ description: 'Order 7 of Bob, 30 €', default_args: { amount: 30 } })";
  await flow("f/finance/approve", [
    code("ask", asks, {}, { summary: "Ask the boss", suspend: { required_events: 1, resume_form } }),
    code("pay", "export const main = (said: any) => said", { said: js("resume") }),
  ]);
  const id = await site.filled.ask("POST", "/w/acme/jobs/run/f/f/finance/approve", {});
  await using seen = await site.visit({ viewport: PHONE });
  const { page } = seen;
  await seen.open(`w/acme/runs/${id}`);
  const card = page.getByRole("region", { name: "Approval of Ask the boss" });
  await card.getByText("Order 7 of Bob").waitFor();
  await seen.picture("approval");
  await seen.accessible("approval");
  const amount = card.getByLabel("amount");
  await expectSoon(() => amount.inputValue(), "30");
  await amount.fill("25");
  await card.getByLabel("note").fill("less");
  await card.getByRole("button", { name: "Approve" }).click();
  await card.waitFor({ state: "detached" });
  await page.getByText("Succeeded").first().waitFor();
  await ended(id);
  const answer = JSON.parse(await site.filled.ask("GET", `/w/acme/jobs_u/completed/get_result_maybe/${id}`));
  expect(answer.result).toEqual({ amount: 25, note: "less" });
  expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("five hundred steps are rendered and panned without stuttering", async () => {
  const many = Array.from({ length: 500 }, (_, step) => ({ id: `s${step}`, value: { type: "identity" } }));
  await flow("f/finance/many", many);
  const id = await site.filled.ask("POST", "/w/acme/jobs/run/f/f/finance/many", {});
  await ended(id);
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open(`w/acme/runs/${id}`);
  const first = page.getByRole("button", { name: /s0\b/ });
  await first.waitFor();
  await expectSoon(() => page.locator(".graph .step").count(), 500);
  const took = (await page.evaluate(`(async () => {
    const graph = document.querySelector(".graph");
    const times = [];
    for (let y = 0; y < 3000; y += 100) {
      const before = performance.now();
      graph.scrollTop = y;
      await new Promise((next) => requestAnimationFrame(next));
      times.push(performance.now() - before);
    }
    return times.sort((a, b) => a - b)[times.length >> 1];
  })()`)) as number;
  expect(took).toBeLessThan(MAX_FRAME_MS);
  await first.click();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Step s1", exact: true }).waitFor();
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("a flow page shows its graph, its YAML and the differences of its versions", async () => {
  const EVIL = "<img src=x onerror=alert(1)>";
  const version = (name: string) => ({
    path: "f/finance/evil",
    summary: EVIL,
    description: EVIL,
    value: {
      modules: [
        code("a", `export const main = () => "${name}"`, { x: js(EVIL) }, { summary: EVIL }),
        {
          id: "b",
          value: { type: "branchone", branches: [{ summary: EVIL, expr: "true", modules: [] }], default: [] },
        },
      ],
      failure_module: code("failure", "export const main = () => 0"),
    },
  });
  await site.filled.ask("POST", "/w/acme/flows/create", version("first"));
  await site.filled.ask("POST", "/w/acme/flows/update/f/finance/evil", {
    ...version("second"),
    deployment_message: EVIL,
  });
  for (const scheme of ["light", "dark"] as const) {
    await using seen = await site.visit({ scheme });
    const { page } = seen;
    await seen.open("w/acme");
    await page
      .getByRole("link", { name: /onerror/ })
      .first()
      .click();
    await page.getByRole("button", { name: /^Code/ }).first().click();
    await page.getByLabel("Code of a").getByText("second").waitFor();
    await page.getByText("When a step fails").waitFor();
    await seen.picture(`flow-${scheme}`);
    await seen.accessible("flow");
    await page.getByText("YAML", { exact: true }).click();
    await page.getByText("input_transforms").first().waitFor();
    await page.getByText("Versions", { exact: true }).click();
    const changed = page.getByLabel("Differences");
    await changed.getByText(/first/).waitFor();
    await changed.getByText(/second/).waitFor();
    await seen.picture(`flow-versions-${scheme}`);
    await seen.accessible("versions");
    await page.getByRole("link", { name: "Run", exact: true }).click();
    await page.getByText("It takes no arguments").waitFor();
    expect(await page.locator("main img[src=x]").count()).toBe(0);
    expect(seen.wrongs).toEqual([]);
  }
}, 90_000);

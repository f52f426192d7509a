/** Triggers of kinds that are stored and not run, in a real browser. */
import { expect, test } from "bun:test";
import { useSite } from "../site.ts";

const site = useSite();

test("triggers of kinds that are stored only are listed with their state, not offered for editing", async () => {
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme/triggers");
  await page.getByText("Other kinds").click();
  await page.getByText("No triggers of other kinds").waitFor();
  await seen.accessible("no triggers of other kinds");
  const store = (kind: string, path: string, more: object) =>
    site.filled.ask("POST", `/w/acme/${kind}_triggers/create`, { path, is_flow: false, ...more });
  await store("kafka", "f/finance/orders_in", { script_path: "f/finance/order", topics: ["orders"] });
  await store("email", "f/finance/mail_in", { script_path: "", mode: "disabled" });
  await seen.open("w/acme/triggers?tab=others");
  const list = page.getByRole("table", { name: "Triggers of other kinds" });
  await list.getByRole("row", { name: "f/finance/orders_in Kafka f/finance/order not run" }).waitFor();
  await list.getByRole("row", { name: "f/finance/mail_in E-mail off" }).waitFor();
  await list.getByTitle("stored; svc does not run Kafka triggers").waitFor();
  expect(await page.getByRole("link", { name: /^New / }).count()).toBe(0);
  await seen.picture("triggers-other-kinds");
  await seen.accessible("triggers of other kinds");
  for (const [kind, path] of [
    ["kafka", "f/finance/orders_in"],
    ["email", "f/finance/mail_in"],
  ])
    await site.filled.ask("DELETE", `/w/acme/${kind}_triggers/delete/${path}`);
  expect(seen.wrongs).toEqual([]);
}, 60_000);

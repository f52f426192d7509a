/** Values of resources that do not have the form of their type, in a real browser. */
import { expect, test } from "bun:test";
import { useSite } from "../site.ts";

const site = useSite();

test("a resource that is not an object is shown unchanged, and stored only if it was edited", async () => {
  const path = "f/finance/holidays";
  const stored = async () => JSON.parse(await site.filled.ask("GET", `/w/acme/resources/get/${path}`));
  await site.filled.ask("POST", "/w/acme/resources/type/create", {
    name: "bank",
    schema: { type: "object", properties: { iban: { type: "string" } } },
  });
  await site.filled.ask("POST", "/w/acme/resources/create", {
    path,
    resource_type: "bank",
    value: ["May 1"],
    description: "",
  });
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open(`w/acme/resources/p/${path}`);
  const text = page.getByRole("textbox", { name: "Value as JSON" });
  const save = page.getByRole("button", { name: "Save" });
  await text.waitFor();
  expect(JSON.parse(await text.inputValue())).toEqual(["May 1"]);
  await text.fill('["May 1",');
  await page.getByRole("button", { name: "Save", disabled: true }).waitFor();
  await text.fill('["May 1"]');
  await site.filled.ask("POST", `/w/acme/resources/update/${path}`, { value: ["May 1", "May 8"] });
  await page.getByLabel("Description of the resource").fill("Closed");
  await save.click();
  await page.getByRole("link", { name: path }).waitFor();
  expect(await stored()).toMatchObject({ value: ["May 1", "May 8"], description: "Closed" });
  expect(seen.wrongs).toEqual([]);
}, 60_000);

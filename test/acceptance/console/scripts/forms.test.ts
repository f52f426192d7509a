/** Every kind of field of a JSON Schema: filled in by hand, validated, and passed to the run unchanged. */
import { beforeAll, expect, test } from "bun:test";
import { expectSoon } from "../browser.ts";
import { useSite } from "../site.ts";

const site = useSite();

const SCHEMA = {
  type: "object",
  required: ["mail", "way"],
  order: ["mail", "key", "pin", "day", "db", "way", "rows", "files", "tags", "deep"],
  properties: {
    mail: { type: "string", format: "email" },
    key: { type: "string", password: true },
    pin: { type: "string", format: "password" },
    day: { type: "string", format: "date" },
    db: { type: "object", format: "resource-postgresql" },
    way: {
      oneOf: [
        {
          title: "By post",
          type: "object",
          required: ["street"],
          properties: { street: { type: "string" } },
        },
        {
          title: "By air",
          type: "object",
          required: ["flight"],
          properties: { flight: { type: "integer" } },
        },
      ],
    },
    rows: {
      type: "array",
      items: {
        type: "object",
        properties: {
          name: { type: "string" },
          sizes: { type: "array", items: { type: "integer" } },
        },
      },
    },
    files: { type: "array", items: { type: "string", contentEncoding: "base64" } },
    tags: { type: "array", items: { type: "string", enum: ["a", "b", "c"] }, uniqueItems: true },
    deep: { type: "object", properties: { on: { type: "boolean" }, note: { type: "string" } } },
  },
};

beforeAll(async () => {
  await site.filled.ask("POST", "/w/acme/variables/create", {
    path: "u/ann/api_key",
    value: "the secret",
    is_secret: true,
    description: "",
  });
  await site.filled.ask("POST", "/w/acme/resources/create", {
    path: "u/ann/warehouse",
    value: { host: "db" },
    resource_type: "postgresql",
    description: "",
  });
  await site.filled.script("u/ann/form", "export const main = (mail: string, key: string) => key.length;", {
    schema: SCHEMA,
  });
});

test("e-mail, secret, date, resource, one-of, nested lists, files, choices and objects", async () => {
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme/begin/script/u/ann/form");
  const text = (name: string) => page.getByRole("textbox", { name, exact: true });
  await text("mail").fill("no address");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByText(/email/i).filter({ visible: true }).first().waitFor();
  await text("mail").fill("bob@example.org");
  // The form contains the variable's path, not its value.
  await page.getByRole("button", { name: "Take it from a variable" }).first().click();
  await page.getByRole("combobox", { name: "Variable" }).fill("api");
  await page.getByRole("option", { name: "u/ann/api_key (secret)" }).click();
  await expectSoon(() => text("key").inputValue(), "$var:u/ann/api_key");
  await page.getByLabel("day").fill("2026-11-23");
  await page.getByRole("combobox", { name: "db" }).fill("ware");
  await page.getByRole("option", { name: "u/ann/warehouse" }).click();
  await page.getByRole("combobox", { name: /way/ }).first().click();
  await page.getByRole("option", { name: "By air" }).click();
  await page.getByRole("textbox", { name: "flight" }).fill("747");
  await page.getByRole("button", { name: "Add to rows" }).click();
  await text("name").fill("first");
  for (const [nth, size] of ["1", "2"].entries()) {
    await page.getByRole("button", { name: "Add to sizes" }).click();
    await page.locator(`#root_rows_0_sizes_${nth}`).fill(size);
  }
  await page.getByRole("button", { name: "Move item 2 up" }).first().click();
  await page.getByRole("button", { name: "Add to files" }).click();
  const chooser = page.waitForEvent("filechooser");
  await page.getByText("Choose a file").click();
  await (await chooser).setFiles({ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("in a list") });
  await page.getByRole("combobox", { name: "tags" }).click();
  await page.getByRole("option", { name: "b", exact: true }).click();
  await page.keyboard.press("Escape");
  await page.getByRole("checkbox", { name: "on" }).check();
  await seen.picture("form-all");
  await seen.accessible("the form");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByText("Succeeded").first().waitFor();
  const args = JSON.parse(await site.filled.ask("GET", `/w/acme/jobs_u/get_args/${page.url().slice(-36)}`));
  expect(args).toEqual({
    mail: "bob@example.org",
    key: "$var:u/ann/api_key",
    day: "2026-11-23",
    db: "$res:u/ann/warehouse",
    way: { flight: 747 },
    rows: [{ name: "first", sizes: [2, 1] }],
    files: [btoa("in a list")],
    tags: ["b"],
    deep: { on: true },
  });
  // The run received the value.
  await page.getByRole("region", { name: "Result", exact: true }).getByText("10").waitFor();
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("a reload and the Back button keep the input, except secrets", async () => {
  await using seen = await site.visit();
  const { page } = seen;
  const mail = page.getByRole("textbox", { name: "mail" });
  const key = page.getByLabel("key", { exact: true });
  const pin = page.getByLabel("pin", { exact: true });
  await seen.open("w/acme/begin/script/u/ann/form");
  await mail.fill("bob@example.org");
  await key.fill("hunter2");
  await pin.fill("hunter3");
  await page.getByRole("textbox", { name: "street" }).fill("High Street");
  await page.reload();
  await expectSoon(() => mail.inputValue(), "bob@example.org");
  expect(await page.getByRole("textbox", { name: "street" }).inputValue()).toBe("High Street");
  expect(await key.inputValue()).toBe("");
  expect(await pin.inputValue()).toBe("");
  expect(await page.evaluate("JSON.stringify([history.state, {...localStorage}])")).not.toMatch(/hunter[23]/);
  await mail.fill("ann@example.org");
  await page.keyboard.press("Control+Enter");
  await page.waitForURL(/\/runs\//);
  await page.goBack();
  await expectSoon(() => mail.inputValue(), "ann@example.org");
  // Opening the form again starts with empty fields.
  await seen.open("w/acme");
  await page.getByRole("link", { name: "Run u/ann/form" }).click();
  await mail.waitFor();
  expect(await mail.inputValue()).toBe("");
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("a type that a script declares is filled in, or chosen if the workspace has it", async () => {
  await site.filled.ask("POST", "/w/acme/resources/type/create", {
    name: "pager",
    schema: { type: "object", properties: { number: { type: "string" } } },
    description: "",
  });
  await site.filled.ask("POST", "/w/acme/resources/create", {
    path: "u/ann/night_pager",
    value: { number: "555" },
    resource_type: "pager",
    description: "",
  });
  await site.filled.script(
    "u/ann/declared",
    `type Channel = { token: string; level?: number };
interface Pager { number: string }
export const main = (channel: Channel, pager: Pager, others: Channel[]) => pager.number;`,
  );
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme/begin/script/u/ann/declared");
  const run = page.getByRole("button", { name: "Run", exact: true });
  const token = page.getByRole("textbox", { name: "token" });
  const result = page.getByRole("region", { name: "Result", exact: true });
  await page.getByRole("combobox", { name: "pager" }).fill("night");
  await page.getByRole("option", { name: "u/ann/night_pager" }).click();
  // The workspace has no resource type `channel`.
  expect(await page.getByRole("combobox", { name: "channel" }).count()).toBe(0);
  await run.click();
  await page.getByText("is required").first().waitFor();
  await token.fill("t-1");
  await page.getByRole("textbox", { name: "level" }).fill("3");
  await page.getByRole("button", { name: "Add to others" }).click();
  await token.nth(1).fill("t-2");
  await seen.picture("form-declared");
  await seen.accessible("the form of declared types");
  const readArguments = async () =>
    JSON.parse(await site.filled.ask("GET", `/w/acme/jobs_u/get_args/${page.url().slice(-36)}`));
  await run.click();
  await page.getByText("Succeeded").first().waitFor();
  expect(await readArguments()).toEqual({
    channel: { token: "t-1", level: 3 },
    pager: "$res:u/ann/night_pager",
    others: [{ token: "t-2" }],
  });
  await result.getByText("555").waitFor();
  // Where there are resources of the type, the fields can be filled in too.
  await seen.open("w/acme/begin/script/u/ann/declared");
  await page.getByRole("button", { name: "Fill in the fields instead" }).click();
  await page.getByRole("textbox", { name: "number" }).fill("777");
  await token.first().fill("t-3");
  await page.getByRole("textbox", { name: "level" }).fill("4");
  // A reload keeps what only the script declares; the other might be a secret.
  await page.reload();
  await expectSoon(() => token.first().inputValue(), "t-3");
  expect(await page.getByRole("textbox", { name: "number" }).count()).toBe(0);
  await page.getByRole("button", { name: "Fill in the fields instead" }).click();
  await page.getByRole("textbox", { name: "number" }).fill("777");
  await run.click();
  await page.getByText("Succeeded").first().waitFor();
  expect(await readArguments()).toEqual({
    channel: { token: "t-3", level: 4 },
    pager: { number: "777" },
    // A required list may be empty.
    others: [],
  });
  expect(seen.wrongs).toEqual([]);
}, 60_000);

/** Variables and resources in a real browser: created, used, displayed, never leaked. */
import { expect, test } from "bun:test";
import { expectSoon, keepAnswers } from "../browser.ts";
import { useSite } from "../site.ts";

const site = useSite();

const SECRET = "hush-4711-value";
const EVIL = "<img src=x onerror=alert(1)>";

test("a secret is created, used and shown on demand, and leaks nowhere", async () => {
  await using seen = await site.visit();
  const { page } = seen;
  const answers = keepAnswers(page, (url) => !url.includes("/get_value/") && url.includes("/api/"));
  await seen.open("w/acme/variables");
  await page.getByText("No variables yet").waitFor();
  await seen.picture("variables-none");
  await page.getByRole("button", { name: "New variable" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Path").fill("f/finance/bank_key");
  await dialog.getByLabel("Value", { exact: true }).fill(SECRET);
  await dialog.getByLabel("Description").fill(EVIL);
  await seen.picture("variable-new");
  await seen.accessible("new variable");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByRole("cell", { name: "f/finance/bank_key", exact: true }).waitFor();
  await page.getByText("secret", { exact: true }).waitFor();
  await site.filled.script(
    "f/finance/pay",
    `/** Pays with f/finance/bank_key. */
export const main = (key: string) => { console.log("key", key); return key.length; };`,
  );
  const run = await site.filled.run("f/finance/pay", { key: "$var:f/finance/bank_key" });
  await seen.open(`w/acme/runs/${run}`);
  await page.getByText("Succeeded").first().waitFor();
  await page.getByRole("log").getByText(/^key/).waitFor();
  expect(await site.filled.ask("GET", `/w/acme/jobs_u/completed/get_result/${run}`)).toBe(
    String(SECRET.length),
  );
  await seen.open("w/acme/variables");
  await page.getByRole("button", { name: "More for f/finance/bank_key" }).click();
  await page.getByRole("menuitem", { name: "Where it is used" }).click();
  await page.getByRole("dialog").getByRole("link", { name: "f/finance/pay" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect((await answers()).filter((text) => text.includes(SECRET))).toEqual([]);
  expect(await page.content()).not.toContain(SECRET);
  await page.getByRole("button", { name: "More for f/finance/bank_key" }).click();
  await page.getByRole("menuitem", { name: "Show the value" }).click();
  await page.getByText(SECRET).waitFor();
  await seen.accessible("a secret");
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await page.content()).not.toContain(SECRET);
  const storage = await page.evaluate("JSON.stringify({ ...localStorage, ...sessionStorage })");
  expect(storage).not.toContain(SECRET);
  const audited = JSON.parse(await site.filled.ask("GET", "/w/acme/audit/list?resource=f/finance/bank_key"));
  expect(
    audited.some(({ operation }: { operation: string }) => operation === "variables.decrypt_secret"),
  ).toBe(true);
  await seen.picture("variables");
  await seen.accessible("variables");
  // Changed without loading its value.
  await page.getByRole("button", { name: "More for f/finance/bank_key" }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await dialog.getByLabel("Description").fill("Key of the bank");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "hidden" });
  await page.getByText("Key of the bank").waitFor();
  expect(JSON.parse(await site.filled.ask("GET", "/w/acme/variables/get_value/f/finance/bank_key"))).toBe(
    SECRET,
  );
  expect(seen.wrongs).toEqual([]);
}, 90_000);

test("a resource is filled in by its type, and its password is stored as a secret", async () => {
  await using seen = await site.visit({ scheme: "dark" });
  const { page } = seen;
  await seen.open("w/acme/resources");
  await page.getByText("No resources yet").waitFor();
  await seen.picture("resources-none");
  await page.getByRole("link", { name: "New resource" }).click();
  await page.getByRole("combobox", { name: "Type" }).fill("postgres");
  await page.getByRole("option", { name: "postgresql" }).click();
  await page.getByLabel("Path").fill("f/finance/books");
  await page.getByLabel("Description of the resource").fill(EVIL);
  await page.getByLabel("host").fill("db.example.org");
  await page.getByLabel("dbname").fill("books");
  await page.getByRole("textbox", { name: "password" }).fill(SECRET);
  await seen.picture("resource-new");
  await seen.accessible("new resource");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("link", { name: "f/finance/books" }).waitFor();
  await page.getByText("onerror=alert(1)").waitFor();
  await seen.picture("resources");
  await seen.accessible("resources");
  const { value } = JSON.parse(await site.filled.ask("GET", "/w/acme/resources/get/f/finance/books"));
  expect(value).toMatchObject({ host: "db.example.org", password: "$var:f/finance/books_password" });
  const stored = await site.filled.ask("GET", "/w/acme/variables/get_value/f/finance/books_password");
  expect(JSON.parse(stored)).toBe(SECRET);
  await page.getByRole("link", { name: "f/finance/books" }).click();
  await page.getByLabel("host").fill("db2.example.org");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("link", { name: "f/finance/books" }).waitFor();
  const changed = JSON.parse(await site.filled.ask("GET", "/w/acme/resources/get/f/finance/books"));
  expect(changed.value).toMatchObject({ host: "db2.example.org", password: "$var:f/finance/books_password" });
  await page.getByText("Types", { exact: true }).click();
  await page.getByRole("button", { name: "New type" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("bank");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "More for bank" }).click();
  await page.getByRole("menuitem", { name: "New resource of this type" }).click();
  await page.getByRole("group", { name: "bank" }).getByLabel("url").waitFor();
  await page.goBack();
  await page.getByRole("button", { name: "More for bank" }).waitFor();
  await seen.picture("types");
  await seen.accessible("types");
  expect(seen.wrongs).toEqual([]);
}, 90_000);

test("a reference to a secret is shown as one, and items that refer to a resource are listed, schedules and routes too", async () => {
  const path = "f/finance/ledger";
  await site.filled.ask("POST", "/w/acme/resources/create", {
    path,
    resource_type: "postgresql",
    value: { host: "db.example.org", dbname: "ledger", username: "svc", password: "$var:f/finance/bank_key" },
  });
  await site.filled.ask("POST", "/w/acme/schedules/create", {
    path: "f/finance/closing",
    script_path: "u/ann/hello",
    schedule: "0 0 6 * * *",
    timezone: "UTC",
    args: { name: `$res:${path}` },
    enabled: false,
  });
  await site.filled.ask("POST", "/w/acme/http_triggers/create", {
    path: "f/finance/guarded",
    script_path: "u/ann/hello",
    route_path: "guarded",
    http_method: "post",
    workspaced_route: true,
    authentication_method: "basic_http",
    authentication_resource_path: path,
  });
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open(`w/acme/resources/p/${path}`);
  const password = page.getByRole("textbox", { name: "password" });
  await expectSoon(() => password.inputValue(), "$var:f/finance/bank_key");
  expect(await password.getAttribute("type")).toBe("text");
  const choose = async (entry: string) => {
    await page.getByRole("button", { name: `More for ${path}` }).click();
    await page.getByRole("menuitem", { name: entry }).click();
  };
  await choose("Where it is used");
  const dialog = page.getByRole("dialog");
  await dialog
    .getByText(/^schedule/)
    .getByRole("link", { name: "f/finance/closing" })
    .waitFor();
  await dialog
    .getByText(/^HTTP route/)
    .getByRole("link", { name: "f/finance/guarded" })
    .waitFor();
  await seen.accessible("where a resource is used");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  // A click before the form is loaded does not make its defaults unsaved changes.
  const form = Promise.withResolvers<void>();
  await page.route(/assets\/SchemaForm/, (route) => form.promise.then(() => route.continue()));
  await page.reload();
  await choose("Where it is used");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  form.resolve();
  await password.waitFor();
  await page.unroute(/assets\/SchemaForm/);
  // A list that cannot be loaded is named, and the others are shown.
  await page.route(/http_triggers\/list/, (route) =>
    route.fulfill({ status: 403, json: { title: "Forbidden", status: 403, detail: "not you" } }),
  );
  await page.reload();
  await choose("Where it is used");
  await dialog.getByRole("alert").getByText("No HTTP route could be searched").waitFor();
  await dialog.getByRole("link", { name: "f/finance/closing" }).waitFor();
  await page.unroute(/http_triggers\/list/);
  await dialog.getByRole("button", { name: "Try again" }).click();
  await dialog.getByRole("link", { name: "f/finance/guarded" }).waitFor();
  await dialog.getByRole("alert").waitFor({ state: "detached" });
  seen.wrongs.splice(0, seen.wrongs.length, ...seen.wrongs.filter((each) => !each.includes("status of 403")));
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await choose("Who may use it");
  await dialog.getByText("an admin of the workspace").first().waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await choose("Delete");
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByText(`${path} is deleted`).waitFor();
  await page.getByRole("heading", { name: "Resources", exact: true }).waitFor();
  await site.filled.ask("DELETE", "/w/acme/http_triggers/delete/f/finance/guarded");
  await site.filled.ask("DELETE", "/w/acme/schedules/delete/f/finance/closing");
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("a variable that was changed in the meantime keeps its value", async () => {
  const path = "f/finance/region";
  await site.filled.ask("POST", "/w/acme/variables/create", {
    path,
    value: "eu",
    is_secret: false,
    description: "",
  });
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme/variables");
  await page.getByRole("button", { name: `More for ${path}` }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await site.filled.ask("POST", `/w/acme/variables/update/${path}`, { value: "us" });
  await page.getByRole("dialog").getByLabel("Description").fill("Where it runs");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByText("Where it runs").waitFor();
  expect(JSON.parse(await site.filled.ask("GET", `/w/acme/variables/get_value/${path}`))).toBe("us");
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("a new resource overwrites neither a resource nor a secret", async () => {
  const secret = "f/finance/other_password";
  await site.filled.ask("POST", "/w/acme/variables/create", {
    path: secret,
    value: "theirs",
    is_secret: true,
    description: "",
  });
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme/resources/new");
  await page.getByRole("combobox", { name: "Type" }).fill("postgres");
  await page.getByRole("option", { name: "postgresql" }).click();
  await page.getByLabel("Path").fill("f/finance/books");
  await page.getByLabel("host").fill("db.example.org");
  await page.getByLabel("dbname").fill("books");
  await page.getByRole("textbox", { name: "password" }).fill("mine");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("There is a resource at f/finance/books already.").waitFor();
  await page.getByLabel("Path").fill("f/finance/other");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText(`would be stored in the variable ${secret}`).waitFor();
  const storedAt = async (path: string) =>
    JSON.parse(await site.filled.ask("GET", `/w/acme/variables/get_value/${path}`));
  expect([await storedAt("f/finance/books_password"), await storedAt(secret)]).toEqual([SECRET, "theirs"]);
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("users who may only read are offered no changes", async () => {
  await site.serving.operator("/users/create", {
    email: "bob@example.org",
    password: "correct horse battery",
    super_admin: false,
  });
  await site.filled.ask("POST", "/w/acme/workspaces/add_user", {
    email: "bob@example.org",
    username: "bob",
    is_admin: false,
    operator: true,
  });
  await site.filled.ask("POST", "/w/acme/folders/update/finance", { extra_perms: { "u/bob": false } });
  const token = await site.serving.operator("/users/tokens/impersonate", {
    impersonate_email: "bob@example.org",
  });
  await using seen = await site.visit({ token });
  const { page } = seen;
  await seen.open("w/acme/variables");
  await page.getByRole("button", { name: "More for f/finance/bank_key" }).click();
  await page.getByRole("menuitem", { name: "Where it is used" }).waitFor();
  expect(await page.getByRole("menuitem").allInnerTexts()).toEqual(["Where it is used", "Who may use it"]);
  await page.keyboard.press("Escape");
  expect(await page.getByRole("button", { name: "New variable" }).count()).toBe(0);
  await seen.open("w/acme/resources/p/f/finance/books");
  await page.getByText("You can use this resource, but not change it.").waitFor();
  expect(await page.getByRole("button", { name: "Save" }).count()).toBe(0);
  await seen.accessible("a resource of a reader");
  expect(seen.wrongs).toEqual([]);
}, 60_000);

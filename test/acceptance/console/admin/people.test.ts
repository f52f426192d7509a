/** Members and their rights are changed in a real browser, against the executable. */
import { expect, test } from "bun:test";
import type { Visit } from "../browser.ts";
import { PASSWORD } from "../filled.ts";
import { useSite } from "../site.ts";

const site = useSite();

const button = ({ page }: Visit, name: string) => page.getByRole("button", { name, exact: true });
const dialog = ({ page }: Visit) => page.getByRole("dialog");

/** Opens the menu of a row and chooses. */
async function choose(seen: Visit, row: string, entry: string): Promise<void> {
  await button(seen, `More for ${row}`).click();
  await seen.page.getByRole("menuitem", { name: entry, exact: true }).click();
}

async function createMember(username: string, role: { is_admin: boolean; operator: boolean }) {
  const email = `${username}@example.org`;
  await site.filled.ask("POST", "/users/create", { email, password: PASSWORD, super_admin: false, username });
  await site.filled.ask("POST", "/w/acme/workspaces/add_user", { email, username, ...role });
  return site.filled.ask("POST", "/users/tokens/impersonate", { impersonate_email: email });
}

test("a user is invited, joins, gets rights through a group, another role, and is removed", async () => {
  await using ann = await site.visit();
  const { page } = ann;
  await ann.open("w/acme/instance?tab=accounts");
  await button(ann, "New account").click();
  await dialog(ann).getByLabel("E-mail").fill("bob@example.org");
  await dialog(ann).getByRole("textbox", { name: "Password" }).fill(PASSWORD);
  await ann.accessible("new account");
  await button(ann, "Create").click();
  await page.getByText("bob@example.org can sign in now").waitFor();
  await ann.open("w/acme/people");
  await button(ann, "Invite somebody").click();
  await dialog(ann).getByLabel("E-mail").fill("bob@example.org");
  await ann.accessible("invite");
  await ann.picture("invite-light");
  await button(ann, "Invite").click();
  await page.getByRole("region", { name: "Invitations" }).getByText("bob@example.org").waitFor();

  const token = await site.filled.ask("POST", "/users/tokens/impersonate", {
    impersonate_email: "bob@example.org",
  });
  await using bob = await site.visit({ token });
  await bob.open("workspaces");
  await bob.page.getByRole("button", { name: /^Accept/ }).click();
  await bob.page.getByRole("heading", { level: 1 }).waitFor();
  expect(await bob.page.getByText("Refund an order").count()).toBe(0);
  expect(await bob.page.getByRole("link", { name: "Audit log" }).count()).toBe(0);
  expect(await bob.page.getByRole("link", { name: "Instance" }).count()).toBe(0);

  await ann.open("w/acme/people?tab=groups");
  await button(ann, "New group").click();
  await dialog(ann).getByLabel("Name").fill("support");
  await dialog(ann).getByRole("combobox", { name: "Members" }).fill("bob");
  await page.keyboard.press("Enter");
  await dialog(ann).getByLabel("Description").focus();
  await page.getByRole("listbox").waitFor({ state: "hidden" });
  await ann.accessible("new group");
  await button(ann, "Create").click();
  await page.getByRole("row").filter({ hasText: "support" }).getByText("bob").waitFor();
  await ann.open("w/acme/people?tab=folders");
  await choose(ann, "finance", "Change rights");
  await dialog(ann).getByLabel("User or group").fill("g/support");
  await page.keyboard.press("Escape");
  await button(ann, "Add").click();
  await ann.accessible("rights");
  await ann.picture("rights-light");
  await button(ann, "Save").click();
  await page.getByText("read by g/support").waitFor();
  await bob.open("w/acme");
  await bob.page.getByText("Refund an order").first().waitFor();

  await ann.open("w/acme/people");
  await choose(ann, "bob", "Make operator");
  await page.getByRole("row").filter({ hasText: "bob@" }).getByText("Operator").waitFor();
  await bob.open("w/acme/people");
  expect(await bob.page.getByRole("button", { name: /^(Invite|More for)/ }).count()).toBe(0);
  await choose(ann, "bob", "Remove from the workspace");
  await button(ann, "Remove").click();
  await page.getByText("bob was removed").waitFor();
  await bob.page.goto(`${site.serving.url}/w/acme`);
  await bob.page.getByRole("heading", { name: "You are not in acme" }).waitFor();
  expect(ann.wrongs).toEqual([]);
  // The removed user's requests are rejected, and the browser logs that.
  expect(bob.wrongs.filter((each) => !/status of 40[134]/.test(each))).toEqual([]);
  bob.wrongs.length = 0;
}, 90_000);

test("a token is restricted, shown once, used, and revoked", async () => {
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme/tokens");
  await button(seen, "New token").first().click();
  await dialog(seen).getByLabel("Name").fill("reader of scripts");
  await dialog(seen).getByLabel("Limit the scopes").check();
  await dialog(seen).getByLabel("Scopes", { exact: true }).fill("scripts: read");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await seen.accessible("new token");
  await button(seen, "Create").click();
  const token = await page.getByLabel("The token").textContent();
  await seen.picture("token-light");
  await button(seen, "Done").click();
  const read = (path: string) =>
    fetch(`${site.serving.url}/api${path}`, { headers: { authorization: `Bearer ${token}` } });
  expect((await read("/w/acme/scripts/list")).status).toBe(200);
  expect((await read("/w/acme/variables/list")).status).toBe(403);
  await page.getByText("scripts:read, in acme only").waitFor();
  expect(await page.content()).not.toContain(token);
  for (const days of [29, 31]) {
    const expiration = new Date(Date.now() + days * 86_400_000).toISOString();
    await site.filled.ask("POST", "/users/tokens/create", { label: `for ${days} days`, expiration });
  }
  await page.reload();
  await page.getByRole("row").filter({ hasText: "for 29 days" }).getByText("soon").waitFor();
  expect(await page.getByText("soon", { exact: true }).count()).toBe(1);
  await choose(seen, "reader of scripts", "Revoke");
  await button(seen, "Revoke").click();
  await page.getByText("The token was revoked").waitFor();
  expect((await read("/w/acme/scripts/list")).status).toBe(401);
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("settings of the workspace and of the instance are changed, and the audit log shows it", async () => {
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme/settings");
  await page.getByRole("region", { name: "Name" }).getByRole("textbox").fill("Acme & Sons");
  await page.getByRole("region", { name: "Name" }).getByRole("button", { name: "Save" }).click();
  await page.getByText("The name is changed").waitFor();
  await seen.open("w/acme/settings?tab=runs");
  await page.getByRole("combobox", { name: "Error handler" }).fill("script/u/ann/hello");
  await page.keyboard.press("Escape");
  await page.getByRole("region", { name: "Error handler" }).getByRole("button", { name: "Save" }).click();
  await page.getByText("The error handler is saved").waitFor();
  const settings = JSON.parse(await site.filled.ask("GET", "/w/acme/workspaces/get_settings"));
  expect(settings.error_handler).toBe("script/u/ann/hello");
  const handlers = page.getByRole("region", { name: "Default handlers of schedules" });
  await handlers.getByLabel("When a run succeeds", { exact: true }).fill("script/u/ann/hello");
  await page.keyboard.press("Escape");
  await handlers.getByRole("button", { name: "Save" }).click();
  await page.getByText("The handlers are saved for new schedules").waitFor();
  const { default_success_handler, default_error_handler } = JSON.parse(
    await site.filled.ask("GET", "/w/acme/workspaces/get_settings"),
  );
  expect([default_success_handler.path, default_error_handler]).toEqual(["script/u/ann/hello", undefined]);
  const environment = page.getByRole("region", { name: "Environment variables" });
  await environment.getByLabel("Name").fill("TEAM");
  await environment.getByLabel("Value").fill("blue");
  await environment.getByRole("button", { name: "Save" }).click();
  await environment.getByRole("row", { name: /TEAM blue/ }).waitFor();
  await site.filled.script("u/ann/team", "export const main = () => process.env.TEAM ?? null;");
  const team = async () => {
    const id = await site.filled.run("u/ann/team", {});
    return JSON.parse(await site.filled.ask("GET", `/w/acme/jobs_u/completed/get_result/${id}`));
  };
  expect(await team()).toBe("blue");
  await choose(seen, "TEAM", "Change");
  await environment.getByLabel("Value").fill("green");
  await environment.getByRole("button", { name: "Save" }).click();
  await environment.getByRole("row", { name: /TEAM green/ }).waitFor();
  await seen.accessible("environment");
  await choose(seen, "TEAM", "Remove");
  await dialog(seen).getByRole("button", { name: "Remove" }).click();
  await page.getByText("TEAM is removed").waitFor();
  expect(await team()).toBe(null);
  await seen.open("w/acme/settings?tab=secrets");
  await button(seen, "Rotate the key").click();
  await button(seen, "Rotate").click();
  await page.getByText("All secrets are encrypted with a new key").first().waitFor();
  await seen.open("w/acme/instance?tab=settings&q=retention");
  await page
    .getByRole("button", { name: /^Change retention/ })
    .first()
    .click();
  await dialog(seen).getByLabel("Value, as JSON").fill("no JSON");
  await button(seen, "Save").click();
  await dialog(seen).getByRole("alert").waitFor();
  await dialog(seen).getByLabel("Value, as JSON").fill("864000");
  await button(seen, "Save").click();
  await page.getByText("set here").waitFor();
  await seen.open("w/acme/audit?kind=Update");
  await page.getByText("workspaces.edit_error_handler").first().waitFor();
  await page.getByLabel("Operation").fill("workspaces.set_encryption_key");
  await page.waitForURL(/operation=/);
  const [exported] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Export" }).click(),
  ]);
  const entries = (await Bun.file(await exported.path()).text()).trim().split("\n");
  expect(entries.map((entry) => JSON.parse(entry).operation)).toEqual(["workspaces.set_encryption_key"]);
  expect(seen.wrongs).toEqual([]);
}, 60_000);

const MEMBER_PAGES = [
  "",
  "runs",
  "schedules",
  "triggers",
  "triggers?tab=websockets",
  "variables",
  "resources",
  "resources?tab=types",
  "people",
  "people?tab=groups",
  "people?tab=folders",
  "settings",
  "settings?tab=runs",
  "settings?tab=secrets",
  "settings?tab=usage",
  "tokens",
];

const ROLES = {
  mia: { is_admin: false, operator: false },
  olga: { is_admin: false, operator: true },
  adam: { is_admin: true, operator: false },
};

for (const [who, role] of Object.entries(ROLES)) {
  test(`${who} sees only what they may: none of their pages makes a call that is refused`, async () => {
    const token = await createMember(who, role);
    const group = `planners_${who}`;
    await site.filled.ask("POST", "/w/acme/groups/create", { name: group });
    await site.filled.ask("POST", `/w/acme/groups/adduser/${group}`, { username: who });
    await using seen = await site.visit({ token });
    seen.page.on("response", (response) => {
      if (response.status() === 403) seen.wrongs.push(`${who}: 403 ${response.url()}`);
    });
    for (const each of role.is_admin ? [...MEMBER_PAGES, "webhooks", "audit"] : MEMBER_PAGES) {
      await seen.open(`w/acme/${each}`);
      await seen.page.getByRole("status").first().waitFor({ state: "detached" });
    }
    // Members of a group do not manage it.
    await seen.open("w/acme/people?tab=groups");
    await seen.page.getByRole("row").filter({ hasText: group }).waitFor();
    expect(await seen.page.getByRole("button", { name: `More for ${group}` }).count()).toBe(
      role.is_admin ? 1 : 0,
    );
    expect(seen.wrongs).toEqual([]);
  }, 120_000);
}

test("a manager of a group who is no admin changes its members", async () => {
  const token = await createMember("max", { is_admin: false, operator: false });
  await site.filled.ask("POST", "/w/acme/groups/create", { name: "makers" });
  await site.filled.ask("POST", "/w/acme/acls/add/group_/makers", { owner: "u/max", write: true });
  await using seen = await site.visit({ token });
  const { page } = seen;
  await seen.open("w/acme/people?tab=groups");
  await choose(seen, "makers", "Change members");
  await dialog(seen).getByRole("combobox", { name: "Members" }).fill("max");
  await page.getByRole("option", { name: "max", exact: true }).click();
  await dialog(seen).getByLabel("Description").focus();
  await page.getByRole("listbox").waitFor({ state: "hidden" });
  await button(seen, "Save").click();
  await page.getByRole("row").filter({ hasText: "makers" }).getByText("ann, max").waitFor();
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("rights that another user changed in the meantime are shown, not overwritten", async () => {
  await site.filled.ask("POST", "/w/acme/folders/create", { name: "shared" });
  await using seen = await site.visit();
  const { page } = seen;
  const save = page.getByRole("dialog").getByRole("button", { name: "Save" });
  await seen.open("w/acme/people?tab=folders");
  await page.getByRole("button", { name: "More for shared" }).click();
  await page.getByRole("menuitem", { name: "Change rights" }).click();
  await save.waitFor();
  await site.filled.ask("POST", "/w/acme/folders/update/shared", { extra_perms: { "g/all": false } });
  await save.click();
  await page.getByText("Somebody else has changed these rights").waitFor();
  await page.getByRole("combobox", { name: "Right of g/all" }).waitFor();
  await seen.accessible("rights that changed");
  await save.click();
  await page.getByRole("row").filter({ hasText: "f/shared" }).getByText("read by g/all").waitFor();
  expect(seen.wrongs).toEqual([]);
}, 60_000);

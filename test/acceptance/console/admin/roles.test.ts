/**
 * Actions that a user may not perform are not offered, and pages that are not for them say so: no request is
 * answered with 403.
 */
import { beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { expectSoon, type Visit } from "../browser.ts";
import { PASSWORD } from "../filled.ts";
import { useSite } from "../site.ts";

const site = useSite();

const MEMBERS = {
  mia: { is_admin: false, operator: false },
  olga: { is_admin: false, operator: true },
};
const tokens = {} as Record<keyof typeof MEMBERS, string>;
let waiting = "";

beforeAll(async () => {
  const { ask } = site.filled;
  for (const [username, role] of Object.entries(MEMBERS)) {
    const email = `${username}@example.org`;
    await ask("POST", "/users/create", { email, password: PASSWORD, super_admin: false, username });
    await ask("POST", "/w/acme/workspaces/add_user", { email, username, ...role });
    tokens[username as keyof typeof MEMBERS] = await ask("POST", "/users/tokens/impersonate", {
      impersonate_email: email,
    });
  }
  // They may read in folder finance, and own folder team.
  await ask("POST", "/w/acme/folders/update/finance", { extra_perms: { "u/mia": false, "u/olga": false } });
  await ask("POST", "/w/acme/folders/create", { name: "team", owners: ["u/ann", "u/mia", "u/olga"] });
  await ask("POST", "/w/acme/variables/create", {
    path: "f/finance/key",
    value: "hush",
    is_secret: true,
    description: "",
  });
  await ask("POST", "/w/acme/resources/type/create", { name: "erp", schema: {}, description: "Ours" });
  const target = { script_path: "f/finance/figures", is_flow: false };
  await ask("POST", "/w/acme/schedules/create", {
    path: "f/finance/daily",
    ...target,
    schedule: "0 0 9 * * *",
    timezone: "UTC",
    args: {},
    enabled: false,
  });
  await ask("POST", "/w/acme/http_triggers/create", {
    path: "f/finance/route",
    ...target,
    route_path: "figures",
    workspaced_route: true,
    http_method: "get",
  });
  await ask("POST", "/w/acme/websocket_triggers/create", {
    path: "f/finance/socket",
    ...target,
    url: "ws://127.0.0.1:1/feed",
    filters: [],
    enabled: false,
  });
  const asks = {
    type: "rawscript",
    language: "bun",
    content: "export const main = () => 1",
    input_transforms: {},
  };
  await ask("POST", "/w/acme/flows/create", {
    path: "f/finance/approve",
    summary: "Approve it",
    value: { modules: [{ id: "a", value: asks, suspend: { required_events: 1 } }] },
  });
  waiting = await ask("POST", "/w/acme/jobs/run/f/f/finance/approve", {});
});

/** A visit during which no request may be rejected. */
async function visitAs(who: keyof typeof MEMBERS): Promise<Visit> {
  const seen = await site.visit({ token: tokens[who] });
  seen.page.on("response", (response) => {
    if (response.status() === 403) seen.wrongs.push(`403 ${response.url()}`);
  });
  return seen;
}

/** Opens the menu of a row. @returns its entries */
async function listMenu(page: Page, of: string): Promise<string[]> {
  await page.getByRole("button", { name: `More for ${of}`, exact: true }).click();
  await page.getByRole("menu").waitFor();
  const entries = await page.getByRole("menuitem").allInnerTexts();
  await page.keyboard.press("Escape");
  await page.getByRole("menu").waitFor({ state: "detached" });
  return entries;
}

const heading = (page: Page) => page.getByRole("heading", { level: 1 }).innerText();

test("pages for admins tell other users who may open them", async () => {
  for (const who of ["mia", "olga"] as const) {
    await using seen = await visitAs(who);
    for (const address of ["webhooks", "webhooks/01a21aaf-c492-70c4-b8b8-7494767a3178", "audit"]) {
      await seen.open(`w/acme/${address}`);
      await expectSoon(() => heading(seen.page), "This page is for admins of the workspace");
    }
    for (const tab of ["health", "workers", "alerts", "settings", "accounts"]) {
      await seen.open(`w/acme/instance?tab=${tab}`);
      await expectSoon(() => heading(seen.page), "This page is for admins of the server");
    }
    await seen.accessible("a page for others");
    expect(seen.wrongs).toEqual([]);
  }
}, 60_000);

test("an operator is offered neither secrets, nor changes of a folder of theirs, nor a workspace", async () => {
  await using seen = await visitAs("olga");
  const { page } = seen;
  await seen.open("w/acme/variables");
  expect(await listMenu(page, "f/finance/key")).toEqual(["Where it is used", "Who may use it"]);
  await seen.open("w/acme/people?tab=folders");
  expect(await listMenu(page, "team")).toEqual(["Who may use it"]);
  for (const isReserved of [true, false]) {
    const setting = { value: isReserved };
    await site.filled.ask("POST", "/settings/global/create_workspace_require_superadmin", setting);
    await seen.open("workspaces");
    await page.getByText("Signed in as olga@example.org").waitFor();
    await page.waitForLoadState("networkidle");
    expect(await page.getByRole("button", { name: "Make the workspace" }).count()).toBe(0);
  }
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("a workspace is offered to those who may create one", async () => {
  await using seen = await visitAs("mia");
  const { page } = seen;
  const create = page.getByRole("button", { name: "Make the workspace" });
  await site.filled.ask("POST", "/settings/global/create_workspace_require_superadmin", { value: false });
  await seen.open("workspaces");
  await create.waitFor();
  await site.filled.ask("POST", "/settings/global/create_workspace_require_superadmin", { value: true });
  await page.reload();
  await page.getByText("Signed in as mia@example.org").waitFor();
  await create.waitFor({ state: "detached" });
  // A user without a workspace is told what to do.
  const email = "nora@example.org";
  await site.filled.ask("POST", "/users/create", { email, password: PASSWORD, super_admin: false });
  const token = await site.filled.ask("POST", "/users/tokens/impersonate", { impersonate_email: email });
  await using none = await site.visit({ token });
  await none.open("workspaces");
  await none.page.getByText("Ask an admin of one to invite you").waitFor();
  await none.picture("workspaces-none");
  expect([...seen.wrongs, ...none.wrongs]).toEqual([]);
}, 60_000);

test("a user who may only read a flow sees what its run waits for, and who may approve", async () => {
  for (const who of ["mia", "olga"] as const) {
    await using seen = await visitAs(who);
    const { page } = seen;
    await seen.open(`w/acme/runs/${waiting}`);
    await page.getByText("You cannot approve: only the user who runs it").waitFor();
    expect(await page.getByRole("button", { name: /^(Approve|Reject)/ }).count()).toBe(0);
    expect(seen.wrongs).toEqual([]);
  }
}, 60_000);

test("editors of items that a member may only read say so", async () => {
  await using seen = await visitAs("mia");
  const { page } = seen;
  const editors = {
    "edit/f/finance/refund": "scripts/f/finance/refund",
    "draw/f/finance/approve": "flows/f/finance/approve",
    "schedules/edit/f/finance/daily": "schedules/p/f/finance/daily",
    "triggers/http/edit/f/finance/route": "triggers/http/p/f/finance/route",
    "triggers/websocket/edit/f/finance/socket": "triggers/websocket/p/f/finance/socket",
  };
  for (const [editor, own] of Object.entries(editors)) {
    await seen.open(`w/acme/${editor}`);
    await page.getByText("You cannot change this").waitFor();
    expect(await page.getByRole("button", { name: /Deploy|Save|Run/ }).count()).toBe(0);
    await page.getByRole("link", { name: "Go to its page" }).click();
    await page.waitForURL(`**/w/acme/${own}`);
  }
  await seen.accessible("a form that is not theirs");
  await seen.open("w/acme/resources?tab=types");
  expect(await listMenu(page, "erp")).toEqual(["New resource of this type"]);
  expect(seen.wrongs).toEqual([]);
}, 60_000);

/** The console without a mouse: what keys open, move and close, and where the focus is afterwards. */
import { beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { expectSoon, type Visit } from "./browser.ts";
import { createMember } from "./filled.ts";
import { useSite } from "./site.ts";

const site = useSite();

beforeAll(async () => {
  const { ask } = site.filled;
  for (const name of ["first", "second"])
    await ask("POST", "/w/acme/variables/create", {
      path: `f/finance/${name}`,
      value: "hush",
      is_secret: true,
      description: "",
    });
  for (const name of ["east", "west"]) {
    await ask("POST", "/w/acme/groups/create", { name });
    await createMember(site.serving, site.filled, name);
    await ask("POST", "/users/tokens/create", { label: name });
  }
});

/** Name of the focused element, and whether it is visible. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(`(() => {
    const at = document.activeElement;
    if (!at || at === document.body) return "nothing";
    const text = at.getAttribute("aria-label") ?? (at.labels?.[0]?.innerText || at.innerText || at.tagName);
    return text.trim().split("\\n")[0];
  })()`) as Promise<string>;

const press = async ({ page }: Visit, ...keys: string[]) => {
  for (const key of keys) await page.keyboard.press(key);
};

test("menus are opened, moved in and closed by keys, in light and dark", async () => {
  for (const scheme of ["light", "dark"] as const) {
    await using seen = await site.visit({ scheme });
    const { page } = seen;
    await seen.open("w/acme/variables");
    const more = page.getByRole("button", { name: "More for f/finance/first" });
    await more.focus();
    await press(seen, "Enter");
    await expectSoon(() => focused(page), "Show the value");
    await page.mouse.move(0, 0);
    await seen.accessible("menu of a row");
    await press(seen, "ArrowDown");
    await expectSoon(() => focused(page), "Edit");
    await press(seen, "End");
    await expectSoon(() => focused(page), "Delete");
    await seen.accessible("the entry that deletes");
    await press(seen, "Escape");
    await expectSoon(() => focused(page), "More for f/finance/first");
    const own = page.getByRole("button", { name: "ann@example.org" });
    await own.focus();
    await press(seen, "Enter");
    await expectSoon(() => focused(page), "Light");
    await seen.accessible("menu of the user");
    await press(seen, "ArrowDown", "Enter");
    await page.locator("html[data-mantine-color-scheme=dark]").waitFor();
    await press(seen, "Escape");
    await expectSoon(() => focused(page), "ann@example.org");
    const workspace = page.getByRole("button", { name: "Workspace Acme: choose another" });
    await workspace.focus();
    await press(seen, "Enter");
    await expectSoon(() => focused(page), "Acme");
    await seen.accessible("menu of workspaces");
    await press(seen, "Escape");
    await expectSoon(() => focused(page), "Workspace Acme: choose another");
    expect(seen.wrongs).toEqual([]);
  }
}, 60_000);

test("the focus returns to the menu's button from the dialog that it opened", async () => {
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme/variables");
  for (const nth of [0, 1, 2, 3, 4]) {
    await page.getByRole("button", { name: "More for f/finance/first" }).focus();
    await press(seen, "Enter");
    await page.getByRole("menuitem").first().and(page.locator(":focus")).waitFor();
    for (let down = 0; down < nth; down++) await press(seen, "ArrowDown");
    await press(seen, "Enter");
    await page.getByRole("dialog").waitFor();
    await page.locator("[role=dialog] :focus, [role=dialog]:focus").waitFor();
    await press(seen, "Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expectSoon(() => focused(page), "More for f/finance/first");
  }
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("the focus stays in a list whose row was removed", async () => {
  await using seen = await site.visit();
  const { page } = seen;
  const lists = {
    "w/acme/variables": "f/finance/first",
    "w/acme/people?tab=groups": "east",
    "w/acme/people": "east",
    "w/acme/tokens": "east",
  };
  for (const [address, row] of Object.entries(lists)) {
    await seen.open(address);
    const more = page.getByRole("button", { name: `More for ${row}`, exact: true });
    await more.focus();
    await press(seen, "Enter");
    await page.getByRole("menuitem").first().and(page.locator(":focus")).waitFor();
    await press(seen, "End", "Enter");
    await page.getByRole("dialog").getByRole("button").last().focus();
    await press(seen, "Enter");
    await more.waitFor({ state: "detached" });
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const kept = () => page.evaluate("document.querySelector('main').contains(document.activeElement)");
    await expectSoon(async () => `${address} ${await kept()}`, `${address} true`);
  }
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("the first Tab leads into the page, and tabs and the palette need no mouse", async () => {
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme/people");
  await page.getByRole("button", { name: "Invite somebody" }).waitFor();
  // When a page is opened, its heading has the focus.
  await press(seen, "Tab");
  await expectSoon(() => focused(page), "Members");
  await press(seen, "ArrowRight");
  await page.waitForURL(/tab=groups/);
  await expectSoon(() => focused(page), "Groups");
  await page.getByRole("button", { name: "New group" }).focus();
  await press(seen, "Control+k");
  await page.getByRole("textbox", { name: "Search", exact: true }).and(page.locator(":focus")).waitFor();
  await press(seen, "Escape");
  await expectSoon(() => focused(page), "New group");
  await press(seen, "?");
  const shortcuts = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await shortcuts.waitFor();
  await press(seen, "Escape");
  await expectSoon(() => focused(page), "New group");
  await page.getByRole("button", { name: "ann@example.org" }).focus();
  await press(seen, "Enter");
  await page.getByRole("menuitem", { name: "Keyboard shortcuts" }).focus();
  await press(seen, "Enter");
  await shortcuts.waitFor();
  await press(seen, "Escape");
  await expectSoon(() => focused(page), "ann@example.org");
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("the content of a password field can be shown with the keyboard", async () => {
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme/instance?tab=mail");
  const password = page.getByRole("textbox", { name: "Password" });
  await password.fill("hush");
  await press(seen, "Tab");
  await expectSoon(() => focused(page), "Show what is typed");
  await press(seen, "Space");
  await expectSoon(() => password.getAttribute("type"), "text");
  expect(seen.wrongs).toEqual([]);
}, 60_000);

/** Grants on items are shown and changed on the item's page. */
import { beforeAll, expect, test } from "bun:test";
import { createMember } from "../filled.ts";
import { useSite } from "../site.ts";

const site = useSite();

beforeAll(async () => {
  for (const name of ["bob", "cid"]) await createMember(site.serving, site.filled, name);
  await site.filled.ask("POST", "/w/acme/groups/create", { name: "support" });
  await site.filled.ask("POST", "/w/acme/groups/adduser/support", { username: "bob" });
  await site.filled.ask("POST", "/w/acme/acls/add/folder/finance", { owner: "g/support" });
});

test("a right to a script is explained, given for this script alone, and revoked", async () => {
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme/scripts/f/finance/refund?tab=access");
  const table = page.getByRole("table", { name: "Permissions" });
  const row = (name: string) => table.getByRole("row", { name: new RegExp(`^${name} `) });
  await row("bob").getByText("sees and runs it").waitFor();
  await row("bob").getByText("the group support sees items in the folder finance").waitFor();
  await row("ann").getByText("an admin of the workspace").waitFor();
  expect(await row("cid").count()).toBe(0);
  await page.getByRole("button", { name: "Give somebody access" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("combobox", { name: "User or group" }).fill("u/cid");
  await dialog.getByRole("combobox", { name: "Permission" }).click();
  await page.getByRole("option", { name: "edits it too" }).click();
  await dialog.getByRole("button", { name: "Give" }).click();
  await row("cid").getByText("granted on this item only").waitFor();
  await seen.picture("script-access");
  await seen.accessible("access");

  const token = await site.serving.operator("/users/tokens/impersonate", {
    impersonate_email: "cid@example.org",
  });
  await using cid = await site.visit({ token });
  await cid.open("w/acme/scripts/f/finance/refund?tab=access");
  await cid.page.getByRole("button", { name: "Give somebody access" }).waitFor();

  await page.getByRole("button", { name: "More for cid" }).click();
  await page.getByRole("menuitem", { name: "Revoke the permission of u/cid" }).click();
  await row("cid").waitFor({ state: "detached" });
  expect([...seen.wrongs, ...cid.wrongs]).toEqual([]);
}, 60_000);

test("a user who may only read sees the explanation, but no controls", async () => {
  const token = await site.serving.operator("/users/tokens/impersonate", {
    impersonate_email: "bob@example.org",
  });
  await using seen = await site.visit({ token });
  await seen.open("w/acme/flows/f/finance/nightly?tab=access");
  await seen.page.getByRole("table", { name: "Permissions" }).getByText("bob").first().waitFor();
  expect(await seen.page.getByRole("button", { name: "Give somebody access" }).count()).toBe(0);
  await seen.open("w/acme/people?tab=folders");
  await seen.page.getByRole("button", { name: "More for finance" }).click();
  await seen.page.getByRole("menuitem", { name: "Who may use it" }).click();
  await seen.page
    .getByRole("dialog")
    .getByText("ann owns the folder")
    .or(seen.page.getByRole("dialog").getByText("an admin of the workspace"))
    .first()
    .waitFor();
  await seen.accessible("the dialog");
  expect(seen.wrongs).toEqual([]);
}, 60_000);

/** A workspace that a user leaves disappears for them at once. */
import { expect, test } from "bun:test";
import { createMember } from "../filled.ts";
import { useSite } from "../site.ts";

const site = useSite();

test("a user who leaves a workspace is redirected to the others, and requests nothing more of it", async () => {
  await createMember(site.serving, site.filled, "lea");
  const token = await site.filled.ask("POST", "/users/tokens/impersonate", {
    impersonate_email: "lea@example.org",
  });
  await using seen = await site.visit({ token });
  const { page } = seen;
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  await seen.open("w/acme/settings");
  await button("Leave this workspace").click();
  await button("Leave").click();
  await page.getByText("You are not in a workspace yet").waitFor();
  await page.waitForLoadState("networkidle");
  expect(await page.getByRole("link", { name: "Acme" }).count()).toBe(0);
  // The root address opens the last workspace, but not the one that was left.
  await seen.open("");
  await page.getByText("You are not in a workspace yet").waitFor();
  expect(seen.wrongs).toEqual([]);
}, 60_000);

/** Opens the settings of a workspace of its own as one of its admins, who is no super admin. */
async function visitAsAdmin(workspace: string) {
  const { ask } = site.filled;
  const email = `${workspace}@example.org`;
  await site.serving.operator("/users/create", { email, password: "a long password", super_admin: false });
  await ask("POST", "/workspaces/create", { id: workspace, name: workspace, username: "ann" });
  await ask("POST", `/w/${workspace}/workspaces/add_user`, {
    email,
    username: "max",
    is_admin: true,
    operator: false,
  });
  const token = await ask("POST", "/users/tokens/impersonate", { impersonate_email: email });
  const seen = await site.visit({ token });
  await seen.open(`w/${workspace}/settings`);
  return seen;
}

test("the admin who archives a workspace is redirected to the others", async () => {
  await using seen = await visitAsAdmin("closing");
  const { page } = seen;
  await page.getByRole("button", { name: "Archive this workspace", exact: true }).click();
  await page.getByRole("dialog").getByRole("textbox").fill("closing");
  await page.getByRole("dialog").getByRole("button", { name: "Archive", exact: true }).click();
  await page.getByText("You are not in a workspace yet").waitFor();
  await page.getByText("closing is archived").waitFor();
  await page.waitForLoadState("networkidle");
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("the admin who changes the id of a workspace stays in it", async () => {
  await using seen = await visitAsAdmin("before");
  const { page } = seen;
  await page.getByRole("textbox", { name: "Id", exact: true }).fill("after");
  // Also a page that is shown for a moment only is noticed.
  await page.evaluate(`new MutationObserver(() => {
    if (document.body.innerText.includes("You are not in")) window.wasRefused = true;
  }).observe(document.body, { childList: true, subtree: true, characterData: true })`);
  await page.getByRole("button", { name: "Change the id", exact: true }).click();
  await page.waitForURL(/\/w\/after$/);
  await page.getByText("The workspace id is after now").waitFor();
  await page.waitForLoadState("networkidle");
  expect(await page.evaluate("window.wasRefused === true")).toBe(false);
  expect(seen.wrongs).toEqual([]);
}, 60_000);

/**
 * What a signed-in user finds: favorites, the workspace switch, signing out, and what the role operator may do.
 */
import { expect, test } from "bun:test";
import type { Visit } from "../browser.ts";
import { PASSWORD } from "../filled.ts";
import { useSite } from "../site.ts";

const site = useSite();

const button = ({ page }: Visit, name: string) => page.getByRole("button", { name, exact: true });
const heading = ({ page }: Visit, name: string) => page.getByRole("heading", { name, exact: true });

test("operators run existing items, and are offered nothing that they may not do", async () => {
  const { filled } = site;
  await filled.ask("POST", "/workspaces/create", { id: "empty", name: "Empty", username: "ann" });
  const email = "olga@example.org";
  await filled.ask("POST", "/users/create", {
    email,
    password: PASSWORD,
    super_admin: false,
    username: "olga",
  });
  for (const workspace of ["acme", "empty"]) {
    const person = { email, username: "olga", is_admin: false, operator: true };
    await filled.ask("POST", `/w/${workspace}/workspaces/add_user`, person);
  }
  await filled.ask("POST", "/w/acme/folders/update/finance", {
    extra_perms: { "u/ann": true, "u/olga": false },
  });
  const token = await filled.ask("POST", "/users/tokens/impersonate", { impersonate_email: email });
  await using seen = await site.visit({ token });
  const { page } = seen;
  await seen.open("w/empty");
  await page.getByText("Nothing to run yet").waitFor();
  expect(await page.getByRole("button", { name: "Use it" }).count()).toBe(0);
  await seen.open("w/acme");
  await page.getByRole("link", { name: "Run Nightly report" }).click();
  await button(seen, "Run").click();
  await page.getByText("Succeeded").first().waitFor();
  // Nor by opening the address of an editor.
  for (const address of ["edit/f/finance/refund", "draw/f/finance/nightly", "schedules/new"]) {
    await seen.open(`w/acme/${address}`);
    await heading(seen, "Operators cannot change this").waitFor();
  }
  await seen.accessible("a page for authors");
  expect(seen.wrongs).toEqual([]);
}, 60_000);

// Last test of the file: signing out revokes the token of all visits.
test("Home is searched and keeps favorites; the workspace is switched; the user signs out", async () => {
  const { filled } = site;
  await filled.ask("POST", "/workspaces/create", { id: "other", name: "Other things", username: "ann" });
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme");
  await button(seen, "Add Refund an order to favourites").click();
  await page.getByText("Favourites", { exact: true }).click();
  await page.getByText("Figures of the day").waitFor({ state: "detached" });
  await page.reload();
  await button(seen, "Remove Refund an order from favourites").waitFor();
  expect(await page.getByText("Figures of the day").count()).toBe(0);
  await page.getByText("All", { exact: true }).click();
  await page.getByRole("textbox", { name: /^Search scripts/ }).fill("flow nothing");
  await page.getByText("Nothing matches").waitFor();
  await page.getByRole("textbox", { name: /^Search scripts/ }).fill("NIGHT");
  await page.getByText("Nightly report").waitFor();
  await page.getByRole("button", { name: /^Workspace Acme/ }).click();
  await page.getByRole("menuitem", { name: "Other things" }).click();
  await heading(seen, "Start with a script").waitFor();
  // The root address returns to the last page.
  await page.goto(site.serving.url);
  await heading(seen, "Start with a script").waitFor();
  await button(seen, "ann@example.org").click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await heading(seen, "Sign in").waitFor();
  expect(await seen.context.cookies()).toSatisfy((all) => all.every(({ name }) => name !== "token"));
  await page.goto(`${site.serving.url}/w/acme/runs`);
  await heading(seen, "Sign in").waitFor();
  await page.waitForLoadState("networkidle");
  // The browser also logs rejected requests.
  expect(seen.wrongs.filter((wrong) => !wrong.includes("status of 401"))).toEqual([]);
  seen.wrongs.length = 0;
}, 60_000);

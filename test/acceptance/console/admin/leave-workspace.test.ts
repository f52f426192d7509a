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

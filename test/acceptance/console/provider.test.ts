/** Signing in with a provider, in a real browser at a real OpenID provider. */
import { expect, test } from "bun:test";
import { startOAuthTest } from "../../support/peers/identity-provider.ts";
import { openBrowser, visit } from "./browser.ts";

test("a person signs in with a provider and is brought back to the page they wanted", async () => {
  await using t = await startOAuthTest();
  const { id } = await t.server.workspace();
  const browser = await openBrowser();
  try {
    const seen = await visit(browser, t.server.url);
    const { page } = seen;
    await page.goto(`${t.server.url}/w/${id}/runs?status=failed`);
    await page.getByRole("link", { name: /^Sign in with / }).click();
    await page.locator("input[name=login]").fill("ann");
    await page.locator("input[name=password]").fill("any");
    await page.locator("button[type=submit]").click();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.waitForURL(`${t.server.url}/**`);
    // Ann belongs to no workspace yet, and is told so; her session goes on.
    await page.getByRole("heading", { name: `You are not in ${id}` }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/w/${id}/runs`);
    await page.getByRole("link", { name: "Go to your workspaces" }).click();
    await page.getByText("Signed in as ann@example.org").waitFor();
    expect(seen.wrongs.filter((each) => each.startsWith("page:") || each.includes("policy: "))).toEqual([]);
    await seen.context.close();
  } finally {
    await browser.close();
  }
}, 60_000);

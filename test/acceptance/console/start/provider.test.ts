/** Signing in with a provider, in a real browser at a real OpenID provider. */
import { expect, test } from "bun:test";
import { startOAuthTest } from "../../../support/peers/identity-provider.ts";
import { openBrowser, visit } from "../browser.ts";

test("a user signs in with a provider and returns to the page they wanted", async () => {
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
    // Ann is in no workspace yet, and the page says so; her session continues.
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

test("an account is connected, its token refreshed, and it is disconnected", async () => {
  await using t = await startOAuthTest();
  const { id, token } = await t.server.workspace();
  const browser = await openBrowser();
  try {
    await using seen = await visit(browser, t.server.url, { token });
    const { page } = seen;
    await seen.open(`w/${id}/resources`);
    await page.getByRole("button", { name: "Connect an account" }).click();
    const path = await page.getByRole("dialog").getByLabel("Path").inputValue();
    await seen.picture("connect");
    await seen.accessible("connect an account");
    const [there] = await Promise.all([
      page.waitForEvent("popup"),
      page.getByRole("link", { name: /Go to house/ }).click(),
    ]);
    await there.locator("input[name=login]").fill("ann");
    await there.locator("input[name=password]").fill("any");
    await there.locator("button[type=submit]").click();
    await there.getByRole("button", { name: "Continue" }).click();
    await there.waitForURL(`${t.server.url}/**`);
    await there.getByRole("button").first().click();
    await there.getByText("is connected").waitFor();
    await there.close();
    await seen.open(`w/${id}/resources`);
    await page.getByText("connected", { exact: true }).waitFor();
    await seen.picture("connected");
    await seen.accessible("a connected account");
    const menu = async (entry: string) => {
      await page.getByRole("button", { name: `More for ${path}` }).click();
      await page.getByRole("menuitem", { name: entry }).click();
    };
    await menu("Refresh the token");
    await page.getByText("The token is refreshed").waitFor();
    t.idp.trouble.set("/token", {
      status: 400,
      body: JSON.stringify({ error: "invalid_grant", error_description: "revoked by its owner" }),
    });
    await menu("Refresh the token");
    await page.getByText("refresh failed", { exact: true }).hover();
    await page
      .getByRole("tooltip")
      .getByText(/revoked by its owner/)
      .waitFor();
    await seen.accessible("a token that cannot be refreshed");
    // The browser also logs the rejected refresh.
    expect(seen.wrongs.filter((each) => !each.includes("status of 400"))).toEqual([]);
    seen.wrongs.length = 0;
    t.idp.trouble.clear();
    await menu("Refresh the token");
    await page.getByText("refresh failed", { exact: true }).waitFor({ state: "detached" });
    // The variable of the account shows the same state, and never its value.
    await seen.open(`w/${id}/variables`);
    await page.getByText("connected", { exact: true }).waitFor();
    await seen.open(`w/${id}/resources`);
    await menu("Disconnect");
    await page.getByRole("dialog").getByRole("button", { name: "Disconnect" }).click();
    await page.getByText("connected", { exact: true }).waitFor({ state: "detached" });
    expect(seen.wrongs).toEqual([]);
  } finally {
    await browser.close();
  }
}, 60_000);

/** Requests that a page sends while it loads, and their order. */
import { expect, test } from "bun:test";
import { visit } from "../browser.ts";
import { useSite } from "../site.ts";

const site = useSite();

test.each([
  ["w/acme/runs?status=failed", /\/jobs\/list\?.*success=false/],
  ["w/acme", /\/scripts\/list/],
])("%s asks for its data while the session is checked and its files are loaded", async (address, data) => {
  await using seen = await site.visit();
  const asked = seen.page.waitForRequest((request) => data.test(request.url()));
  for (const held of ["**/api/users/whoami", "**/assets/chunk-*.js"])
    await seen.page.route(held, async (route) => {
      await asked;
      await route.continue();
    });
  await seen.open(address);
  await seen.page
    .getByText(address === "w/acme" ? "Nightly report" : "f/finance/refund")
    .first()
    .waitFor();
});

test("a visitor without a session only requests who is logged in", async () => {
  await using seen = await visit(site.browser, site.serving.url);
  const refused: string[] = [];
  seen.page.on("response", (response) => {
    if (response.status() === 401) refused.push(new URL(response.url()).pathname);
  });
  await seen.open("w/acme/runs");
  await seen.page.getByRole("heading", { name: "Sign in" }).waitFor();
  expect(new Set(refused)).toEqual(new Set(["/api/users/whoami"]));
  seen.wrongs.length = 0;
});

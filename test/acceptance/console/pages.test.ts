/** Each page in light and dark, full and empty: usable by everybody, and nothing wrong in the browser's console. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { newPlace, type Place, type Serving } from "../e2e/executable.ts";
import { openBrowser, visit } from "./browser.ts";
import { type Filled, fill } from "./filled.ts";

let place: Place;
let serving: Serving;
let browser: Browser;
let filled: Filled;

beforeAll(async () => {
  place = newPlace();
  [serving, browser] = await Promise.all([place.serve(), openBrowser()]);
  filled = await fill(serving);
});
afterAll(async () => {
  await browser?.close();
  place?.remove();
});

const PAGES: Record<string, (ids: Filled) => [address: string, shows: string]> = {
  home: () => ["w/acme", "Nightly report"],
  runs: () => ["w/acme/runs", "What ran"],
  "runs-none": () => ["w/acme/runs?path=u/nobody", "No run matches"],
  "run-failed": ({ failed }) => [`w/acme/runs/${failed}`, "no such customer"],
  "run-table": ({ table }) => [`w/acme/runs/${table}`, "revenue"],
  "run-flow": ({ flow }) => [`w/acme/runs/${flow}`, "Steps"],
  "begin-script": () => ["w/acme/begin/script/f/finance/refund", "What the customer said"],
  "begin-flow": () => ["w/acme/begin/flow/f/finance/nightly", "It takes none"],
  workspaces: () => ["workspaces", "Acme"],
  missing: () => ["w/acme/nowhere", "There is no such page"],
};

for (const scheme of ["light", "dark"] as const) {
  for (const [name, of] of Object.entries(PAGES)) {
    test(`${name}, ${scheme}`, async () => {
      const [address, shows] = of(filled);
      await using seen = await visit(browser, serving.url, { token: filled.token, scheme });
      await seen.open(address);
      await seen.page.getByText(shows).first().waitFor();
      await seen.picture(`${name}-${scheme}`);
      await seen.accessible(name);
      expect(seen.wrongs).toEqual([]);
    });
  }
}

test("the way in", async () => {
  await using seen = await visit(browser, serving.url);
  await seen.open("w/acme/runs?status=failed");
  await seen.page.getByRole("heading", { name: "Sign in" }).waitFor();
  await seen.picture("login-light");
  await seen.accessible("sign in");
  // Nobody is signed in yet: that is asked, and told by 401.
  seen.wrongs.splice(0, seen.wrongs.length, ...seen.wrongs.filter((each) => !each.includes("401")));
});

import { expect, test } from "bun:test";
import { startOAuthTest } from "../../../support/peers/identity-provider.ts";
import { openBrowserAs, postJson } from "./oauth-accounts-setup.ts";

test("only the user who started to connect an account completes it, whoever's token the link had", async () => {
  await using t = await startOAuthTest();
  const { server } = t;
  const { token } = await server.workspace();
  const eve = await server.member("acme", "eve");
  // Eve's link makes the browser of the admin begin, with a path that Eve reads.
  const browser = openBrowserAs(t, token);
  browser.cookies.get(new URL(server.url).host)!.clear();
  const begin = `${server.url}/api/oauth/connect/house?workspace=acme&path=u/eve/trap&token=${eve.token}`;
  const end = await browser.walk(begin, `${server.url}/oauth/`, "ann");
  browser.cookies.get(new URL(server.url).host)!.set("token", token);
  const { code, state } = Object.fromEntries(end.searchParams) as { code: string; state: string };

  const page = await browser.fetch(`${server.url}/w/acme/oauth/callback/house`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ code, state }).toString(),
  });
  expect([page.status, await page.text()]).toEqual([400, expect.stringContaining("by another user")]);
  const answer = await postJson(browser, `${server.url}/api/oauth/connect_callback/house`, { code, state });
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining("by another user")]);
  expect((await eve.ask("GET", "/w/acme/resources/exists/u/eve/trap")).json()).toBe(false);
});

/** Rejected logins, links and invitations: the page says why, and what to do. */
import { expect, test } from "bun:test";
import { startOAuthTest } from "../../../support/peers/identity-provider.ts";
import { expectSoon, visit } from "../browser.ts";
import { EMAIL, PASSWORD } from "../filled.ts";
import { useSite } from "../site.ts";

const site = useSite();

test("a wrong password is reported as such, and too many attempts with the time to wait", async () => {
  await using seen = await visit(site.browser, site.serving.url);
  const { page } = seen;
  await seen.open("login");
  await page.getByLabel("E-mail").fill(EMAIL);
  const password = page.getByRole("textbox", { name: "Password" });
  const alert = page.getByRole("alert");
  const enter = async (text: string) => {
    await password.fill(text);
    const answered = page.waitForResponse(/auth\/login$/);
    await page.keyboard.press("Enter");
    return (await answered).status();
  };
  expect(await enter("a wrong password")).toBe(400);
  await expectSoon(() => alert.innerText(), "The e-mail or the password is wrong.");
  await seen.accessible("a wrong password");
  // What was typed is kept for correction.
  expect(await password.inputValue()).toBe("a wrong password");
  let status = 400;
  for (let nth = 0; status === 400 && nth < 50; nth++) status = await enter(`wrong password ${nth}`);
  expect(status).toBe(429);
  await alert.getByText(/^too many wrong passwords from this address: try again in \d+ s$/).waitFor();
  seen.wrongs.splice(
    0,
    seen.wrongs.length,
    ...seen.wrongs.filter((each) => !/status of 4(00|01|29)/.test(each)),
  );
}, 60_000);

test("an invitation that was withdrawn is no longer offered", async () => {
  const { ask } = site.filled;
  const email = "ivy@example.org";
  const invitation = { email, is_admin: false, operator: false };
  await ask("POST", "/users/create", { email, password: PASSWORD, super_admin: false });
  await ask("POST", "/w/acme/workspaces/invite_user", invitation);
  const token = await ask("POST", "/users/tokens/impersonate", { impersonate_email: email });
  await using seen = await site.visit({ token });
  const { page } = seen;
  const accept = page.getByRole("button", { name: "Accept the invitation" });
  await seen.open("workspaces");
  await accept.waitFor();
  await ask("POST", "/w/acme/workspaces/delete_invite", invitation);
  await accept.click();
  await page.getByText("Not found: invite of ivy@example.org").waitFor();
  await accept.waitFor({ state: "detached" });
  await page.getByText("You are not in a workspace yet").waitFor();
  seen.wrongs.splice(0, seen.wrongs.length, ...seen.wrongs.filter((each) => !each.includes("status of 404")));
}, 60_000);

test("a login whose provider is down leads back to the login", async () => {
  await using t = await startOAuthTest();
  await t.idp.stop();
  const seen = await visit(site.browser, t.server.url);
  const { page } = seen;
  await page.goto(`${t.server.url}/login`);
  await page.getByRole("link", { name: /^Sign in with / }).click();
  await page.getByRole("heading", { name: "This did not work" }).waitFor();
  await page.getByText("the connection was refused").waitFor();
  await seen.accessible("a provider that is down");
  await page.getByRole("link", { name: "Back to the login" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  // A user who declines at the provider also returns to the console.
  await page.goto(`${t.server.url}/user/login_callback/house?error=access_denied&state=any`);
  await page.getByText("access_denied").waitFor();
  await page.getByRole("link", { name: "Back to the login" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  // Programs get only the message.
  const answer = await fetch(`${t.server.url}/api/oauth/login/house`, { redirect: "manual" });
  expect([answer.status, await answer.text()]).toEqual([503, expect.not.stringContaining("<html")]);
  await seen.context.close();
}, 60_000);

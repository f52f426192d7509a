/**
 * A forgotten password, from the login page to the mail and back, in a real browser with a real mail server.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type MailServer, plainSettings, startPlainMailServer } from "../../../support/peers/mail-server.ts";
import { until } from "../../e2e/executable.ts";
import { expectSoon, visit } from "../browser.ts";
import { EMAIL, PASSWORD } from "../filled.ts";
import { useSite } from "../site.ts";

const site = useSite({ SVC_ALLOWED_TARGETS: "127.0.0.1" });

let mails: MailServer;

beforeAll(async () => {
  mails = await startPlainMailServer();
});
afterAll(async () => {
  await mails?.[Symbol.asyncDispose]();
});

test("a link is mailed and sets a new password, which ends other sessions", async () => {
  await using seen = await visit(site.browser, site.serving.url);
  const { page } = seen;
  await seen.open("login");
  await page.getByRole("button", { name: "Sign in", exact: true }).waitFor();
  expect(await page.getByText("Forgot your password?").count()).toBe(0);
  await site.filled.ask("POST", "/settings/global/smtp_settings", { value: plainSettings(mails) });
  await site.filled.ask("POST", "/settings/global/base_url", { value: site.serving.url });
  await using elsewhere = await site.visit({ token: await sessionOf() });
  await elsewhere.open("w/acme");
  await elsewhere.page.getByText("Nightly report").first().waitFor();

  await page.reload();
  await page.getByLabel("E-mail").fill(EMAIL);
  await page.getByRole("link", { name: "Forgot your password?" }).click();
  await page.getByRole("heading", { name: "Forgot your password?" }).waitFor();
  await expectSoon(() => page.getByLabel("E-mail").inputValue(), EMAIL);
  await seen.picture("reset-ask");
  await seen.accessible("asking for a link");
  await page.getByRole("button", { name: "Mail me a link" }).click();
  await page.getByText("a link is on its way").waitFor();
  const mail = await until(() => mails.received[0], "the mail");
  const link = /(\S+\/reset#\S+)/.exec(mail.text)![1]!;
  expect(link).toStartWith(site.serving.url);

  await page.goto(link);
  await page.getByRole("heading", { name: "Choose another password" }).waitFor();
  // The token is neither in the address nor in the history.
  expect(new URL(page.url()).hash).toBe("");
  await seen.accessible("choosing a password");
  await page.getByRole("textbox", { name: "New password" }).fill("another password");
  await page.getByRole("button", { name: "Set the password" }).click();
  await page.getByText("The password is set").waitFor();
  await page.getByRole("link", { name: "Sign in with it" }).click();
  await page.getByLabel("E-mail").fill(EMAIL);
  await page.getByRole("textbox", { name: "Password" }).fill("another password");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("heading", { name: /Workspaces|Home/ }).waitFor();

  // A page that is open in another browser notices, and says so.
  await elsewhere.page.getByRole("link", { name: "Runs" }).click();
  await elsewhere.page
    .getByText(/session has ended/i)
    .first()
    .waitFor();
  elsewhere.wrongs.splice(
    0,
    elsewhere.wrongs.length,
    ...elsewhere.wrongs.filter((each) => !each.includes("401")),
  );

  // The link is no longer valid.
  await page.goto("about:blank");
  await page.goto(link);
  await page.getByRole("textbox", { name: "New password" }).fill("a third password");
  await page.getByRole("button", { name: "Set the password" }).click();
  await page.getByText("no longer valid").waitFor();
  await page.getByRole("link", { name: "Ask for another link" }).click();
  await page.getByRole("heading", { name: "Forgot your password?" }).waitFor();
  // The browser's console logs the rejected requests.
  seen.wrongs.splice(0, seen.wrongs.length, ...seen.wrongs.filter((each) => !/status of 40[01]/.test(each)));
}, 60_000);

async function sessionOf(): Promise<string> {
  const response = await fetch(`${site.serving.url}/api/auth/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: EMAIL, password: PASSWORD }),
  });
  return response.text();
}

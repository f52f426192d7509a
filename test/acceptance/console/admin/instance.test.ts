/**
 * Trying settings before they are saved (mail, alerts, license), and the response to git sync of other clients.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createKeyPair, signLicense } from "../../../../src/features/tenancy/license/signed-license.ts";
import { type MailServer, plainSettings, startPlainMailServer } from "../../../support/peers/mail-server.ts";
import { until } from "../../e2e/executable.ts";
import { expectSoon } from "../browser.ts";
import { useSite } from "../site.ts";

const site = useSite({ SVC_ALLOWED_TARGETS: "127.0.0.1", SVC_DRAIN_DELAY_S: "30" });

let mails: MailServer;

beforeAll(async () => {
  mails = await startPlainMailServer();
});
afterAll(async () => {
  await mails?.[Symbol.asyncDispose]();
});

const set = (key: string, value: unknown) => site.filled.ask("POST", `/settings/global/${key}`, { value });

test("a test mail and a test alert arrive, and configuration errors are shown", async () => {
  const alerts: string[] = [];
  await using chat = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      alerts.push(await request.text());
      return new Response("noted");
    },
  });
  await using seen = await site.visit();
  const { page } = seen;
  await set("smtp_settings", { ...plainSettings(mails), smtp_port: 1 });
  await seen.open("w/acme/instance?tab=mail");
  await page.getByText("No providers: users sign in with passwords.").waitFor();
  await seen.accessible("mail");
  await page.getByRole("button", { name: "Send a test mail" }).click();
  await page.getByRole("alert").first().waitFor();
  await page.getByLabel("Port").fill(String(mails.port));
  await page.getByRole("button", { name: "Send a test mail" }).click();
  await until(() => mails.received[0], "the mail");
  expect(mails.received[0]!.to).toEqual(["ann@example.org"]);
  // The tried values are saved as displayed, without a password that nobody typed.
  await page.getByRole("button", { name: "Save the mail server" }).click();
  await page.getByText("The mail server is saved").waitFor();
  expect(JSON.parse(await site.filled.ask("GET", "/settings/global/smtp_settings"))).toMatchObject(
    plainSettings(mails),
  );
  await page.getByLabel("User name").fill("svc");
  await page.getByRole("textbox", { name: "Password" }).fill("hush-mail");
  await page.getByRole("button", { name: "Save the mail server" }).click();
  await page.getByText(/leave this empty to keep it/).waitFor();
  await page.getByLabel("Sender").fill("other@example.org");
  await page.getByRole("button", { name: "Save the mail server" }).click();
  const mailServer = async () => JSON.parse(await site.filled.ask("GET", "/settings/global/smtp_settings"));
  await expectSoon(async () => (await mailServer()).smtp_from, "other@example.org");
  expect((await mailServer()).smtp_password).not.toBeUndefined();
  expect(await page.content()).not.toContain("hush-mail");
  await seen.open("w/acme/instance?tab=alerts");
  await page.getByText("Shown here only.").waitFor();
  expect(await page.getByRole("button", { name: "Send a test alert" }).count()).toBe(0);
  await set("critical_error_channels", [{ webhook_url: chat.url.href }]);
  await page.reload();
  await page.getByRole("button", { name: "Send a test alert" }).click();
  await until(() => alerts[0], "the alert");
  // The page shows the destinations, without the secret part of an address.
  await page.reload();
  await page.getByText(`Also sent to ${new URL(chat.url).origin}/********`).waitFor();
  // The browser logs the rejected trial.
  seen.wrongs.splice(0, seen.wrongs.length, ...seen.wrongs.filter((each) => !/status of 4\d\d/.test(each)));
}, 60_000);

test("a license is checked, set and shown; an invalid one is rejected", async () => {
  const keys = await createKeyPair();
  await set("license_public_key", keys.public_key);
  const times = { issued_at: new Date(), expires_at: new Date(Date.now() + 100 * 86_400_000) };
  const key = await signLicense({ id: "lic-7", customer: "Acme", ...times }, keys.private_pem);
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme/instance?tab=license");
  await page.getByText("No valid license.").waitFor();
  const field = page.getByRole("textbox", { name: "License key" });
  await field.fill(`${key}x`);
  await page.getByRole("button", { name: "Save the license key" }).click();
  await page.getByRole("alert").first().waitFor();
  expect(await site.filled.ask("GET", "/ee_license")).toBe("");
  await field.fill(key);
  await page.getByRole("button", { name: "Check without saving" }).click();
  await page.getByText(/lic-7/).first().waitFor();
  expect(await site.filled.ask("GET", "/ee_license")).toBe("");
  await page.getByRole("button", { name: "Save the license key" }).click();
  await page.getByText("The license lic-7 is valid.").waitFor();
  await expectSoon(() => field.inputValue(), "");
  await seen.picture("instance-license-set");
  seen.wrongs.splice(0, seen.wrongs.length, ...seen.wrongs.filter((each) => !each.includes("status of 400")));
}, 60_000);

test("git sync settings of other clients are edited, and their other settings stay", async () => {
  const repositories = [{ script_path: "f/finance/refund", git_repo_resource_path: "f/finance/repository" }];
  const git_sync_settings = { include_path: ["f/**"], include_type: ["script"], repositories, later: 1 };
  await site.filled.ask("POST", "/w/acme/resources/create", {
    path: "f/finance/repository",
    resource_type: "git_repository",
    value: { url: "https://git.example.org/acme.git" },
  });
  await site.filled.ask("POST", "/w/acme/workspaces/edit_git_sync_config", { git_sync_settings });
  const stored = async () =>
    JSON.parse(await site.filled.ask("GET", "/w/acme/workspaces/get_settings")).git_sync;
  const before = await stored();
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme/settings?tab=git");
  await page.getByText("f/finance/repository").waitFor();
  await page.getByLabel("Paths, one per line").fill("f/**\nu/ann/**\n");
  await page.getByRole("checkbox", { name: "Flows" }).check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("The selection is saved").waitFor();
  expect(await stored()).toEqual({
    ...before,
    include_path: ["f/**", "u/ann/**"],
    include_type: ["script", "flow"],
  });
}, 60_000);

test("the state of the server, the size of its database, and problems", async () => {
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open("w/acme/instance");
  const checks = page.getByRole("table", { name: "Checks" });
  await checks.getByRole("row", { name: /^Database sqlite answers|^Database postgres answers/i }).waitFor();
  await checks.getByRole("row", { name: /^Database size [1-9]\d* MB/ }).waitFor();
  await checks.getByRole("link", { name: "retention of runs and audit log" }).click();
  await page.getByText("retention_period_secs").waitFor();
  await seen.open("w/acme/instance");
  await page.getByText("The server is ready").waitFor();
  process.kill(site.serving.pid, "SIGTERM");
  await page.getByText("the server is about to shut down").waitFor({ timeout: 20_000 });
  await page.getByText("The server is not ready").waitFor();
  // The browser logs the status of the response.
  expect(seen.wrongs.filter((each) => !each.includes("503"))).toEqual([]);
  seen.wrongs.length = 0;
}, 60_000);

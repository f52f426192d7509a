/** A forgotten password is reset by a mailed link, which works once and tells strangers nothing. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { type Ask, expectOk, startTestServer, type TestServer, until } from "../../../support/harness.ts";
import { type MailServer, plainSettings, startPlainMailServer } from "../../../support/peers/mail-server.ts";

let server: TestServer;
let root: Ask;
let nobody: Ask;
let mails: MailServer;
/** How far the server's clock is ahead. */
let ahead_ms = 0;

const PASSWORD = "correct horse battery";

beforeAll(async () => {
  server = await startTestServer({ allowed_targets: "127.0.0.1" });
  Object.assign(server.server.app, { clock: () => new Date(Date.now() + ahead_ms) });
  root = (await server.user("root", { super_admin: true })).ask;
  nobody = server.as("");
  mails = await startPlainMailServer();
});
afterEach(() => {
  // The next test has a new limit of attempts.
  ahead_ms += 2 * 3_600_000;
});
afterAll(async () => {
  await server.stop();
  await mails[Symbol.asyncDispose]();
});

const setMail = (value: unknown) => expectOk(root("POST", "/settings/global/smtp_settings", { value }));
const makeUser = (email: string) =>
  expectOk(root("POST", "/users/create", { email, password: PASSWORD, super_admin: false }));
const request = (email: string) => nobody("POST", "/auth/request_password_reset", { email });
const reset = (token: string, new_password: string) =>
  nobody("POST", "/auth/reset_password", { token, new_password });
const login = (email: string, password: string) => nobody("POST", "/auth/login", { email, password });
const linksTo = (email: string) =>
  mails.received.filter(({ to, text }) => to.includes(email) && text.includes("/reset#"));
async function linkTo(email: string, nth = 0): Promise<string> {
  await until(() => linksTo(email).length > nth || undefined, "the mail");
  return /\/reset#(\S+)/.exec(linksTo(email)[nth]!.text)![1]!;
}

test("without a mail server the response names whom to ask", async () => {
  expect((await nobody("GET", "/auth/is_smtp_configured")).json<boolean>()).toBe(false);
  const answer = await request("ann@example.org");
  expect(answer.status).toBe(400);
  expect(answer.text).toContain("a super admin sets another password");
});

test("a link sets a password once and ends all sessions", async () => {
  await setMail(plainSettings(mails));
  expect((await nobody("GET", "/auth/is_smtp_configured")).json<boolean>()).toBe(true);
  const email = "ann@example.org";
  await makeUser(email);
  const session = (await login(email, PASSWORD)).text;
  expect((await server.as(session)("GET", "/users/whoami")).status).toBe(200);
  await expectOk(request("  Ann@Example.org "));
  const token = await linkTo(email);
  expect((await reset(token, "short")).text).toContain("`new_password`");
  await expectOk(reset(token, "another password"));
  expect((await login(email, PASSWORD)).status).toBe(400);
  expect((await login(email, "another password")).status).toBe(200);
  expect((await server.as(session)("GET", "/users/whoami")).status).toBe(401);
  expect((await reset(token, "a third password")).text).toContain("no longer valid");
  const audit = await expectOk(root("GET", "/audit/list?operation=users.setpassword"));
  expect(audit.text).toContain(email);
  expect(audit.text).not.toContain("another password");
});

test("a used link invalidates the others, and of two concurrent uses one succeeds", async () => {
  const email = "bob@example.org";
  await makeUser(email);
  await expectOk(request(email));
  await expectOk(request(email));
  const [first, second] = [await linkTo(email), await linkTo(email, 1)];
  const both = await Promise.all([reset(first, "password one"), reset(second, "password two")]);
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 400]);
});

test("expired and forged links are refused", async () => {
  const email = "eve@example.org";
  await makeUser(email);
  await makeUser("victim@example.org");
  await expectOk(request(email));
  const token = await linkTo(email);
  const [address, ends, signature] = token.split(".") as [string, string, string];
  const victim = Buffer.from("victim@example.org").toString("base64url");
  const later = (Number.parseInt(ends, 36) + 1e9).toString(36);
  for (const forged of [
    `${victim}.${ends}.${signature}`,
    `${address}.${later}.${signature}`,
    `${address}.${ends}.`,
    `${address}.${ends}.${"A".repeat(43)}`,
    "",
    ".",
    "..",
    `${Buffer.from("nobody@example.org").toString("base64url")}.${ends}.${signature}`,
  ]) {
    expect((await reset(forged, "another password")).status).toBe(400);
  }
  ahead_ms += 3_601_000;
  expect((await reset(token, "another password")).text).toContain("within an hour");
});

test("an unknown address gets the same answer, and mails per account are limited", async () => {
  const known = "zoe@example.org";
  await makeUser(known);
  const answers = await Promise.all([request(known), request("stranger@example.org")]);
  expect(answers[0]!.text).toBe(answers[1]!.text);
  for (let more = 0; more < 5; more++) await expectOk(request(known));
  await linkTo(known, 2);
  await makeUser("last@example.org");
  await expectOk(request("last@example.org"));
  await linkTo("last@example.org");
  expect(linksTo(known)).toHaveLength(3);
  expect(linksTo("stranger@example.org")).toHaveLength(0);
});

test("nothing is done for a mail before the response, which would come later for a known address", async () => {
  await makeUser("prompt@example.org");
  const { settings } = server.server.app;
  const { get } = settings;
  const reads: string[] = [];
  settings.get = ((name) => {
    if (name === "smtp_settings") reads.push(name);
    return get.call(settings, name);
  }) as typeof get;
  try {
    await expectOk(request("stranger@example.org"));
    const forStranger = reads.splice(0).length;
    await expectOk(request("prompt@example.org"));
    expect(reads.length).toBe(forStranger);
  } finally {
    settings.get = get;
  }
  await linkTo("prompt@example.org");
});

test("requests per network are limited", async () => {
  const answers = [];
  for (let nth = 0; nth < 40; nth++) answers.push((await request(`x${nth}@example.org`)).status);
  expect(answers.filter((status) => status === 429).length).toBe(10);
});

test("with password login disabled no password is set", async () => {
  await expectOk(root("POST", "/settings/global/disable_password_login", { value: true }));
  try {
    expect((await request("ann@example.org")).status).toBe(403);
    expect((await reset("a.b.c", "another password")).status).toBe(403);
    expect((await nobody("GET", "/auth/is_smtp_configured")).json<boolean>()).toBe(false);
  } finally {
    await expectOk(root("POST", "/settings/global/disable_password_login", { value: false }));
  }
});

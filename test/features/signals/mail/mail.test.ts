/**
 * Mail is sent through real mail servers, with each kind of connection security, and failures report the
 * reason.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { dnsResolver } from "../../../../src/platform/outgoing/connect.ts";
import { type Ask, expectOk, startTestServer, type TestServer, until } from "../../../support/harness.ts";
import {
  CERTIFICATE,
  MAIL_USER,
  type MailServer,
  plainSettings,
  startMailServer,
  startPlainMailServer,
} from "../../../support/peers/mail-server.ts";

let server: TestServer;
let ask: Ask;
let servers: Record<"plain" | "starttls" | "implicit", MailServer>;

beforeAll(async () => {
  server = await startTestServer({ outgoing_timeout_s: 1 });
  ask = (await server.user("root", { super_admin: true })).ask;
  const [plain, starttls, implicit] = await Promise.all([
    startMailServer({ disabledCommands: ["STARTTLS"], allowInsecureAuth: true }),
    startMailServer(),
    startMailServer({ secure: true }),
  ]);
  servers = { plain, starttls, implicit };
});
afterAll(async () => {
  for (const each of Object.values(servers)) await each[Symbol.asyncDispose]();
  await server.stop();
});

const smtp = (port: number, more: object = {}) => ({
  host: "127.0.0.1",
  port,
  from: "svc <svc@example.org>",
  ...MAIL_USER,
  tls_implicit: false,
  disable_tls: false,
  ...more,
});

const trial = (port: number, more: object = {}, to = "ann@example.org") =>
  ask("POST", "/settings/test_smtp", { to, smtp: smtp(port, more) });

describe("test_smtp", () => {
  test.each([
    ["plain", { disable_tls: true }, false],
    ["starttls", { ca: CERTIFICATE }, true],
    ["implicit", { tls_implicit: true, ca: CERTIFICATE }, true],
  ] as const)("sends a mail with a text and an HTML part: %s", async (way, more, secure) => {
    const { port, received } = servers[way];
    const answer = await trial(port, more);
    expect(answer).toMatchObject({
      status: 200,
      text: `mail sent to ann@example.org through 127.0.0.1:${port}`,
    });
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({ from: "svc@example.org", to: ["ann@example.org"], secure });
    expect(received[0]!.source).toContain("Content-Type: text/plain");
    expect(received[0]!.source).toContain("Content-Type: text/html");
    expect(received[0]!.source).toContain("Subject: Test mail");
  });

  test.each([
    [
      "a wrong password",
      "plain",
      { disable_tls: true, password: "wrong" },
      "refuses the username or the password",
    ],
    [
      "no password",
      "plain",
      { disable_tls: true, username: "", password: "" },
      "wants a username and a password",
    ],
    ["a server without STARTTLS", "plain", {}, "offers no STARTTLS"],
    ["a certificate nobody vouches for", "starttls", {}, "shows a certificate that is not trusted"],
    [
      "the same with implicit TLS",
      "implicit",
      { tls_implicit: true },
      "shows a certificate that is not trusted",
    ],
    [
      "implicit TLS where STARTTLS is meant",
      "starttls",
      { tls_implicit: true },
      "does not speak TLS from the first byte on",
    ],
  ] as const)("says what is wrong: %s", async (_, way, more, text) => {
    const answer = await trial(servers[way].port, more);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(text)]);
    expect(answer.text).toContain(`the mail server 127.0.0.1:${servers[way].port}`);
    expect(answer.text).not.toContain(MAIL_USER.password);
  });

  test("reports a recipient that is refused or invalid", async () => {
    const { port } = servers.plain;
    const refused = await trial(port, { disable_tls: true }, "nobody@example.org");
    expect(refused.text).toMatch(/refuses the sender or the recipient: .*no such mailbox/);
    expect((await trial(port, { disable_tls: true }, "ann")).text).toContain("is not an e-mail address");
    const injected = await trial(port, { disable_tls: true }, "ann@example.org\r\nbcc:eve@example.org");
    expect(injected.status).toBe(400);
  });

  test("reports a refused connection and an unknown host", async () => {
    expect((await trial(1)).text).toContain("cannot be reached: nothing listens there");
    expect((await trial(25, { host: "mail.invalid" })).text).toContain("cannot be found");
  });

  test("times out on a host that accepts and sends nothing", async () => {
    const silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    expect((await trial(silent.port)).text).toContain("does not answer in time");
    silent.stop(true);
  }, 60_000);

  test("connects to the address it has checked, and verifies the certificate of the name", async () => {
    const resolve = dnsResolver.resolve;
    const asked: string[] = [];
    // The second response is an address that must not be reached; the first address accepts no connections.
    dnsResolver.resolve = async (host) => {
      asked.push(host);
      return asked.length === 1 ? ["127.0.0.9", "127.0.0.1"] : ["127.0.0.8"];
    };
    const { port, received } = servers.starttls;
    const before = received.length;
    try {
      expect(await trial(port, { host: "localhost", ca: CERTIFICATE })).toMatchObject({ status: 200 });
      expect([asked, received.length]).toEqual([["localhost"], before + 1]);
      asked.length = 0;
      const other = await trial(port, { host: "other.test", ca: CERTIFICATE });
      expect(other.text).toContain("shows a certificate that is not trusted");
      expect([asked, received.length]).toEqual([["other.test"], before + 1]);
    } finally {
      dnsResolver.resolve = resolve;
    }
  });

  test("is for super admins and requires all settings", async () => {
    const { ask: userAsk } = await server.user("ann");
    expect((await userAsk("POST", "/settings/test_smtp", { to: "a@b.c", smtp: smtp(1) })).status).toBe(403);
    const { host: _, ...without } = smtp(1);
    const answer = await ask("POST", "/settings/test_smtp", { to: "a@b.c", smtp: without });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("smtp.host")]);
    expect((await trial(99_999)).status).toBe(400);
  });
});

describe("a new user", () => {
  const create = (email: string) =>
    ask("POST", "/users/create", { email, password: "first <b>&</b> password", super_admin: false });

  test("gets the initial password by mail where a mail server is configured", async () => {
    await using mails = await startPlainMailServer();
    await expectOk(create("early@example.org"));
    await expectOk(ask("POST", "/settings/global/smtp_settings", { value: plainSettings(mails) }));
    await expectOk(create("Bob@Example.org"));
    const [mail] = await until(() => (mails.received.length > 0 ? mails.received : undefined), "the mail");
    expect(mails.received).toHaveLength(1);
    expect(mail!.to).toEqual(["bob@example.org"]);
    expect(mail!.text).toContain("first <b>&</b> password");
    expect(mail!.text).toContain(server.url);
    expect(mail!.source).toContain("first &lt;b&gt;&amp;&lt;/b&gt; password");
  });

  test("is created although the mail cannot be sent", async () => {
    const value = { smtp_host: "127.0.0.1", smtp_port: 1, smtp_from: "svc@example.org" };
    await expectOk(ask("POST", "/settings/global/smtp_settings", { value }));
    expect((await create("carl@example.org")).status).toBe(201);
    expect((await ask("GET", "/users/exists/carl@example.org")).json()).toBe(true);
    await expectOk(ask("POST", "/settings/global/smtp_settings", { value: null }));
  });
});

test("an invitation to a workspace, and an added member, are mailed", async () => {
  await using mails = await startPlainMailServer();
  const admin = (await server.workspace()).ask;
  const role = { is_admin: false, operator: false };
  const askIn = (name: string, email: string) =>
    expectOk(admin("POST", `/w/acme/workspaces/${name}`, { email, ...role }));
  await askIn("invite_user", "early_guest@example.org");
  await expectOk(ask("POST", "/settings/global/smtp_settings", { value: plainSettings(mails) }));
  await askIn("invite_user", "guest@example.org");
  await askIn("add_user", "new@example.org");
  await until(() => (mails.received.length === 2 ? true : undefined), "two mails");
  const told = Object.fromEntries(mails.received.map(({ to, text }) => [to[0], text]));
  expect(told["guest@example.org"]).toContain("admin_acme@example.org invites you to the workspace acme");
  expect(told["new@example.org"]).toContain("has added you to the workspace acme. Your name there is new.");
  for (const text of Object.values(told)) expect(text).toContain(server.url);
  await expectOk(ask("POST", "/settings/global/smtp_settings", { value: null }));
});

import { describe, expect, test } from "bun:test";
import { users } from "../../../../src/features/tenancy/people/user-tables.ts";
import { expectOk, startTestServer } from "../../../support/harness.ts";
import { login, moveClock, server, setUpUsers, whoami } from "./users-setup.ts";

setUpUsers();

describe("the first admin account", () => {
  test("is created by a one-time link, with JSON or a browser's form", async () => {
    const form = "email=First%40Example.org&password=a+b+c+d+e";
    const forms: [body: unknown, headers: Record<string, string>][] = [
      [{ email: "First@Example.org", password: "a b c d e" }, {}],
      [form, { "content-type": "application/x-www-form-urlencoded" }],
    ];
    for (const [body, headers] of forms) {
      await using empty = await startTestServer();
      const link = (await empty.server.setupPath())!.replace("/api", "");
      const page = await empty.as(undefined)("GET", link);
      expect(page.text).toContain(`action="/api${link}"`);
      expect(page.headers.get("referrer-policy")).toBe("same-origin");
      const made = await empty.as(undefined)("POST", link, body, headers);
      expect(made.status).toBe(201);
      expect((await whoami(made.text, empty)).json()).toMatchObject({
        email: "first@example.org",
        super_admin: true,
      });
      expect((await login("first@example.org", "a b c d e", empty)).status).toBe(200);
      expect((await empty.as(undefined)("GET", link)).status).toBe(404);
      expect((await empty.as(undefined)("POST", link, body, headers)).status).toBe(404);
      expect(await empty.server.setupPath()).toBeUndefined();
    }
  });

  test("gets a page that says how to continue", async () => {
    await using empty = await startTestServer();
    const link = (await empty.server.setupPath())!.replace("/api", "");
    const answer = await empty.as(undefined)("POST", link, "email=ann%40example.org&password=a+b+c+d+e", {
      "content-type": "application/x-www-form-urlencoded",
      accept: "text/html,*/*;q=0.8",
    });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([201, "text/html; charset=utf-8"]);
    expect(answer.headers.getSetCookie().some((cookie) => cookie.startsWith("token="))).toBe(true);
    expect(answer.text).toContain(`svc login ${empty.url} --email ann@example.org`);
  });

  test("is not created if the passwords differ, and the link stays valid", async () => {
    await using empty = await startTestServer();
    const link = (await empty.server.setupPath())!.replace("/api", "");
    const nobody = empty.as(undefined);
    expect((await nobody("GET", link)).text).toContain('name="password_again"');
    const body = { email: "ann@example.org", password: "correct-horse", password_again: "correct-hors" };
    expect(await nobody("POST", link, body)).toMatchObject({
      status: 400,
      text: expect.stringContaining("the two passwords differ"),
    });
    expect((await nobody("POST", link, { ...body, password_again: body.password })).status).toBe(201);
  });

  test("is created once: by concurrent uses, several links, or another way", async () => {
    await using empty = await startTestServer();
    const link = (await empty.server.setupPath())!.replace("/api", "");
    const post = (path: string, email: string) =>
      empty.as(undefined)("POST", path, { email, password: "x-password" });
    const token = link.slice("/setup/".length);
    for (const guess of ["short", `${token}x`, `${token.slice(0, -1)}!`, "é".repeat(token.length)]) {
      expect((await post(`/setup/${encodeURIComponent(guess)}`, "b@example.org")).status).toBe(404);
      expect((await empty.as(undefined)("GET", `/setup/${encodeURIComponent(guess)}`)).status).toBe(404);
    }
    expect((await post(link, "no address")).status).toBe(400);
    const both = await Promise.all([post(link, "a@example.org"), post(link, "b@example.org")]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 404]);

    await using other = await startTestServer();
    const late = (await other.server.setupPath())!.replace("/api", "");
    await other.user("ann");
    const body = { email: "late@example.org", password: "x-password" };
    expect((await other.as(undefined)("POST", late, body)).status).toBe(404);
  });
});

describe("logging in", () => {
  test("returns a session as text and as an HttpOnly cookie, which a logout ends at once", async () => {
    await server.user("lena");
    const answer = await login(" Lena@Example.ORG ", "lena-password");
    expect(answer.status).toBe(200);
    expect(answer.text).toMatch(/^[A-Za-z0-9]{32}$/);
    const cookie = answer.headers.getSetCookie()[0]!;
    const [expires] = cookie.split("; ").filter((part) => part.startsWith("Expires="));
    expect(cookie.split("; ").sort()).toEqual(
      [`token=${answer.text}`, "HttpOnly", "Path=/", "SameSite=Lax", "Max-Age=259200", expires!].sort(),
    );
    const left = Date.parse(expires!.slice("Expires=".length)) - Date.now();
    expect(left).toBeWithin(259_000_000, 259_201_000);
    expect((await whoami(answer.text)).json().email).toBe("lena@example.org");
    const nobody = server.as(undefined);
    const out = await nobody("POST", "/auth/logout", undefined, { cookie: `token=${answer.text}` });
    expect(out.status).toBe(200);
    expect(out.headers.getSetCookie()[0]).toMatch(/^token=;.*Max-Age=0/);
    expect((await whoami(answer.text)).status).toBe(401);
    expect((await nobody("POST", "/auth/logout")).status).toBe(200);
  });

  test("says whether it is the first login of the account", async () => {
    await server.user("faye");
    const first = (await login("faye@example.org", "faye-password")).headers.getSetCookie();
    const said = first.find((cookie) => cookie.startsWith("first_time="))!;
    expect(said.split("; ")).toEqual(expect.arrayContaining(["first_time=1", "Max-Age=900", "Path=/"]));
    expect(said).not.toContain("HttpOnly");
    const later = (await login("faye@example.org", "faye-password")).headers.getSetCookie();
    expect(later.some((cookie) => cookie.startsWith("first_time="))).toBe(false);
  });

  test.each([
    ["/user/login", 307, "/user/login"],
    ["http://localhost:1/user/login", 400, undefined],
    ["//elsewhere.example/x", 400, undefined],
    ["\\\\elsewhere.example/x", 400, undefined],
    ["javascript:alert(1)", 400, undefined],
    [undefined, 200, undefined],
  ])("a logout link redirects to %p: %p", async (rd, status, location) => {
    const { ask } = await server.user(`link${Bun.hash(String(rd))}`);
    const token = (await expectOk(ask("POST", "/users/tokens/create", {}))).text;
    const url = `${server.url}/api/auth/logout${rd === undefined ? "" : `?rd=${encodeURIComponent(rd)}`}`;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` }, redirect: "manual" });
    expect(answer.status).toBe(status);
    if (location !== undefined) expect(answer.headers.get("location")).toBe(server.url + location);
    expect((await whoami(token)).status).toBe(status === 400 ? 200 : 401);
  });

  test("with INVALIDATE_OLD_SESSIONS a login ends earlier sessions, and no other tokens", async () => {
    await using strict = await startTestServer({ invalidate_old_sessions: "true" });
    const { token } = await strict.user("ann");
    const sessions: string[] = [];
    for (let n = 0; n < 2; n++) sessions.push((await login("ann@example.org", "ann-password", strict)).text);
    const states = await Promise.all([...sessions, token].map((one) => whoami(one, strict)));
    expect(states.map(({ status }) => status)).toEqual([401, 200, 200]);
  });

  test("a refreshed session is in the cookie and the body; the previous one stays valid until its end", async () => {
    await server.user("rhea");
    const session = (await login("rhea@example.org", "rhea-password")).text;
    const kept = await server.as(session)("GET", "/users/refresh_token?if_expiring_in_less_than_s=60");
    expect([kept.status, kept.text, kept.headers.getSetCookie()]).toEqual([200, session, []]);
    const next = await server.as(session)("GET", "/users/refresh_token");
    expect(next.text).toMatch(/^[A-Za-z0-9]{32}$/);
    expect(next.headers.getSetCookie()[0]).toStartWith(`token=${next.text}; HttpOnly`);
    expect([(await whoami(next.text)).status, (await whoami(session)).status]).toEqual([200, 200]);
    for (const restricted of [{ scopes: ["users:write", "users:read"] }, { workspace_id: "acme" }]) {
      const made = await expectOk(server.as(next.text)("POST", "/users/tokens/create", restricted));
      expect((await server.as(made.text)("GET", "/users/refresh_token")).status).toBe(403);
    }
  });

  test("the cookie is Secure on https, and for the configured domain", async () => {
    const settings = { base_url: "https://svc.example.org", cookie_domain: "example.org" };
    await using secure = await startTestServer(settings);
    await secure.user("ann");
    const cookie = (await login("ann@example.org", "ann-password", secure)).headers.getSetCookie()[0]!;
    expect(cookie.split("; ")).toEqual(expect.arrayContaining(["Secure", "Domain=example.org"]));
  });

  test("a session expires", async () => {
    await using short = await startTestServer({ session_s: 60 });
    await short.user("ann");
    const { text } = await login("ann@example.org", "ann-password", short);
    moveClock(short, 59_000);
    expect((await whoami(text, short)).status).toBe(200);
    moveClock(short, 61_000);
    expect((await whoami(text, short)).status).toBe(401);
  });

  test("a wrong password and an unknown e-mail get the same response", async () => {
    await server.user("olga");
    const wrong = await login("olga@example.org", "guess");
    const unknown = await login("nobody@example.org", "guess");
    expect([wrong.status, wrong.text]).toEqual([400, "Bad request: Invalid login"]);
    expect([unknown.status, unknown.text]).toEqual([wrong.status, wrong.text]);
    expect(unknown.headers.getSetCookie()).toEqual([]);
  });

  test("passwords are stored as argon2id hashes", async () => {
    await server.user("hash");
    const rows = await server.server.app.db.read.select().from(users);
    const row = rows.find(({ email }) => email === "hash@example.org")!;
    expect(row.password_hash).toStartWith("$argon2id$");
    expect(JSON.stringify(rows)).not.toContain("hash-password");
  });
});

test("only super admins create users; everybody can read who they are", async () => {
  const body = {
    email: "New@Example.org",
    password: "x-password",
    super_admin: false,
    name: "New",
    company: "Inc",
  };
  const { ask } = await server.user("plain");
  const root = await server.user("root", { super_admin: true });
  expect((await server.as(undefined)("POST", "/users/create", body)).status).toBe(401);
  expect((await ask("POST", "/users/create", body)).status).toBe(403);
  const made = await root.ask("POST", "/users/create", { ...body, unknown_to_us: 1 });
  expect([made.status, made.text]).toEqual([201, "email new@example.org created"]);
  const session = (await login("new@example.org", "x-password")).text;
  expect((await whoami(session)).json()).toEqual({
    email: "new@example.org",
    login_type: "password",
    super_admin: false,
    devops: false,
    verified: true,
    name: "New",
    company: "Inc",
    username: null,
    first_time_user: false,
  });
  expect((await server.as(session)("GET", "/users/email")).text).toBe("new@example.org");
  expect((await server.operator("GET", "/users/exists/NEW@example.org")).json()).toBe(true);
  expect((await ask("GET", "/users/exists/no@example.org")).json()).toBe(false);
});

test.each([
  ["no e-mail", { email: undefined }, "`email`"],
  ["an e-mail that is a number", { email: 1 }, "`email`"],
  ["an e-mail without @", { email: "ann" }, '"ann" is not an e-mail address'],
  ["an e-mail that is there already", { email: "ADMIN_acme@example.org" }, "admin_acme@example.org already"],
  ["no password", { password: undefined }, "`password`"],
  ["a password of seven characters", { password: "1234567" }, "must have at least 8 characters"],
  ["super_admin as text", { super_admin: "yes" }, "`super_admin`"],
  ["a username with a space", { username: "a b" }, '"a b" cannot be a username'],
  ["another's username", { username: "admin_acme" }, "is that of admin_acme@example.org"],
])("creating a user with %s is refused with the reason", async (_, change, message) => {
  const body = { email: "bad@example.org", password: "x-password", super_admin: false, ...change };
  const answer = await server.operator("POST", "/users/create", body);
  expect(answer.status).toBe(400);
  expect(answer.text).toContain(message);
});

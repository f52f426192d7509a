import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { App } from "../../src/context.ts";
import { checkAttempt, recordFailure } from "../../src/features/users/attempts.ts";
import { users } from "../../src/features/users/tables.ts";
import { type Answer, expectOk, startTestServer, type TestServer } from "../harness.ts";

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
  await server.workspace();
});
afterAll(() => server.stop());

/** Moves a server's clock: sessions and windows end without anybody waiting. */
const moveClock = (of: TestServer, ms: number) =>
  Object.assign(of.server.app, { clock: () => new Date(Date.now() + ms) });

const login = (email: string, password: string, of = server) =>
  of.as(undefined)("POST", "/auth/login", { email, password });

const whoami = (token: string, of = server) => of.as(token)("GET", "/users/whoami");

describe("the first super admin", () => {
  test("is made with a one-time link: by a program's JSON or a browser's form", async () => {
    const form = "email=First%40Example.org&password=a+b";
    const forms: [body: unknown, headers: Record<string, string>][] = [
      [{ email: "First@Example.org", password: "a b" }, {}],
      [form, { "content-type": "application/x-www-form-urlencoded" }],
    ];
    for (const [body, headers] of forms) {
      await using empty = await startTestServer();
      const link = (await empty.server.setupPath())!.replace("/api", "");
      const page = await empty.as(undefined)("GET", link);
      expect(page.text).toContain(`action="/api${link}"`);
      expect(page.headers.get("referrer-policy")).toBe("no-referrer");
      const made = await empty.as(undefined)("POST", link, body, headers);
      expect(made.status).toBe(201);
      expect((await whoami(made.text, empty)).json()).toMatchObject({
        email: "first@example.org",
        super_admin: true,
      });
      expect((await login("first@example.org", "a b", empty)).status).toBe(200);
      expect((await empty.as(undefined)("GET", link)).status).toBe(404);
      expect((await empty.as(undefined)("POST", link, body, headers)).status).toBe(404);
      expect(await empty.server.setupPath()).toBeUndefined();
    }
  });

  test("another link, two at once, or a user made meanwhile: at most one wins", async () => {
    await using empty = await startTestServer();
    const link = (await empty.server.setupPath())!.replace("/api", "");
    const post = (path: string, email: string) => empty.as(undefined)("POST", path, { email, password: "x" });
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
    const body = { email: "late@example.org", password: "x" };
    expect((await other.as(undefined)("POST", late, body)).status).toBe(404);
  });
});

describe("logging in", () => {
  test("gives a session, as text and as a cookie only HTTP can read; logging out ends it at once", async () => {
    await server.user("lena");
    const answer = await login(" Lena@Example.ORG ", "lena-password");
    expect(answer.status).toBe(200);
    expect(answer.text).toMatch(/^[A-Za-z0-9]{32}$/);
    const cookie = answer.headers.getSetCookie()[0]!;
    expect(cookie.split("; ").sort()).toEqual(
      [`token=${answer.text}`, "HttpOnly", "Path=/", "SameSite=Lax", "Max-Age=259200"].sort(),
    );
    expect((await whoami(answer.text)).json().email).toBe("lena@example.org");
    const nobody = server.as(undefined);
    const out = await nobody("POST", "/auth/logout", undefined, { cookie: `token=${answer.text}` });
    expect(out.status).toBe(200);
    expect(out.headers.getSetCookie()[0]).toMatch(/^token=;.*Max-Age=0/);
    expect((await whoami(answer.text)).status).toBe(401);
    expect((await nobody("POST", "/auth/logout")).status).toBe(200);
  });

  test("the cookie is for https alone when the instance is, and for the domain that is set", async () => {
    const settings = { base_url: "https://svc.example.org", cookie_domain: "example.org" };
    await using secure = await startTestServer(settings);
    await secure.user("ann");
    const cookie = (await login("ann@example.org", "ann-password", secure)).headers.getSetCookie()[0]!;
    expect(cookie.split("; ")).toEqual(expect.arrayContaining(["Secure", "Domain=example.org"]));
  });

  test("a session ends by its time", async () => {
    await using short = await startTestServer({ session_s: 60 });
    await short.user("ann");
    const { text } = await login("ann@example.org", "ann-password", short);
    moveClock(short, 59_000);
    expect((await whoami(text, short)).status).toBe(200);
    moveClock(short, 61_000);
    expect((await whoami(text, short)).status).toBe(401);
  });

  test("a wrong password and an unknown e-mail are told apart by nothing", async () => {
    await server.user("olga");
    const wrong = await login("olga@example.org", "guess");
    const unknown = await login("nobody@example.org", "guess");
    expect([wrong.status, wrong.text]).toEqual([400, "Bad request: Invalid login"]);
    expect([unknown.status, unknown.text]).toEqual([wrong.status, wrong.text]);
    expect(unknown.headers.getSetCookie()).toEqual([]);
  });

  test("passwords are kept as argon2id only", async () => {
    await server.user("hash");
    const rows = await server.server.app.db.read.select().from(users);
    const row = rows.find(({ email }) => email === "hash@example.org")!;
    expect(row.password_hash).toStartWith("$argon2id$");
    expect(JSON.stringify(rows)).not.toContain("hash-password");
  });
});

describe("guessing passwords", () => {
  const count = (answers: Answer[], status: number) => answers.filter((a) => a.status === status).length;

  test("ten wrong ones for an account, also all at once, then a pause; other accounts go on", async () => {
    await using own = await startTestServer();
    for (const name of ["ann", "bob"]) await own.user(name);
    const wrong = Array.from({ length: 25 }, (_, n) => login("ann@example.org", `guess ${n}`, own));
    const answers = await Promise.all(wrong);
    expect([count(answers, 400), count(answers, 429)]).toEqual([10, 15]);
    const right = await login("Ann@example.org", "ann-password", own);
    expect([right.status, right.headers.get("svc-error")]).toEqual([429, "TooManyRequests"]);
    expect(Number(right.headers.get("retry-after"))).toBeWithin(1, 61);
    expect((await login("bob@example.org", "bob-password", own)).status).toBe(200);
    moveClock(own, 61_000);
    expect((await login("ann@example.org", "ann-password", own)).status).toBe(200);
  });

  test("a hundred from an address for all accounts together; right ones do not count", async () => {
    await server.user("uma");
    for (let n = 0; n < 11; n++) expect((await login("uma@example.org", "uma-password")).status).toBe(200);
    const app = { clock: () => new Date(0) } as App;
    for (let n = 0; n < 100; n++) {
      checkAttempt(app, "next@example.org", "192.0.2.1");
      recordFailure(app, `user${n}@example.org`, "192.0.2.1");
    }
    expect(() => checkAttempt(app, "next@example.org", "192.0.2.1")).toThrow("too many wrong passwords");
    checkAttempt(app, "next@example.org", "192.0.2.2");
  });
});

describe("changing one's password", () => {
  test("ends every other session; the old password is wrong from then on", async () => {
    await server.user("paul");
    const [mine, other] = await Promise.all(
      [1, 2].map(async () => (await login("paul@example.org", "paul-password")).text),
    );
    expect((await whoami(other!)).status).toBe(200);
    await expectOk(server.as(mine)("POST", "/users/setpassword", { password: "new" }));
    expect([(await whoami(mine!)).status, (await whoami(other!)).status]).toEqual([200, 401]);
    expect((await login("paul@example.org", "paul-password")).status).toBe(400);
    expect((await login("paul@example.org", "new")).status).toBe(200);
    expect((await server.as(mine)("POST", "/users/setpassword", { password: "" })).status).toBe(400);
  });

  test("a restricted token changes none: it would be the way to an unrestricted one", async () => {
    const { ask } = await server.user("rita", { super_admin: true });
    for (const restricted of [{ scopes: ["users:write"] }, { workspace_id: "acme" }]) {
      const token = (await expectOk(ask("POST", "/users/tokens/create", restricted))).text;
      const answer = await server.as(token)("POST", "/users/setpassword", { password: "taken" });
      expect(answer.status).toBe(403);
    }
    expect((await login("rita@example.org", "rita-password")).status).toBe(200);
  });
});

test("making users is for super admins; who one is, everybody may ask", async () => {
  const body = { email: "New@Example.org", password: "x", super_admin: false, name: "New", company: "Inc" };
  const { ask } = await server.user("plain");
  const root = await server.user("root", { super_admin: true });
  expect((await server.as(undefined)("POST", "/users/create", body)).status).toBe(401);
  expect((await ask("POST", "/users/create", body)).status).toBe(403);
  const made = await root.ask("POST", "/users/create", { ...body, unknown_to_us: 1 });
  expect([made.status, made.text]).toEqual([201, "email new@example.org created"]);
  const session = (await login("new@example.org", "x")).text;
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
  expect((await ask("GET", "/users/exists/NEW@example.org")).json()).toBe(true);
  expect((await ask("GET", "/users/exists/no@example.org")).json()).toBe(false);
});

test.each([
  ["no e-mail", { email: undefined }, "`email`"],
  ["an e-mail that is a number", { email: 1 }, "`email`"],
  ["an e-mail without @", { email: "ann" }, '"ann" is not an e-mail address'],
  ["an e-mail that is there already", { email: "ADMIN_acme@example.org" }, "admin_acme@example.org already"],
  ["no password", { password: undefined }, "`password`"],
  ["an empty password", { password: "" }, "`password`"],
  ["super_admin as text", { super_admin: "yes" }, "`super_admin`"],
  ["a username with a space", { username: "a b" }, '"a b" cannot be a username'],
])("making a user with %s is refused and says why", async (_, change, message) => {
  const body = { email: "bad@example.org", password: "x", super_admin: false, ...change };
  const answer = await server.operator("POST", "/users/create", body);
  expect(answer.status).toBe(400);
  expect(answer.text).toContain(message);
});

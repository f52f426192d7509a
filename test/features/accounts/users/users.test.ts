import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  consumeAttempt,
  createDeviceProof,
  type LoginOrigin,
} from "../../../../src/features/accounts/sessions/login-throttle.ts";
import { startSession } from "../../../../src/features/accounts/sessions/sessions.ts";
import { users } from "../../../../src/features/tenancy/people/user-tables.ts";
import type { App } from "../../../../src/platform/app/context.ts";
import {
  type Answer,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

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
      expect(page.headers.get("referrer-policy")).toBe("no-referrer");
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

  test("tells whether it is the first login of the account", async () => {
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

describe("guessing passwords", () => {
  const count = (answers: Answer[], status: number) => answers.filter((a) => a.status === status).length;

  test("is limited to ten failures per account, also concurrent ones; other accounts are unaffected", async () => {
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

  test("does not count successes", async () => {
    await server.user("uma");
    for (let n = 0; n < 11; n++) expect((await login("uma@example.org", "uma-password")).status).toBe(200);
  });
});

/** The rules by themselves: who sends from where is made up, and time stands until it is moved. */
describe("what is left to guess", () => {
  const ANN = "ann@example.org";
  const from = (address: string, device?: string): LoginOrigin => ({ address, device });

  function guesses() {
    let now = 0;
    const app = { clock: () => new Date(now), instanceKey: new Uint8Array(32) } as unknown as App;
    return {
      app,
      wrong: (origin: LoginOrigin, email = ANN) => void consumeAttempt(app, email, origin),
      right: (origin: LoginOrigin, email = ANN) => consumeAttempt(app, email, origin)(),
      pass: (ms: number) => {
        now += ms;
      },
    };
  }
  const many = (times: number, work: (n: number) => void) => {
    for (let n = 0; n < times; n++) work(n);
  };
  const REFUSED = "too many wrong passwords";
  const place = (n: number) => from(`10.0.${n >> 8}.${n & 255}`);

  test("is a hundred failures a minute per network over all accounts", () => {
    const { wrong, pass } = guesses();
    many(100, (n) => wrong(place(0), `user${n}@example.org`));
    expect(() => wrong(place(0), "next@example.org")).toThrow(REFUSED);
    wrong(place(1), "next@example.org");
    pass(60_001);
    wrong(place(0), "next@example.org");
  });

  test.each([
    ["2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true],
    ["2001:db8:1:2::1", "2001:db8:1:3::1", false],
    ["::ffff:192.0.2.1", "192.0.2.1", true],
    ["::1", "::2", true],
  ])("%s and %s count as one network: %p", (one, other, same) => {
    const { wrong } = guesses();
    many(10, () => wrong(from(one)));
    const again = () => wrong(from(other));
    if (same) expect(again).toThrow(REFUSED);
    else again();
  });

  test("for an account attacked from many networks is one guess for unknown browsers; known ones keep theirs", () => {
    const { app, wrong, right, pass } = guesses();
    right(from("192.0.2.1"));
    const device = createDeviceProof(app, ANN);
    many(100, (n) => wrong(place(n % 50)));
    wrong(from("198.51.100.1"));
    expect(() => wrong(from("198.51.100.1"))).toThrow(REFUSED);
    // Known by its network, by its browser wherever that is, and a stranger with the right password at once.
    many(9, () => wrong(from("192.0.2.1")));
    right(from("192.0.2.1"));
    many(9, () => wrong(from("198.51.100.1", device)));
    right(from("198.51.100.1", device));
    right(from("198.51.100.2"));
    wrong(from("198.51.100.2"));
    // Another account is not guessed at, and the one is forgotten about in time.
    many(10, () => wrong(place(0), "bob@example.org"));
    pass(15 * 60_000 + 1);
    many(10, () => wrong(from("198.51.100.1")));
  });

  test("as a known browser holds for its own account only, and cannot be forged", () => {
    const { app, wrong } = guesses();
    const others = createDeviceProof(app, "bob@example.org");
    many(100, (n) => wrong(place(n % 50)));
    for (const [n, device] of [others, `${others.split(".")[0]}.${"0".repeat(64)}`, "x", ""].entries()) {
      const origin = from(`198.51.100.${n}`, device);
      wrong(origin);
      expect(() => wrong(origin)).toThrow(REFUSED);
    }
  });

  test("of a known browser is unaffected by attempts at other accounts", () => {
    const { wrong, right } = guesses();
    right(from("192.0.2.1"));
    many(25_000, (n) => wrong(from(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`), `user${n}@example.org`));
    many(100, (n) => wrong(place(n % 50)));
    many(9, () => wrong(from("192.0.2.1")));
    right(from("192.0.2.1"));
  });
});

describe("changing one's password", () => {
  test("ends every other session and replaces this one; other tokens stay", async () => {
    const { token } = await server.user("paul");
    const [mine, other] = await Promise.all(
      [1, 2].map(async () => (await login("paul@example.org", "paul-password")).text),
    );
    expect((await whoami(other!)).status).toBe(200);
    const changed = await expectOk(
      server.as(mine)("POST", "/users/setpassword", { password: "new-password" }),
    );
    const next = /^token=(\w+);/.exec(changed.headers.getSetCookie()[0]!)![1]!;
    const states = await Promise.all([mine!, other!, next, token].map((one) => whoami(one)));
    expect(states.map(({ status }) => status)).toEqual([401, 401, 200, 200]);
    expect((await login("paul@example.org", "paul-password")).status).toBe(400);
    expect((await login("paul@example.org", "new-password")).status).toBe(200);
    expect((await server.as(next)("POST", "/users/setpassword", { password: "" })).status).toBe(400);
    const long = await server.as(next)("POST", "/users/setpassword", { password: "x".repeat(1_001) });
    expect([long.status, long.text]).toEqual([400, expect.stringContaining("1000 characters at most")]);
  });

  test("refuses a concurrent login with the old password", async () => {
    await server.user("race");
    const { app } = server.server;
    const begin = (hash: string) =>
      app.db
        .write((tx) => startSession(app, tx, "race@example.org", hash))
        .then(
          ({ token }) => token,
          (cause: Error) => cause.message,
        );
    const rows = await app.db.read.select().from(users);
    const { password_hash } = rows.find(({ email }) => email === "race@example.org")!;
    expect(await begin(password_hash!)).toMatch(/^[A-Za-z0-9]{32}$/);
    await expectOk(
      server.operator("POST", "/users/set_password_of/race@example.org", { password: "new-password" }),
    );
    expect(await begin(password_hash!)).toBe("Invalid login");
  });

  test("ends warm script processes of the user, and that of a running job after it", async () => {
    await using own = await startTestServer();
    const { ask } = await own.workspace();
    await deploy(ask, "acme", "u/admin/warm", "export function main() { return process.pid; }");
    const pid = async () =>
      (await expectOk(ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/warm", {}))).json();
    const first = await pid();
    expect(await pid()).toBe(first);
    await expectOk(ask("POST", "/users/setpassword", { password: "new-password" }));
    const second = await pid();
    expect(second).not.toBe(first);
    expect(await pid()).toBe(second);
    const held = `export async function main(gate: string) {
      const { existsSync } = await import("node:fs");
      while (!existsSync(gate)) await Bun.sleep(5);
      return process.pid;
    }`;
    await deploy(ask, "acme", "u/admin/held", held);
    const gate = `${own.data_dir}/gate`;
    const run = ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/held", { gate });
    await until(() => (own.server.app.runner.stats().running > 0 ? true : undefined));
    await expectOk(ask("POST", "/users/setpassword", { password: "newer-password" }));
    await Bun.write(gate, "");
    const held_pid = (await run).json();
    const again = await ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/held", { gate });
    expect(again.json()).not.toBe(held_pid);
  }, 30_000);

  test("is refused for restricted tokens", async () => {
    const { ask } = await server.user("rita", { super_admin: true });
    for (const restricted of [{ scopes: ["users:write"] }, { workspace_id: "acme" }]) {
      const token = (await expectOk(ask("POST", "/users/tokens/create", restricted))).text;
      const answer = await server.as(token)("POST", "/users/setpassword", { password: "taken-password" });
      expect(answer.status).toBe(403);
    }
    expect((await login("rita@example.org", "rita-password")).status).toBe(200);
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

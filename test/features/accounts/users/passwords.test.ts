/** Passwords: how guessing is slowed down, and how they are changed. */
import { describe, expect, test } from "bun:test";
import {
  consumeAttempt,
  createDeviceProof,
  type LoginOrigin,
} from "../../../../src/features/accounts/sessions/login-throttle.ts";
import { startSession } from "../../../../src/features/accounts/sessions/sessions.ts";
import { users } from "../../../../src/features/tenancy/people/user-tables.ts";
import type { App } from "../../../../src/platform/app/context.ts";
import { type Answer, deploy, expectOk, startTestServer, until } from "../../../support/harness.ts";
import { login, moveClock, server, setUpUsers, whoami } from "./users-setup.ts";

setUpUsers();

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

/** The rules alone: senders are invented, and time stands still until it is moved. */
describe("guessing of passwords and usernames", () => {
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

  test("allows an account attacked from many networks one guess by unknown browsers; known ones keep theirs", () => {
    const { app, wrong, right, pass } = guesses();
    right(from("192.0.2.1"));
    const device = createDeviceProof(app, ANN);
    many(100, (n) => wrong(place(n % 50)));
    wrong(from("198.51.100.1"));
    expect(() => wrong(from("198.51.100.1"))).toThrow(REFUSED);
    // Known by its network, by its browser on any network, and a stranger with the right password at once.
    many(9, () => wrong(from("192.0.2.1")));
    right(from("192.0.2.1"));
    many(9, () => wrong(from("198.51.100.1", device)));
    right(from("198.51.100.1", device));
    right(from("198.51.100.2"));
    wrong(from("198.51.100.2"));
    // Attempts on another account are counted separately, and expire.
    many(10, () => wrong(place(0), "bob@example.org"));
    pass(15 * 60_000 + 1);
    many(10, () => wrong(from("198.51.100.1")));
  });

  test("as a known browser is limited to its own account, and cannot be forged", () => {
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
  }, 60_000);

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

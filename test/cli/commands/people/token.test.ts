/** Tokens from the command line. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestServer, type TestServer } from "../../../support/harness.ts";
import { createCliEnvironment } from "../../program.ts";
import { startSession } from "../../session.ts";

const DAY_MS = 86_400_000;
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

test("tokens are listed with a badge for those that expire within 30 days, and deleted by prefix", async () => {
  using place = createCliEnvironment();
  const { token } = await server.user("ann");
  const svc = (...args: string[]) => place.svc([...args, "--url", server.url, "--token", token]);
  const create = async (label: string, days?: number) => {
    const expires = days === undefined ? [] : ["--expires-in", `${Math.round(days * 24)}h`];
    return (await svc("token", "create", "--label", label, ...expires)).out.trim();
  };
  const soon = await create("soon", 29.5);
  await create("tomorrow", 1.5);
  await create("today", 0.5);
  await create("far", 31);
  await create("ephemeral-script", 31);
  const badges = async (...more: string[]) => {
    const { out } = await svc("token", "list", ...more);
    const rows = out.split("\n").filter(Boolean);
    return Object.fromEntries(rows.map((row) => row.split("\t")).map((cells) => [cells[1], cells[4]]));
  };
  expect(await badges()).toEqual({
    "": "",
    soon: "expires in 29 days",
    tomorrow: "expires in 1 day",
    today: "expires within a day",
    far: "",
    "ephemeral-script": "",
  });
  expect(await badges("--exclude-ephemeral")).not.toHaveProperty("ephemeral-script");

  // Tokens that end by the maximum lifetime count as well.
  const cap = (seconds: number | null) =>
    server.operator("POST", "/settings/global/max_token_lifetime_secs", { value: seconds });
  await cap((20 * DAY_MS) / 1000);
  expect(await badges()).toMatchObject({ "": "expires in 19 days", far: "expires in 19 days" });
  await cap(null);

  const gone = await svc("token", "delete", soon.slice(0, 10));
  expect([gone.code, gone.out, gone.err]).toEqual([0, "", "deleted 1 tokens\n"]);
  expect((await server.as(soon)("GET", "/users/whoami")).status).toBe(401);
  expect(await badges()).not.toHaveProperty("soon");
  const again = await svc("token", "delete", soon.slice(0, 10));
  expect([again.code, again.err]).toEqual([1, expect.stringContaining("error: ")]);
  const short = await svc("token", "delete", "abc");
  expect([short.code, short.err]).toEqual([1, expect.stringContaining("too short")]);
}, 60_000);

test("only a super admin lists and deletes other users' tokens", async () => {
  using place = createCliEnvironment();
  const [zoe, root] = [await server.user("zoe"), await server.user("root", { super_admin: true })];
  const svc = (token: string, ...args: string[]) =>
    place.svc(["token", ...args, "--email", "zoe@example.org", "--url", server.url, "--token", token]);
  const { token: other } = await server.user("other");
  expect(await svc(other, "list")).toMatchObject({ code: 1, err: expect.stringContaining("super admins") });
  expect(await svc(zoe.token, "list")).toMatchObject({ code: 0 });
  expect((await svc(root.token, "list")).out).toContain(zoe.token.slice(0, 10));
  expect(await svc(other, "delete", zoe.token.slice(0, 10))).toMatchObject({ code: 1 });
  expect(await svc(root.token, "delete", zoe.token.slice(0, 10))).toMatchObject({ code: 0 });
  expect((await server.as(zoe.token)("GET", "/users/whoami")).status).toBe(401);
}, 60_000);

test("at 80 columns the list shows prefix, times and badge completely", async () => {
  using place = createCliEnvironment();
  const { token } = await server.user("bea");
  const svc = ["--url", server.url, "--token", token];
  await place.svc(["token", "create", "--label", "x".repeat(60), "--expires-in", "49h", ...svc]);
  using session = startSession(place, ["token", "list", ...svc]);
  const { shown } = await session.ended();
  const lines = shown.split("\n").map((line) => line.trimEnd());
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(lines.find((line) => line.includes("xx"))).toMatch(
    /^\w{10} +x+… +\d{4}-\d\d-\d\d \d\d:\d\dZ +\d{4}-\d\d-\d\d \d\d:\d\dZ +expires in 2 days$/,
  );
});

test("the local admin of a data directory has no tokens", async () => {
  using place = createCliEnvironment();
  const told = await place.svc(["token", "delete", "0123456789"]);
  expect([told.code, told.err]).toEqual([2, expect.stringContaining("--email is missing")]);
});

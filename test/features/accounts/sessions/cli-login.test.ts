/** Logging in a command line through a browser, as `wmill workspace add` does. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
  const { ask } = await server.user("admin", { super_admin: true });
  await expectOk(
    ask("POST", "/users/create", { email: "ann@example.org", password: "correct-horse", super_admin: false }),
  );
});
afterAll(() => server.stop());

const FORM = { "content-type": "application/x-www-form-urlencoded" };
const page = (path: string, headers: Record<string, string> = {}, body?: string) =>
  fetch(server.url + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { ...(body === undefined ? {} : FORM), ...headers },
    redirect: "manual",
    ...(body === undefined ? {} : { body }),
  });
const whoami = async (token: string) =>
  (await server.as(token)("GET", "/users/whoami")).json<{ email: string }>().email;
const LOGIN = "email=ann%40example.org&password=correct-horse";

async function tokenOf(answer: Response): Promise<string> {
  expect(answer.status).toBe(302);
  const target = new URL(answer.headers.get("location")!);
  expect(target.origin + target.pathname).toBe("http://localhost:5432/");
  return target.searchParams.get("token")!;
}

test("the page asks for a password and sends a token to the command line's port", async () => {
  const form = await page("/user/cli?port=5432");
  expect(form.status).toBe(200);
  expect(form.headers.get("content-security-policy")).toContain("form-action 'self' http://localhost:5432;");
  expect(await form.text()).toContain('<form method="post" action="/user/cli?port=5432">');
  const answer = await page("/user/cli?port=5432", {}, LOGIN);
  const token = await tokenOf(answer);
  expect(await whoami(token)).toBe("ann@example.org");
  const [listed] = (await server.as(token)("GET", "/users/tokens/list"))
    .json<{ token_prefix: string; label: string; expiration: string }[]>()
    .filter(({ token_prefix }) => token.startsWith(token_prefix));
  expect(listed?.label).toBe("command line");
  const days = (Date.parse(listed!.expiration) - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(30);
  expect((await page("/user/cli-success")).status).toBe(200);
});

test("a logged-in browser needs no password, unless another site sent the form", async () => {
  const login = await page(
    "/api/auth/login",
    { "content-type": "application/json" },
    JSON.stringify({ email: "ann@example.org", password: "correct-horse" }),
  );
  const cookie = `token=${await login.text()}`;
  const shown = await (await page("/user/cli?port=5432", { cookie })).text();
  expect(shown).toContain("<b>ann@example.org</b>");
  expect(shown).not.toContain('type="password"');
  const own = { cookie, "sec-fetch-site": "same-origin" };
  expect(await whoami(await tokenOf(await page("/user/cli?port=5432", own, "")))).toBe("ann@example.org");
  const elsewhere = await page("/user/cli?port=5432", { cookie, "sec-fetch-site": "cross-site" }, "");
  expect(elsewhere.status).toBeGreaterThanOrEqual(400);
  expect(elsewhere.headers.get("location")).toBeNull();
});

test("another site cannot log a browser in with an account of its own", async () => {
  const elsewhere: Record<string, string>[] = [
    { "sec-fetch-site": "cross-site" },
    { origin: "https://evil.example" },
    { origin: "null" },
  ];
  for (const from of elsewhere) {
    const answer = await page("/user/cli?port=5432", from, LOGIN);
    expect([answer.status, answer.headers.getSetCookie(), answer.headers.get("location")]).toEqual([
      403,
      [],
      null,
    ]);
  }
  // Without a policy that keeps the origin, browsers would send this server's own form with `Origin: null`.
  expect((await page("/user/cli?port=5432")).headers.get("referrer-policy")).toBe("same-origin");
  await tokenOf(await page("/user/cli?port=5432", { origin: server.url }, LOGIN));
});

test("no token is created for a wrong password, a restricted token or an invalid port", async () => {
  const wrong = await page("/user/cli?port=5432", {}, "email=ann%40example.org&password=wrong");
  expect(wrong.status).toBe(400);
  expect(await wrong.text()).toContain("Invalid login");
  const unstorable = await page("/user/cli?port=5432", {}, "email=%00&password=x");
  expect([unstorable.status, await unstorable.text()]).toEqual([400, expect.stringContaining("NUL")]);
  const session = await tokenOf(await page("/user/cli?port=5432", {}, LOGIN));
  const scoped = await expectOk(
    server.as(session)("POST", "/users/tokens/create", { scopes: ["users:read"] }),
  );
  const cookie = `token=${scoped.text}`;
  const refused = await page("/user/cli?port=5432", { cookie, "sec-fetch-site": "same-origin" }, "");
  expect([refused.status, refused.headers.get("location")]).toEqual([400, null]);
  for (const port of ["", "0", "65536", "80@evil.example", "x"]) {
    const answer = await page(`/user/cli?port=${encodeURIComponent(port)}`, {}, LOGIN);
    expect([port, answer.status, answer.headers.get("location")]).toEqual([port, 400, null]);
  }
});

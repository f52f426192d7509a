/** Settings of the instance about who may log in, and the names of new users. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";
import { Browser, startOAuthTest } from "../../../support/peers/identity-provider.ts";

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const set = (key: string, value: unknown) =>
  expectOk(server.operator("POST", `/settings/global/${key}`, { value }));
const newUser = (email: string, more: object = {}) =>
  expectOk(
    server.operator("POST", "/users/create", { email, password: "pw-of-them", super_admin: false, ...more }),
  );
const login = (email: string, password = "pw-of-them") =>
  server.as(undefined)("POST", "/auth/login", { email, password });

test("disable_password_login refuses password logins at once, until it is unset", async () => {
  await newUser("ann@example.org");
  const { token } = await server.user("bob");
  await expectOk(login("ann@example.org"));
  await set("disable_password_login", true);
  // Right and wrong passwords get the same response.
  for (const password of ["pw-of-them", "wrong"]) {
    const refused = await login("ann@example.org", password);
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("disable_password_login")]);
  }
  expect((await server.as(token)("GET", "/users/whoami")).status).toBe(200);
  await set("disable_password_login", null);
  await expectOk(login("ann@example.org"));
});

test("automate_username_creation gives new users a unique name from their address in all workspaces", async () => {
  const nameOf = async (email: string) =>
    (await expectOk(server.operator("GET", `/users/username_info/${email}`))).json().username;
  await set("automate_username_creation", true);
  await newUser("carla@one.example.org");
  await newUser("carla@two.example.org");
  await newUser("dora@example.org", { username: "dodo" });
  expect(await nameOf("carla@one.example.org")).toBe("carla");
  expect(await nameOf("carla@two.example.org")).toBe("carla2");
  expect(await nameOf("dora@example.org")).toBe("dodo");
  const admin = await server.workspace("named");
  const body = { email: "carla@two.example.org", is_admin: false, operator: false };
  await expectOk(server.operator("POST", "/w/named/workspaces/add_user", body));
  const people = (await expectOk(admin.ask("GET", "/w/named/users/list"))).json();
  expect(people.find(({ email }: { email: string }) => email === body.email).username).toBe("carla2");
  await set("automate_username_creation", null);
});

test("a client without a secret uses PKCE", async () => {
  await using t = await startOAuthTest();
  const { secret: _, ...id } = t.client;
  for (const client of [
    { ...id, id: "public" },
    { ...id, id: "public", secret: "" },
  ]) {
    await t.clients({ house: client });
    const browser = new Browser();
    const back = await browser.walk(`${t.server.url}/api/oauth/login/house`, `${t.server.url}/user/`, "ann");
    const [code, state] = ["code", "state"].map((name) => back.searchParams.get(name));
    const answer = await browser.fetch(`${t.server.url}/api/oauth/login_callback/house`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code, state }),
    });
    const token = await answer.text();
    expect([answer.status, token]).toEqual([200, expect.stringMatching(/^\w+$/)]);
    const asked = t.idp.asked.at(-1)!;
    expect(asked.body.get("client_id")).toBe("public");
    expect(asked.body.has("code_verifier")).toBe(true);
    expect(asked.body.has("client_secret")).toBe(false);
  }
});

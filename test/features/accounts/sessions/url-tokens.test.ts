/** Any site can send a browser to a URL with a token of its own: the browser's session must not be replaced by it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
/** Sessions of a user, and of somebody who makes links. */
let own: string;
let foreign: string;

const EVE = { email: "eve@example.org", password: "eve-password" };

beforeAll(async () => {
  server = await startTestServer();
  ({ token: own } = await server.user("ann"));
  ({ token: foreign } = await server.user("eve"));
});
afterAll(() => server.stop());

const send = (method: string, path: string, body: unknown, headers: Record<string, string>) =>
  fetch(server.url + path, {
    method,
    headers,
    redirect: "manual",
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });

const CALLS: [method: string, path: string, body: unknown][] = [
  ["GET", "/api/users/refresh_token", undefined],
  ["POST", "/api/users/setpassword", { password: EVE.password }],
  ["POST", "/api/auth/login", EVE],
  ["POST", "/user/cli?port=5432", new URLSearchParams(EVE).toString()],
  ["POST", "/api/auth/logout", undefined],
  ["GET", "/api/auth/logout", undefined],
];

test.each(CALLS)(
  "%s %s with a token in the URL leaves the browser's session alone",
  async (method, path, body) => {
    for (const from of [{ "sec-fetch-site": "cross-site" }, { origin: "https://evil.example" }] as Record<
      string,
      string
    >[]) {
      const { text: token } = await server.as(foreign)("GET", "/users/refresh_token");
      const url = `${path}${path.includes("?") ? "&" : "?"}token=${token}`;
      for (const cookie of [`token=${own}`, ""]) {
        const { headers } = await send(method, url, body, { ...from, ...(cookie && { cookie }) });
        expect([headers.getSetCookie(), headers.get("location")]).toEqual([[], null]);
      }
    }
    expect((await server.as(own)("GET", "/users/whoami")).status).toBe(200);
  },
);

test("the token of the browser itself may be in the URL", async () => {
  const { text: token } = await server.as(foreign)("GET", "/users/refresh_token");
  const { headers } = await send("GET", `/api/auth/logout?token=${token}`, undefined, {
    cookie: `token=${token}`,
  });
  expect(headers.getSetCookie()).toEqual([expect.stringContaining("token=;")]);
  expect((await server.as(token)("GET", "/users/whoami")).status).toBe(401);
});

/** What a client asks of an instance before anything else. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestServer, type TestServer } from "../harness.ts";

let server: TestServer;
let token: string;

beforeAll(async () => {
  server = await startTestServer();
  ({ token } = await server.user("ann"));
});
afterAll(() => server.stop());

const TEXT = "text/plain; charset=utf-8";

test.each([
  ["/version", "CE v1.423.2"],
  ["/uptodate", "yes"],
  ["/ee_license", ""],
])("%s answers a text, to a browser's cookie as to a bearer token", async (path, says) => {
  const credentials: Record<string, string>[] = [
    { authorization: `Bearer ${token}` },
    { cookie: `token=${token}` },
  ];
  for (const headers of credentials) {
    const answer = await server.as(undefined)("GET", path, undefined, headers);
    expect([answer.status, answer.text]).toEqual([200, says]);
    expect(answer.headers.get("content-type")).toBe(TEXT);
  }
});

test("the version and the interface's description are for anybody, and say the same; the licence is not", async () => {
  const nobody = server.as(undefined);
  expect((await nobody("GET", "/version")).text).toBe("CE v1.423.2");
  const described = await nobody("GET", "/openapi.yaml");
  expect([described.status, described.headers.get("content-type")]).toEqual([
    200,
    expect.stringContaining("text/"),
  ]);
  expect(described.text).toContain("1.423.2");
  for (const path of ["/uptodate", "/ee_license"]) expect((await nobody("GET", path)).status).toBe(401);
});

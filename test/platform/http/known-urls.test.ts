/** A webhook whose URL was called before gets the same response as at the first call. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../support/harness.ts";

const PATH = "/w/acme/jobs/run_wait_result/p/u/admin/echo";

let server: TestServer;
let ask: Ask;
beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
  await deploy(ask, "acme", "u/admin/echo", "export const main = (name?: string) => ({ name });");
  await expectOk(ask("POST", PATH, { name: "first" }));
});
afterAll(() => server.stop());

test("each call has its own body and query", async () => {
  expect((await ask("POST", PATH, { name: "second" })).json()).toEqual({ name: "second" });
  const named = await ask("POST", `${PATH}?include_query=name&name=third`, {});
  expect(named.json()).toEqual({ name: "third" });
  expect((await ask("POST", `${PATH}?timeout=x`, {})).status).toBe(400);
});

test("each call needs its own credentials", async () => {
  const url = `${server.url}/api${PATH}`;
  expect((await fetch(url, { method: "POST", body: "{}" })).status).toBe(401);
  const { token } = await server.user("stranger");
  expect((await server.as(token)("POST", PATH, {})).status).toBe(401);
});

test("other methods are answered as before", async () => {
  const url = `${server.url}/api${PATH}`;
  expect((await fetch(url, { method: "OPTIONS" })).status).toBe(204);
  expect((await fetch(url, { method: "HEAD" })).status).toBe(200);
  expect((await fetch(url, { method: "DELETE" })).status).toBe(405);
  expect((await ask("GET", PATH)).status).toBe(200);
});

test("an operation that was removed is no longer run", async () => {
  await expectOk(ask("POST", "/w/acme/scripts/archive/p/u/admin/echo"));
  expect((await ask("POST", PATH, {})).status).not.toBe(200);
});

/** Routes are created at the first request to their noun: that request is answered as all later ones. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { getBasePath } from "../../../src/platform/http/operation.ts";
import { findNoun } from "../../../src/platform/http/unknown-routes.ts";
import { operations } from "../../../src/server/features.ts";
import { startTestServer, type TestServer } from "../../support/harness.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await server.workspace();
});
afterAll(() => server.stop());

test("no operation has a parameter in its noun", () => {
  const nouns = operations.map((op) => findNoun(getBasePath(op) + op.path));
  expect(nouns).toContain("api/w/jobs");
  expect(nouns.filter((noun) => noun.includes("{"))).toEqual([]);
});

// Each is the first request to its noun.
test.each([
  ["GET", "/api/w/acme/variables/get//u/ann/x", 401],
  ["POST", "/api/w/acme/schedules", 404],
  ["DELETE", "/api/w/acme/apps/list", 405],
  ["OPTIONS", "/api/w/acme/jobs/run/p/u/ann/x", 204],
  ["HEAD", "/api/w/acme/resources/list", 405],
  ["GET", "/api/w/acme/no_such_noun/x", 404],
  ["GET", "/api/w/acme/%66lows/list", 401],
  ["GET", "/api/w/acme/audit/list/", 401],
  ["GET", "/", 302],
  ["GET", "/.well-known/openid-configuration", 200],
  ["GET", "/api/version", 200],
])("%s %s answers %d, at first and again", async (method, path, status) => {
  for (let call = 0; call < 2; call++) {
    expect((await fetch(server.url + path, { method, redirect: "manual" })).status).toBe(status);
  }
});

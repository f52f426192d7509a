/** A missing required body changes nothing. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { getBasePath, requiresBody } from "../../../src/platform/http/operation.ts";
import { operations } from "../../../src/server/features.ts";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../support/harness.ts";

let server: TestServer;
let ask: Ask;
let root: string;
beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
  ({ token: root } = await server.user("root", { super_admin: true }));
});
afterAll(() => server.stop());

const needing = operations.filter(requiresBody);

test("every operation with a required body reports its absence", async () => {
  expect(needing.length).toBeGreaterThan(100);
  const passed: string[] = [];
  for (const op of needing) {
    const path = op.path.replace("{workspace}", "acme").replace(/\{\w+\}/g, "x");
    for (const body of ["", " \n"]) {
      const { status, text } = await server.as(root)(op.method, path, body);
      const isRefused = status === 400 && text.includes("the body is missing");
      // Some are rejected earlier, for instance if they need a license.
      if (!isRefused && status < 400)
        passed.push(`${op.method} ${getBasePath(op)}${path}: ${status} ${text.slice(0, 60)}`);
    }
  }
  expect(passed).toEqual([]);
});

test("an empty call creates no token and clears no setting", async () => {
  const webhook = "https://example.org/hook";
  await expectOk(ask("POST", "/w/acme/workspaces/edit_webhook", { webhook }));
  const tokens = async () => (await ask("GET", "/users/tokens/list")).json().length;
  const before = await tokens();
  for (const path of ["/users/tokens/create", "/w/acme/workspaces/edit_webhook"]) {
    const answer = await ask("POST", path);
    expect([path, answer.status, answer.text]).toEqual([path, 400, expect.stringContaining("missing")]);
  }
  expect(await tokens()).toBe(before);
  expect((await ask("GET", "/w/acme/workspaces/get_settings")).json().webhook).toBe(webhook);
  // An explicit request is executed.
  await expectOk(ask("POST", "/w/acme/workspaces/edit_webhook", {}));
  expect((await ask("GET", "/w/acme/workspaces/get_settings")).json().webhook).toBeFalsy();
});

test("the description says which bodies are required", async () => {
  const { parse } = await import("yaml");
  const { paths } = parse((await ask("GET", "/openapi.yaml")).text);
  expect(paths["/users/tokens/create"].post.requestBody.required).toBe(true);
  expect(paths["/w/{workspace}/jobs_u/queue/cancel/{id}"].post.requestBody.required).toBe(false);
});

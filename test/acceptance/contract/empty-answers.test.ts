/** Requests of clients for features that do not exist here get empty results. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../support/harness.ts";

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
});
afterAll(() => server.stop());

test.each([
  ["/scripts/hub/top", { asks: [] }],
  ["/embeddings/query_hub_scripts?text=mail", []],
  ["/w/acme/embeddings/query_resource_types?text=mail", []],
  ["/flows/hub/list", { flows: [] }],
  ["/apps/hub/list", { apps: [] }],
  ["/integrations/hub/list", []],
  ["/configs/list_autoscaling_events/default", []],
  ["/service_logs/list_files", []],
])("%s is empty", async (path, nothing) => {
  expect(
    (await expectOk((path.startsWith("/service_logs") ? server.operator : ask)("GET", path))).json(),
  ).toEqual(nothing);
});

test.each([
  "/scripts/hub/get/hub/1/mail",
  "/scripts/hub/get_full/hub/1/mail",
  "/flows/hub/get/1",
  "/apps/hub/get/1",
])("%s is missing", async (path) => {
  const answer = await ask("GET", path);
  expect([answer.status, answer.headers.get("svc-error")]).toEqual([404, "NotFound"]);
});

test.each([
  ["admin", true],
  ["nobody", false],
])("a workspace returns whether %s is a name in it: %p", async (username, taken) => {
  expect((await expectOk(ask("POST", "/w/acme/users/exists", { username }))).json()).toBe(taken);
});

test("the newest version of an app is returned", async () => {
  const policy = { execution_mode: "viewer" };
  const app = { path: "u/admin/app", summary: "", value: {}, policy, deployment_message: "first" };
  await expectOk(ask("POST", "/w/acme/apps/create", app));
  const [newest] = (await expectOk(ask("GET", "/w/acme/apps/history/p/u/admin/app"))).json();
  expect((await expectOk(ask("GET", "/w/acme/apps/get_latest_version/u/admin/app"))).json()).toEqual(newest);
  expect((await ask("GET", "/w/acme/apps/get_latest_version/u/admin/none")).status).toBe(404);
});

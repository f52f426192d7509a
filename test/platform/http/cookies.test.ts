/** Limits of the session cookie for requests from links on other sites. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { operations } from "../../../src/server/features.ts";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../support/harness.ts";

let server: TestServer;
let ask: Ask;
let token: string;
let nobody: Ask;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask, token } = await server.workspace());
  nobody = server.as(undefined);
  await deploy(ask, "acme", "u/admin/told", "export const main = (args: object) => args", {});
});
afterAll(() => server.stop());

const cookie = () => ({ cookie: `token=${token}` });
/** Number of runs of the workspace, by any call. */
const runs = async () => (await ask("GET", "/w/acme/jobs/list")).json().length;

/** Read operations that write an audit row. */
const READS = new Set([
  "settings.read_secret",
  "users.export",
  "workspaces.get_encryption_key",
  "variables.decrypt_secret",
  // It changes the caller's own session, and reveals nothing to others.
  "users.token.refresh",
  // The provider redirects the browser here; the login's own cookie proves that it was requested.
  "oauth.login",
]);

test("every GET operation with effects declares how it treats the cookie", () => {
  const doing = operations.filter(
    ({ method, audit }) => method === "GET" && audit && !READS.has(audit.operation),
  );
  expect(doing.length).toBeGreaterThan(10);
  expect(doing.filter((op) => (op.cookie ?? "counts") === "counts").map(({ name }) => name)).toEqual([]);
});

describe("a link opened by a logged-in user", () => {
  // Over plain HTTP, browsers do not report the site of origin.
  test.each([
    "/w/acme/jobs/run_wait_result/p/u/admin/told",
    "/w/acme/jobs/run_wait_result/f/u/admin/told",
    "/w/acme/jobs/run_and_stream/p/u/admin/told",
    "/w/acme/job_helpers/move_s3_file?src_file_key=a&dest_file_key=b",
    "/auth/logout",
  ])("%s does nothing", async (path) => {
    const before = await runs();
    const from: Record<string, string>[] = [
      {},
      { "sec-fetch-site": "none" },
      { "sec-fetch-site": "same-origin" },
    ];
    for (const headers of from) {
      const answer = await nobody("GET", path, undefined, { ...cookie(), ...headers });
      expect([answer.status, answer.text, answer.headers.get("set-cookie")]).toEqual([
        401,
        expect.stringContaining("GET request"),
        null,
      ]);
    }
    expect(await runs()).toBe(before);
    expect((await nobody("GET", "/users/whoami", undefined, cookie())).status).toBe(200);
  });

  test("a token in the URL or the header is still accepted", async () => {
    const path = "/w/acme/jobs/run_wait_result/p/u/admin/told";
    const stale = { cookie: "token=long-gone" };
    expect((await nobody("GET", `${path}?token=${token}`, undefined, stale)).status).toBe(200);
    expect((await server.as(token)("GET", path, undefined, stale)).status).toBe(200);
  });

  test("a route that requires a token does not start a script for a cookie, nor is an approval given", async () => {
    const path = "u/admin/route";
    await expectOk(server.operator("POST", "/settings/global/root_route_workspaces", { value: ["acme"] }));
    const route = { path, route_path: "told", http_method: "get", authentication_method: "token" };
    const more = { script_path: "u/admin/told", is_flow: false, request_type: "sync", summary: "" };
    await expectOk(
      ask("POST", "/w/acme/http_triggers/create", { ...route, ...more, workspaced_route: false }),
    );
    for (const method of ["GET", "HEAD"]) {
      expect((await nobody(method, "/r/told", undefined, cookie())).status).toBe(401);
    }
    expect((await nobody("GET", `/r/told?token=${token}`, undefined, cookie())).status).toBe(200);

    const suspend = { required_events: 1, user_auth_required: true };
    const value = { modules: [{ id: "a", value: { type: "identity" }, suspend }] };
    const flow = (await expectOk(ask("POST", "/w/acme/jobs/run/preview_flow", { value }))).text;
    const job = await until(async () => {
      const { flow_status } = (await ask("GET", `/w/acme/jobs_u/get/${flow}`)).json();
      return flow_status?.approval_conditions ? flow_status.modules[0].job : undefined;
    }, "the flow's waiting");
    const urls = (await ask("GET", `/w/acme/jobs/resume_urls/${job}/1`)).json();
    for (const url of [urls.resume, urls.cancel]) {
      const below = url.slice(`${server.url}/api`.length);
      expect((await nobody("GET", below, undefined, cookie())).status).toBe(401);
    }
    expect((await ask("GET", `/w/acme/jobs_u/get/${flow}`)).json().type).toBe("QueuedJob");
    await expectOk(nobody("POST", urls.resume.slice(`${server.url}/api`.length), {}, cookie()));
  });
});

describe("credentials are passed to no script", () => {
  const credentials = () => ({
    ...cookie(),
    authorization: `Bearer ${token}`,
    "proxy-authorization": "Basic c2VjcmV0",
    "x-kept": "kept",
  });
  const names = "Cookie,authorization,Proxy-Authorization,x-kept";

  test("by include_header and include_query, nor stored", async () => {
    const path = `/w/acme/jobs/run_wait_result/p/u/admin/given?include_header=${names}&include_query=token,a&a=1&token=${token}`;
    await deploy(
      ask,
      "acme",
      "u/admin/given",
      "export const main = (cookie: any, authorization: any, proxy_authorization: any, x_kept: any, token: any, a: any) => ({ cookie, authorization, proxy_authorization, x_kept, token, a })",
      {},
    );
    const answer = await nobody("POST", path, {}, credentials());
    expect(answer.json()).toEqual({ x_kept: "kept", a: "1" });
    const [{ id }] = (await ask("GET", "/w/acme/jobs/list?script_path_exact=u/admin/given")).json();
    const job = (await ask("GET", `/w/acme/jobs_u/get/${id}`)).json();
    expect(job.args).toEqual({ x_kept: "kept", a: "1" });
  });

  test("by INCLUDE_HEADERS, to a webhook or to a route with its own key", async () => {
    process.env.INCLUDE_HEADERS = `${names},x-api-key`;
    try {
      const value = { api_key_secret: "open-sesame" };
      await expectOk(ask("POST", "/w/acme/resources/type/create", { name: "key", schema: {} }));
      await expectOk(
        ask("POST", "/w/acme/resources/create", { path: "u/admin/key", resource_type: "key", value }),
      );
      const route = { path: "u/admin/keyed", route_path: "keyed", http_method: "post", summary: "" };
      await expectOk(server.operator("POST", "/settings/global/root_route_workspaces", { value: ["acme"] }));
      const secret = { authentication_method: "api_key", authentication_resource_path: "u/admin/key" };
      const more = { script_path: "u/admin/given", is_flow: false, request_type: "async" };
      await expectOk(
        ask("POST", "/w/acme/http_triggers/create", {
          ...route,
          ...secret,
          ...more,
          workspaced_route: false,
        }),
      );
      const { authorization: _, ...headers } = credentials();
      const id = (await expectOk(nobody("POST", "/r/keyed", {}, { ...headers, "X-Api-Key": "open-sesame" })))
        .text;
      expect((await ask("GET", `/w/acme/jobs_u/get/${id}`)).json().args).toEqual({ x_kept: "kept" });
      const webhook = (await expectOk(nobody("POST", "/w/acme/jobs/run/p/u/admin/given", {}, credentials())))
        .text;
      expect((await ask("GET", `/w/acme/jobs_u/get/${webhook}`)).json().args).toEqual({ x_kept: "kept" });
    } finally {
      delete process.env.INCLUDE_HEADERS;
    }
  });
});

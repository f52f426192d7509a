/** Retries of HTTP routes: the answer is that of the last attempt. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

const CALLS = `export const main = async (url: string, given: string) => {
  const response = await fetch(url);
  if (!response.ok) throw new Error("answered " + (await response.text()));
  return { attempts: Number(await response.text()), given };
};`;
const PREPROCESSED = `export const preprocessor = (event: any) => ({ method: event.method, got: event.body.got });
export const main = (method: string, got: string, missing = "default") => ({ method, got, missing });`;
const STATUS = `export const main = () => ({ wm_status_code: 418, wm_content_type: "text/html", result: "<p>hi" })`;
const retry = { constant: { attempts: 2, seconds: 0 } };

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
  await expectOk(server.operator("POST", "/settings/global/root_route_workspaces", { value: ["*"] }));
  const scripts = { calls: CALLS, event: PREPROCESSED, status: STATUS };
  for (const [name, content] of Object.entries(scripts))
    await deploy(ask, "acme", `u/admin/${name}`, content);
});
afterAll(() => server.stop());

let count = 0;
/** Creates a route and returns a function that calls it. */
async function createRoute(script: string, more: object = {}) {
  const route_path = `retried${++count}`;
  const path = `u/admin/${route_path}`;
  const script_path = `u/admin/${script}`;
  const body = { path, route_path, http_method: "post", script_path, is_flow: false, retry, ...more };
  await expectOk(ask("POST", "/w/acme/http_triggers/create", body));
  return (args: unknown) => server.as(undefined)("POST", `/r/${route_path}`, args);
}

/** A server that refuses the first two requests of each address. */
const upstream = Bun.serve({
  port: 0,
  fetch({ url }) {
    const asked = (counts.get(url) ?? 0) + 1;
    counts.set(url, asked);
    return new Response(String(asked), { status: asked > 2 ? 200 : 503 });
  },
});
const counts = new Map<string, number>();
afterAll(() => upstream.stop(true));

test("a synchronous route answers what the last attempt returned", async () => {
  const call = await createRoute("calls");
  const answer = await call({ url: `${upstream.url}sync`, given: "$var:u/admin/secret" });
  expect([answer.status, answer.json()]).toEqual([200, { attempts: 3, given: "$var:u/admin/secret" }]);
  const status = await (await createRoute("status"))({});
  expect([status.status, status.headers.get("content-type"), status.text]).toEqual([
    418,
    "text/html",
    "<p>hi",
  ]);
});

test("a route without retries, and one whose attempts all fail, answer 500 with the error", async () => {
  const once = await (await createRoute("calls", { retry: null }))({ url: `${upstream.url}once`, given: "" });
  expect([once.status, once.json().error.message]).toEqual([500, "answered 1"]);
  const call = await createRoute("calls", { retry: { constant: { attempts: 1, seconds: 0 } } });
  const twice = await call({ url: `${upstream.url}twice`, given: "" });
  expect([twice.status, twice.json().error.message]).toEqual([500, "answered 2"]);
});

test("an asynchronous route answers with the run that shows its attempts", async () => {
  const call = await createRoute("calls", { request_type: "async" });
  const answer = await call({ url: `${upstream.url}async`, given: "x" });
  expect(answer.status).toBe(201);
  const ended = await until(async () => {
    const { completed, result } = (
      await ask("GET", `/w/acme/jobs_u/completed/get_result_maybe/${answer.text}`)
    ).json();
    return completed ? result : undefined;
  }, "the end of the run");
  expect(ended).toEqual({ attempts: 3, given: "x" });
  expect((await ask("GET", `/w/acme/jobs/list?parent_job=${answer.text}`)).json()).toHaveLength(3);
});

test("a streaming route ends with the result of the last attempt", async () => {
  const call = await createRoute("calls", { request_type: "sync_sse" });
  const { text } = await call({ url: `${upstream.url}stream`, given: "x" });
  expect(text).toContain('"attempts":3');
});

test("a preprocessor gets the request once, and defaults apply to what it leaves out", async () => {
  const call = await createRoute("event");
  const answer = await call({ got: "body" });
  expect([answer.status, answer.json()]).toEqual([200, { method: "post", got: "body", missing: "default" }]);
});

test("a script of which nothing is stored is not retried", async () => {
  await deploy(ask, "acme", "u/admin/traceless", CALLS, { delete_after_use: true });
  const answer = await (await createRoute("traceless"))({ url: `${upstream.url}traceless`, given: "" });
  expect([answer.status, answer.json().error.message]).toEqual([500, "answered 1"]);
});

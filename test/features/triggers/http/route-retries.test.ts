/** Retries of HTTP routes: the response is that of the last attempt. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { handlerCalls } from "../../../../src/features/triggers/handlers/tables.ts";
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
const PYTHON = `def preprocessor(event):
    return {**event["body"], "more": 1}

def main(got: str, missing: str = "default", **others):
    return [got, missing, others]
`;
const WHOLE = `export const preprocessor = (event: any) => ({ ...event.body, more: 1 });
export const main = ({ got, missing = "default", more }: any) => ({ got, missing, more });`;
const STATUS = `export const main = () => ({ wm_status_code: 418, wm_content_type: "text/html", result: "<p>hi" })`;
const retry = { constant: { attempts: 2, seconds: 0 } };

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
  await expectOk(server.operator("POST", "/settings/global/root_route_workspaces", { value: ["*"] }));
  const scripts = { calls: CALLS, event: PREPROCESSED, whole: WHOLE, status: STATUS };
  for (const [name, content] of Object.entries(scripts))
    await deploy(ask, "acme", `u/admin/${name}`, content);
  await deploy(ask, "acme", "u/admin/python", PYTHON, { language: "python3" });
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

/** A server that rejects the first two requests of each address. */
const upstream = Bun.serve({
  port: 0,
  async fetch({ url }) {
    const asked = (counts.get(url) ?? 0) + 1;
    counts.set(url, asked);
    await held.get(new URL(url).pathname);
    return new Response(String(asked), { status: asked > 2 ? 200 : 503 });
  },
});
const counts = new Map<string, number>();
/** Promises that hold requests, by path. */
const held = new Map<string, Promise<void>>();
afterAll(() => upstream.stop(true));

test("a synchronous route returns the response of the last attempt", async () => {
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

test("a route without retries, and one whose attempts all fail, responds with 500 and the error", async () => {
  const once = await (await createRoute("calls", { retry: null }))({ url: `${upstream.url}once`, given: "" });
  expect([once.status, once.json().error.message]).toEqual([500, "answered 1"]);
  const call = await createRoute("calls", { retry: { constant: { attempts: 1, seconds: 0 } } });
  const twice = await call({ url: `${upstream.url}twice`, given: "" });
  expect([twice.status, twice.json().error.message]).toEqual([500, "answered 2"]);
});

const endOf = (id: string) =>
  until(async () => {
    const job = (await expectOk(ask("GET", `/w/acme/jobs_u/get/${id}`))).json();
    return job.type === "CompletedJob" ? job : undefined;
  }, "the end of the run");

describe("an asynchronous route", () => {
  let id: string;

  test("returns the run that shows its attempts", async () => {
    const call = await createRoute("calls", { request_type: "async" });
    const answer = await call({ url: `${upstream.url}async`, given: "x" });
    expect(answer.status).toBe(201);
    id = answer.text;
    expect((await endOf(id)).result).toEqual({ attempts: 3, given: "x" });
    expect((await ask("GET", `/w/acme/jobs/list?parent_job=${id}`)).json()).toHaveLength(3);
  });

  test("creates a run of its script, not a preview of a flow", async () => {
    const run = { job_kind: "singlestepflow", script_path: "u/admin/calls", trigger_kind: "http" };
    expect(await endOf(id)).toMatchObject(run);
    const again = await expectOk(ask("POST", "/w/acme/jobs/run/batch_rerun_jobs", { job_ids: [id] }));
    expect(await endOf(again.text.trim())).toMatchObject({ job_kind: "script", result: { given: "x" } });
    const restarted = await ask("POST", `/w/acme/jobs/restart/f/${id}`, { step_id: "a" });
    expect([restarted.status, restarted.text]).toEqual([
      400,
      expect.stringContaining("is a run of a script, which has no steps"),
    ]);
  });

  test("creates a run of one version: all its attempts, and a rerun, use the version of the first", async () => {
    const code = (version: number) => `export const main = async (url: string) => {
        const response = await fetch(url);
        if (!response.ok) throw new Error("not yet");
        return ${version};
      };`;
    const first = await deploy(ask, "acme", "u/admin/changing", code(1));
    const retry = { constant: { attempts: 2, seconds: 0 } };
    const call = await createRoute("changing", { request_type: "async", retry });
    const release = Promise.withResolvers<void>();
    held.set("/changing", release.promise);
    const { text } = await call({ url: `${upstream.url}changing` });
    await until(async () => counts.get(`${upstream.url}changing`), "the first attempt");
    await deploy(ask, "acme", "u/admin/changing", code(2));
    release.resolve();
    expect(await endOf(text)).toMatchObject({ script_hash: first, result: 1 });
    const groups = await expectOk(ask("POST", "/w/acme/jobs/list_selected_job_groups", [text]));
    const group = { kind: "script", script_path: "u/admin/changing" };
    expect(groups.json()).toMatchObject([{ ...group, schemas: [{ script_hash: first, job_ids: [text] }] }]);
    const rerun = async (use_latest_version: boolean) => {
      const script_options_by_path = { "u/admin/changing": { use_latest_version } };
      const body = { job_ids: [text], script_options_by_path };
      const again = await expectOk(ask("POST", "/w/acme/jobs/run/batch_rerun_jobs", body));
      return (await endOf(again.text.trim())).result;
    };
    expect([await rerun(false), await rerun(true)]).toEqual([1, 2]);
  });

  test("creates a run that is canceled together with the others of its script", async () => {
    await deploy(ask, "acme", "u/admin/fails", "export const main = () => { throw new Error('never') }");
    const retry = { constant: { attempts: 1, seconds: 3_600 } };
    const call = await createRoute("fails", { request_type: "async", retry });
    const { text } = await call({});
    await until(async () => {
      const { flow_status } = (await ask("GET", `/w/acme/jobs_u/get/${text}`)).json();
      return flow_status?.retry.fail_count === 1 || undefined;
    }, "the first attempt");
    await expectOk(ask("POST", "/w/acme/jobs_u/queue/cancel_persistent/u/admin/fails", {}));
    expect(await endOf(text)).toMatchObject({ canceled: true });
  });

  test("whose attempts all fail calls the workspace's error handler once", async () => {
    await deploy(ask, "acme", "u/admin/handler", "export const main = () => null");
    const handler = { error_handler: "script/u/admin/handler", error_handler_extra_args: {} };
    await expectOk(ask("POST", "/w/acme/workspaces/edit_error_handler", handler));
    const retry = { constant: { attempts: 1, seconds: 0 } };
    const call = await createRoute("calls", { request_type: "async", retry });
    const { text } = await call({ url: `${upstream.url}handled`, given: "" });
    expect((await endOf(text)).result.error.message).toBe("answered 2");
    const { db } = server.server.app;
    const isHandled = async () => (await db.read.select().from(handlerCalls)).length === 0;
    await until(async () => (await isHandled()) || undefined, "the handler's start");
    const heard = (await expectOk(ask("GET", "/w/acme/jobs/list?created_by=error_handler"))).json();
    expect(heard).toMatchObject([{ script_path: "u/admin/handler", parent_job: text }]);
    await expectOk(ask("POST", "/w/acme/workspaces/edit_error_handler", {}));
  });
});

test("a streaming route ends with the result of the last attempt", async () => {
  const call = await createRoute("calls", { request_type: "sync_sse" });
  const { text } = await call({ url: `${upstream.url}stream`, given: "x" });
  expect(text).toContain('"attempts":3');
});

test("a preprocessor gets the request once, and defaults apply to arguments that it leaves out", async () => {
  const call = await createRoute("event");
  const answer = await call({ got: "body" });
  expect([answer.status, answer.json()]).toEqual([200, { method: "post", got: "body", missing: "default" }]);
});

test.each(["whole", "python"])("all that the preprocessor returns is passed to main: %s", async (script) => {
  const plain = await (await createRoute(script, { retry: null }))({ got: "body" });
  const tried = await (await createRoute(script))({ got: "body" });
  expect([tried.status, tried.json()]).toEqual([200, plain.json()]);
  expect(plain.json()).toEqual(
    script === "python" ? ["body", "default", { more: 1 }] : { got: "body", missing: "default", more: 1 },
  );
});

test("a step of another flow gets its own inputs, whatever it declares about a flow's input", async () => {
  const inputs = {
    url: { type: "static", value: `${upstream.url}step` },
    given: { type: "static", value: "own" },
  };
  const step = { type: "script", path: "u/admin/calls", input_transforms: inputs, takes_flow_input: true };
  const value = { modules: [{ id: "a", value: step, retry }] };
  const args = { url: `${upstream.url}step`, given: "the flow's" };
  const answer = await expectOk(ask("POST", "/w/acme/jobs/run_wait_result/preview_flow", { value, args }));
  expect(answer.json()).toMatchObject({ given: "own" });
});

test("a script whose arguments and results are not stored is not retried", async () => {
  await deploy(ask, "acme", "u/admin/traceless", CALLS, { delete_after_use: true });
  const answer = await (await createRoute("traceless"))({ url: `${upstream.url}traceless`, given: "" });
  expect([answer.status, answer.json().error.message]).toEqual([500, "answered 1"]);
});

/** Synchronous calls of flows that are answered before the flow has ended. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Ask, expectOk, startTestServer, type TestServer, until } from "../../../support/harness.ts";

let server: TestServer;
let ask: Ask;
let token: string;

beforeAll(async () => {
  server = await startTestServer({ workers: 4 });
  ({ ask, token } = await server.workspace());
});
afterAll(() => server.stop());

const jobs = "/w/acme/jobs";

const script = (id: string, content: string, more: object = {}) => ({
  id,
  value: { type: "rawscript", language: "bun", content, input_transforms: {} },
  ...more,
});
const first = script("a", "export const main = () => ({ first: true })");
/** Blocks the flow until it is approved. */
const gate = script("gate", "export const main = () => 'open'", { suspend: {} });
const last = script("z", "export const main = () => 'last'");

async function push(path: string, modules: object[], more: object = { early_return: "a" }): Promise<string> {
  const body = { path, summary: "", value: { modules, ...more } };
  await expectOk(ask("POST", "/w/acme/flows/create", body));
  return path;
}
const running = async (path: string) =>
  (await ask("GET", `${jobs}/list?script_path_exact=${path}&job_kinds=flow`)).json();
async function approve(id: string): Promise<any> {
  await until(async () => {
    const answer = await ask("POST", `${jobs}/flow/resume/${id}`, {});
    return answer.status === 201 ? true : undefined;
  }, "the gate");
  return until(async () => {
    const answer = await ask("GET", `${jobs}_u/completed/get/${id}`);
    return answer.status === 200 ? answer.json() : undefined;
  }, "the flow's end");
}

test.each(["f", "p"])(
  "a call of %s/… is answered by the early step, and the flow continues",
  async (form) => {
    const path = await push(`u/admin/early_${form}`, [first, gate, last]);
    const answer = await expectOk(ask("POST", `${jobs}/run_wait_result/${form}/${path}`, {}));
    expect(answer.json()).toEqual({ first: true });
    const [job] = await running(path);
    expect(job.type).toBe("QueuedJob");
    expect(await approve(job.id)).toMatchObject({ success: true, canceled: false, result: "last" });
  },
);

test("the early step controls the response", async () => {
  const content = "export const main = () => ({ wm_status_code: 202, result: 'soon' })";
  const path = await push("u/admin/controlled", [script("a", content), gate, last]);
  const answer = await ask("POST", `${jobs}/run_wait_result/f/${path}`, {});
  expect([answer.status, answer.text]).toEqual([202, "soon"]);
  const [job] = await running(path);
  await approve(job.id);
});

test("a caller that disconnects after the response cancels nothing", async () => {
  const path = await push("u/admin/hang_up", [first, gate, last]);
  const caller = new AbortController();
  const answer = await fetch(`${server.url}/api${jobs}/run_wait_result/f/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    signal: caller.signal,
    keepalive: false,
  });
  expect(await answer.json()).toEqual({ first: true });
  caller.abort();
  const [job] = await running(path);
  // Waiting calls are polled several times a second: one that still waited would be found.
  for (let looks = 0; looks < 3; looks++) {
    await expectOk(ask("POST", `${jobs}/run_wait_result/f/${path}`, {}));
  }
  expect(await approve(job.id)).toMatchObject({ success: true, canceled: false });
});

test("a step that declares the flow failed controls the response, too", async () => {
  const content =
    "export const main = () => ({ wm_failure: 'no tea', wm_status_code: 418, result: 'short' })";
  const path = await push("u/admin/marked", [first, script("m", content), last], {});
  const answer = await ask("POST", `${jobs}/run_wait_result/f/${path}`, {});
  expect([answer.status, answer.text]).toEqual([418, "short"]);
  const [job] = await running(path);
  const { result, success } = (await ask("GET", `${jobs}_u/completed/get/${job.id}`)).json();
  expect(success).toBe(false);
  expect(result).toMatchObject({ wm_failure: "no tea", error: { message: "no tea", step_id: "m" } });
});

test("a flow that fails before its early step is answered with the failure", async () => {
  const failing = script("x", "export const main = () => { throw new Error('too early') }");
  const path = await push("u/admin/failing", [failing, first, last]);
  const { error } = (await ask("POST", `${jobs}/run_wait_result/f/${path}`, {})).json();
  expect(error).toMatchObject({ message: "too early", step_id: "x" });
  const stopping = script("a", "export const main = () => 'stopped'", { stop_after_if: { expr: "true" } });
  const stopped = await push("u/admin/stopped", [stopping, last]);
  expect((await ask("POST", `${jobs}/run_wait_result/f/${stopped}`, {})).json()).toBe("stopped");
});

test("a repeated call gets the response of the first one, while the flow runs and after", async () => {
  const path = await push("u/admin/repeated", [first, gate, last]);
  const call = async () =>
    (
      await expectOk(ask("POST", `${jobs}/run_wait_result/f/${path}`, {}, { "idempotency-key": "once" }))
    ).json();
  expect(await call()).toEqual({ first: true });
  expect(await call()).toEqual({ first: true });
  const started = await running(path);
  expect(started).toHaveLength(1);
  expect((await approve(started[0].id)).result).toBe("last");
  expect(await call()).toEqual({ first: true });
});

test("without an early step the call waits for the end", async () => {
  const path = await push("u/admin/whole", [first, last], {});
  expect((await ask("POST", `${jobs}/run_wait_result/f/${path}`, {})).json()).toBe("last");
});

test("an asynchronous run has the flow's own result", async () => {
  const path = await push("u/admin/asynchronous", [first, gate, last]);
  const id = (await expectOk(ask("POST", `${jobs}/run/f/${path}`, {}))).text;
  expect((await approve(id)).result).toBe("last");
});

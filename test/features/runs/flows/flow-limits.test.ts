/** Limits of a flow run: timeouts, cached results, and early return. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Ask, expectOk, startTestServer, type TestServer, until } from "../../../support/harness.ts";

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer({ workers: 4 });
  ({ ask } = await server.workspace());
});
afterAll(() => server.stop());

const jobs = "/w/acme/jobs";
const js = (expr: string) => ({ type: "javascript", expr });
const script = (id: string, content: string, more: object = {}, inputs: object = {}) => ({
  id,
  value: { type: "rawscript", language: "bun", content, input_transforms: inputs },
  ...more,
});
const calls = (id: string, path: string, more: object = {}, inputs: object = {}) => ({
  id,
  value: { type: "flow", path, input_transforms: inputs },
  ...more,
});

let count = 0;
async function push(modules: object[], more: object = {}, row: object = {}): Promise<string> {
  const path = `u/admin/limited_${++count}`;
  const body = { path, summary: "", value: { modules, ...more }, ...row };
  await expectOk(ask("POST", "/w/acme/flows/create", body));
  return path;
}
const run = async (path: string, args: object = {}, query = "") =>
  (await ask("POST", `${jobs}/run_wait_result/f/${path}${query}`, args)).json();

describe.concurrent("a flow's timeout", () => {
  const forever = script("long", "export const main = () => new Promise(() => setInterval(() => {}, 1000))");
  const gate = script("gate", "export const main = () => 'open'", { suspend: {} });
  const after = script("after", "export const main = () => 'after'");
  const timedOut = { error: { name: "ExecutionTimeout", message: expect.stringContaining("within 1 s") } };

  test.each([
    ["while a step runs", [forever, after], {}, { timeout: 1 }, ""],
    ["while it waits for an approval", [gate, after], {}, { timeout: 1 }, ""],
    ["while it sleeps", [{ ...after, sleep: { type: "static", value: 600 } }, after], {}, { timeout: 1 }, ""],
    [
      "in a loop",
      [
        {
          id: "loop",
          value: {
            type: "forloopflow",
            iterator: js("[1, 2]"),
            skip_failures: true,
            modules: [forever, after],
          },
        },
      ],
      {},
      { timeout: 1 },
      "",
    ],
    ["as a call asks for it", [forever], {}, { timeout: 500 }, "?timeout=1"],
  ])("ends it %s", async (_, modules, value, row, query) => {
    const named = modules.map((module, index) => ({ ...module, id: `s${index}` }));
    expect(await run(await push(named, value, row), {}, query)).toMatchObject(timedOut);
  });

  test("stops the jobs inside of it", async () => {
    const path = await push([forever], {}, { timeout: 1 });
    await run(path);
    const step = await until(async () => {
      const [job] = (await ask("GET", `${jobs}/list?script_path_exact=${path}/long`)).json();
      return job?.type === "CompletedJob" ? job : undefined;
    }, "the end of the step");
    expect(step).toMatchObject({ canceled: true, success: false });
  });

  test("of a called flow is a failure of that step", async () => {
    const inner = await push([forever], {}, { timeout: 1 });
    const outer = await push([calls("a", inner, { continue_on_error: true }), after]);
    expect(await run(outer)).toBe("after");
    const unlimited = await push([forever]);
    expect(await run(await push([calls("a", unlimited, { timeout: 1 })]))).toMatchObject({
      error: { name: "ExecutionTimeout", step_id: "a" },
    });
  });

  test("that is not reached changes nothing", async () => {
    expect(await run(await push([after], {}, { timeout: 60 }))).toBe("after");
  });
});

describe("a cached result", () => {
  const counter = (name: string) =>
    `import { appendFileSync, readFileSync } from "node:fs";
     export async function main(n: number) {
       const url = process.env.BASE_INTERNAL_URL + "/api/w/acme/resources/";
       const headers = { authorization: "Bearer " + process.env.WM_TOKEN };
       const before = await (await fetch(url + "get_value/u/admin/${name}", { headers })).json();
       await fetch(url + "update_value/u/admin/${name}", {
         method: "POST", headers, body: JSON.stringify({ value: { runs: before.runs + 1 } }),
       });
       return { n, run: before.runs + 1 };
     }`;
  async function counted(name: string): Promise<string> {
    const body = { path: `u/admin/${name}`, value: { runs: 0 }, resource_type: "any" };
    await expectOk(ask("POST", "/w/acme/resources/create?update_if_exists=true", body));
    return counter(name);
  }
  const n = { n: js("flow_input.n") };

  test("of an inline step is reused by later runs with the same input", async () => {
    const path = await push([script("a", await counted("step_runs"), { cache_ttl: 600 }, n)]);
    expect(await run(path, { n: 1 })).toEqual({ n: 1, run: 1 });
    expect(await run(path, { n: 1 })).toEqual({ n: 1, run: 1 });
    expect(await run(path, { n: 2 })).toEqual({ n: 2, run: 2 });
  });

  test("of a step with delete_after_use is not stored", async () => {
    const step = script("a", await counted("deleted_runs"), { cache_ttl: 600, delete_after_use: true }, n);
    const path = await push([step]);
    expect(await run(path, { n: 1 })).toMatchObject({ run: 1 });
    expect(await run(path, { n: 1 })).toMatchObject({ run: 2 });
  });

  test("of a flow is reused by later runs of the same version", async () => {
    const modules = [script("a", await counted("flow_runs"), {}, n)];
    const path = await push(modules, { cache_ttl: 600 });
    expect(await run(path, { n: 1 })).toEqual({ n: 1, run: 1 });
    expect(await run(path, { n: 1 })).toEqual({ n: 1, run: 1 });
    const [newest] = (await ask("GET", `${jobs}/list?script_path_exact=${path}&job_kinds=flow`)).json();
    expect(newest).toMatchObject({ type: "CompletedJob", success: true });
    const steps = (await ask("GET", `${jobs}/list?parent_job=${newest.id}&is_flow_step=true`)).json();
    expect(steps).toEqual([]);
    expect(await run(path, { n: 2 })).toEqual({ n: 2, run: 2 });
    const changed = { path, summary: "", value: { modules, cache_ttl: 600 } };
    await expectOk(ask("POST", `/w/acme/flows/update/${path}`, changed));
    expect(await run(path, { n: 1 })).toEqual({ n: 1, run: 3 });
  });

  test("of a called flow, by its own setting or the step's", async () => {
    const own = await push([script("a", await counted("own_runs"), {}, n)], { cache_ttl: 600 });
    const outer = await push([calls("x", own, {}, n)]);
    expect(await run(outer, { n: 1 })).toEqual({ n: 1, run: 1 });
    expect(await run(outer, { n: 1 })).toEqual({ n: 1, run: 1 });
    const plain = await push([script("a", await counted("wished_runs"), {}, n)]);
    const wishing = await push([calls("x", plain, { cache_ttl: 600 }, n)]);
    expect(await run(wishing, { n: 1 })).toEqual({ n: 1, run: 1 });
    expect(await run(wishing, { n: 1 })).toEqual({ n: 1, run: 1 });
    expect(await run(plain, { n: 1 })).toEqual({ n: 1, run: 2 });
  });

  test("is absent for a flow that failed", async () => {
    const content = `${await counted("failed_runs")}\nconst inner = main; export { fails as main };
      async function fails(n: number) { const { run } = await inner(n); throw new Error("run " + run); }`;
    const failing = content.replace("export async function main", "async function main");
    const path = await push([script("a", failing, {}, n)], { cache_ttl: 600 });
    expect(await run(path, { n: 1 })).toMatchObject({ error: { message: "run 1" } });
    expect(await run(path, { n: 1 })).toMatchObject({ error: { message: "run 2" } });
  });
});

describe("an early return inside of a branch", () => {
  const gate = script("gate", "export const main = () => 'open'", { suspend: {} });
  const early = script("early", "export const main = () => 'early'");
  const last = script("z", "export const main = () => 'last'");
  const branch = {
    id: "b",
    value: { type: "branchone", branches: [{ expr: "flow_input.yes", modules: [early, gate] }], default: [] },
  };

  test("answers the call if the branch is taken, and later calls that wait", async () => {
    const path = await push([branch, last], { early_return: "early" });
    const headers = { "idempotency-key": "in a branch" };
    const call = async () =>
      (await expectOk(ask("POST", `${jobs}/run_wait_result/f/${path}`, { yes: true }, headers))).json();
    expect(await call()).toBe("early");
    expect(await call()).toBe("early");
    const [job] = (await ask("GET", `${jobs}/list?script_path_exact=${path}&job_kinds=flow`)).json();
    expect(job.type).toBe("QueuedJob");
    await expectOk(ask("POST", `${jobs}_u/queue/cancel/${job.id}`, {}));
  });

  test("waits for the end if it is not", async () => {
    const path = await push([branch, last], { early_return: "early" });
    expect(await run(path, { yes: false })).toBe("last");
  });
});

/** Flows that run: every kind of module and option, through the webhooks. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Ask, deploy, expectOk, startTestServer, type TestServer, until } from "../harness.ts";

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer({ workers: 4 });
  ({ ask } = await server.workspace());
});
afterAll(() => server.stop());

const jobs = "/w/acme/jobs";

const js = (expr: string) => ({ type: "javascript", expr });
const fixed = (value: unknown) => ({ type: "static", value });
const script = (id: string, content: string, inputs: object = {}, more: object = {}) => ({
  id,
  value: { type: "rawscript", language: "bun", content, input_transforms: inputs },
  ...more,
});

let count = 0;
async function push(modules: object[], more: object = {}): Promise<string> {
  const path = `u/admin/flow_${++count}`;
  const body = { path, summary: "", value: { modules, ...more } };
  await expectOk(ask("POST", "/w/acme/flows/create", body));
  return path;
}
const run = (path: string, args: object = {}) => ask("POST", `${jobs}/run_wait_result/f/${path}`, args);
async function result(modules: object[], args: object = {}, more: object = {}): Promise<any> {
  const answer = await expectOk(run(await push(modules, more), args));
  return answer.json();
}

const add = "export const main = (a: number, b: number) => a + b";

describe("steps one after the other", () => {
  test("take flow_input, results and previous_result", async () => {
    const modules = [
      script("a", add, { a: js("flow_input.x"), b: fixed(1) }),
      script("b", add, { a: js("results.a"), b: js("previous_result * 10") }),
      script("c", "export const main = (all: unknown) => all", {
        all: js("({ a: results.a, b: results.b })"),
      }),
    ];
    expect(await result(modules, { x: 4 })).toEqual({ a: 5, b: 55 });
  });

  test("run deployed scripts and other flows, python and bash too", async () => {
    await deploy(ask, "acme", "u/admin/twice", "export const main = (n: number) => n * 2");
    const inner = await push([
      {
        id: "x",
        value: { type: "script", path: "u/admin/twice", input_transforms: { n: js("flow_input.n + 1") } },
      },
    ]);
    const modules = [
      { id: "a", value: { type: "flow", path: inner, input_transforms: { n: js("flow_input.n") } } },
      {
        id: "b",
        value: {
          type: "rawscript",
          language: "python3",
          content: "def main(n: int):\n    return [n, n + 1]\n",
          input_transforms: { n: js("results.a") },
        },
      },
      {
        id: "c",
        value: {
          type: "rawscript",
          language: "bash",
          content: 'list="$1"\necho "got $list"\n',
          input_transforms: { list: js("results.b") },
        },
      },
    ];
    expect(await result(modules, { n: 3 })).toBe("got [8,9]");
  });

  test("a failing step fails the flow with its error and step", async () => {
    const answer = await result([
      script("a", "export const main = () => { throw new TypeError('no') }"),
      script("b", add),
    ]);
    expect(answer.error).toMatchObject({ name: "TypeError", message: "no", step_id: "a" });
  });

  test("an expression that fails names the step and the input", async () => {
    const { error } = await result([script("a", add, { a: js("flow_input.x.y.z") })]);
    expect(error.step_id).toBe("a");
    expect(error.message).toContain("input a");
    expect(error.message).toContain("flow_input.x.y.z");
  });
});

describe("loops and branches", () => {
  const loop = (value: object, more: object = {}) => ({
    id: "l",
    value: { type: "forloopflow", iterator: js("flow_input.items"), skip_failures: false, ...value },
    ...more,
  });
  const inner = script("i", "export const main = (v: number) => v * v", { v: js("flow_input.iter.value") });

  test.each([
    ["one after the other", {}],
    ["in parallel", { parallel: true }],
    ["in parallel, two at a time", { parallel: true, parallelism: 2 }],
  ])("a loop %s", async (_, options) => {
    expect(await result([loop({ modules: [inner], ...options })], { items: [1, 2, 3, 4, 5] })).toEqual([
      1, 4, 9, 16, 25,
    ]);
    const two = [
      inner,
      script("j", "export const main = (r: number, n: number) => [r, n]", {
        r: js("results.i"),
        n: js("flow_input.iter.index"),
      }),
    ];
    expect(await result([loop({ modules: two, ...options })], { items: [3, 4] })).toEqual([
      [9, 0],
      [16, 1],
    ]);
  });

  test("failures in a loop end it, or are skipped", async () => {
    const odd = script(
      "i",
      "export const main = (v: number) => { if (v % 2) throw new Error('odd ' + v); return v }",
      {
        v: js("flow_input.iter.value"),
      },
    );
    const items = [2, 3, 4];
    expect((await result([loop({ modules: [odd] })], { items })).error.message).toBe("odd 3");
    expect(await result([loop({ modules: [odd], skip_failures: true })], { items })).toEqual([2, null, 4]);
    expect(await result([loop({ modules: [odd], skip_failures: true, parallel: true })], { items })).toEqual([
      2,
      null,
      4,
    ]);
  });

  test("a while loop until its step says stop", async () => {
    const step = script(
      "w",
      "export const main = (i: number) => i",
      { i: js("flow_input.iter.index") },
      {
        stop_after_if: { expr: "result >= 3", skip_if_stopped: false },
      },
    );
    expect(
      await result([{ id: "l", value: { type: "whileloopflow", modules: [step], skip_failures: false } }]),
    ).toEqual([0, 1, 2, 3]);
  });

  test("branches: the first that holds, the default, or all", async () => {
    const say = (id: string, text: string) => script(id, `export const main = () => ${JSON.stringify(text)}`);
    const one = {
      id: "b",
      value: {
        type: "branchone",
        branches: [
          { expr: "flow_input.n > 10", modules: [say("big", "big")] },
          { expr: "flow_input.n > 5", modules: [say("middle", "middle")] },
        ],
        default: [say("small", "small")],
      },
    };
    for (const [n, text] of [
      [20, "big"],
      [7, "middle"],
      [1, "small"],
    ]) {
      expect(await result([one], { n })).toBe(text);
    }
    for (const parallel of [true, false]) {
      const all = {
        id: "b",
        value: {
          type: "branchall",
          parallel,
          branches: [{ modules: [say("x", "x")] }, { modules: [say("y", "y")] }],
        },
      };
      expect(await result([all])).toEqual(["x", "y"]);
    }
  });
});

describe("options", () => {
  test("a step is tried again, constantly and then exponentially, until it works", async () => {
    const content =
      "let n = 0; export const main = () => { if (++n < 4) throw new Error('again ' + n); return n }";
    const retry = {
      constant: { attempts: 2, seconds: 0 },
      exponential: { attempts: 2, multiplier: 0.01, seconds: 1 },
    };
    expect(await result([script("a", content, {}, { retry })])).toBe(4);
  });

  test("skip, stop early, continue on error, mock, sleep", async () => {
    const value = (text: string) => `export const main = () => ${JSON.stringify(text)}`;
    expect(
      await result([
        script("a", value("a")),
        script("b", value("b"), {}, { skip_if: { expr: "results.a === 'a'" } }),
      ]),
    ).toBe("a");
    expect(
      await result([
        script("a", value("a"), {}, { stop_after_if: { expr: "result === 'a'" } }),
        script("b", value("b")),
      ]),
    ).toBe("a");
    const failing = script(
      "a",
      "export const main = () => { throw new Error('x') }",
      {},
      { continue_on_error: true },
    );
    const after = script("b", "export const main = (e: any) => e.error.message", { e: js("results.a") });
    expect(await result([failing, after])).toBe("x");
    expect(
      await result([script("a", value("real"), {}, { mock: { enabled: true, return_value: "mocked" } })]),
    ).toBe("mocked");
    const began = Date.now();
    expect(await result([script("a", value("a"), {}, { sleep: fixed(0.3) }), script("b", value("b"))])).toBe(
      "b",
    );
    expect(Date.now() - began).toBeGreaterThanOrEqual(300);
  });

  test("the failure module has the last word", async () => {
    const failing = script("a", "export const main = () => { throw new Error('broken') }");
    const failure_module = script("failure", "export const main = (message: string) => ({ told: message })", {
      message: js("error.message"),
    });
    const path = await push([failing], { failure_module });
    expect((await run(path)).json()).toEqual({ told: "broken" });
    const [job] = (await ask("GET", `${jobs}/list?script_path_exact=${path}&job_kinds=flow`)).json();
    expect(job.success).toBe(false);
  });
});

test("a flow's job tells its steps, by any form and version", async () => {
  const path = await push([script("a", "export const main = () => 1")]);
  const started = await expectOk(ask("POST", `${jobs}/run/p/${path}`, { x: 1 }));
  const job: any = await until(async () => {
    const answer = await ask("GET", `${jobs}_u/completed/get/${started.text}`);
    return answer.status === 200 ? answer.json() : undefined;
  });
  expect(job).toMatchObject({ job_kind: "flow", success: true, result: 1, args: { x: 1 } });
  expect(job.flow_status).toMatchObject({ step: 1, modules: [{ type: "Success", id: "a" }] });
  const step = (await ask("GET", `${jobs}_u/get/${job.flow_status.modules[0].job}`)).json();
  expect(step).toMatchObject({ parent_job: job.id, success: true, is_flow_step: true });
});

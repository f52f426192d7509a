/** Runs of flows with every kind of module and option, through the webhooks. */
import { beforeAll, describe, expect, test } from "bun:test";
import { deploy, expectOk, until } from "../../../support/harness.ts";
import {
  ask,
  jobs,
  js,
  nextNumber,
  push,
  result,
  run,
  script,
  server,
  setUpFlowRuns,
} from "./flow-runs-setup.ts";

setUpFlowRuns();

const fixed = (value: unknown) => ({ type: "static", value });

const add = "export const main = (a: number, b: number) => a + b";

describe("sequential steps", () => {
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

describe("values that a step takes from outside of the flow", () => {
  const seen = (expr: string) => script("a", "export const main = (x: unknown) => x", { x: js(expr) });

  beforeAll(async () => {
    const variable = { path: "u/admin/word", value: "hush", is_secret: true, description: "" };
    await expectOk(ask("POST", "/w/acme/variables/create", variable));
    const resource = {
      path: "u/admin/place",
      value: { host: "h", word: "$var:u/admin/word" },
      resource_type: "any",
    };
    await expectOk(ask("POST", "/w/acme/resources/create", resource));
  });

  test.each([
    ["flow_env.stage", "test"],
    ["await variable('u/admin/word')", "hush"],
    ["variable('u/admin/word')", "hush"],
    ["(await resource('u/admin/place')).host", "h"],
    ["resource('u/admin/place')", { host: "h", word: "hush" }],
  ])("%s", async (expr, value) => {
    expect(await result([seen(expr)], {}, { flow_env: { stage: "test" } })).toEqual(value);
  });

  test.each(["variable('u/admin/word')", "resource('u/admin/place')", "variable('u/ann/none')"])(
    "items that the runner may not read are rejected: %s",
    async (expr) => {
      const { ask: ann } = await server.member("acme", `ann${nextNumber()}`);
      const value = { modules: [seen(expr)] };
      const body = await expectOk(ann("POST", `${jobs}/run_wait_result/preview_flow`, { value, args: {} }));
      expect(body.json().error).toMatchObject({ step_id: "a" });
      expect(body.text).toContain("input x: ");
      expect(body.text).not.toContain("hush");
    },
  );

  test("can be run by a super admin who is not a member of the workspace", async () => {
    const { ask: root } = await server.user("root", { super_admin: true });
    for (const [expr, told] of [
      ["variable('u/admin/word')", "hush"],
      ["(await resource('u/admin/place')).host", "h"],
    ] as const) {
      const body = { value: { modules: [seen(expr)] }, args: {} };
      expect((await expectOk(root("POST", `${jobs}/run_wait_result/preview_flow`, body))).json()).toBe(told);
    }
  });

  test("a script's version, by its hash, still runs after a newer one is deployed", async () => {
    const path = "u/admin/pinned";
    const hash = await deploy(ask, "acme", path, "export const main = () => 1");
    await deploy(ask, "acme", path, "export const main = () => 2");
    const step = (id: string, more: object) => ({
      id,
      value: { type: "script", path, input_transforms: {}, ...more },
    });
    const both = script("c", "export const main = (x: unknown) => x", { x: js("[results.a, results.b]") });
    expect(await result([step("a", { hash }), step("b", {}), both])).toEqual([1, 2]);
  });
});

test("the priority and tag of a step apply to its job", async () => {
  await deploy(ask, "acme", "u/admin/tagged", "export const main = () => 1");
  const steps = [
    { ...script("a", "export const main = () => 1"), priority: 7 },
    {
      id: "b",
      value: { type: "script", path: "u/admin/tagged", input_transforms: {}, tag_override: "mine" },
    },
    { id: "c", value: { ...script("c", "export const main = () => 1").value, tag: "ours" } },
  ];
  const id = (await expectOk(ask("POST", `${jobs}/run/f/${await push(steps)}`, {}))).text;
  await until(async () => {
    const answer = await ask("GET", `${jobs}_u/completed/get/${id}`);
    return answer.status === 200 || undefined;
  }, "the flow's end");
  const list = (await expectOk(ask("GET", `${jobs}/list?parent_job=${id}&order_desc=false`))).json();
  expect(list.map(({ priority, tag }: any) => [priority, tag])).toEqual([
    [7, "bun"],
    [undefined, "mine"],
    [undefined, "ours"],
  ]);
});

test("the priority of a flow applies to its steps, also inside of loops", async () => {
  const loop = {
    id: "l",
    value: {
      type: "forloopflow",
      iterator: { type: "static", value: [1, 2] },
      skip_failures: false,
      modules: [script("a", "export const main = () => 1"), { id: "z", value: { type: "identity" } }],
    },
  };
  const value = { modules: [loop], priority: 9 };
  const id = (await expectOk(ask("POST", `${jobs}/run/preview_flow`, { value, args: {} }))).text;
  await until(async () => {
    const answer = await ask("GET", `${jobs}_u/completed/get/${id}`);
    return answer.status === 200 || undefined;
  }, "the flow's end");
  const steps = (await expectOk(ask("GET", `${jobs}/list?is_flow_step=true&per_page=100`))).json();
  const own = steps.filter(({ root_job }: any) => root_job === id);
  expect(own.map(({ priority }: any) => priority)).toEqual([9, 9, 9, 9, 9, 9]);
});

test.each([
  ["that never ends", "(() => { for (;;); })()", "The limit of 1000 ms"],
  ["that takes all memory", "'x'.repeat(2 ** 29)", "The limit of 64 MB of memory"],
])("an expression %s fails its step only", async (_, expr, says) => {
  const { error } = await result([script("a", "export const main = () => 1", { x: js(expr) })]);
  expect(error.step_id).toBe("a");
  expect(error.message).toContain(says);
});

describe("options", () => {
  test("a step is retried, with constant and then exponential delays, until it succeeds", async () => {
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

  test("the failure module determines the result", async () => {
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

test("a flow's job shows its steps, started by any form and version", async () => {
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

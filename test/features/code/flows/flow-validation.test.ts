/**
 * Flows that are rejected at deployment; others are stored unchanged, and fail when a run reaches the invalid
 * part.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Ask, startTestServer, type TestServer } from "../../../support/harness.ts";
import { exprStep, flow, loop, nestedLoop, script, scriptStep, step, steps } from "./validation-flows.ts";

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
});
afterAll(() => server.stop());

const create = (value: unknown, path = "u/admin/checked") =>
  ask("POST", "/w/acme/flows/create", { path, summary: "", value });

const REFUSED: [name: string, value: object, says: string][] = [
  ["no object", [], "must be an object with `modules`"],
  ["no modules", {}, "`modules` must be an array of steps"],
  ["modules that are not a list", { modules: { a: step("a") } }, "`modules` must be an array of steps"],
  [
    "a step that is none",
    { modules: [step("a"), "b"] },
    '`value.modules.1`: must be a step, an object, and is "b"',
  ],
  [
    "a list of steps inside that is none",
    { modules: [loop("a", "b" as never)] },
    "`value.modules.0.value.modules`: must be an array of steps",
  ],
  [
    "a failure step that is none",
    { modules: [], failure_module: [] },
    "`value.failure_module`: must be a step",
  ],
  ["a reserved id", { modules: [step("preprocessor")] }, "reserved for the flow's `preprocessor_module`"],
  ["an id every object has", { modules: [step("constructor")] }, '"constructor" cannot be the id of a step'],
  [
    "an id twice",
    { modules: [step("a"), loop("b", [step("a")])] },
    "`value.modules.1.value.modules.0.id`: there is a step a already, at `value.modules.0`",
  ],
  ["more steps than can be meant", { modules: steps(1001) }, "more than 1000 steps"],
  ["more depth than can be meant", { modules: [nestedLoop(21)] }, "more than 20 deep"],
];

test.each(REFUSED)("%s is rejected", async (_, value, says) => {
  const answer = await create(value);
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(says)]);
  expect((await ask("GET", "/w/acme/flows/exists/u/admin/checked")).json()).toBe(false);
});

/** As it is returned: the lock of a script is resolved when it is deployed. */
const withLocks = (value: unknown) =>
  JSON.parse(JSON.stringify(value), (_, each) =>
    each?.type === "rawscript" && each.content?.trim() && each.language === "bun"
      ? { ...each, lock: "" }
      : each,
  );

async function deployed<T>(value: unknown, work: (path: string) => Promise<T>): Promise<T> {
  const path = "u/admin/odd";
  const created = await create(value, path);
  expect([created.status, created.text]).toEqual([201, path]);
  expect((await ask("GET", `/w/acme/flows/get/${path}`)).json().value).toEqual(withLocks(value));
  try {
    return await work(path);
  } finally {
    expect((await ask("DELETE", `/w/acme/flows/delete/${path}`)).status).toBe(200);
  }
}
const run = async (path: string, args: object = {}) =>
  (await ask("POST", `/w/acme/jobs/run_wait_result/f/${path}`, args)).json();

const x = (transform: unknown) => scriptStep("a", { input_transforms: { x: transform } });

const FAILS: [name: string, value: object, step: string | undefined, says: string][] = [
  ["a step without value", { modules: [{ id: "a" }] }, "a", "no `value`"],
  [
    "an unknown kind of step",
    { modules: [{ id: "a", value: { type: "aiagent", tools: [] } }] },
    "a",
    '"aiagent"',
  ],
  ["an unknown kind of input", { modules: [x({ type: "ai" })] }, "a", 'input x: inputs of kind "ai"'],
  ["an input that is none", { modules: [x(5)] }, "a", "input x"],
  [
    "a language that is not known",
    { modules: [scriptStep("a", { language: "cobol" })] },
    "a",
    '"cobol" is not supported',
  ],
  ["an empty script", { modules: [scriptStep("a", { content: " \n" })] }, "a", "`content`"],
  [
    "a step of a script without code",
    { modules: [scriptStep("a", { content: undefined })] },
    "a",
    "`content`",
  ],
  ["a bad path", { modules: [{ id: "a", value: flow("order") }] }, "a", '`path`: "order" is not a path'],
  [
    "a script of a hub",
    { modules: [{ id: "a", value: { type: "script", path: "hub/1/x" } }] },
    "a",
    "hub/1/x: scripts of a hub are not offered",
  ],
  ["an expression that does not parse", { modules: [exprStep("a", "1 +\n* 2")] }, "a", "input x: "],
  [
    "an expression inside of a step",
    { modules: [loop("l", [step("z"), exprStep("a", "1 +")])] },
    "a",
    "input x: ",
  ],
  [
    "a condition that does not parse",
    { modules: [step("a", { stop_after_if: { expr: "(" } })] },
    "a",
    "stop_after_if",
  ],
  ["a condition to skip", { modules: [step("a")], skip_expr: "(" }, undefined, "skip_expr"],
  [
    "a loop without iterator",
    { modules: [{ id: "l", value: { type: "forloopflow", modules: [] } }] },
    "l",
    "null",
  ],
  [
    "a loop over a text",
    { modules: [loop("l", [], { iterator: { type: "static", value: "x" } })] },
    "l",
    "an array",
  ],
  [
    "a loop that may run none at once",
    { modules: [loop("l", [step("a")], { parallel: true, parallelism: 0 })] },
    "l",
    "parallelism must be a number of at least 1",
  ],
  [
    "a time limit that is not a number",
    { modules: [step("a", { timeout: { type: "static", value: "soon" } })] },
    "a",
    "timeout",
  ],
  [
    "a pause of less than nothing",
    { modules: [step("a", { sleep: { type: "static", value: -5 } }), step("b")] },
    "a",
    "sleep",
  ],
  [
    "a loop for failures",
    { modules: [exprStep("a", "no.such")], failure_module: loop("failure", []) },
    "failure",
    "a forloopflow cannot be the flow's `failure_module`",
  ],
];

/** Returns the error, also if it is in the list of a loop. */
const errorIn = (result: any): any => (Array.isArray(result) ? errorIn(result.find(Boolean)) : result.error);

test.each(FAILS)("%s is stored, and fails the run", async (_, value, step_id, says) => {
  const result = await deployed(value, (path) => run(path));
  const { message, step_id: failed } = errorIn(result);
  expect([message, failed]).toEqual([expect.stringContaining(says), step_id]);
});

const echo = scriptStep("e", {
  content: "export const main = (x: unknown = 'default') => x",
  input_transforms: { x: { type: "javascript", expr: "flow_input.x" } },
});

const { input_transforms: _, ...bare } = script;

const RUNS: [name: string, value: object, result: unknown][] = [
  ["no steps at all", { modules: [] }, null],
  ["a step without inputs", { modules: [{ id: "a", value: bare }] }, 1],
  [
    "steps without ids",
    { modules: [{ value: script }, { value: script }, exprStep("c", "[results.a, results.b]")] },
    1,
  ],
  [
    "an empty expression",
    {
      modules: [
        { ...echo, value: { ...echo.value, input_transforms: { x: { type: "javascript", expr: "" } } } },
      ],
    },
    null,
  ],
  [
    "a loop that does not say whether failures are skipped",
    { modules: [loop("l", [step("a")], { skip_failures: undefined })] },
    [1],
  ],
  [
    "branches that are missing",
    {
      modules: [
        step("a"),
        { id: "b", value: { type: "branchone" } },
        { id: "c", value: { type: "branchall" } },
      ],
    },
    [],
  ],
  [
    "a branch without steps",
    {
      modules: [
        step("a"),
        { id: "b", value: { type: "branchone", branches: [{ expr: "" }, { expr: "true" }] } },
      ],
    },
    1,
  ],
  ["a failure step that is not needed", { modules: [step("a")], failure_module: { value: bare } }, 1],
  [
    "options that nobody filled in",
    {
      modules: [
        step("a", {
          retry: {},
          skip_if: { expr: "" },
          stop_after_if: { expr: " " },
          sleep: { type: "static" },
          timeout: 0,
          suspend: { required_events: 0 },
        }),
        step("b"),
      ],
    },
    1,
  ],
  [
    "options of a loop that it has not",
    { modules: [{ ...loop("l", [step("a")]), timeout: 5, cache_ttl: 5 }] },
    [1],
  ],
  ["an early return nowhere", { modules: [step("a")], early_return: "zz" }, 1],
  [
    "ids of any kind",
    {
      modules: [step("a.b"), step("1 c"), step("failure"), exprStep("d", "results['a.b'] + results['1 c']")],
    },
    1,
  ],
  [
    "null for what is left out",
    {
      modules: [step("a", { retry: null, color: "red", mock: { enabled: false, note: 1 } })],
      notes: ["n"],
      skip_expr: "",
      same_worker: null,
      failure_module: null,
    },
    1,
  ],
  [
    "as many steps as may be in a loop over none",
    { modules: [loop("l", steps(999), { iterator: { type: "static", value: [] } })] },
    [],
  ],
];

test.each(RUNS)("%s is stored as it was sent, and runs", async (_, value, result) => {
  expect(await deployed(value, (path) => run(path))).toEqual(result);
});

test("accepts the maximum depth", async () => {
  let expected: unknown = 1;
  for (let depth = 1; depth < 20; depth++) expected = [expected];
  expect(await deployed({ modules: [nestedLoop(20)] }, (path) => run(path))).toEqual(expected);
});

test("an unconditionally recursive flow is stored, and fails", async () => {
  const calls = { modules: [{ id: "b", value: flow("u/admin/odd") }] };
  expect((await deployed(calls, (path) => run(path))).error.name).toBe("RecursionError");
});

test("an undefined input is omitted in TypeScript, and null in Python", async () => {
  const python = scriptStep("p", {
    language: "python3",
    content: "def main(x='default'):\n    return [x]",
    input_transforms: { x: { type: "javascript", expr: "flow_input.nothing" } },
  });
  expect(await deployed({ modules: [echo] }, (path) => run(path))).toBe("default");
  const created = await create({ modules: [python] }, "u/admin/python");
  expect(created.status).toBe(201);
  expect(await run("u/admin/python")).toEqual([null]);
});

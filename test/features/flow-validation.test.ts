/** What is refused when a flow is deployed, and where it says so. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Ask, startTestServer, type TestServer } from "../harness.ts";

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
});
afterAll(() => server.stop());

const create = (value: unknown, path = "u/admin/checked") =>
  ask("POST", "/w/acme/flows/create", { path, summary: "", value });

const script = {
  type: "rawscript",
  language: "bun",
  content: "export const main = () => 1",
  input_transforms: {},
};
const step = (id: string, more: object = {}) => ({ id, value: script, ...more });
const raw = (id: string, more: object) => ({ id, value: { ...script, ...more } });
const input = (id: string, expr: string) =>
  raw(id, { input_transforms: { x: { type: "javascript", expr } } });
const flow = (path: string) => ({ type: "flow", path, input_transforms: {} });
const iterator = { type: "javascript", expr: "flow_input.list" };
const loop = (id: string, modules: unknown[], more: object = {}) => ({
  id,
  value: { type: "forloopflow", iterator, skip_failures: false, modules },
  ...more,
});
const either = (id: string, branch: unknown[], otherwise: unknown[] = []) => ({
  id,
  value: { type: "branchone", branches: [{ expr: "true", modules: branch }], default: otherwise },
});
const nested = (depth: number): object => (depth === 1 ? step("s1") : loop(`s${depth}`, [nested(depth - 1)]));
const many = (count: number) => Array.from({ length: count }, (_, index) => step(`s${index}`));

const REFUSED: [name: string, value: object, says: string][] = [
  ["no modules", {}, "field `value.modules`"],
  ["a module without id", { modules: [{ value: script }] }, "field `value.modules.0.id`"],
  ["a module without value", { modules: [{ id: "a" }] }, 'field `value.modules.0.value` (of "a")'],
  [
    "an unknown kind",
    { modules: [{ id: "a", value: { type: "aiagent" } }] },
    '`value.modules.0.value.type` (of "a"): "aiagent" is no kind of step: use one of rawscript, script, flow, forloopflow',
  ],
  [
    "an unknown kind of input",
    { modules: [raw("a", { input_transforms: { x: { type: "ai" } } })] },
    '(of "a"): "ai" is no kind of input: use one of static, javascript',
  ],
  [
    "a field that is missing deep inside",
    { modules: [loop("a", [either("b", [{ id: "c", value: { ...script, content: undefined } }])])] },
    '`value.modules.0.value.modules.0.value.branches.0.modules.0.value.content` (of "c")',
  ],
  [
    "a loop without iterator",
    { modules: [{ id: "a", value: { type: "forloopflow", modules: [], skip_failures: true } }] },
    '`value.modules.0.value.iterator` (of "a")',
  ],
  [
    "a language that is not offered",
    { modules: [raw("a", { language: "cobol" })] },
    '(of "a"): "cobol" is not offered; use one of bun, deno, nativets, bunnative',
  ],
  ["an empty id", { modules: [step("a"), step("")] }, '`value.modules.1.id`: "" cannot be the id of a step'],
  ["an id with a dot", { modules: [step("a.b")] }, '"a.b" cannot be the id of a step'],
  ["an id every object has", { modules: [step("constructor")] }, '"constructor" cannot be the id of a step'],
  [
    "an id twice",
    { modules: [step("a"), loop("b", [step("a")])] },
    "`value.modules.1.value.modules.0.id`: there is a step a already, at `value.modules.0`",
  ],
  ["a reserved id", { modules: [step("failure")] }, "failure is reserved for the flow's `failure_module`"],
  [
    "a reserved id at the wrong place",
    { modules: [], failure_module: step("preprocessor") },
    "preprocessor is reserved for the flow's `preprocessor_module`",
  ],
  [
    "a loop as failure step",
    { modules: [], failure_module: loop("failure", []) },
    "forloopflow cannot be run there",
  ],
  [
    "a pause of less than nothing",
    { modules: [{ ...step("a"), sleep: { type: "static", value: -5 } }] },
    "step a, `sleep`: must be a number of at least 0, and is -5",
  ],
  [
    "a time limit that is no number",
    { modules: [{ ...raw("a", {}), timeout: { type: "static", value: "soon" } }] },
    'step a, `timeout`: must be a number of at least 0, and is "soon"',
  ],
  [
    "a loop that may run none at once",
    {
      modules: [loop("a", [{ id: "b", value: { ...loop("b", []).value, parallel: true, parallelism: 0 } }])],
    },
    "step b, `parallelism`: must be a number of at least 1, and is 0",
  ],
  [
    "an empty script",
    { modules: [raw("a", { content: " \n" })] },
    "step a, `content`: must be the script's code",
  ],
  [
    "a script that does not parse",
    { modules: [loop("a", [raw("b", { content: "export function main() {\n  return (;\n}" })])] },
    "step b, `content`: Syntax error at line 2, column 11",
  ],
  ["a bad path", { modules: [{ id: "a", value: flow("order") }] }, 'step a, `path`: "order" is not a path'],
  [
    "a script of a hub",
    { modules: [{ id: "a", value: { type: "script", path: "hub/1/x", input_transforms: {} } }] },
    "step a, `path`: hub/1/x: scripts of a hub are not offered",
  ],
  [
    "an empty expression",
    { modules: [input("a", " ")] },
    "step a, `input_transforms.x.expr`: must be an expression",
  ],
  [
    "an expression that does not parse",
    { modules: [input("a", "1 +\n* 2")] },
    "step a, `input_transforms.x.expr`: SyntaxError: Unexpected token at line 2, column 1",
  ],
  [
    "a step that does not exist",
    { modules: [input("a", "results.zz")] },
    "results.zz: the flow has no step zz",
  ],
  [
    "a step that comes later",
    { modules: [input("a", "results.b + 1"), step("b")] },
    "step a, `input_transforms.x.expr`: results.b: step b has no result yet",
  ],
  ["a step's own result before it", { modules: [input("a", "results['a']")] }, "step a has no result yet"],
  ["the loop around a step", { modules: [loop("a", [input("b", "results.a")])] }, "step a has no result yet"],
  [
    "a step of the other branch",
    { modules: [either("a", [step("b")], [input("c", "results.b")])] },
    "step b has no result yet",
  ],
  [
    "a step inside of another",
    { modules: [loop("a", [step("b")]), input("c", "results.b")] },
    "results.b: step b is inside of step a and seen only there; use results.a",
  ],
  [
    "a later step in an iterator",
    {
      modules: [
        { ...loop("a", []), value: { ...loop("a", []).value, iterator: { ...iterator, expr: "results.b" } } },
        step("b"),
      ],
    },
    "step a, `iterator.expr`: results.b",
  ],
  [
    "a later step in a condition of a branch",
    {
      modules: [
        {
          id: "a",
          value: { type: "branchone", branches: [{ expr: "results.b", modules: [] }], default: [] },
        },
        step("b"),
      ],
    },
    "step a, `branches.0.expr`: results.b",
  ],
  [
    "a later step in every other expression",
    { modules: [step("a", { skip_if: { expr: "results.b" } }), step("b")] },
    "step a, `skip_if.expr`: results.b",
  ],
  [
    "an unknown step in a stop condition",
    { modules: [step("a", { stop_after_if: { expr: "results.zz" } })] },
    "step a, `stop_after_if.expr`: results.zz",
  ],
  [
    "an unknown step in a retry",
    {
      modules: [
        step("a", { retry: { constant: { attempts: 1, seconds: 1 }, retry_if: { expr: "results.zz" } } }),
      ],
    },
    "step a, `retry.retry_if.expr`: results.zz",
  ],
  [
    "an unknown step in a pause",
    { modules: [step("a", { sleep: { type: "javascript", expr: "results.zz" } })] },
    "step a, `sleep.expr`: results.zz",
  ],
  [
    "an unknown step in the groups that approve",
    {
      modules: [step("a", { suspend: { user_groups_required: { type: "javascript", expr: "results.zz" } } })],
    },
    "step a, `suspend.user_groups_required.expr`: results.zz",
  ],
  [
    "a step in the condition to skip",
    { modules: [step("a")], skip_expr: "results.a" },
    "`skip_expr`: results.a",
  ],
  [
    "an expression of a megabyte",
    { modules: [input("a", `'${"x".repeat(1_000_000)}'`)] },
    "step a, `input_transforms.x.expr`: 1000002 characters, where at most 65536 are read",
  ],
  ...[5, "$res:u/admin/list", null].map((value): [string, object, string] => [
    `a loop over ${value}`,
    { modules: [{ id: "l", value: { ...loop("l", []).value, iterator: { type: "static", value } } }] },
    `step l, \`iterator.value\`: must be an array, and is ${JSON.stringify(value)}`,
  ]),
  [
    "a loop over nothing",
    { modules: [{ id: "l", value: { ...loop("l", []).value, iterator: { type: "static" } } }] },
    "step l, `iterator.value`: must be an array, and is missing",
  ],
  [
    "an early return nowhere",
    { modules: [step("a")], early_return: "b" },
    "`early_return`: the flow has no step b",
  ],
  [
    "an early return that comes many times",
    {
      modules: [{ id: "l", value: { type: "whileloopflow", skip_failures: false, modules: [step("a")] } }],
      early_return: "a",
    },
    "`early_return`: step a runs once an iteration of loop l",
  ],
  [
    "a timeout of a loop",
    {
      modules: [
        { id: "l", value: { type: "whileloopflow", skip_failures: false, modules: [step("a")] }, timeout: 5 },
      ],
    },
    "step l, `timeout`: a whileloopflow has none",
  ],
  [
    "a cache of a loop",
    {
      modules: [
        {
          id: "l",
          value: { type: "whileloopflow", skip_failures: false, modules: [step("a")] },
          cache_ttl: 5,
        },
      ],
    },
    "step l, `cache_ttl`: a whileloopflow has none",
  ],
  [
    "itself, whatever happens",
    { modules: [step("a"), { id: "b", value: flow("u/admin/checked") }] },
    "step b, `path`: the flow calls itself",
  ],
  ["more steps than can be meant", { modules: many(1001) }, "more than 1000 steps"],
  ["more depth than can be meant", { modules: [nested(21)] }, "more than 20 deep"],
];

test.each(REFUSED)("%s is refused", async (_, value, says) => {
  const answer = await create(value);
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(says)]);
  expect((await ask("GET", "/w/acme/flows/exists/u/admin/checked")).json()).toBe(false);
});

describe("what looks alike and is right", () => {
  const own = { id: "b", value: flow("u/admin/good") };
  const GOOD: [name: string, value: object][] = [
    ["no steps at all", { modules: [] }],
    [
      "earlier steps, from inside too",
      { modules: [step("a"), loop("b", [input("c", "results.a + results['a']")])] },
    ],
    ["a step's own result after it", { modules: [step("a", { stop_after_if: { expr: "results.a > 1" } })] }],
    ["any step in the failure step", { modules: [step("a")], failure_module: input("failure", "results.a") }],
    ["names of flows' own", { modules: [step("a-b"), input("c", "results['a-b']")], early_return: "a-b" }],
    ["itself, on a condition", { modules: [{ ...own, skip_if: { expr: "flow_input.n < 1" } }] }],
    [
      "itself, after a step that may end it",
      { modules: [step("a", { stop_after_if: { expr: "result" } }), own] },
    ],
    ["itself, in a branch", { modules: [either("a", [own])] }],
    ["itself, unless it is skipped", { modules: [own], skip_expr: "flow_input.n < 1" }],
    ["as many steps as may be", { modules: many(1000) }],
    ["as deep as may be", { modules: [nested(20)] }],
  ];
  test.each(GOOD)("%s", async (_, value) => {
    const answer = await create(value, "u/admin/good");
    expect([answer.status, answer.text]).toEqual([201, "u/admin/good"]);
    expect((await ask("DELETE", "/w/acme/flows/delete/u/admin/good")).status).toBe(200);
  });
});

test("what is not known is kept as it was sent, null counts as left out", async () => {
  const module = {
    ...step("a", { color: "red", retry: null, mock: { enabled: false, note: 1 } }),
    value: { ...script, assets: [{ path: "x" }], lock: null },
  };
  const value = { modules: [module], notes: ["n"], skip_expr: "", same_worker: null, failure_module: null };
  const created = await create(value, "u/admin/kept");
  expect([created.status, created.text]).toEqual([201, "u/admin/kept"]);
  const kept = (await ask("GET", "/w/acme/flows/get/u/admin/kept")).json().value;
  expect(kept).toEqual({
    modules: [
      {
        id: "a",
        color: "red",
        mock: { enabled: false, note: 1 },
        value: { ...script, assets: [{ path: "x" }], lock: "" },
      },
    ],
    notes: ["n"],
  });
});

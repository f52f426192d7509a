/** Warnings about flows that can be stored but would fail. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Ask, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
let ask: Ask;
beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
});
afterAll(() => server.stop());

const identity = { type: "identity" };
const step = (id: string, expr: string) => ({
  id,
  value: { type: "script", path: "u/admin/x", input_transforms: { x: { type: "javascript", expr } } },
});

async function listProblems(modules: unknown[], more: object = {}): Promise<unknown[]> {
  const answer = await ask("POST", "/w/acme/flows/check", { value: { modules, ...more } });
  expect(answer.status).toBe(200);
  return answer.json().problems;
}

const unknown = (path: (string | number)[], step: string, name: string) => ({
  path,
  message: `step ${step} refers to results.${name}, and the flow has no step ${name}`,
  is_refused: false,
});
const INPUT = ["value", "input_transforms", "x", "expr"];

test.each([
  ["results.zzz"],
  ["results?.zzz?.a"],
  ["results . zzz + 1"],
  ["results['zzz']"],
  ['results["zzz"].x'],
])("a reference to a missing step: %p", async (expr) => {
  expect(await listProblems([step("a", expr)])).toEqual([unknown(["modules", 0, ...INPUT], "a", "zzz")]);
});

test.each([
  ["results.a"],
  ["results.inner"],
  ["results[flow_input.which]"],
  ["const all = results; return results.zzz"],
  ["'results.zzz'"],
  ["flow_input.results.zzz"],
  ["((results) => results.zzz)({})"],
  ["results.zzz +"],
  [`results.zzz + "${"x".repeat(20_000)}"`],
])("no problem is reported for %p", async (expr) => {
  const inner = { type: "branchall", branches: [{ modules: [{ id: "inner", value: identity }] }] };
  const modules = [{ id: "a", value: identity }, { id: "all", value: inner }, step("b", expr)];
  expect(await listProblems(modules)).toEqual([]);
});

test("a reference is found in every place of a step, and in nested ones once", async () => {
  const loop = {
    id: "each",
    stop_after_if: { expr: "results.p" },
    value: {
      type: "forloopflow",
      iterator: { type: "javascript", expr: "results.q" },
      modules: [step("in", "results.r")],
    },
  };
  const failure_module = step("failure", "results.s");
  expect(await listProblems([loop], { failure_module })).toEqual([
    unknown(["modules", 0, "stop_after_if", "expr"], "each", "p"),
    unknown(["modules", 0, "value", "iterator", "expr"], "each", "q"),
    unknown(["modules", 0, "value", "modules", 0, ...INPUT], "in", "r"),
    unknown(["failure_module", ...INPUT], "failure", "s"),
  ]);
});

test("optional fields are not reported as missing", async () => {
  const loop = { type: "whileloopflow", modules: [{ value: { type: "script", path: "u/admin/x" } }] };
  expect(await listProblems([{ value: loop }, { value: { type: "branchone", branches: [] } }])).toEqual([]);
});

test("expressions that backtracking would make slow are read as quickly as others", async () => {
  const took = async (expr: string): Promise<number> => {
    const modules = Array.from({ length: 11 }, (_, n) => step(`s${n}`, expr));
    const began = performance.now();
    expect(await listProblems(modules)).toEqual([]);
    return performance.now() - began;
  };
  const plain = await took(`results${"x".repeat(9_000)}`);
  // A quadratic search would take seconds.
  expect(await took(`results${" ".repeat(9_000)}!`)).toBeLessThan(10 * plain + 1_000);
});

test("no problem is reported for a constant value that looks like an expression", async () => {
  const input_transforms = { x: { type: "static", value: { expr: "results.zzz" } } };
  expect(
    await listProblems([{ id: "a", value: { type: "script", path: "u/admin/x", input_transforms } }]),
  ).toEqual([]);
});

test("problems of fields are described in words", async () => {
  const told = await listProblems([
    { id: "a", value: { type: "other" } },
    { id: "b", value: { type: "flow" } },
    { id: "c", value: identity, continue_on_error: "yes" },
  ]);
  expect(told).toMatchObject([
    { message: expect.stringMatching(/^must be one of "rawscript", "script", "flow", /) },
    { message: "is missing, and must be a string" },
    { message: "must be true or false, not a string" },
  ]);
});

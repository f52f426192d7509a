/** Expressions of apps are evaluated without running the app's own code. */
import { expect, test } from "bun:test";
import {
  computeInput,
  evaluateExpression,
  fillTemplate,
  NotEvaluated,
} from "../../src/console/pages/scripts/app/evaluate.ts";
import { findRunnable, readApp } from "../../src/console/pages/scripts/app/read-app.ts";

const scope = { a: { result: { name: "Ann", list: [1, 2], n: 3 } }, ctx: { email: "ann@example.org" } };

test.each([
  ["a.result.name", "Ann"],
  ['a["result"]?.list[1]', 2],
  ["a.result.list.length", 2],
  ["missing?.result", undefined],
  ["missing.result ?? 'none'", "none"],
  ["a.result.n > 2 ? `${a.result.name}!` : null", "Ann!"],
  ["!a.result.gone && a.result.n * 2 + 1", 7],
  ["[a.result.n, 'x', true]", [3, "x", true]],
  ["-1", -1],
  ["a.constructor", undefined],
  ["a.__proto__", undefined],
  ["'it\\'s'", NotEvaluated],
])("%s", (expression, expected) => {
  if (expected === NotEvaluated) expect(() => evaluateExpression(expression, scope)).toThrow(NotEvaluated);
  else expect(evaluateExpression(expression, scope)).toEqual(expected);
});

test.each([
  "alert(1)",
  "a.result.name.toUpperCase()",
  "a = 1",
  "1; 2",
  "() => 1",
  "new Date()",
  "",
  "a b",
  "fetch`x`",
])("%s is rejected", (expression) =>
  expect(() => evaluateExpression(expression, scope)).toThrow(NotEvaluated),
);

test("templates and inputs", () => {
  expect(fillTemplate("Hello ${a.result.name}, ${ctx.email}", scope)).toBe("Hello Ann, ann@example.org");
  const connection = { componentId: "a", path: "result.list" };
  expect(computeInput({ type: "connected", connection }, scope)).toEqual([1, 2]);
  expect(computeInput({ type: "static", value: 7 }, scope)).toBe(7);
});

test("components are in reading order, including nested ones", () => {
  const cell = (id: string, y: number, x: number, more: object = {}) => ({
    "12": { x, y, w: 6, h: 1 },
    data: { id, type: "textcomponent", ...more },
  });
  const grid = [
    cell("last", 5, 0),
    cell("right", 0, 6),
    cell("left", 0, 0),
    cell("tabs", 2, 0, { type: "tabscomponent", numberOfSubgrids: 1, tabs: ["One"] }),
  ];
  const app = readApp({ grid, subgrids: { "tabs-0": [cell("inner", 0, 0)] } })!;
  expect(app.map(({ id }) => id)).toEqual(["left", "right", "tabs", "last"]);
  expect(app[2]!.children.map(({ label, components }) => [label, components[0]!.id])).toEqual([
    ["One", "inner"],
  ]);
  expect(readApp({ files: {} })).toBeUndefined();
  expect(findRunnable(app[0]!)).toBeUndefined();
});

test("the buttons of a table are read as its actions", () => {
  const button = { id: "t_act", type: "buttoncomponent", componentInput: { type: "runnable" } };
  const [table] = readApp({
    grid: [
      { "12": { x: 0, y: 0, w: 12 }, data: { id: "t", type: "tablecomponent", actionButtons: [button] } },
    ],
  })!;
  expect(table!.actions.map(({ id, kind }) => [id, kind])).toEqual([["t_act", "button"]]);
});

test("background code runs under its number, newer kinds are known, and a button runs others again", () => {
  const app = readApp({
    grid: [
      { "12": { x: 0, y: 0, w: 12 }, data: { id: "c", type: "chartjscomponentv2" } },
      { "12": { x: 0, y: 1, w: 12 }, data: { id: "go", type: "buttoncomponent", recomputeIds: ["bg_0"] } },
    ],
    hiddenInlineScripts: [
      {
        name: "rows",
        type: "runnableByPath",
        path: "f/a/rows",
        runType: "script",
        fields: {},
        autoRefresh: true,
      },
    ],
  })!;
  expect(app.map(({ id, kind, recomputes }) => [id, kind, recomputes])).toEqual([
    ["c", "chartjs", []],
    ["go", "button", ["bg_0"]],
    ["bg_0", "background", []],
  ]);
  expect(findRunnable(app[2]!)).toMatchObject({ path: "script/f/a/rows", isAutomatic: true });
  expect(evaluateExpression("`${bg_0.result.length} rows`;", { bg_0: { result: [1, 2] } })).toBe("2 rows");
});

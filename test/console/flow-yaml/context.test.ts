/** Completion of a flow's YAML: what is valid at the cursor. */
import { expect, test } from "bun:test";
import { findCursorPosition, listCompletions } from "../../../src/console/pages/scripts/flow/yaml/context.ts";
import { readFlow } from "../../../src/console/pages/scripts/flow/yaml/problems.ts";
import { describeFlowValue, findProblems } from "../../../src/features/code/flows/value/check.ts";

const { $defs, ...value } = describeFlowValue();
const SCHEMA = {
  $defs: { ...($defs as object), Value: value },
  properties: { summary: { type: "string" }, value: { $ref: "#/$defs/Value" } },
};

/** Returns the candidates at the mark `|` of a text. */
function choices(text: string): string[] {
  const lines = text.split("\n");
  const row = lines.findIndex((line) => line.includes("|"));
  const before = lines[row]!.slice(0, lines[row]!.indexOf("|"));
  lines[row] = lines[row]!.replace("|", "");
  return listCompletions(SCHEMA, findCursorPosition(lines, row, before)).map(({ label }) => label);
}

test("offered keys are those of the position, without existing ones", () => {
  expect(choices("|")).toEqual(["summary", "value"]);
  expect(choices("summary: x\n|")).toEqual(["value"]);
  const options = choices("value:\n  modules: []\n  |");
  expect(options).toContain("failure_module");
  expect(options).not.toContain("modules");
});

test.each([
  ["value:\n  modules:\n    - id: a\n      |"],
  ["value:\n  modules:\n  - id: a\n    |"],
  ["value:\n  modules:\n    - id: a\n      value:\n        type: identity\n      |"],
  ["value:\n  modules:\n    - id: x\n    - |"],
])("steps of a list: %j", (text) => {
  expect(choices(text)).toContain("retry");
});

test("a step has the fields of its kind, at any depth", () => {
  const loop =
    "value:\n  modules:\n    - id: a\n      value:\n        type: forloopflow\n        modules:\n          - id: b\n            value:\n              type: rawscript\n              |";
  expect(choices(loop)).toContain("content");
  expect(choices(loop)).not.toContain("iterator");
  expect(choices("value:\n  modules:\n    - id: a\n      value:\n        type: |")).toContain("branchone");
  expect(choices("value:\n  same_worker: |")).toEqual(["true", "false"]);
});

test("a problem is at its line, a missing field at its parent's", () => {
  const text =
    "value:\n  modules:\n    - id: a\n      value:\n        type: nothing\n    - value: { type: flow }\n";
  const read = readFlow(text);
  expect(read.problems).toEqual([]);
  const lines = findProblems(read.flow.value).map((problem) => read.place(problem).line);
  expect(lines).toEqual([5, 6]);
  expect(readFlow("value: [").problems[0]).toMatchObject({ isRefused: true, line: 1 });
  expect(readFlow("- a").problems).toHaveLength(1);
  expect(readFlow("value: {modules: []}\ntag: x").problems[0]).toMatchObject({ line: 2 });
});

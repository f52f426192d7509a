/** Any typed text is parsed without an exception, and its numbers keep their digits. */
import { expect, test } from "bun:test";
import { readFlow } from "../../../src/console/pages/scripts/flow/yaml/problems.ts";

test.each([
  "value: *x",
  "+x: 1\nvalue: {}",
  "(x: 1",
  '"my key": 1\nvalue: {}',
  "a: [",
  "- 1",
  "",
  "? {a: 1}\n: 2",
])("%j is reported with its problem", (text) => {
  const { problems } = readFlow(text);
  expect(problems.length).toBeGreaterThan(0);
  for (const { from, line } of problems) expect([from >= 0, line > 0]).toEqual([true, true]);
});

test("numbers keep their digits, and an unknown field is reported at its position", () => {
  const { flow, problems } = readFlow(
    "summary: x\nmy key: 1\nvalue: { large: 9007199254740993, small: 7, half: 0.5 }\n",
  );
  expect(flow.value).toEqual({ large: 9007199254740993n, small: 7, half: 0.5 });
  expect(problems.map(({ line }) => line)).toEqual([2]);
});

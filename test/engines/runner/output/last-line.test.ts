import { expect, test } from "bun:test";
import { ChildOutput } from "../../../../src/engines/runner/output/child-output.ts";

function lastLineOf(pieces: string[]): string {
  const output = new ChildOutput();
  output.begin({ onLog: () => {}, onStream: () => {}, max_bytes: 100, keep_last_line: true }, 1);
  for (const piece of pieces) output.push(1, new TextEncoder().encode(piece));
  return output.lastStdoutLine;
}

test.each([
  [[], ""],
  [["one"], "one"],
  [["one\n"], "one"],
  [["one\ntwo\n\n"], "two"],
  [["one\n", "two"], "two"],
  [["one\n  ", "two"], "  two"],
  [["one\n", "  \n", "\n"], "one"],
  [["on", "e\n", "\n", "tw", "o"], "two"],
  [["\n\n", "one", "\n \n"], "one"],
  [["one\ntw", "o\n", "th", "ree \n\n"], "three"],
])("the last line of %j is %j", (pieces, line) => {
  expect(lastLineOf(pieces)).toBe(line);
});

test("of an endless line, the end is kept", () => {
  const piece = "a".repeat(1 << 20);
  const kept = lastLineOf([...Array.from({ length: 40 }, () => piece), "the end"]);
  expect([kept.length >= 8_000_000 && kept.length < 17_000_000, kept.endsWith("athe end")]).toEqual([
    true,
    true,
  ]);
});

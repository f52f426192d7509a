/** Parses the output of `bun test`. */
import { expect, test } from "bun:test";
import { createResultReader } from "./results.ts";

function readAll(...streams: string[][]) {
  const { results, createStreamReader } = createResultReader();
  const readers = streams.map((pieces) => ({ pieces, reader: createStreamReader() }));
  for (const { pieces, reader } of readers) for (const piece of pieces) reader.read(piece);
  for (const { reader } of readers) reader.end();
  return results;
}

test("results are counted, and a failure belongs to its file", () => {
  const results = readAll([
    "test/a.test.ts:\n(pass) one [1ms]\nerror: no\n(fa",
    "il) two [2ms]\n(skip) three\nRan 3 tests across 1 file. [5ms]\n",
  ]);
  expect(results).toMatchObject({
    passed: 1,
    failed: 1,
    skipped: 1,
    is_complete: true,
    has_stray_error: false,
  });
  expect([...results.failed_files.keys()]).toEqual(["test/a.test.ts"]);
  expect(results.failures).toEqual(["test/a.test.ts:\nerror: no\n(fail) two [2ms]"]);
});

test("a failure that is repeated at the end is not one of the last file", () => {
  const results = readAll([
    "test/a.test.ts:\n(fail) two [2.50ms]\ntest/b.test.ts:\n(pass) one [1ms]\n\n1 tests failed:\n(fail) two [2.50ms]\n",
  ]);
  expect([results.failed, results.failures.length, [...results.failed_files.keys()]]).toEqual([
    1,
    1,
    ["test/a.test.ts"],
  ]);
});

test("output without a final newline hides no result of the other stream", () => {
  const results = readAll(["x"], ["test/a.test.ts:\n(fail) two [2ms]\n"]);
  expect(results.failed).toBe(1);
});

test("a last line counts without its newline", () => {
  expect(readAll(["test/a.test.ts:\n(fail) two [2ms]"]).failed).toBe(1);
});

test("a run that was stopped early is not complete", () => {
  expect(readAll(["test/a.test.ts:\n(pass) one [1ms]\n"]).is_complete).toBe(false);
});

test("a failure before any file is named belongs to no file", () => {
  expect(readAll(["(fail) two [2ms]\n"]).has_stray_error).toBe(true);
});

/** Summaries of sandboxes, as they are stored and read. */
import { describe, expect, test } from "bun:test";
import { describeSandbox } from "../../../../src/engines/runner/sandbox/describe.ts";
import { abbreviateIsolation, expandIsolation } from "../../../../src/features/runs/job/isolation.ts";

const own = { range: { first: 70_000, count: 100 } } as never;

describe("a summary is read as it was given", () => {
  const cases: [what: string, summary: string | null][] = [
    ["none", null],
    [
      "of all walls",
      describeSandbox({ landlock: 7, seccomp: true } as never, { mode: "auto", ports: [80] } as never, own),
    ],
    [
      "of bwrap",
      describeSandbox(
        { landlock: 3, seccomp: true } as never,
        { mode: "bwrap", ports: [80] } as never,
        undefined,
      ),
    ],
    [
      "with a reason",
      describeSandbox(
        { landlock: 0, seccomp: false, missing: "a, b" } as never,
        { mode: "auto" } as never,
        undefined,
      ),
    ],
    ["of another program", "none at all"],
    ["that looks abbreviated", "~7ucl"],
    ["empty", ""],
  ];
  test.each(cases)("%s", (_, summary) => {
    expect(expandIsolation(abbreviateIsolation(summary))).toBe(summary);
  });
});

test("that of an ordinary server takes a few bytes; one stored whole is read too", () => {
  const summary = "files (Landlock 7), own user ids, system calls, local sockets, signals, limits";
  expect(abbreviateIsolation(summary)).toBe("~7ucsgl");
  expect(expandIsolation(summary)).toBe(summary);
});

/** Loops and branches of flows, sequential and parallel. */
import { describe, expect, test } from "bun:test";
import { js, result, script, setUpFlowRuns } from "./flow-runs-setup.ts";

setUpFlowRuns();

describe("loops and branches", () => {
  const loop = (value: object, more: object = {}) => ({
    id: "l",
    value: { type: "forloopflow", iterator: js("flow_input.items"), skip_failures: false, ...value },
    ...more,
  });
  const inner = script("i", "export const main = (v: number) => v * v", { v: js("flow_input.iter.value") });

  test.each([
    ["one after the other", {}],
    ["in parallel", { parallel: true }],
    ["in parallel, two at a time", { parallel: true, parallelism: 2 }],
  ])("a loop %s", async (_, options) => {
    expect(await result([loop({ modules: [inner], ...options })], { items: [1, 2, 3, 4, 5] })).toEqual([
      1, 4, 9, 16, 25,
    ]);
    const two = [
      inner,
      script("j", "export const main = (r: number, n: number) => [r, n]", {
        r: js("results.i"),
        n: js("flow_input.iter.index"),
      }),
    ];
    expect(await result([loop({ modules: two, ...options })], { items: [3, 4] })).toEqual([
      [9, 0],
      [16, 1],
    ]);
  });

  test("failures in a loop end it, or are skipped", async () => {
    const odd = script(
      "i",
      "export const main = (v: number) => { if (v % 2) throw new Error('odd ' + v); return v }",
      {
        v: js("flow_input.iter.value"),
      },
    );
    const items = [2, 3, 4];
    const failed = await result([loop({ modules: [odd] })], { items });
    expect(failed).toEqual([2, { error: expect.objectContaining({ message: "odd 3", step_id: "i" }) }]);
    expect(await result([loop({ modules: [odd], skip_failures: true })], { items })).toEqual([2, null, 4]);
    expect(await result([loop({ modules: [odd], skip_failures: true, parallel: true })], { items })).toEqual([
      2,
      null,
      4,
    ]);
  });

  test("a while loop, until its step stops it", async () => {
    const step = script(
      "w",
      "export const main = (i: number) => i",
      { i: js("flow_input.iter.index") },
      {
        stop_after_if: { expr: "result >= 3", skip_if_stopped: false },
      },
    );
    expect(
      await result([{ id: "l", value: { type: "whileloopflow", modules: [step], skip_failures: false } }]),
    ).toEqual([0, 1, 2, 3]);
  });

  test("branches: the first whose condition is true, the default, or all", async () => {
    const say = (id: string, text: string) => script(id, `export const main = () => ${JSON.stringify(text)}`);
    const one = {
      id: "b",
      value: {
        type: "branchone",
        branches: [
          { expr: "flow_input.n > 10", modules: [say("big", "big")] },
          { expr: "flow_input.n > 5", modules: [say("middle", "middle")] },
        ],
        default: [say("small", "small")],
      },
    };
    for (const [n, text] of [
      [20, "big"],
      [7, "middle"],
      [1, "small"],
    ]) {
      expect(await result([one], { n })).toBe(text);
    }
    for (const parallel of [true, false]) {
      const all = {
        id: "b",
        value: {
          type: "branchall",
          parallel,
          branches: [
            { modules: [say("x", "x")] },
            {
              modules: [script("f", "export const main = () => { throw new Error('boom') }")],
              skip_failure: true,
            },
            { modules: [say("y", "y")] },
          ],
        },
      };
      expect(await result([all])).toMatchObject(["x", { error: { message: "boom", step_id: "f" } }, "y"]);
    }
  });
});

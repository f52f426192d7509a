/** Flows that are canceled, interrupted, limited or in conflict with each other. */
import { describe, expect, test } from "bun:test";
import { expectOk, until } from "../../support/harness.ts";
import {
  ask,
  count,
  createStaticInput,
  ended,
  identity,
  jobs,
  js,
  listNumbers,
  loop,
  push,
  SQUARE_STEP,
  script,
  setUpFlowLife,
  start,
  unfinished,
} from "./flow-life-setup.ts";

setUpFlowLife();

async function result(path: string, args: object = {}): Promise<any> {
  return (await expectOk(ask("POST", `${jobs}/run_wait_result/f/${path}`, args))).json();
}

describe("loops of steps without a process", () => {
  test.each([5, 2_500])(
    "%i identities at once",
    async (many) => {
      const items = listNumbers(many);
      const path = await push([loop("l", [identity("i")], { parallel: true })]);
      expect((await result(path, { items })).length).toBe(many);
      const nested = await push([
        loop("l", [{ id: "b", value: { type: "branchone", branches: [], default: [SQUARE_STEP] } }]),
      ]);
      expect(await result(nested, { items: items.slice(0, 3) })).toEqual([0, 1, 4]);
    },
    60_000,
  );

  test("a loop with too many frames for one transaction continues in further ones", async () => {
    const empty = { id: "b", value: { type: "branchone", branches: [], default: [identity("x")] } };
    const path = await push([loop("l", [empty, identity("y")])]);
    const all = await result(path, { items: listNumbers(700) });
    expect(all.length).toBe(700);
  }, 60_000);

  test("an endless one can be canceled, and others continue meanwhile", async () => {
    const path = await push([
      { id: "w", value: { type: "whileloopflow", skip_failures: false, modules: [identity("i")] } },
    ]);
    const id = await start(path);
    expect(await result(await push([script("a", "export const main = () => 1")]))).toBe(1);
    await expectOk(ask("POST", `${jobs}_u/queue/cancel/${id}`, {}));
    expect(await ended(id)).toMatchObject({ success: false, canceled: true });
    await until(async () => ((await unfinished(id)) === 0 ? true : undefined));
  }, 60_000);
});

/** Returns the first error in the result of a failed loop. */
function errorIn(result: any): any {
  return Array.isArray(result) ? errorIn(result.find(Boolean)) : result.error;
}

describe("a flow that calls itself", () => {
  const call = (path: string) => ({
    id: "again",
    value: { type: "flow", path, input_transforms: { items: js("flow_input.items") } },
  });
  const either = (inside: object) => ({
    id: "b",
    value: { type: "branchone", branches: [{ expr: "true", modules: [inside] }], default: [] },
  });
  const WAYS: [name: string, modules: (path: string) => object[], says: string][] = [
    ["in a branch", (path) => [either(call(path))], "flows call each other 50 deep"],
    ["once an iteration", (path) => [loop("l", [call(path)])], "flows call each other 50 deep"],
    [
      "in many iterations at once",
      (path) => [loop("l", [call(path)], { parallel: true, skip_failures: true })],
      "calls itself, and 1000 of its runs inside of each other are under way",
    ],
  ];

  test.each(WAYS)(
    "%s fails",
    async (_, modules, says) => {
      const path = `u/admin/flow_${count + 1}`;
      await push(modules(path));
      const id = await start(path, { items: [1, 2, 3] });
      const { success, result } = await ended(id);
      const { name, step_id, message } = errorIn(result);
      expect([success, name, step_id]).toEqual([false, "RecursionError", "again"]);
      expect(message).toContain(says);
      await until(async () => ((await unfinished(id)) === 0 ? true : undefined));
    },
    60_000,
  );

  test("an indirect one fails", async () => {
    const [one, other] = [`u/admin/flow_${count + 1}`, `u/admin/flow_${count + 2}`];
    await push([call(other)]);
    await push([call(one)]);
    expect((await ended(await start(one))).result.error).toMatchObject({
      name: "RecursionError",
      step_id: "again",
    });
  });
});

test("many concurrent flows, each with loops, branches and sleeps, complete correctly", async () => {
  const path = await push([
    script(
      "a",
      "export const main = (n: number) => n + 1",
      { n: js("flow_input.n") },
      { sleep: createStaticInput(0.05) },
    ),
    loop(
      "l",
      [
        script("i", "export const main = (v: number, a: number) => v + a", {
          v: js("flow_input.iter.value"),
          a: js("results.a"),
        }),
      ],
      { parallel: true },
    ),
    {
      id: "b",
      value: {
        type: "branchall",
        parallel: true,
        branches: [{ modules: [identity("x")] }, { modules: [identity("y")] }],
      },
    },
    script("e", "export const main = (l: number[], b: unknown[]) => [l.reduce((a, b) => a + b), b.length]", {
      l: js("results.l"),
      b: js("results.b"),
    }),
  ]);
  const items = listNumbers(8);
  const answers = await Promise.all(listNumbers(30).map((n) => result(path, { n, items })));
  expect(answers).toEqual(listNumbers(30).map((n) => [28 + 8 * (n + 1), 2]));
}, 60_000);

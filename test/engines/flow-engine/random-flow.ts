/** Random flows with every option of the engine, small and many. */
import fc from "fast-check";
import type { FlowModule, InputTransform } from "../../../src/engines/flow-engine/types.ts";

/**
 * Conditions of the random flows. The last one cannot be evaluated in the first iteration of an outermost
 * loop.
 */
const CONDITIONS = [
  "true",
  "false",
  "flow_input.iter?.index === 1",
  "flow_input.iter?.index === 0 && !flow_input.iter.iter ? no.such : false",
];

const condition = fc.constantFrom(...CONDITIONS);
const nothing = fc.constant(undefined);
const rarely = <T>(arbitrary: fc.Arbitrary<T>) => fc.oneof({ arbitrary: nothing, weight: 9 }, arbitrary);
const sometimes = <T>(arbitrary: fc.Arbitrary<T>) => fc.oneof({ arbitrary: nothing, weight: 2 }, arbitrary);

const stop = fc
  .tuple(condition, fc.constantFrom({}, { skip_if_stopped: true }, { error_message: "enough" }))
  .map(([expr, kind]) => ({ expr, ...kind }));
const attempts = fc.integer({ min: 1, max: 2 });

const options = fc.record({
  skip_if: rarely(fc.record({ expr: condition })),
  stop_after_if: rarely(stop),
  stop_after_all_iters_if: rarely(stop),
  continue_on_error: sometimes(fc.constant(true)),
  retry: sometimes(fc.record({ constant: fc.record({ attempts, seconds: fc.constant(1) }) })),
  sleep: rarely(fc.constant<InputTransform>({ type: "static", value: 2 })),
  mock: rarely(fc.constant({ enabled: true, return_value: 5 })),
  suspend: rarely(fc.record({ continue_on_disapprove_timeout: fc.boolean(), timeout: fc.constant(60) })),
});

type Bare = Omit<FlowModule, "id">;

const { module } = fc.letrec<{ module: Bare; list: Bare[] }>((tie) => {
  const some = fc.array(tie("module"), { minLength: 1, maxLength: 3, size: "max" });
  const list = fc.oneof({ arbitrary: some, weight: 9 }, fc.constant<Bare[]>([]));
  const inputs = rarely(condition).map((expr) => (expr ? { x: { type: "javascript", expr } } : {}));
  const leaf = inputs.map((input_transforms) => ({ type: "script", path: "f/test/a", input_transforms }));
  const forLoop = fc.record({
    type: fc.constant("forloopflow"),
    modules: list,
    iterator: fc.integer({ min: 0, max: 3 }).map((n) => ({ type: "static", value: Array(n).fill("x") })),
    skip_failures: fc.boolean(),
    parallel: fc.boolean(),
    parallelism: rarely(fc.integer({ min: 1, max: 2 })),
  });
  // Its first step ensures that it ends.
  const whileLoop = fc.record({
    type: fc.constant("whileloopflow"),
    modules: list.map((modules) => [guard, ...modules]),
    skip_failures: fc.boolean(),
  });
  const branch = fc.record({ modules: list, expr: condition, skip_failure: fc.boolean() });
  const branches = fc.array(branch, { maxLength: 3, size: "max" });
  const one = fc.record({ type: fc.constant("branchone"), branches, default: list });
  const all = fc.record({ type: fc.constant("branchall"), branches, parallel: fc.boolean() });
  const value = fc.oneof(
    { depthIdentifier: "nesting", maxDepth: 3, withCrossShrink: true },
    { arbitrary: leaf, weight: 3 },
    forLoop,
    forLoop,
    whileLoop,
    one,
    all,
  );
  const bare = fc.tuple(value, options).map(([given, chosen]) => ({ value: given, ...chosen }) as Bare);
  // A plain step alone in a loop has its own code path.
  const plain = leaf.map((given) => ({ value: given }) as Bare);
  return { module: fc.oneof({ arbitrary: bare, weight: 3 }, plain), list };
});

const guard: Bare = {
  value: { type: "script", path: "f/test/guard", input_transforms: {} },
  stop_after_if: { expr: "flow_input.iter?.index >= 2" },
};

/** Gives each step an id, and omits undefined fields, as flows are stored. */
function named(list: Bare[], counter = { next: 0 }): FlowModule[] {
  return list.map((bare) => {
    const id = `s${counter.next++}`;
    const value = structuredClone(bare.value) as FlowModule["value"];
    if ("modules" in value) value.modules = named(value.modules, counter);
    if ("branches" in value) for (const each of value.branches) each.modules = named(each.modules, counter);
    if ("default" in value) value.default = named(value.default, counter);
    return JSON.parse(JSON.stringify({ ...bare, id, value })) as FlowModule;
  });
}

export const randomFlow = fc
  .array(module, { minLength: 1, maxLength: 5, size: "max" })
  .map((list) => named(list));

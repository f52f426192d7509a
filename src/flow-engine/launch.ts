/** Beginning a module: a leaf becomes a job, a loop its first iterations, a branch a nested frame. */
import type { Body, Extra, Iter, ModuleState, Move, ResultRef } from "./state.ts";
import type { FlowModule, ForLoop } from "./types.ts";
import { argsOf, fault, named, transformed } from "./values.ts";

/** Iterations of a parallel loop that are in the queue at once when the flow sets no `parallelism`. */
const MAX_IN_FLIGHT = 256;

/**
 * @param extra names that the module's expressions see beside those of the frame
 * @returns the module's result when there is nothing to run
 * @throws what an expression throws
 */
export async function launch(
  move: Move,
  module: FlowModule,
  own: ModuleState,
  extra: Extra = {},
): Promise<ResultRef | undefined> {
  const { value, mock } = module;
  if (mock?.enabled) {
    const identity: FlowModule = { id: module.id, value: { type: "identity" } };
    return run(move, own, identity, (mock.return_value ?? null) as Record<string, unknown>);
  }
  switch (value.type) {
    case "rawscript":
    case "script":
    case "flow":
      return run(move, own, module, await argsOf(move, value.input_transforms, extra));
    case "identity": {
      const { previous } = move.state;
      const input = previous ? await move.env.resolve(previous) : await move.env.evaluate("flow_input", {});
      return run(move, own, module, input as Record<string, unknown>);
    }
    case "forloopflow":
      return launchForLoop(move, module, value, own);
    case "whileloopflow":
      own.many = { total: undefined, started: 0, running: 0 };
      if (value.modules.length === 0) return { value: [] };
      await nextIteration(move, module, own);
      return;
    case "branchone": {
      for (const [branch, { expr }] of value.branches.entries()) {
        if (!(await move.env.evaluate(expr, extra))) continue;
        own.branch_chosen = { type: "branch", branch };
        return nested(move, module, own, { of: "branch", branch }, value.branches[branch]!.modules);
      }
      own.branch_chosen = { type: "default" };
      return nested(move, module, own, { of: "default" }, value.default);
    }
    case "branchall":
      own.many = { total: value.branches.length, started: 0, running: 0 };
      if (value.branches.length === 0) return { value: [] };
      await nextIteration(move, module, own);
      return;
  }
}

function run(move: Move, own: ModuleState, leaf: FlowModule, args: Record<string, unknown>): undefined {
  own.job = move.env.newId();
  move.steps.push({ type: "run", job: own.job, module: leaf.id, leaf, args });
}

/** An empty branch passes on what came before it. */
function nested(
  move: Move,
  module: FlowModule,
  own: ModuleState,
  body: Body,
  modules: FlowModule[],
): ResultRef | undefined {
  const { previous } = move.state;
  if (modules.length === 0) return previous ?? { value: null };
  own.job = move.env.newId();
  move.steps.push({
    type: "frame",
    job: own.job,
    module: module.id,
    body,
    ...(previous ? { previous } : {}),
  });
  return undefined;
}

async function launchForLoop(
  move: Move,
  module: FlowModule,
  value: ForLoop,
  own: ModuleState,
): Promise<ResultRef | undefined> {
  const items = await named("iterator", () => transformed(move, value.iterator, {}));
  if (!Array.isArray(items)) {
    const what = items === null ? "null" : typeof items;
    throw fault("IteratorError", `the iterator of a loop must be an array, and is ${what}`);
  }
  own.many = { total: items.length, started: 0, running: 0 };
  if (items.length === 0 || value.modules.length === 0) {
    return { value: items.map(() => null) };
  }
  move.steps.push({ type: "items", module: module.id, items });
  await nextIteration(move, module, own, items);
  return undefined;
}

/**
 * Begins as many iterations as may run now.
 * @returns whether any runs
 */
export async function nextIteration(
  move: Move,
  module: FlowModule,
  own: ModuleState,
  items?: unknown[],
): Promise<boolean> {
  const many = own.many!;
  const most = await mostAtOnce(move, module);
  while (many.running < most && (many.total === undefined || many.started < many.total)) {
    await iteration(move, module, own, many.started, items);
    many.started++;
    many.running++;
  }
  return many.running > 0;
}

async function mostAtOnce(move: Move, { value }: FlowModule): Promise<number> {
  if (value.type === "branchall") return value.parallel ? Number.POSITIVE_INFINITY : 1;
  if (value.type !== "forloopflow" || !value.parallel) return 1;
  if (value.parallelism === undefined) return MAX_IN_FLIGHT;
  const most = Number(await transformed(move, value.parallelism, {}));
  if (!(most >= 1)) throw fault("ParallelismError", `parallelism must be at least 1, and is ${most}`);
  return Math.floor(most);
}

async function iteration(
  move: Move,
  module: FlowModule,
  own: ModuleState,
  index: number,
  items: unknown[] | undefined,
): Promise<void> {
  const { value } = module;
  own.job = move.env.newId();
  const common = { job: own.job, module: module.id, index };
  if (value.type === "branchall") {
    const { previous } = move.state;
    const body: Body = { of: "branch", branch: index };
    move.steps.push({ type: "frame", ...common, body, ...(previous ? { previous } : {}) });
    return;
  }
  const over =
    value.type === "forloopflow" ? (items ? items[index] : move.env.item(module.id, index)) : index;
  const iter: Iter = { value: over, index };
  const leaf = onlyLeaf(module);
  if (!leaf) {
    move.steps.push({ type: "frame", ...common, body: { of: "loop" }, iter });
    return;
  }
  const args =
    "input_transforms" in leaf.value
      ? await argsOf(move, leaf.value.input_transforms, { iter })
      : (over as Record<string, unknown>);
  move.steps.push({ type: "run", ...common, leaf, args });
}

/** A loop over one plain step needs no frame for each iteration. */
export function onlyLeaf({ value }: FlowModule): FlowModule | undefined {
  if (value.type !== "forloopflow" && value.type !== "whileloopflow") return undefined;
  const [leaf, ...others] = value.modules;
  if (!leaf || others.length > 0) return undefined;
  const isPlain = ["rawscript", "script", "flow", "identity"].includes(leaf.value.type);
  const { stop_after_if, skip_if, sleep, suspend, retry, mock, continue_on_error } = leaf;
  const hasOptions = [stop_after_if, skip_if, sleep, suspend, retry, mock?.enabled, continue_on_error].some(
    Boolean,
  );
  return isPlain && !hasOptions ? leaf : undefined;
}

/** Beginning a module: a leaf becomes a job, a loop its first iterations, a branch a nested frame. */
import { launchMany } from "./iterations.ts";
import type { Body, Extra, ModuleState, Move, ResultRef } from "./state.ts";
import type { BranchOne, FlowModule, ForLoop } from "./types.ts";
import { argsOf, evaluated, fault, holds, numberOf, transformed } from "./values.ts";

/** The module that runs, and as what. */
export interface Place {
  kind: "preprocessor" | "step" | "failure";
  module: FlowModule;
  own: ModuleState;
}

/** The modules of a nested frame. */
export function modulesOf({ value }: FlowModule, body: Body): FlowModule[] {
  if (body.of === "default") return value.type === "branchone" ? value.default : [];
  if (body.of === "branch") return ("branches" in value && value.branches[body.branch]?.modules) || [];
  return "modules" in value ? value.modules : [];
}

/**
 * @returns the module's result when there is nothing to run
 * @throws what an expression throws
 */
export async function launch(move: Move, place: Place): Promise<ResultRef | undefined> {
  const { module, own } = place;
  const { value, mock } = module;
  if (mock?.enabled) {
    const identity: FlowModule = { id: module.id, value: { type: "identity" } };
    return run(move, own, identity, mock.return_value ?? null);
  }
  switch (value.type) {
    case "rawscript":
    case "script":
    case "flow":
      return run(move, own, module, await leafArgs(move, place, value.input_transforms));
    case "identity":
      return run(move, own, module, await evaluated(move, "input", "previous_result"));
    case "forloopflow":
      return launchForLoop(move, module, value, own);
    case "whileloopflow":
      return launchMany(move, module, own, value.modules.length === 0 ? 0 : undefined);
    case "branchone":
      return launchBranch(move, module, value, own);
    case "branchall":
      return launchMany(move, module, own, value.branches.length);
    case "refused":
      throw fault("NotOffered", value.problem);
  }
}

async function leafArgs(
  move: Move,
  { kind }: Place,
  transforms: Parameters<typeof argsOf>[1],
): Promise<unknown> {
  // A preprocessor that names no inputs takes what the flow was called with as it is.
  if (kind === "preprocessor" && Object.keys(transforms).length === 0) {
    return evaluated(move, "input", "flow_input");
  }
  return argsOf(move, transforms, kind === "failure" ? failureScope(move) : {});
}

function failureScope({ state }: Move): Extra {
  return "error" in state ? { error: state.error } : {};
}

async function run(move: Move, own: ModuleState, leaf: FlowModule, args: unknown): Promise<undefined> {
  const timeout =
    leaf.timeout === undefined ? {} : { timeout_s: await numberOf(move, "timeout", leaf.timeout, 0) };
  own.job = move.env.newId();
  move.steps.push({ type: "run", job: own.job, module: leaf.id, leaf, args, ...timeout });
}

async function launchBranch(
  move: Move,
  module: FlowModule,
  { branches }: BranchOne,
  own: ModuleState,
): Promise<ResultRef | undefined> {
  for (const [branch, { expr }] of branches.entries()) {
    if (!(await holds(move, `condition of branch ${branch}`, expr))) continue;
    own.branch_chosen = { type: "branch", branch };
    return nested(move, module, own, { of: "branch", branch });
  }
  own.branch_chosen = { type: "default" };
  return nested(move, module, own, { of: "default" });
}

/** An empty branch passes on what came before it. */
function nested(move: Move, module: FlowModule, own: ModuleState, body: Body): ResultRef | undefined {
  const { previous } = move.state;
  if (modulesOf(module, body).length === 0) return previous ?? { value: null };
  own.job = move.env.newId();
  const before = previous ? { previous } : {};
  move.steps.push({ type: "frame", job: own.job, module: module.id, body, ...before });
  return undefined;
}

async function launchForLoop(
  move: Move,
  module: FlowModule,
  value: ForLoop,
  own: ModuleState,
): Promise<ResultRef | undefined> {
  const items = await transformed(move, "iterator", value.iterator);
  if (!Array.isArray(items)) {
    const what = items === null ? "null" : typeof items;
    throw fault("InvalidIterator", `iterator must be an array, and is ${what}`);
  }
  if (value.modules.length === 0) return { gather: module.id, of: move.env.frame, count: items.length };
  if (items.length > 0) move.steps.push({ type: "items", module: module.id, items });
  return launchMany(move, module, own, items.length, items);
}

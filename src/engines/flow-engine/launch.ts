/** Launches a module: a leaf as a job, a loop with its first iterations, a branch as a nested frame. */
import { startIterations } from "./iterations.ts";
import type { ExtraNames, ModuleState, NestedBody, ResultRef, TransitionContext } from "./state.ts";
import type { BranchOne, FlowModule, ForLoop } from "./types.ts";
import {
  createFault,
  evaluateArguments,
  evaluateCondition,
  evaluateField,
  evaluateNumber,
  evaluateTransform,
} from "./values.ts";

/** The active module and its role. */
export interface ActiveModule {
  kind: "preprocessor" | "step" | "failure";
  module: FlowModule;
  own: ModuleState;
}

/** Returns the modules of a nested frame. */
export function getBodyModules({ value }: FlowModule, body: NestedBody): FlowModule[] {
  if (body.of === "default") return value.type === "branchone" ? value.default : [];
  if (body.of === "branch") return ("branches" in value && value.branches[body.branch]?.modules) || [];
  return "modules" in value ? value.modules : [];
}

/**
 * Launches a module.
 * @returns its result if there is nothing to run
 * @throws errors of expressions
 */
export async function launchModule(
  move: TransitionContext,
  place: ActiveModule,
): Promise<ResultRef | undefined> {
  const { module, own } = place;
  const { value, mock } = module;
  if (mock?.enabled) {
    const identity: FlowModule = { id: module.id, value: { type: "identity" } };
    return emitRun(move, own, identity, mock.return_value ?? null);
  }
  switch (value.type) {
    case "rawscript":
    case "script":
    case "flow":
      return emitRun(move, own, module, await evaluateLeafArguments(move, place, value));
    case "identity":
      return emitRun(move, own, module, await evaluateField(move, "input", "previous_result"));
    case "forloopflow":
      return launchForLoop(move, module, value, own);
    case "whileloopflow":
      return startIterations(move, module, own, value.modules.length === 0 ? 0 : undefined);
    case "branchone":
      return launchBranch(move, module, value, own);
    case "branchall":
      return startIterations(move, module, own, value.branches.length);
    case "refused":
      throw createFault("NotOffered", value.problem);
  }
}

async function evaluateLeafArguments(
  move: TransitionContext,
  { kind }: ActiveModule,
  value: Parameters<typeof evaluateArguments>[1],
): Promise<unknown> {
  // A preprocessor without input transforms gets the flow's input unchanged.
  if (kind === "preprocessor" && Object.keys(value.input_transforms).length === 0) {
    return evaluateField(move, "input", "flow_input");
  }
  return evaluateArguments(move, value, kind === "failure" ? failureScope(move) : {});
}

function failureScope({ state }: TransitionContext): ExtraNames {
  return "error" in state ? { error: state.error } : {};
}

async function emitRun(
  move: TransitionContext,
  own: ModuleState,
  leaf: FlowModule,
  args: unknown,
): Promise<undefined> {
  const timeout =
    leaf.timeout === undefined ? {} : { timeout_s: await evaluateNumber(move, "timeout", leaf.timeout, 0) };
  own.job = move.env.newId();
  move.commands.push({ type: "run", job: own.job, module: leaf.id, leaf, args, ...timeout });
}

async function launchBranch(
  move: TransitionContext,
  module: FlowModule,
  { branches }: BranchOne,
  own: ModuleState,
): Promise<ResultRef | undefined> {
  for (const [branch, { expr }] of branches.entries()) {
    if (!(await evaluateCondition(move, `condition of branch ${branch}`, expr))) continue;
    own.branch_chosen = { type: "branch", branch };
    return startNestedFrame(move, module, own, { of: "branch", branch });
  }
  own.branch_chosen = { type: "default" };
  return startNestedFrame(move, module, own, { of: "default" });
}

/** Starts a nested frame; an empty branch returns the previous result. */
function startNestedFrame(
  move: TransitionContext,
  module: FlowModule,
  own: ModuleState,
  body: NestedBody,
): ResultRef | undefined {
  const { previous } = move.state;
  if (getBodyModules(module, body).length === 0) return previous ?? { value: null };
  own.job = move.env.newId();
  const before = previous ? { previous } : {};
  move.commands.push({ type: "frame", job: own.job, module: module.id, body, ...before });
  return undefined;
}

async function launchForLoop(
  move: TransitionContext,
  module: FlowModule,
  value: ForLoop,
  own: ModuleState,
): Promise<ResultRef | undefined> {
  const items = await evaluateTransform(move, "iterator", value.iterator);
  if (!Array.isArray(items)) {
    const what = items === null ? "null" : typeof items;
    throw createFault("InvalidIterator", `iterator must be an array, and is ${what}`);
  }
  if (value.modules.length === 0)
    return { gather: module.id, of: move.env.frame_job_id, count: items.length };
  if (items.length > 0) move.commands.push({ type: "items", module: module.id, items });
  return startIterations(move, module, own, items.length, items);
}

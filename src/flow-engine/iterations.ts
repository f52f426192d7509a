/** Iterations of a loop and branches that all run: which may begin, and what the end of one means for the others. */
import type { Body, Failure, FrameEvent, Iter, ModuleState, Move, ResultRef } from "./state.ts";
import type { FlowModule, FlowModuleValue } from "./types.ts";
import { argsOf, errorValue, evaluated, fault, holds, numberOf, tried } from "./values.ts";

/** However large `parallelism` is: the state of the frame, written at each end, names each that runs. */
const MOST_AT_ONCE = 1_000;

export type ChildEvent = Extract<FrameEvent, { type: "child" }>;

/** How the module as a whole has ended. */
export type Verdict = { result: ResultRef } | { failed: Failure };

export function isGood({ status }: ChildEvent): boolean {
  return status === "success" || status === "skipped";
}

/** Who canceled a job does not want to see it again: nothing around it is tried again either, at any height. */
export function wasCanceled({ status, canceled }: ChildEvent): boolean {
  return status === "canceled" || canceled === true;
}

/** A loop whose iterations come one after the other can be left between two of them. */
export function isSequentialLoop(value: FlowModuleValue): boolean {
  return value.type === "whileloopflow" || (value.type === "forloopflow" && !value.parallel);
}

/** @returns the module's result when there is nothing to run. @throws what an expression throws */
export async function launchMany(
  move: Move,
  module: FlowModule,
  own: ModuleState,
  total: number | undefined,
  items?: unknown[],
): Promise<ResultRef | undefined> {
  if (total === 0) return { value: [] };
  const most = await mostAtOnce(move, module.value);
  own.many = { ...(total === undefined ? {} : { total }), most, started: 0, running: {} };
  await launchNext(move, module, own, items);
  return undefined;
}

async function mostAtOnce(move: Move, value: FlowModuleValue): Promise<number> {
  if (value.type === "branchall") return value.parallel ? value.branches.length : 1;
  if (value.type !== "forloopflow" || !value.parallel) return 1;
  if (value.parallelism === undefined) return move.env.atOnce;
  const most = await numberOf(move, "parallelism", value.parallelism, 1);
  return Math.min(Math.floor(most), MOST_AT_ONCE);
}

/** Begins as many as may run now. */
async function launchNext(
  move: Move,
  module: FlowModule,
  own: ModuleState,
  items?: unknown[],
): Promise<void> {
  const many = own.many!;
  let free = many.most - Object.keys(many.running).length;
  for (; free > 0 && many.started < (many.total ?? Number.POSITIVE_INFINITY); free--) {
    const index = many.started++;
    const job = move.env.newId();
    await launchOne(move, module, index, job, items);
    many.running[index] = job;
    own.job = job;
  }
}

async function launchOne(
  move: Move,
  module: FlowModule,
  index: number,
  job: string,
  items: unknown[] | undefined,
): Promise<void> {
  const { value } = module;
  const common = { job, module: module.id, index };
  if (value.type === "branchall") {
    const { previous } = move.state;
    const body: Body = { of: "branch", branch: index };
    move.steps.push({ type: "frame", ...common, body, ...(previous ? { previous } : {}) });
    return;
  }
  const element = () => (items ? items[index] : move.env.item(module.id, index));
  const iter: Iter = { value: value.type === "forloopflow" ? element() : index, index };
  const leaf = onlyLeaf(module);
  const begun = leaf && (await tried(move, leaf.id, () => runInLoop(move, leaf, iter)));
  if (begun && "value" in begun) {
    move.steps.push({ type: "run", ...common, leaf, ...begun.value });
    return;
  }
  // An input that cannot be evaluated fails in a frame of its own: an iteration that fails like any other.
  const fault = begun && { fault: begun.error };
  move.steps.push({ type: "frame", ...common, body: { of: "loop" }, iter, ...fault });
}

/** A loop over one plain step needs no frame for each iteration. */
export function onlyLeaf({ value }: FlowModule): FlowModule | undefined {
  if (value.type !== "forloopflow" && value.type !== "whileloopflow") return undefined;
  const [leaf, ...others] = value.modules;
  if (!leaf || others.length > 0) return undefined;
  const isPlain = ["rawscript", "script", "flow", "identity"].includes(leaf.value.type);
  const { stop_after_if, skip_if, suspend, retry, mock, continue_on_error } = leaf;
  const hasOptions = [stop_after_if, skip_if, suspend, retry, mock?.enabled, continue_on_error].some(Boolean);
  return isPlain && !hasOptions ? leaf : undefined;
}

async function runInLoop(
  move: Move,
  { value, timeout }: FlowModule,
  iter: Iter,
): Promise<{ args: unknown; timeout_s?: number }> {
  const args =
    "input_transforms" in value
      ? await argsOf(move, value.input_transforms, { iter })
      : await evaluated(move, "input", "flow_input", { iter });
  if (timeout === undefined) return { args };
  return { args, timeout_s: await numberOf(move, "timeout", timeout, 0, { iter }) };
}

/** @returns nothing while iterations or branches of the module still run */
export async function oneEnded(
  move: Move,
  module: FlowModule,
  own: ModuleState,
  event: ChildEvent,
): Promise<Verdict | undefined> {
  const many = own.many!;
  const { job, index } = event;
  delete many.running[index!];
  if (!isGood(event) && !skipsFailure(module.value, index!)) {
    const canceled = wasCanceled(event);
    fail(move, own, { job, error: errorOf(module, event), final: canceled, canceled });
  } else if (!many.stopping) {
    const leaves = await tried(move, module.id, () => leavesLoop(move, module, event));
    if ("error" in leaves) fail(move, own, { job, error: leaves.error, final: true });
    else if (leaves.value) many.stopping = true;
  }
  if (!many.stopping) await launchNext(move, module, own);
  if (Object.keys(many.running).length > 0) return undefined;
  const { failed } = many;
  delete many.failed;
  if (failed) return { failed };
  return { result: { gather: module.id, of: move.env.frame, count: many.started } };
}

function errorOf(module: FlowModule, event: ChildEvent): unknown {
  return errorValue(event.result, onlyLeaf(module)?.id ?? module.id);
}

/** The first failure ends the module: what runs beside it is stopped. */
function fail(move: Move, { id, many }: ModuleState, failure: Failure): void {
  if (!many || many.failed) return;
  many.failed = failure;
  many.stopping = true;
  if (Object.keys(many.running).length > 0) move.steps.push({ type: "cancel", module: id });
}

function skipsFailure(value: FlowModuleValue, index: number): boolean {
  if (value.type === "branchall") return value.branches[index]?.skip_failure ?? false;
  return "skip_failures" in value && value.skip_failures;
}

/** A loop is left by its own condition, asked after each iteration, or by one inside its body. */
async function leavesLoop(move: Move, module: FlowModule, event: ChildEvent): Promise<boolean> {
  if (!isSequentialLoop(module.value)) return false;
  // What a leaf tells of itself is not about this loop: a flow that it runs was stopped, and has ended.
  if (event.stopped && !onlyLeaf(module)) return true;
  const stop = module.stop_after_if;
  if (!stop) return false;
  const result = isGood(event) ? { job: event.job } : { value: errorOf(module, event) };
  if (!(await holds(move, "stop_after_if", stop.expr, { result }))) return false;
  if (stop.error_message && !stop.skip_if_stopped) throw fault("StoppedEarly", stop.error_message);
  return true;
}

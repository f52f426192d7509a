/** Iterations of a loop and branches that all run: which may begin, and what the end of one means for the others. */
import type { Body, Failure, FrameEvent, Iter, Many, ModuleState, Move, ResultRef } from "./state.ts";
import type { FlowModule, FlowModuleValue } from "./types.ts";
import { argsOf, errorValue, evaluated, fault, holds, numberOf, tried } from "./values.ts";

/** However large `parallelism` is: the state of the frame, written at each end, names each that runs. */
const MOST_AT_ONCE = 1_000;

export type ChildEvent = Extract<FrameEvent, { type: "child" }>;

/** How the module as a whole has ended. */
export type Verdict =
  | { result: ResultRef; stopped?: "success" | "skipped" }
  | { failed: Failure; result?: ResultRef };

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

/** One after the other: the first failure is the last one to begin. Of what runs at once, all run to their end. */
function runsInOrder(value: FlowModuleValue): boolean {
  return value.type === "branchall" ? !value.parallel : isSequentialLoop(value);
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
  const { value } = module;
  const many = own.many!;
  const { job } = event;
  const index = event.index!;
  delete many.running[index];
  if (!isGood(event) && !skipsFailure(value, index)) {
    const canceled = wasCanceled(event);
    fail(many, { index, job, error: errorOf(module, event), final: canceled, canceled });
    if (runsInOrder(value)) many.stopping = true;
  } else if (!many.stopping) {
    const leaves = await tried(move, module.id, () => leavesLoop(move, module, event));
    if ("error" in leaves) fail(many, { index, job, error: leaves.error, final: true, own: true });
    if ("error" in leaves || leaves.value) many.stopping = true;
  }
  if (value.type === "branchall" && event.stopped) stop(many, value, event);
  if (!many.stopping) await launchNext(move, module, own);
  if (Object.keys(many.running).length > 0) return undefined;
  const { failed, stopped, started: count } = many;
  delete many.failed;
  delete many.stopped;
  const all = { gather: module.id, of: move.env.frame, count };
  if (!failed) return { result: all, ...(stopped ? { stopped: stopped.status } : {}) };
  if (failed.own) return { failed };
  const but = Array.from({ length: count }, (_, at) => at).filter((at) => skipsFailure(value, at));
  return {
    failed,
    result: { ...all, failures: { step: leafId(module), but, index: failed.index, error: failed.error } },
  };
}

function errorOf(module: FlowModule, event: ChildEvent): unknown {
  return errorValue(event.result, leafId(module));
}

/** Which step the error of an iteration or a branch is said to be of, unless it says so itself. */
function leafId(module: FlowModule): string {
  return onlyLeaf(module)?.id ?? module.id;
}

function fail(many: Many, failure: Failure): void {
  const { failed = failure } = many;
  const counts = failure.index < failed.index ? failure : failed;
  const canceled = Boolean(failed.canceled || failure.canceled);
  many.failed = { ...counts, final: failed.final || failure.final, canceled };
}

/** A condition in a branch stops the flow: branches that have not begun do not begin. */
function stop(many: Many, value: FlowModuleValue, { index, status }: ChildEvent): void {
  if (runsInOrder(value)) many.stopping = true;
  if (many.stopped && many.stopped.index < index!) return;
  many.stopped = { index: index!, status: status === "skipped" ? "skipped" : "success" };
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

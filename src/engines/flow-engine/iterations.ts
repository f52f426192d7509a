/** Iterations of loops and branches that all run: which ones may start, and the effect of each end. */
import type {
  FrameEvent,
  Iteration,
  IterationFailure,
  Iterations,
  ModuleState,
  NestedBody,
  ResultRef,
  TransitionContext,
} from "./state.ts";
import type { FlowModule, FlowModuleValue } from "./types.ts";
import {
  captureError,
  createFault,
  evaluateArguments,
  evaluateCondition,
  evaluateField,
  evaluateNumber,
  toErrorValue,
} from "./values.ts";

/** Upper limit of `parallelism`: the frame's state, stored after each end, lists all running iterations. */
const MAX_PARALLELISM = 1_000;

export type ChildEvent = Extract<FrameEvent, { type: "child" }>;

/** Outcome of the whole module. */
export type IterationsOutcome =
  | { result: ResultRef; stopped?: "success" | "skipped" }
  | { failed: IterationFailure; result?: ResultRef };

export function isSuccessful({ status }: ChildEvent): boolean {
  return status === "success" || status === "skipped";
}

/** Whether a job was canceled: nothing around it is retried, at any level. */
export function wasCanceled({ status, canceled }: ChildEvent): boolean {
  return status === "canceled" || canceled === true;
}

/** Whether a loop runs its iterations in sequence, so that it can be left between two of them. */
export function isSequentialLoop(value: FlowModuleValue): boolean {
  return value.type === "whileloopflow" || (value.type === "forloopflow" && !value.parallel);
}

/** Whether the first failure prevents further starts; parallel iterations all run to their end. */
function runsInOrder(value: FlowModuleValue): boolean {
  return value.type === "branchall" ? !value.parallel : isSequentialLoop(value);
}

/**
 * Starts the iterations of a loop, or branches that all run.
 * @returns the module's result if there is nothing to run
 * @throws errors of expressions
 */
export async function startIterations(
  move: TransitionContext,
  module: FlowModule,
  own: ModuleState,
  total: number | undefined,
  items?: unknown[],
): Promise<ResultRef | undefined> {
  if (total === 0) return { value: [] };
  const limit = await evaluateParallelism(move, module.value);
  own.many = { ...(total === undefined ? {} : { total }), most: limit, started: 0, running: {} };
  await startNextIterations(move, module, own, items);
  return undefined;
}

async function evaluateParallelism(move: TransitionContext, value: FlowModuleValue): Promise<number> {
  if (value.type === "branchall") return value.parallel ? value.branches.length : 1;
  if (value.type !== "forloopflow" || !value.parallel) return 1;
  if (value.parallelism === undefined) return move.env.defaultParallelism;
  const limit = await evaluateNumber(move, "parallelism", value.parallelism, 1);
  return Math.min(Math.floor(limit), MAX_PARALLELISM);
}

/** Starts as many iterations as may run now. */
async function startNextIterations(
  move: TransitionContext,
  module: FlowModule,
  own: ModuleState,
  items?: unknown[],
): Promise<void> {
  const many = own.many!;
  let free = many.most - Object.keys(many.running).length;
  for (; free > 0 && many.started < (many.total ?? Number.POSITIVE_INFINITY); free--) {
    const index = many.started++;
    const job = move.env.newId();
    await startIteration(move, module, index, job, items);
    many.running[index] = job;
    own.job = job;
  }
}

async function startIteration(
  move: TransitionContext,
  module: FlowModule,
  index: number,
  job: string,
  items: unknown[] | undefined,
): Promise<void> {
  const { value } = module;
  const common = { job, module: module.id, index };
  if (value.type === "branchall") {
    const { previous } = move.state;
    const body: NestedBody = { of: "branch", branch: index };
    move.commands.push({ type: "frame", ...common, body, ...(previous ? { previous } : {}) });
    return;
  }
  const element = () => (items ? items[index] : move.env.loopItem(module.id, index));
  const iter: Iteration = { value: value.type === "forloopflow" ? element() : index, index };
  const leaf = findOnlyLeaf(module);
  const begun = leaf && (await captureError(move, leaf.id, () => evaluateLeafRun(move, leaf, iter)));
  if (begun && "value" in begun) {
    move.commands.push({ type: "run", ...common, leaf, ...begun.value });
    return;
  }
  // An input that cannot be evaluated fails in its own frame, like any failed iteration.
  const fault = begun && { fault: begun.error };
  move.commands.push({ type: "frame", ...common, body: { of: "loop" }, iter, ...fault });
}

/** Returns the only step of a loop if it is plain; its iterations then need no frames. */
export function findOnlyLeaf({ value }: FlowModule): FlowModule | undefined {
  if (value.type !== "forloopflow" && value.type !== "whileloopflow") return undefined;
  const [leaf, ...others] = value.modules;
  if (!leaf || others.length > 0) return undefined;
  const isPlain = ["rawscript", "script", "flow", "identity"].includes(leaf.value.type);
  const { stop_after_if, skip_if, suspend, retry, mock, continue_on_error } = leaf;
  const hasOptions = [stop_after_if, skip_if, suspend, retry, mock?.enabled, continue_on_error].some(Boolean);
  return isPlain && !hasOptions ? leaf : undefined;
}

async function evaluateLeafRun(
  move: TransitionContext,
  { value, timeout }: FlowModule,
  iter: Iteration,
): Promise<{ args: unknown; timeout_s?: number }> {
  const args =
    "input_transforms" in value
      ? await evaluateArguments(move, value, { iter })
      : await evaluateField(move, "input", "flow_input", { iter });
  if (timeout === undefined) return { args };
  return { args, timeout_s: await evaluateNumber(move, "timeout", timeout, 0, { iter }) };
}

/** Handles the end of an iteration or branch. @returns undefined while others still run */
export async function handleIterationEnd(
  move: TransitionContext,
  module: FlowModule,
  own: ModuleState,
  event: ChildEvent,
): Promise<IterationsOutcome | undefined> {
  const { value } = module;
  const many = own.many!;
  const { job } = event;
  const index = event.index!;
  delete many.running[index];
  if (!isSuccessful(event) && !skipsFailure(value, index)) {
    const canceled = wasCanceled(event);
    recordFailure(many, { index, job, error: errorOf(module, event), final: canceled, canceled });
    if (runsInOrder(value)) many.stopping = true;
  } else if (!many.stopping) {
    const leaves = await captureError(move, module.id, () => shouldLeaveLoop(move, module, event));
    if ("error" in leaves) recordFailure(many, { index, job, error: leaves.error, final: true, own: true });
    if ("error" in leaves || leaves.value) many.stopping = true;
  }
  if (value.type === "branchall" && event.stopped) recordStop(many, value, event);
  if (!many.stopping) await startNextIterations(move, module, own);
  if (Object.keys(many.running).length > 0) return undefined;
  const { failed, stopped, started: count } = many;
  delete many.failed;
  delete many.stopped;
  const all = { gather: module.id, of: move.env.frame_job_id, count };
  const isBranches = value.type === "branchall";
  if (!failed) {
    const result = isBranches ? { ...all, failures: { step: leafId(module), but: [] } } : all;
    return { result, ...(stopped ? { stopped: stopped.status } : {}) };
  }
  if (failed.own) return { failed };
  const isSkipped = (index: number) => !isBranches && skipsFailure(value, index);
  const but = Array.from({ length: count }, (_, index) => index).filter(isSkipped);
  return {
    failed,
    result: { ...all, failures: { step: leafId(module), but, index: failed.index, error: failed.error } },
  };
}

function errorOf(module: FlowModule, event: ChildEvent): unknown {
  return toErrorValue(event.result, leafId(module));
}

/** Returns the step that an iteration's error belongs to, unless the error names one. */
function leafId(module: FlowModule): string {
  return findOnlyLeaf(module)?.id ?? module.id;
}

function recordFailure(many: Iterations, failure: IterationFailure): void {
  const { failed = failure } = many;
  const counts = failure.index < failed.index ? failure : failed;
  const canceled = Boolean(failed.canceled || failure.canceled);
  many.failed = { ...counts, final: failed.final || failure.final, canceled };
}

/** Records that a condition in a branch stopped the flow; branches not started yet do not start. */
function recordStop(many: Iterations, value: FlowModuleValue, { index, status }: ChildEvent): void {
  if (runsInOrder(value)) many.stopping = true;
  if (many.stopped && many.stopped.index < index!) return;
  many.stopped = { index: index!, status: status === "skipped" ? "skipped" : "success" };
}

function skipsFailure(value: FlowModuleValue, index: number): boolean {
  if (value.type === "branchall") return value.branches[index]?.skip_failure ?? false;
  return "skip_failures" in value && value.skip_failures;
}

/** Whether a loop ends early: by its own condition after an iteration, or by one in its body. */
async function shouldLeaveLoop(
  move: TransitionContext,
  module: FlowModule,
  event: ChildEvent,
): Promise<boolean> {
  if (!isSequentialLoop(module.value)) return false;
  // A stop inside a leaf concerns the flow it runs, not this loop.
  if (event.stopped && !findOnlyLeaf(module)) return true;
  const stop = module.stop_after_if;
  if (!stop) return false;
  const result = isSuccessful(event) ? { job: event.job } : { value: errorOf(module, event) };
  if (!(await evaluateCondition(move, "stop_after_if", stop.expr, { result }))) return false;
  if (stop.error_message && !stop.skip_if_stopped) throw createFault("StoppedEarly", stop.error_message);
  return true;
}

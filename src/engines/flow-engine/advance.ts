/** Moves through the modules of a frame: starts the next one, and handles the end of one. */
import { isSequentialLoop } from "./iterations.ts";
import { type ActiveModule, launchModule } from "./launch.ts";
import { evaluateRetryDelay } from "./retry.ts";
import type { ModuleFailure, ModuleState, ResultRef, TransitionContext } from "./state.ts";
import type { FlowModule, StopCondition } from "./types.ts";
import { captureError, evaluateCondition, evaluateField, unwrapError } from "./values.ts";
import { awaitApproval, evaluateApproval, evaluateSleep, startWait } from "./waits.ts";

/** Number of failed attempts kept, the newest ones; more would make the state long. */
const MAX_FAILED_RETRIES = 100;

/** Returns the module that is running or waiting for its retry. */
export function findActiveModule({ frame, state }: TransitionContext): ActiveModule | undefined {
  const places: [ActiveModule["kind"], FlowModule | undefined, ModuleState | undefined][] = [
    ["failure", frame.failure_module, state.failure],
    ["preprocessor", frame.preprocessor_module, state.preprocessor],
    ["step", frame.modules[state.step], state.modules[state.step]],
  ];
  for (const [kind, module, own] of places) {
    if (module && own?.type === "InProgress") return { kind, module, own };
  }
  return undefined;
}

/** Enters the module at this index; after the last one the frame ends. */
export async function enterModule(move: TransitionContext, index: number): Promise<void> {
  const { frame, state } = move;
  state.step = index;
  delete state.fail_count;
  const module = frame.modules[index];
  if (!module) return endFrame(move, "success", state.previous ?? { value: null });
  state.modules[index] = { id: module.id, type: "InProgress" };
  await startModule(move);
}

/** Starts the active module, for the first time or as a retry. */
export async function startModule(move: TransitionContext): Promise<void> {
  const place = findActiveModule(move)!;
  const { module, own } = place;
  // Clears the state of an earlier attempt.
  delete own.job;
  delete own.many;
  delete own.branch_chosen;
  const begun = await captureError(move, module.id, async () => {
    if (await isSkipped(move, place)) return { skipped: true };
    return { result: await launchModule(move, place) };
  });
  if ("error" in begun) return retryOrFail(move, place, begun);
  if (begun.value.skipped) return skipModule(move, own);
  if (begun.value.result) await completeModule(move, place, begun.value.result);
}

async function isSkipped(move: TransitionContext, { kind, module }: ActiveModule): Promise<boolean> {
  const { skip_if } = module;
  if (!skip_if || kind !== "step") return false;
  const { previous } = move.state;
  return evaluateCondition(move, "skip_if", skip_if.expr, previous ? { result: previous } : {});
}

/** Skips a module: its result is the previous one's, and its other options do not apply. */
async function skipModule(move: TransitionContext, own: ModuleState): Promise<void> {
  const { state } = move;
  own.type = "Success";
  own.skipped = true;
  own.result = state.previous ?? { value: null };
  emitEarlyResult(move, own);
  await enterModule(move, state.step + 1);
}

/** Records the result of a module and continues the frame. @param text the result as JSON text, if available */
export async function completeModule(
  move: TransitionContext,
  place: ActiveModule,
  result: ResultRef,
  text?: string,
): Promise<void> {
  const { kind, module, own } = place;
  if (kind === "preprocessor" && !text?.startsWith("{")) {
    const message = `it must return an object, the flow's input, and returned ${text?.slice(0, 100)}`;
    const error = { name: "InvalidPreprocessorResult", message, step_id: module.id };
    return failModule(move, place, { error: { error } });
  }
  own.type = "Success";
  own.result = result;
  if (kind === "step") return handleResult(move, place, result);
  if (kind === "failure") return endFrame(move, "failure", result);
  move.commands.push({ type: "input", result });
}

/** Handles a module's result: the flow stops here, waits, or continues. */
async function handleResult(move: TransitionContext, place: ActiveModule, result: ResultRef): Promise<void> {
  const { state } = move;
  const { module, own } = place;
  state.previous = result;
  delete state.resumed;
  const asked = await captureError(move, module.id, async () => {
    const stop = await findStopCondition(move, module, result);
    if (stop || !module.suspend) return { stop };
    return { approval: await evaluateApproval(move, module.suspend, { result }) };
  });
  if ("error" in asked) return failModule(move, place, asked);
  const { stop, approval } = asked.value;
  if (stop) return stopFrame(move, place, stop, result);
  emitEarlyResult(move, own);
  if (approval) return awaitApproval(move, module.suspend!, approval);
  await continueAfter(move, place);
}

/** Returns the stop condition that holds after this module, if any. */
async function findStopCondition(
  move: TransitionContext,
  module: FlowModule,
  result: ResultRef,
): Promise<StopCondition | undefined> {
  const { value, stop_after_if, stop_after_all_iters_if } = module;
  const isMany = ["forloopflow", "whileloopflow", "branchall"].includes(value.type);
  // For sequential loops, `stop_after_if` is evaluated between iterations instead.
  if (stop_after_if && !isSequentialLoop(value)) {
    if (await evaluateCondition(move, "stop_after_if", stop_after_if.expr, { result })) return stop_after_if;
  }
  if (stop_after_all_iters_if && isMany) {
    const { expr } = stop_after_all_iters_if;
    if (await evaluateCondition(move, "stop_after_all_iters_if", expr, { result }))
      return stop_after_all_iters_if;
  }
  return undefined;
}

async function stopFrame(
  move: TransitionContext,
  place: ActiveModule,
  stop: StopCondition,
  result: ResultRef,
): Promise<void> {
  const { skip_if_stopped, error_message, error_include_result } = stop;
  if (skip_if_stopped || !error_message) {
    return endFrame(move, skip_if_stopped ? "skipped" : "success", result, true);
  }
  const own = error_include_result
    ? { result: await evaluateField(move, "stop_after_if", "result", { result }) }
    : {};
  const error = { error: { name: "StoppedEarly", message: error_message, step_id: place.module.id, ...own } };
  place.own.type = "Failure";
  place.own.result = { value: error };
  await enterFailure(move, { error });
}

/** Ends the frame after a stop condition inside one of its branches, which ends the list around the branch too. */
export function stopFromBranch(
  move: TransitionContext,
  place: ActiveModule,
  status: "success" | "skipped",
  result: ResultRef,
): void {
  place.own.type = "Success";
  place.own.result = result;
  endFrame(move, status, result, true);
}

/** Enters the next module, after the module's sleep. */
export async function continueAfter(move: TransitionContext, place: ActiveModule): Promise<void> {
  const { state } = move;
  const { result } = place.own;
  const seconds = await captureError(move, place.module.id, () =>
    evaluateSleep(move, place.module, result ? { result } : {}),
  );
  if ("error" in seconds) return failModule(move, place, seconds);
  if (seconds.value > 0) return startWait(move, "sleep", seconds.value);
  await enterModule(move, state.step + 1);
}

/**
 * Handles a failure: retries the module, or fails it.
 * @param job the failed job, if any
 */
export async function retryOrFail(
  move: TransitionContext,
  place: ActiveModule,
  failure: ModuleFailure,
  job?: string,
): Promise<void> {
  const { state } = move;
  const { module, own } = place;
  if (!module.retry) return failModule(move, place, failure);
  const { retry } = module;
  const tries = state.fail_count ?? 0;
  const delay = await captureError(move, module.id, () => evaluateRetryDelay(move, retry, tries, failure));
  if ("error" in delay) return failModule(move, place, delay);
  if (delay.value === undefined) return failModule(move, place, failure);
  state.fail_count = tries + 1;
  if (job !== undefined) {
    own.failed_retries = [...(own.failed_retries ?? []), job].slice(-MAX_FAILED_RETRIES);
  }
  startWait(move, "retry", delay.value);
}

/**
 * Fails a module without a retry.
 * @param canceled also prevents retries of the enclosing modules, unless the flow continues here
 */
export async function failModule(
  move: TransitionContext,
  place: ActiveModule,
  failure: ModuleFailure,
  canceled = false,
): Promise<void> {
  const { state } = move;
  const { kind, module, own } = place;
  own.type = "Failure";
  own.result = failureResult(failure);
  const goes_on = kind === "step" && module.continue_on_error;
  if (canceled && !goes_on) state.canceled = true;
  if (kind === "failure") return endFrame(move, "failure", own.result);
  if (!goes_on) return enterFailure(move, failure);
  state.previous = own.result;
  delete state.resumed;
  emitEarlyResult(move, own);
  await enterModule(move, state.step + 1);
}

/** Fails the frame; its failure module, if any, determines the result. */
export async function enterFailure(move: TransitionContext, failure: ModuleFailure): Promise<void> {
  const { frame, state } = move;
  const result = failureResult(failure);
  if (!frame.failure_module) return endFrame(move, "failure", result);
  state.failure = { id: frame.failure_module.id, type: "InProgress" };
  state.previous = result;
  state.error = unwrapError(failure.error);
  delete state.fail_count;
  await startModule(move);
}

function failureResult({ error, result }: ModuleFailure): ResultRef {
  return result ?? { value: error };
}

function emitEarlyResult({ frame, commands }: TransitionContext, { id, result }: ModuleState): void {
  if (frame.early_return === id && result) commands.push({ type: "early", result });
}

export function endFrame(
  move: TransitionContext,
  status: "success" | "failure" | "skipped",
  result: ResultRef,
  stopped = false,
): void {
  move.state.ended = true;
  const canceled = status === "failure" && move.state.canceled;
  move.commands.push({
    type: "end",
    status,
    result,
    ...(stopped ? { stopped } : {}),
    ...(canceled ? { canceled } : {}),
  });
}

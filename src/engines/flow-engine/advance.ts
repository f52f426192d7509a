/** Going through the modules of a frame: beginning the next one, and what becomes of one that has ended. */
import { isSequentialLoop } from "./iterations.ts";
import { launch, type Place } from "./launch.ts";
import { approvalOf, sleepOf, suspend, waitFor } from "./pause.ts";
import { retryDelay } from "./retry.ts";
import type { Failed, ModuleState, Move, ResultRef } from "./state.ts";
import type { FlowModule, StopCondition } from "./types.ts";
import { holds, innerError, tried } from "./values.ts";

/** Of the tries that failed, the newest are told: many tries would otherwise make a long state. */
const MAX_FAILED_RETRIES = 100;

/** The module that runs, or is to be tried again. */
export function underWay({ frame, state }: Move): Place | undefined {
  const places: [Place["kind"], FlowModule | undefined, ModuleState | undefined][] = [
    ["failure", frame.failure_module, state.failure],
    ["preprocessor", frame.preprocessor_module, state.preprocessor],
    ["step", frame.modules[state.step], state.modules[state.step]],
  ];
  for (const [kind, module, own] of places) {
    if (module && own?.type === "InProgress") return { kind, module, own };
  }
  return undefined;
}

/** Goes on to the module at this index; after the last one the frame ends. */
export async function enter(move: Move, index: number): Promise<void> {
  const { frame, state } = move;
  state.step = index;
  delete state.fail_count;
  const module = frame.modules[index];
  if (!module) return end(move, "success", state.previous ?? { value: null });
  state.modules[index] = { id: module.id, type: "InProgress" };
  await begin(move);
}

/** Begins the module under way, for the first time or once more. */
export async function begin(move: Move): Promise<void> {
  const place = underWay(move)!;
  const { module, own } = place;
  // Nothing of an earlier try is taken for the next one's.
  delete own.job;
  delete own.many;
  delete own.branch_chosen;
  const begun = await tried(move, module.id, async () => {
    if (await isSkipped(move, place)) return { skipped: true };
    return { result: await launch(move, place) };
  });
  if ("error" in begun) return failed(move, place, begun);
  if (begun.value.skipped) return skip(move, own);
  if (begun.value.result) await succeeded(move, place, begun.value.result);
}

async function isSkipped(move: Move, { kind, module }: Place): Promise<boolean> {
  const { skip_if } = module;
  if (!skip_if || kind !== "step") return false;
  const { previous } = move.state;
  return holds(move, "skip_if", skip_if.expr, previous ? { result: previous } : {});
}

/** A skipped module passes on what came before it, and none of its other options applies. */
async function skip(move: Move, own: ModuleState): Promise<void> {
  const { state } = move;
  own.type = "Success";
  own.skipped = true;
  own.result = state.previous ?? { value: null };
  tellEarly(move, own);
  await enter(move, state.step + 1);
}

/** @param text the result itself, as JSON text, where it is at hand */
export async function succeeded(move: Move, place: Place, result: ResultRef, text?: string): Promise<void> {
  const { kind, module, own } = place;
  if (kind === "preprocessor" && !text?.startsWith("{")) {
    const message = `it must return an object, the flow's input, and returned ${text?.slice(0, 100)}`;
    const error = { name: "InvalidPreprocessorResult", message, step_id: module.id };
    return failedForGood(move, place, { error: { error } });
  }
  own.type = "Success";
  own.result = result;
  if (kind === "step") return completed(move, place, result);
  if (kind === "failure") return end(move, "failure", result);
  move.steps.push({ type: "input", result });
}

/** A module has a result: does the flow stop here, wait, or go on? */
async function completed(move: Move, place: Place, result: ResultRef): Promise<void> {
  const { state } = move;
  const { module, own } = place;
  state.previous = result;
  delete state.resumed;
  const asked = await tried(move, module.id, async () => {
    const stop = await stopAfter(move, module, result);
    if (stop || !module.suspend) return { stop };
    return { approval: await approvalOf(move, module.suspend, { result }) };
  });
  if ("error" in asked) return failedForGood(move, place, asked);
  const { stop, approval } = asked.value;
  if (stop) return stopHere(move, place, stop, result);
  tellEarly(move, own);
  if (approval) return suspend(move, module.suspend!, approval);
  await goOn(move, place);
}

/** The condition that ends the flow after this module, if any holds. */
async function stopAfter(
  move: Move,
  module: FlowModule,
  result: ResultRef,
): Promise<StopCondition | undefined> {
  const { value, stop_after_if, stop_after_all_iters_if } = module;
  const isMany = ["forloopflow", "whileloopflow", "branchall"].includes(value.type);
  // Of a loop that can be left between two iterations, `stop_after_if` says when that happens.
  if (stop_after_if && !isSequentialLoop(value)) {
    if (await holds(move, "stop_after_if", stop_after_if.expr, { result })) return stop_after_if;
  }
  if (stop_after_all_iters_if && isMany) {
    const { expr } = stop_after_all_iters_if;
    if (await holds(move, "stop_after_all_iters_if", expr, { result })) return stop_after_all_iters_if;
  }
  return undefined;
}

async function stopHere(move: Move, place: Place, stop: StopCondition, result: ResultRef): Promise<void> {
  const { skip_if_stopped, error_message } = stop;
  if (skip_if_stopped || !error_message) {
    return end(move, skip_if_stopped ? "skipped" : "success", result, true);
  }
  const error = { error: { name: "StoppedEarly", message: error_message, step_id: place.module.id } };
  place.own.type = "Failure";
  place.own.result = { value: error };
  await giveUp(move, { error });
}

/** A condition in a branch stopped it, and with it this frame: branches are the flow's own way. */
export function stoppedInside(
  move: Move,
  place: Place,
  status: "success" | "skipped",
  result: ResultRef,
): void {
  place.own.type = "Success";
  place.own.result = result;
  end(move, status, result, true);
}

/** To the next module, after the pause that the module asks for. */
export async function goOn(move: Move, place: Place): Promise<void> {
  const { state } = move;
  const { result } = place.own;
  const seconds = await tried(move, place.module.id, () =>
    sleepOf(move, place.module, result ? { result } : {}),
  );
  if ("error" in seconds) return failedForGood(move, place, seconds);
  if (seconds.value > 0) return waitFor(move, "sleep", seconds.value);
  await enter(move, state.step + 1);
}

/**
 * A module has failed: is it tried again, is the failure its result, or does the flow fail?
 * @param job the job that failed, if it came to that
 */
export async function failed(move: Move, place: Place, failure: Failed, job?: string): Promise<void> {
  const { state } = move;
  const { module, own } = place;
  if (!module.retry) return failedForGood(move, place, failure);
  const { retry } = module;
  const tries = state.fail_count ?? 0;
  const delay = await tried(move, module.id, () => retryDelay(move, retry, tries, failure));
  if ("error" in delay) return failedForGood(move, place, delay);
  if (delay.value === undefined) return failedForGood(move, place, failure);
  state.fail_count = tries + 1;
  if (job !== undefined) {
    own.failed_retries = [...(own.failed_retries ?? []), job].slice(-MAX_FAILED_RETRIES);
  }
  waitFor(move, "retry", delay.value);
}

/** A module has failed and is not tried again. @param canceled nor is what is around it, unless it goes on here */
export async function failedForGood(
  move: Move,
  place: Place,
  failure: Failed,
  canceled = false,
): Promise<void> {
  const { state } = move;
  const { kind, module, own } = place;
  own.type = "Failure";
  own.result = resultOf(failure);
  const goes_on = kind === "step" && module.continue_on_error;
  if (canceled && !goes_on) state.canceled = true;
  if (kind === "failure") return end(move, "failure", own.result);
  if (!goes_on) return giveUp(move, failure);
  state.previous = own.result;
  delete state.resumed;
  tellEarly(move, own);
  await enter(move, state.step + 1);
}

/** The flow fails: its failure module, if there is one, has the last word. */
export async function giveUp(move: Move, failure: Failed): Promise<void> {
  const { frame, state } = move;
  const result = resultOf(failure);
  if (!frame.failure_module) return end(move, "failure", result);
  state.failure = { id: frame.failure_module.id, type: "InProgress" };
  state.previous = result;
  state.error = innerError(failure.error);
  delete state.fail_count;
  await begin(move);
}

function resultOf({ error, result }: Failed): ResultRef {
  return result ?? { value: error };
}

function tellEarly({ frame, steps }: Move, { id, result }: ModuleState): void {
  if (frame.early_return === id && result) steps.push({ type: "early", result });
}

export function end(
  move: Move,
  status: "success" | "failure" | "skipped",
  result: ResultRef,
  stopped = false,
): void {
  move.state.ended = true;
  const canceled = status === "failure" && move.state.canceled;
  move.steps.push({
    type: "end",
    status,
    result,
    ...(stopped ? { stopped } : {}),
    ...(canceled ? { canceled } : {}),
  });
}

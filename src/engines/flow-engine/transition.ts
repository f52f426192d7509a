/**
 * Flow engine: computes a frame's next state for an event. A function of the flow, the state and the event, without
 * side effects. It returns commands, which the caller stores and executes.
 *
 * A duplicate, late or unexpected event changes nothing.
 */

import { copyJson } from "../../lib/json/json.ts";
import {
  completeModule,
  continueAfter,
  endFrame,
  enterFailure,
  enterModule,
  failModule,
  findActiveModule,
  retryOrFail,
  startModule,
  stopFromBranch,
} from "./advance.ts";
import { type ChildEvent, handleIterationEnd, isSuccessful, wasCanceled } from "./iterations.ts";
import type { ActiveModule } from "./launch.ts";
import type {
  EngineEnvironment,
  Frame,
  FrameEvent,
  FrameState,
  ModuleState,
  ResultRef,
  TransitionContext,
  TransitionResult,
} from "./state.ts";
import { captureError, evaluateCondition, isJsonList, toErrorValue } from "./values.ts";

/** Returns the initial state of a frame. */
export function createInitialState({
  previous,
  fault,
}: {
  previous?: ResultRef;
  fault?: unknown;
} = {}): FrameState {
  return {
    step: 0,
    modules: [],
    ...(previous ? { previous } : {}),
    ...(fault === undefined ? {} : { fault }),
  };
}

/**
 * Applies an event.
 * @returns the new state and the commands; the given state is not modified
 */
export async function computeTransition(
  frame: Frame,
  before: FrameState,
  event: FrameEvent,
  env: EngineEnvironment,
): Promise<TransitionResult> {
  const move: TransitionContext = { frame, state: copyJson(before), env, commands: [] };
  if (!before.ended) await dispatchEvent(move, event);
  return { state: move.state, commands: move.commands };
}

async function dispatchEvent(move: TransitionContext, event: FrameEvent): Promise<void> {
  switch (event.type) {
    case "start":
      return startFrame(move, event.skip_preprocessor ?? false);
    case "child":
      return handleChildEnd(move, event);
    case "woken":
      return handleWake(move);
    case "resumed":
      if (awaitsApproval(move, event.module)) await handleApproval(move);
      return;
    case "disapproved":
      if (awaitsApproval(move, event.module))
        await handleRefusal(move, "Disapproved", `disapproved by ${event.by}`);
      return;
  }
}

async function startFrame(move: TransitionContext, skipsPreprocessor: boolean): Promise<void> {
  const { frame, state } = move;
  if (state.modules.length > state.step || state.failure || state.preprocessor?.type === "InProgress") return;
  if (state.fault !== undefined) return startWithFault(move);
  if (frame.preprocessor_module && !state.preprocessor && !skipsPreprocessor) {
    state.preprocessor = { id: frame.preprocessor_module.id, type: "InProgress" };
    return startModule(move);
  }
  if (frame.skip_expr !== undefined) {
    const { skip_expr } = frame;
    const skips = await captureError(move, undefined, () => evaluateCondition(move, "skip_expr", skip_expr));
    if ("error" in skips) return enterFailure(move, skips);
    if (skips.value) return endFrame(move, "skipped", { value: null });
  }
  await enterModule(move, state.step);
}

/** Fails the only module with the error the loop found; its input is not evaluated again. */
async function startWithFault(move: TransitionContext): Promise<void> {
  const { frame, state } = move;
  const { fault } = state;
  const module = frame.modules[0]!;
  const own: ModuleState = { id: module.id, type: "InProgress" };
  delete state.fault;
  state.modules[0] = own;
  await retryOrFail(move, { kind: "step", module, own }, { error: fault });
}

async function handleChildEnd(move: TransitionContext, event: ChildEvent): Promise<void> {
  const place = findActiveModule(move);
  if (!place || move.state.waits || place.module.id !== event.module) return;
  const { module, own } = place;
  if (own.many) {
    if (own.many.running[event.index!] !== event.job) return;
    const verdict = await handleIterationEnd(move, module, own, event);
    if (!verdict) return;
    if (!("failed" in verdict)) {
      const { result, stopped } = verdict;
      return stopped ? stopFromBranch(move, place, stopped, result) : completeModule(move, place, result);
    }
    const { error, job, final, canceled } = verdict.failed;
    const failure = { error, result: verdict.result };
    return final ? failModule(move, place, failure, canceled) : retryOrFail(move, place, failure, job);
  }
  if (own.job !== event.job) return;
  const result = { job: event.job };
  if (!isSuccessful(event)) {
    const error = toErrorValue(event.result, module.id);
    const failure = isJsonList(event.result) ? { error, result } : { error };
    if (wasCanceled(event)) return failModule(move, place, failure, true);
    return retryOrFail(move, place, failure, event.job);
  }
  if (event.stopped && module.value.type === "branchone") {
    return stopFromBranch(move, place, event.status === "skipped" ? "skipped" : "success", result);
  }
  await completeModule(move, place, result, event.result);
}

async function handleWake(move: TransitionContext): Promise<void> {
  const { state, env, commands } = move;
  const { waits } = state;
  if (!waits) return;
  if (env.now() < waits.until) {
    // Woken by an earlier wait, or by a clock that is ahead: request another wake-up.
    commands.push({ type: "wake", at: waits.until });
    return;
  }
  if (waits.for === "events") return handleRefusal(move, "ApprovalTimeout", "the time to approve has passed");
  delete state.waits;
  if (waits.for === "retry") return startModule(move);
  await enterModule(move, state.step + 1);
}

async function handleApproval(move: TransitionContext): Promise<void> {
  await recordApproval(move, endApprovalWait(move), {});
}

function awaitsApproval({ frame, state }: TransitionContext, module: string): boolean {
  return state.waits?.for === "events" && frame.modules[state.step]?.id === module;
}

/** Ends the wait for approvals. @returns the module they belong to */
function endApprovalWait({ frame, state }: TransitionContext): ActiveModule {
  delete state.waits;
  state.modules.length = state.step + 1;
  return { kind: "step", module: frame.modules[state.step]!, own: state.modules[state.step]! };
}

/** Records the approval on the module, so that a run restarted after it passes the same to its first step. */
async function recordApproval(
  move: TransitionContext,
  place: ActiveModule,
  answer: { refused?: unknown },
): Promise<void> {
  place.own.answered = answer;
  move.state.resumed = { module: place.module.id, ...answer };
  await continueAfter(move, place);
}

/**
 * Handles a refusal. It is neither retried nor continued on error, unless the module says so: the module itself
 * succeeded.
 */
async function handleRefusal(move: TransitionContext, name: string, why: string): Promise<void> {
  const place = endApprovalWait(move);
  const { module, own } = place;
  const message = `step ${module.id} waited for approval: ${why}`;
  const error = { error: { name, message, step_id: module.id } };
  if (module.suspend?.continue_on_disapprove_timeout) {
    return recordApproval(move, place, { refused: error });
  }
  own.type = "Failure";
  own.result = { value: error };
  await enterFailure(move, { error });
}

/**
 * The flow engine: what becomes of a frame when something happens. A function of the flow, the state and the event, with
 * no effects: what it asks for comes back as steps, stored and carried out by whoever called.
 *
 * An event that comes twice, too late, or for what is not awaited changes nothing.
 */

import { copyJson } from "../../lib/json/json.ts";
import {
  begin,
  end,
  enter,
  failed,
  failedForGood,
  giveUp,
  goOn,
  stoppedInside,
  succeeded,
  underWay,
} from "./advance.ts";
import { type ChildEvent, isGood, oneEnded, wasCanceled } from "./iterations.ts";
import type { Place } from "./launch.ts";
import type {
  Env,
  Frame,
  FrameEvent,
  FrameState,
  ModuleState,
  Move,
  ResultRef,
  Transition,
} from "./state.ts";
import { errorValue, holds, isList, tried } from "./values.ts";

/** The beginning of a frame that a step asks for. */
export function initialState({
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
 * @returns the new state; the one given is not changed
 */
export async function transition(
  frame: Frame,
  before: FrameState,
  event: FrameEvent,
  env: Env,
): Promise<Transition> {
  const move: Move = { frame, state: copyJson(before), env, steps: [] };
  if (!before.ended) await take(move, event);
  return { state: move.state, steps: move.steps };
}

async function take(move: Move, event: FrameEvent): Promise<void> {
  switch (event.type) {
    case "start":
      return start(move, event.skip_preprocessor ?? false);
    case "child":
      return childEnded(move, event);
    case "woken":
      return woken(move);
    case "resumed":
      if (awaitsApproval(move, event.module)) await approved(move);
      return;
    case "disapproved":
      if (awaitsApproval(move, event.module))
        await refused(move, "Disapproved", `disapproved by ${event.by}`);
      return;
  }
}

async function start(move: Move, skipsPreprocessor: boolean): Promise<void> {
  const { frame, state } = move;
  if (state.modules.length > state.step || state.failure || state.preprocessor?.type === "InProgress") return;
  if (state.fault !== undefined) return startWithFault(move);
  if (frame.preprocessor_module && !state.preprocessor && !skipsPreprocessor) {
    state.preprocessor = { id: frame.preprocessor_module.id, type: "InProgress" };
    return begin(move);
  }
  if (frame.skip_expr !== undefined) {
    const { skip_expr } = frame;
    const skips = await tried(move, undefined, () => holds(move, "skip_expr", skip_expr));
    if ("error" in skips) return giveUp(move, skips);
    if (skips.value) return end(move, "skipped", { value: null });
  }
  await enter(move, state.step);
}

/** What the input of the only module came to was found out by the loop, and is not evaluated again. */
async function startWithFault(move: Move): Promise<void> {
  const { frame, state } = move;
  const { fault } = state;
  const module = frame.modules[0]!;
  const own: ModuleState = { id: module.id, type: "InProgress" };
  delete state.fault;
  state.modules[0] = own;
  await failed(move, { kind: "step", module, own }, { error: fault });
}

async function childEnded(move: Move, event: ChildEvent): Promise<void> {
  const place = underWay(move);
  if (!place || move.state.waits || place.module.id !== event.module) return;
  const { module, own } = place;
  if (own.many) {
    if (own.many.running[event.index!] !== event.job) return;
    const verdict = await oneEnded(move, module, own, event);
    if (!verdict) return;
    if (!("failed" in verdict)) {
      const { result, stopped } = verdict;
      return stopped ? stoppedInside(move, place, stopped, result) : succeeded(move, place, result);
    }
    const { error, job, final, canceled } = verdict.failed;
    const failure = { error, result: verdict.result };
    return final ? failedForGood(move, place, failure, canceled) : failed(move, place, failure, job);
  }
  if (own.job !== event.job) return;
  const result = { job: event.job };
  if (!isGood(event)) {
    const error = errorValue(event.result, module.id);
    const failure = isList(event.result) ? { error, result } : { error };
    if (wasCanceled(event)) return failedForGood(move, place, failure, true);
    return failed(move, place, failure, event.job);
  }
  if (event.stopped && module.value.type === "branchone") {
    return stoppedInside(move, place, event.status === "skipped" ? "skipped" : "success", result);
  }
  await succeeded(move, place, result, event.result);
}

async function woken(move: Move): Promise<void> {
  const { state, env, steps } = move;
  const { waits } = state;
  if (!waits) return;
  if (env.now() < waits.until) {
    // What woke it was asked for by an earlier wait, or a clock that is ahead: it is to be woken again.
    steps.push({ type: "wake", at: waits.until });
    return;
  }
  if (waits.for === "events") return refused(move, "ApprovalTimeout", "the time to approve has passed");
  delete state.waits;
  if (waits.for === "retry") return begin(move);
  await enter(move, state.step + 1);
}

async function approved(move: Move): Promise<void> {
  await answered(move, released(move), {});
}

function awaitsApproval({ frame, state }: Move, module: string): boolean {
  return state.waits?.for === "events" && frame.modules[state.step]?.id === module;
}

/** The module that approvals were awaited after; they are not awaited any more. */
function released({ frame, state }: Move): Place {
  delete state.waits;
  state.modules.length = state.step + 1;
  return { kind: "step", module: frame.modules[state.step]!, own: state.modules[state.step]! };
}

/** The module keeps what it was answered: a run that begins after it tells its first step the same. */
async function answered(move: Move, place: Place, answer: { refused?: unknown }): Promise<void> {
  place.own.answered = answer;
  move.state.resumed = { module: place.module.id, ...answer };
  await goOn(move, place);
}

/** Neither tried again nor continued on error, unless the module says so: it did itself what it was to do. */
async function refused(move: Move, name: string, why: string): Promise<void> {
  const place = released(move);
  const { module, own } = place;
  const message = `step ${module.id} waited for approval: ${why}`;
  const error = { error: { name, message, step_id: module.id } };
  if (module.suspend?.continue_on_disapprove_timeout) {
    return answered(move, place, { refused: error });
  }
  own.type = "Failure";
  own.result = { value: error };
  await giveUp(move, { error });
}

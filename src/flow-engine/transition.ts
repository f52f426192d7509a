/**
 * The flow engine: what becomes of a frame when something happens. A function of the flow, the state and the event, with
 * no effects: what it asks for comes back as steps, stored and carried out by whoever called.
 */

import { launch, nextIteration } from "./launch.ts";
import { retryDelay } from "./retry.ts";
import type {
  Env,
  Extra,
  Frame,
  FrameEvent,
  FrameState,
  ModuleState,
  Move,
  ResultRef,
  Transition,
} from "./state.ts";
import type { FlowModule } from "./types.ts";
import { fault, transformed } from "./values.ts";

/** How long approvals are waited for when the flow does not say, in seconds. */
const SUSPEND_S = 1_800;

type ChildEvent = Extract<FrameEvent, { type: "child" }>;

/** The beginning of a frame. */
export function initialState(): FrameState {
  return { step: 0, modules: [] };
}

/**
 * Applies an event. An event that comes too late (the frame has ended, or no longer waits for it) changes nothing.
 * @returns the new state; the one given is not changed
 */
export async function transition(
  frame: Frame,
  before: FrameState,
  event: FrameEvent,
  env: Env,
): Promise<Transition> {
  const move: Move = { frame, state: structuredClone(before), env, steps: [] };
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
      if (move.state.waits === "events") await goOn(move);
      return;
    case "disapproved":
      if (move.state.waits === "events") await notApproved(move, `disapproved by ${event.by}`);
      return;
  }
}

async function start(move: Move, skip_preprocessor: boolean): Promise<void> {
  const { frame, state } = move;
  if (frame.preprocessor_module && !state.preprocessor && !skip_preprocessor) {
    state.preprocessor = { id: frame.preprocessor_module.id, type: "InProgress" };
    try {
      await launch(move, frame.preprocessor_module, state.preprocessor);
    } catch (cause) {
      end(move, "failure", { value: errorOf(cause, frame.preprocessor_module.id) });
    }
    return;
  }
  if (frame.skip_expr !== undefined) {
    try {
      if (await move.env.evaluate(frame.skip_expr, {})) return end(move, "skipped", { value: null });
    } catch (cause) {
      return end(move, "failure", { value: errorOf(cause, "skip_expr") });
    }
  }
  await enter(move, 0);
}

/** Begins the module at this index, or the one after it when it is to be skipped. */
async function enter(move: Move, index: number): Promise<void> {
  const { frame, state } = move;
  for (let at = index; ; at++) {
    state.step = at;
    state.fail_count = 0;
    const module = frame.modules[at];
    if (!module) return end(move, "success", state.previous ?? { value: null });
    const own: ModuleState = { id: module.id, type: "InProgress" };
    state.modules[at] = own;
    const begun = await guarded(move, module, async () => {
      if (module.skip_if && (await move.env.evaluate(module.skip_if.expr, {}))) return { skipped: true };
      return { result: await launch(move, module, own) };
    });
    if (begun?.result) return completed(move, module, begun.result, false);
    if (!begun?.skipped) return;
    own.type = "Success";
    own.skipped = true;
    own.result = state.previous ?? { value: null };
  }
}

/** What goes wrong in an expression of a module is a failure of that module. */
async function guarded<T>(move: Move, module: FlowModule, work: () => Promise<T>): Promise<T | undefined> {
  const before = move.steps.length;
  try {
    return await work();
  } catch (cause) {
    move.steps.length = before;
    await failed(move, module, errorOf(cause, module.id), undefined);
    return undefined;
  }
}

async function childEnded(move: Move, event: ChildEvent): Promise<void> {
  const { frame, state } = move;
  if (event.module === frame.preprocessor_module?.id && state.preprocessor?.type === "InProgress") {
    return preprocessed(move, event);
  }
  if (event.module === frame.failure_module?.id && state.failure?.type === "InProgress") {
    state.failure.type = event.status === "success" ? "Success" : "Failure";
    return end(move, "failure", { job: event.job });
  }
  const module = frame.modules[state.step];
  const own = state.modules[state.step];
  if (module?.id !== event.module || own?.type !== "InProgress" || state.waits) return;
  if (own.many) {
    await guarded(move, module, () => iterationEnded(move, module, own, event));
    return;
  }
  if (own.job !== event.job) return;
  if (isGood(event)) return completed(move, module, { job: event.job }, event.stopped ?? false);
  await failed(move, module, errorValue(event.result, module.id), event.job);
}

async function preprocessed(move: Move, event: ChildEvent): Promise<void> {
  const own = move.state.preprocessor!;
  own.type = isGood(event) ? "Success" : "Failure";
  if (isGood(event)) move.steps.push({ type: "input", result: { job: event.job } });
  else end(move, "failure", { value: errorValue(event.result, own.id) });
}

function isGood(event: ChildEvent): boolean {
  return event.status === "success" || event.status === "skipped";
}

/** One iteration of a loop, or one branch of several, has ended. */
async function iterationEnded(
  move: Move,
  module: FlowModule,
  own: ModuleState,
  event: ChildEvent,
): Promise<void> {
  const many = own.many!;
  many.running--;
  if (!isGood(event) && !skipsFailure(module, event.index ?? 0)) {
    many.error ??= event.result;
    if (many.stopping !== "failed" && many.running > 0)
      move.steps.push({ type: "cancel", module: module.id });
    many.stopping = "failed";
  } else if (!many.stopping && (await stopsLoop(move, module, event))) many.stopping = "done";
  if (!many.stopping && (await nextIteration(move, module, own))) return;
  if (many.running > 0) return;
  if (many.stopping === "failed") {
    return failed(move, module, errorValue(many.error!, module.id), event.job);
  }
  await completed(move, module, { gather: module.id, of: move.env.frame }, false);
}

function skipsFailure(module: FlowModule, index: number): boolean {
  const { value } = module;
  if (value.type === "branchall") return value.branches[index]?.skip_failure ?? false;
  return value.type === "forloopflow" || value.type === "whileloopflow" ? value.skip_failures : false;
}

/** A loop one after the other ends early by its own condition; a while loop also when its body was stopped. */
async function stopsLoop(move: Move, module: FlowModule, event: ChildEvent): Promise<boolean> {
  const { value } = module;
  if (value.type === "branchall") return false;
  if (value.type === "whileloopflow" && event.stopped) return true;
  if (!module.stop_after_if || ("parallel" in value && value.parallel)) return false;
  const result = isGood(event) ? JSON.parse(event.result) : null;
  return Boolean(await move.env.evaluate(module.stop_after_if.expr, { result }));
}

/** A module has a result: does the flow stop here, wait, or go on? */
async function completed(
  move: Move,
  module: FlowModule,
  result: ResultRef,
  stoppedInside: boolean,
): Promise<void> {
  const { state } = move;
  const own = state.modules[state.step]!;
  own.type = "Success";
  own.result = result;
  state.previous = result;
  state.fail_count = 0;
  delete state.resumed;
  if (stoppedInside && module.value.type.startsWith("branch")) {
    return end(move, "success", result, true);
  }
  const stop = isLoop(module) ? module.stop_after_all_iters_if : module.stop_after_if;
  const next = await guarded(move, module, async () => {
    if (stop && (await move.env.evaluate(stop.expr, { result: await move.env.resolve(result) }))) {
      return { stop };
    }
    return { sleep_s: module.suspend ? 0 : await sleepOf(move, module, result) };
  });
  if (!next) return;
  if ("stop" in next) return stopHere(move, module, next.stop!, result);
  if (module.suspend) return suspend(move, module);
  if (next.sleep_s > 0) return waitFor(move, "sleep", next.sleep_s);
  await enter(move, state.step + 1);
}

function isLoop(module: FlowModule): boolean {
  return ["forloopflow", "whileloopflow", "branchall"].includes(module.value.type);
}

function stopHere(
  move: Move,
  module: FlowModule,
  stop: NonNullable<FlowModule["stop_after_if"]>,
  result: ResultRef,
): void {
  if (stop.error_message) {
    const error = { name: "StoppedEarly", message: stop.error_message, step_id: module.id };
    end(move, "failure", { value: { error } }, true);
  } else end(move, stop.skip_if_stopped ? "skipped" : "success", result, true);
}

async function sleepOf(move: Move, module: FlowModule, result: ResultRef): Promise<number> {
  if (!module.sleep) return 0;
  const seconds = Number(await transformed(move, module.sleep, { result: await move.env.resolve(result) }));
  if (!(seconds >= 0)) throw fault("SleepError", `sleep must be a number of seconds, and is ${seconds}`);
  return seconds;
}

function suspend(move: Move, module: FlowModule): void {
  waitFor(move, "events", module.suspend?.timeout ?? SUSPEND_S);
  const next = move.frame.modules[move.state.step + 1];
  if (next) move.state.modules[move.state.step + 1] = { id: next.id, type: "WaitingForEvents" };
}

function waitFor(move: Move, what: NonNullable<FrameState["waits"]>, seconds: number): void {
  move.state.waits = what;
  move.steps.push({ type: "wake", at: move.env.now() + seconds * 1000 });
}

async function woken(move: Move): Promise<void> {
  const { frame, state } = move;
  const waited = state.waits;
  if (waited === "events") return notApproved(move, "the time to approve has passed");
  delete state.waits;
  if (waited === "sleep") return enter(move, state.step + 1);
  if (waited !== "retry") return;
  const module = frame.modules[state.step]!;
  const own: ModuleState = { ...state.modules[state.step]!, type: "InProgress" };
  delete own.many;
  state.modules[state.step] = own;
  const begun = await guarded(move, module, async () => ({ result: await launch(move, module, own) }));
  if (begun?.result) await completed(move, module, begun.result, false);
}

/** The approvals are there: a pause the module asked for as well comes after them. */
async function goOn(move: Move): Promise<void> {
  const { frame, state } = move;
  const module = frame.modules[state.step]!;
  delete state.waits;
  state.resumed = module.id;
  const sleep_s = await guarded(move, module, () => sleepOf(move, module, state.previous!));
  if (sleep_s === undefined) return;
  if (sleep_s > 0) return waitFor(move, "sleep", sleep_s);
  await enter(move, state.step + 1);
}

async function notApproved(move: Move, why: string): Promise<void> {
  const { frame, state } = move;
  const module = frame.modules[state.step]!;
  delete state.waits;
  if (module.suspend?.continue_on_disapprove_timeout) return goOn(move);
  state.modules.length = state.step + 1;
  const error = {
    name: "Disapproved",
    message: `step ${module.id} waited for approval: ${why}`,
    step_id: module.id,
  };
  await failedForGood(move, module, { error });
}

/** A module has failed: is it tried again, is the failure its result, or does the flow fail? */
async function failed(
  move: Move,
  module: FlowModule,
  error: unknown,
  job: string | undefined,
): Promise<void> {
  const { state, env } = move;
  const own = state.modules[state.step];
  if (own?.id === module.id && module.retry) {
    const tries = state.fail_count ?? 0;
    const delay_s = await retryDelay(module.retry, tries, env, error);
    if (delay_s !== undefined) {
      state.fail_count = tries + 1;
      if (job !== undefined) own.failed_retries = [...(own.failed_retries ?? []), job];
      return waitFor(move, "retry", delay_s);
    }
  }
  if (own?.id === module.id && module.continue_on_error) {
    own.type = "Failure";
    own.result = { value: error };
    state.previous = own.result;
    return enter(move, state.step + 1);
  }
  await failedForGood(move, module, error);
}

async function failedForGood(move: Move, module: FlowModule, error: unknown): Promise<void> {
  const { frame, state } = move;
  const own = state.modules[state.step];
  if (own?.id === module.id) {
    own.type = "Failure";
    own.result = { value: error };
  }
  const handler = frame.failure_module;
  if (!handler || state.failure) return end(move, "failure", { value: error });
  state.failure = { id: handler.id, type: "InProgress" };
  const extra: Extra = { error: (error as { error?: unknown } | null)?.error ?? error };
  const before = move.steps.length;
  try {
    const result = await launch(move, handler, state.failure, extra);
    if (result) end(move, "failure", result);
  } catch (cause) {
    move.steps.length = before;
    state.failure.type = "Failure";
    end(move, "failure", { value: errorOf(cause, handler.id) });
  }
}

function end(
  move: Move,
  status: "success" | "failure" | "skipped",
  result: ResultRef,
  stopped = false,
): void {
  move.state.ended = true;
  move.steps.push({ type: "end", status, result, ...(stopped ? { stopped } : {}) });
}

/** The error value of a failed job, with the step it comes from. */
function errorValue(result: string, step_id: string): unknown {
  const value = JSON.parse(result) as { error?: Record<string, unknown> } | null;
  if (typeof value?.error !== "object" || value.error === null) {
    return { error: { name: "Error", message: "the step failed", step_id, result: value } };
  }
  return { ...value, error: { ...value.error, step_id: value.error.step_id ?? step_id } };
}

function errorOf(cause: unknown, step_id: string): unknown {
  const { name, message } = cause as Error;
  return { error: { name, message, step_id } };
}

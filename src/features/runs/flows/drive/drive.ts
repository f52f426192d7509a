/** Carries an event through the engine, and what follows from it in the frames inside and around. */

import type { FrameEvent, Step } from "../../../../engines/flow-engine/state.ts";
import { initialState, transition } from "../../../../engines/flow-engine/transition.ts";
import { SvcError } from "../../../../lib/errors.ts";
import { refuseDeep } from "../../../../lib/json/depth.ts";
import { isJsonObject, parseJson } from "../../../../lib/json/json.ts";
import type { App } from "../../../../platform/app/context.ts";
import type { Job } from "../../../../platform/queue/tables.ts";
import { cachedResult } from "../../job/cached-results.ts";
import { moduleIndex } from "../modules.ts";
import type { FrameEnd, Plan } from "../plan/plan.ts";
import { FIRST_REAL, nextTurn } from "../plan/wake-times.ts";
import { pointOf } from "../restart.ts";
import { calledWith, deadlineOf, type FlowRun, innerFrame, type LiveFlow, type LiveFrame } from "../run.ts";
import { verdict } from "./answers.ts";
import { type FrameStep, frameRow, leafRow, type RunStep } from "./children.ts";
import { noteEnd, noteFinished } from "./finished.ts";
import { envOf, resultText } from "./scope.ts";

/** Flows may call flows, to this depth. */
const MAX_DEPTH = 50;
/** Runs of one flow inside of itself that may be under way: one that calls itself twice has twice as many at each depth. */
const MAX_WITHIN_ITSELF = 1_000;
/** The last moment that both databases can keep: what is to go on later than this never does. */
const LAST_MS = Date.UTC(9999, 11, 31);

/** How a frame inside another begins. A flow that is called has its input made already. */
export const BEGIN_INNER = { type: "start", skip_preprocessor: true } as const;

interface Drive {
  app: App;
  run: FlowRun;
  plan: Plan;
  todo: { frame: LiveFrame; event: FrameEvent }[];
}

/** Applies an event to a frame. Everything it leads to is in the plan, and in the run in memory. */
export async function drive(
  app: App,
  run: FlowRun,
  plan: Plan,
  frame: LiveFrame,
  event: FrameEvent,
): Promise<void> {
  const todo = [{ frame, event }];
  const move: Drive = { app, run, plan, todo };
  for (let next = todo.shift(); next; next = todo.shift()) await apply(move, next.frame, next.event);
}

async function apply(move: Drive, frame: LiveFrame, event: FrameEvent): Promise<void> {
  const { app, run, plan } = move;
  if (frame.state.ended) return;
  if (event === BEGIN_INNER && plan.isLarge) {
    frame.wake_at = nextTurn(run);
    return plan.frameChanged(frame);
  }
  const waited = frame.state.waits?.for === "events";
  noteEnd(frame, event);
  const { state, steps } = await transition(frame.frame, frame.state, event, envOf(app, run, frame));
  if (run.exhausted) return failRun(move, frame, run.exhausted);
  const { step: from } = frame.state;
  frame.state = state;
  noteFinished(frame, from);
  frame.wake_at = nextMoment(frame);
  plan.frameChanged(frame);
  for (const step of steps) {
    await carryOut(move, frame, step);
    // What was asked for has ended the run: nothing more is begun in it.
    if (run.frames.size === 0) return;
  }
  if (state.waits?.for !== "events" || waited) return;
  const answered = await verdict(app, run, frame);
  if (answered) move.todo.push({ frame, event: answered });
}

/** When it goes on by itself, or is to be stopped. */
export function nextMoment(frame: LiveFrame): Date | null {
  if (frame.state.ended) return null;
  const moments = [frame.state.waits?.until, deadlineOf(frame)?.getTime()].filter((at) => at !== undefined);
  if (moments.length === 0) return null;
  return new Date(Math.max(FIRST_REAL.getTime(), Math.min(...moments, LAST_MS)));
}

/** A flow that has run before with the same arguments ends where it begins. */
export function endFromCache(plan: Plan, frame: LiveFrame, result: string): void {
  frame.state = { ...frame.state, ended: true };
  plan.frameChanged(frame);
  plan.frameEnds({ frame, status: "success", result, cached: true });
}

async function carryOut(move: Drive, frame: LiveFrame, step: Step): Promise<void> {
  const { plan, run, app, todo } = move;
  switch (step.type) {
    case "run":
      return begin(move, frame, step);
    case "frame":
      return beginFrame(move, frame, step);
    case "items":
      return plan.keepItems(frame, step.module, step.items);
    case "wake":
      return;
    case "early":
      return plan.early(frame, (await endResult(move, step)).result);
    case "input": {
      const input: unknown = parseJson(await resultText(app, run, step.result));
      frame.flow.input = isJsonObject(input) ? input : { body: input };
      plan.newInput(frame, JSON.stringify(frame.flow.input));
      todo.push({ frame, event: { type: "start" } });
      return;
    }
    case "end": {
      const { status, result } = await endResult(move, step);
      plan.frameEnds({ frame, status, result });
      const { parent, module } = frame;
      if (!parent || module === undefined) return;
      const { stopped, canceled } = step;
      // What stops early inside a flow that was called is that flow's own affair.
      const told = stopped && frame.flow === parent.flow;
      todo.push({
        frame: parent,
        event: {
          type: "child",
          module,
          job: frame.id,
          index: frame.index,
          status,
          result,
          ...(told ? { stopped } : {}),
          ...(canceled ? { canceled } : {}),
        },
      });
    }
  }
}

/** A flow whose result is gone, because somebody removed the job that made it, fails. */
async function endResult(
  { app, run }: Drive,
  step: Extract<Step, { type: "end" | "early" }>,
): Promise<{ status: "success" | "failure" | "skipped"; result: string }> {
  const status = step.type === "end" ? step.status : "success";
  try {
    const result = await resultText(app, run, step.result);
    refuseDeep(result, "the flow's result");
    return { status, result };
  } catch (cause) {
    if (!(cause instanceof SvcError)) throw cause;
    return { status: "failure", result: errorText(cause) };
  }
}

function errorText({ name, message, step_id }: { name: string; message: string; step_id?: string }) {
  return JSON.stringify({ error: { name, message, step_id } });
}

async function begin(move: Drive, frame: LiveFrame, step: RunStep): Promise<void> {
  const { app, run, plan, todo } = move;
  const child = { type: "child", module: step.module, job: step.job, index: step.index } as const;
  let leaf: Awaited<ReturnType<typeof leafRow>>;
  try {
    leaf = await leafRow(app, run, frame, step);
  } catch (cause) {
    if (!(cause instanceof SvcError)) throw cause;
    todo.push({ frame, event: { ...child, status: "failure", result: errorText(cause) } });
    return;
  }
  const { same_worker } = frame.flow.value;
  if (leaf.kind === "job") return plan.runLeaf(leaf.job, same_worker ?? false);
  if (leaf.kind === "identity") {
    // A loop over many, or one that never ends, must not become one endless transaction.
    if (plan.isLarge) return plan.runLeaf(leaf.job, false);
    plan.leafEnded(leaf.job);
    todo.push({ frame, event: { ...child, status: "success", result: leaf.job.args } });
    return;
  }
  if (frame.flow.depth + 1 >= MAX_DEPTH) {
    const message = `flows call each other ${MAX_DEPTH} deep: ${leaf.job.script_path} is not begun`;
    const result = errorText({ name: "RecursionError", message });
    todo.push({ frame, event: { ...child, status: "failure", result } });
    return;
  }
  if (isWithinItself(run, frame, leaf.job)) {
    const message = `${leaf.job.script_path} calls itself, and ${MAX_WITHIN_ITSELF} of its runs inside of each other are under way`;
    return failRun(move, frame, { name: "RecursionError", message, step_id: step.leaf.id });
  }
  const flow = liveFlow(leaf.job, leaf.deployed.value, frame.flow.depth + 1);
  const inner = flowFrame(flow, { parent: frame, module: step.module, index: step.index });
  const cached = leaf.job.cache_ttl ? await cachedResult(app, leaf.job) : undefined;
  if (cached === undefined) return beginInner(move, inner, leaf.job);
  plan.frameBegins(inner, leaf.job);
  endFromCache(plan, inner, cached);
  todo.push({ frame, event: { ...child, status: "success", result: cached } });
}

/** A flow that is about to be called runs around this frame already, and as often in all as it may inside of itself. */
function isWithinItself(run: FlowRun, frame: LiveFrame, { script_path }: Job): boolean {
  if (run.frames.size < MAX_WITHIN_ITSELF) return false;
  const runsIt = ({ flow }: LiveFrame) => flow.job.script_path === script_path;
  let around: LiveFrame | undefined = frame;
  while (around && !runsIt(around)) around = around.parent;
  if (!around) return false;
  let underWay = 0;
  for (const each of run.frames.values()) if (each.id === each.flow.job.id && runsIt(each)) underWay++;
  return underWay >= MAX_WITHIN_ITSELF;
}

/** The whole run fails: where only the step did, and loops skip failures, the others would go on for years. */
function failRun({ plan, todo }: Drive, inside: LiveFrame, error: Parameters<typeof errorText>[0]): void {
  let root = inside;
  while (root.parent) root = root.parent;
  stopAll(plan, { frame: root, status: "failure", result: errorText(error) });
  todo.length = 0;
}

/** All that is in a frame stops, and the frame around it is told how it ended. */
export async function stopFrame(app: App, run: FlowRun, plan: Plan, how: FrameEnd): Promise<void> {
  const { frame, status, result } = how;
  stopAll(plan, how);
  const { id, parent, module, index } = frame;
  if (!parent || module === undefined) return;
  await drive(app, run, plan, parent, { type: "child", module, job: id, index, status, result });
}

function stopAll(plan: Plan, how: FrameEnd): void {
  const { frame } = how;
  plan.stopFrame(frame);
  frame.state = { ...frame.state, ended: true };
  frame.wake_at = null;
  plan.frameChanged(frame);
  plan.frameEnds(how);
}

/** A frame inside begins at once or, in a plan that is large already, by itself after the commit. */
function beginInner({ run, plan, todo }: Drive, inner: LiveFrame, job: Job): void {
  const { isLarge } = plan;
  if (isLarge) inner.wake_at = nextTurn(run);
  plan.frameBegins(inner, job);
  if (!isLarge) todo.push({ frame: inner, event: BEGIN_INNER });
}

export function liveFlow(job: Job, value: LiveFlow["value"], depth: number): LiveFlow {
  const isWhole = pointOf(job) === undefined;
  const modules = moduleIndex(value);
  return { job, value, modules, input: calledWith(job), depth, finished: new Map(), isWhole };
}

/** The frame of a flow's own modules. */
export function flowFrame(flow: LiveFlow, place: Pick<LiveFrame, "parent" | "module" | "index">): LiveFrame {
  return {
    ...place,
    id: flow.job.id,
    flow,
    iter: undefined,
    frame: flow.value,
    state: { step: 0, modules: [] },
    wake_at: null,
    started_at: flow.job.started_at ?? flow.job.created_at,
    began: performance.now(),
  };
}

function beginFrame(move: Drive, frame: LiveFrame, step: FrameStep): void {
  const { app, run } = move;
  const job = frameRow(app, run, frame, step);
  const iter = step.iter && frame.iter ? { ...step.iter, iter: frame.iter } : (step.iter ?? frame.iter);
  const inner: LiveFrame = {
    id: step.job,
    flow: frame.flow,
    parent: frame,
    module: step.module,
    index: step.index,
    iter,
    frame: innerFrame(frame, step.module, step.body),
    state: initialState(step),
    wake_at: null,
    started_at: job.created_at,
    began: performance.now(),
  };
  beginInner(move, inner, job);
}

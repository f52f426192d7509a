/** Applies an event to a frame of a flow run, and the resulting events to the frames inside and around it. */

import type { EngineCommand, FrameEvent } from "../../../../engines/flow-engine/state.ts";
import { computeTransition, createInitialState } from "../../../../engines/flow-engine/transition.ts";
import { SvcError } from "../../../../lib/errors.ts";
import { requireJsonDepth } from "../../../../lib/json/depth.ts";
import { isJsonObject, parseJson } from "../../../../lib/json/json.ts";
import type { App } from "../../../../platform/app/context.ts";
import type { Job } from "../../../../platform/queue/tables.ts";
import { escapeComputedReferences } from "../../arguments/computed-references.ts";
import { mayContainReferences } from "../../arguments/references.ts";
import { findCachedResult } from "../../job/cached-results.ts";
import { computeFrameDeadline, createInnerFrame, type FlowRun, type LiveFrame } from "../live-run.ts";
import type { FrameCompletion, Plan } from "../plan/plan.ts";
import { computeNextImmediateTurn, EARLIEST_WAKE_TIME } from "../plan/wake-times.ts";
import { findVerdict } from "./approval-answers.ts";
import { createFlowFrame, createLiveFlow } from "./create-frames.ts";
import { createEngineEnvironment, readResultText } from "./expression-scope.ts";
import { createFrameRow, createLeafRow, type FrameStep, type RunStep } from "./step-jobs.ts";
import { recordFinishedSteps, recordLoopResult } from "./step-results.ts";

/** Maximum depth of flows that call flows. */
const MAX_CALL_DEPTH = 50;
/** Maximum active runs of a flow inside itself. A flow that calls itself twice doubles them at each level. */
const MAX_RECURSIVE_RUNS = 1_000;
/** Latest time that both databases can store. Waits that end later never end. */
const LATEST_WAKE_TIME_MS = Date.UTC(9999, 11, 31);

/** The event that starts an inner frame. The input of a called flow was already preprocessed by its caller. */
export const START_INNER = { type: "start", skip_preprocessor: true } as const;

interface EventContext {
  app: App;
  run: FlowRun;
  plan: Plan;
  todo: { frame: LiveFrame; event: FrameEvent }[];
}

/** Applies an event to a frame. All consequences are in `plan`, and in the run in memory. */
export async function applyEvent(
  app: App,
  run: FlowRun,
  plan: Plan,
  frame: LiveFrame,
  event: FrameEvent,
): Promise<void> {
  const todo = [{ frame, event }];
  const move: EventContext = { app, run, plan, todo };
  for (let next = todo.shift(); next; next = todo.shift()) await applyToFrame(move, next.frame, next.event);
}

async function applyToFrame(move: EventContext, frame: LiveFrame, event: FrameEvent): Promise<void> {
  const { app, run, plan } = move;
  if (frame.state.ended) return;
  if (event === START_INNER && plan.isLarge) {
    frame.wake_at = computeNextImmediateTurn(run);
    return plan.updateFrame(frame);
  }
  const waited = frame.state.waits?.for === "events";
  recordLoopResult(frame, event);
  const { state, commands } = await computeTransition(
    frame.frame,
    frame.state,
    event,
    createEngineEnvironment(app, run, frame),
  );
  if (run.fatal_error) return failWholeRun(move, frame, run.fatal_error);
  const { step: from } = frame.state;
  frame.state = state;
  recordFinishedSteps(frame, from);
  frame.wake_at = computeNextWakeTime(frame);
  plan.updateFrame(frame);
  for (const step of commands) {
    await executeStep(move, frame, step);
    // The step has ended the whole run: nothing more is started in it.
    if (run.frames.size === 0) return;
  }
  if (state.waits?.for !== "events" || waited) return;
  const answered = await findVerdict(app, run, frame);
  if (answered) move.todo.push({ frame, event: answered });
}

/** Returns when the frame continues by itself or times out; null for never. */
export function computeNextWakeTime(frame: LiveFrame): Date | null {
  if (frame.state.ended) return null;
  const moments = [frame.state.waits?.until, computeFrameDeadline(frame)?.getTime()].filter(
    (at) => at !== undefined,
  );
  if (moments.length === 0) return null;
  return new Date(Math.max(EARLIEST_WAKE_TIME.getTime(), Math.min(...moments, LATEST_WAKE_TIME_MS)));
}

/** Completes a flow with a cached result, without running its steps. */
export function completeFromCache(plan: Plan, frame: LiveFrame, result: string): void {
  frame.state = { ...frame.state, ended: true };
  plan.updateFrame(frame);
  plan.completeFrame({ frame, status: "success", result, cached: true });
}

async function executeStep(move: EventContext, frame: LiveFrame, step: EngineCommand): Promise<void> {
  const { plan, run, app, todo } = move;
  switch (step.type) {
    case "run":
      return startLeaf(move, frame, step);
    case "frame":
      return startFrame(move, frame, step);
    case "items":
      return plan.storeItems(frame, step.module, step.items);
    case "wake":
      return;
    case "early":
      return plan.addEarlyResult(frame, (await readEndResult(move, step)).result);
    case "input": {
      const text = await readResultText(app, run, step.result);
      const made: unknown = parseJson(text);
      const input = mayContainReferences(text) ? await escapePreprocessed(app, frame, made) : made;
      frame.flow.input = isJsonObject(input) ? input : { body: input };
      plan.setInput(frame, JSON.stringify(frame.flow.input));
      todo.push({ frame, event: { type: "start" } });
      return;
    }
    case "end": {
      const { status, result } = await readEndResult(move, step);
      plan.completeFrame({ frame, status, result });
      const { parent, module } = frame;
      if (!parent || module === undefined) return;
      const { stopped, canceled } = step;
      // An early stop inside a called flow stops only that flow.
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

/** Makes literals of the texts in a preprocessor's result that look like references, but are data of the request. */
function escapePreprocessed(app: App, { flow }: LiveFrame, made: unknown): Promise<unknown> {
  const code = flow.value.preprocessor_module?.value;
  const source = code?.type === "rawscript" ? code.content : "";
  return escapeComputedReferences(app, flow.job, made, {
    source,
    given: () => [flow.input],
    data: () => [flow.input],
  });
}

/** Reads a frame's result. A flow fails if the job with its result was deleted. */
async function readEndResult(
  { app, run }: EventContext,
  step: Extract<EngineCommand, { type: "end" | "early" }>,
): Promise<{ status: "success" | "failure" | "skipped"; result: string }> {
  const status = step.type === "end" ? step.status : "success";
  try {
    const result = await readResultText(app, run, step.result);
    requireJsonDepth(result, "the flow's result");
    return { status, result };
  } catch (cause) {
    if (!(cause instanceof SvcError)) throw cause;
    return { status: "failure", result: formatError(cause) };
  }
}

function formatError({ name, message, step_id }: { name: string; message: string; step_id?: string }) {
  return JSON.stringify({ error: { name, message, step_id } });
}

async function startLeaf(move: EventContext, frame: LiveFrame, step: RunStep): Promise<void> {
  const { app, run, plan, todo } = move;
  const child = { type: "child", module: step.module, job: step.job, index: step.index } as const;
  let leaf: Awaited<ReturnType<typeof createLeafRow>>;
  try {
    leaf = await createLeafRow(app, run, frame, step);
  } catch (cause) {
    if (!(cause instanceof SvcError)) throw cause;
    todo.push({ frame, event: { ...child, status: "failure", result: formatError(cause) } });
    return;
  }
  const { same_worker } = frame.flow.value;
  if (leaf.kind === "job") return plan.runLeaf(leaf.job, same_worker ?? false);
  if (leaf.kind === "identity") {
    // Otherwise a long or endless loop of identity steps would be one endless transaction.
    if (plan.isLarge) return plan.runLeaf(leaf.job, false);
    plan.addCompletedLeaf(leaf.job);
    todo.push({ frame, event: { ...child, status: "success", result: leaf.job.args } });
    return;
  }
  if (frame.flow.depth + 1 >= MAX_CALL_DEPTH) {
    const message = `flows call each other ${MAX_CALL_DEPTH} deep: ${leaf.job.script_path} is not begun`;
    const result = formatError({ name: "RecursionError", message });
    todo.push({ frame, event: { ...child, status: "failure", result } });
    return;
  }
  if (exceedsRecursion(run, frame, leaf.job)) {
    const message = `${leaf.job.script_path} calls itself, and ${MAX_RECURSIVE_RUNS} of its runs inside of each other are under way`;
    return failWholeRun(move, frame, { name: "RecursionError", message, step_id: step.leaf.id });
  }
  const flow = createLiveFlow(leaf.job, leaf.deployed.value, frame.flow.depth + 1);
  const inner = createFlowFrame(flow, { parent: frame, module: step.module, index: step.index });
  const cached = leaf.job.cache_ttl ? await findCachedResult(app, leaf.job) : undefined;
  if (cached === undefined) return startInnerFrame(move, inner, leaf.job);
  plan.addFrame(inner, leaf.job);
  completeFromCache(plan, inner, cached);
  todo.push({ frame, event: { ...child, status: "success", result: cached } });
}

/** Whether the called flow already runs around this frame and has reached its recursion limit. */
function exceedsRecursion(run: FlowRun, frame: LiveFrame, { script_path }: Job): boolean {
  if (run.frames.size < MAX_RECURSIVE_RUNS) return false;
  const runsIt = ({ flow }: LiveFrame) => flow.job.script_path === script_path;
  let around: LiveFrame | undefined = frame;
  while (around && !runsIt(around)) around = around.parent;
  if (!around) return false;
  let underWay = 0;
  for (const each of run.frames.values()) if (each.id === each.flow.job.id && runsIt(each)) underWay++;
  return underWay >= MAX_RECURSIVE_RUNS;
}

/** Fails the whole run. Failing only the step would let loops with `skip_failures` continue for years. */
function failWholeRun(
  { plan, todo }: EventContext,
  inside: LiveFrame,
  error: Parameters<typeof formatError>[0],
): void {
  let root = inside;
  while (root.parent) root = root.parent;
  stopAndComplete(plan, { frame: root, status: "failure", result: formatError(error) });
  todo.length = 0;
}

/** Stops everything in a frame and passes its outcome to the frame around it. */
export async function stopFrame(app: App, run: FlowRun, plan: Plan, how: FrameCompletion): Promise<void> {
  const { frame, status, result } = how;
  stopAndComplete(plan, how);
  const { id, parent, module, index } = frame;
  if (!parent || module === undefined) return;
  await applyEvent(app, run, plan, parent, { type: "child", module, job: id, index, status, result });
}

function stopAndComplete(plan: Plan, how: FrameCompletion): void {
  const { frame } = how;
  plan.stopFrame(frame);
  frame.state = { ...frame.state, ended: true };
  frame.wake_at = null;
  plan.updateFrame(frame);
  plan.completeFrame(how);
}

/** Starts an inner frame now or, if the plan is large already, in a later transaction. */
function startInnerFrame({ run, plan, todo }: EventContext, inner: LiveFrame, job: Job): void {
  const { isLarge } = plan;
  if (isLarge) inner.wake_at = computeNextImmediateTurn(run);
  plan.addFrame(inner, job);
  if (!isLarge) todo.push({ frame: inner, event: START_INNER });
}

function startFrame(move: EventContext, frame: LiveFrame, step: FrameStep): void {
  const { app, run } = move;
  const job = createFrameRow(app, run, frame, step);
  const iter = step.iter && frame.iter ? { ...step.iter, iter: frame.iter } : (step.iter ?? frame.iter);
  const inner: LiveFrame = {
    id: step.job,
    flow: frame.flow,
    parent: frame,
    module: step.module,
    index: step.index,
    iter,
    frame: createInnerFrame(frame, step.module, step.body),
    state: createInitialState(step),
    wake_at: null,
    started_at: job.created_at,
    started_ms: performance.now(),
  };
  startInnerFrame(move, inner, job);
}

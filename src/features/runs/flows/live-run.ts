/**
 * A flow run in memory: its unfinished frames, from the outermost flow down. The database is authoritative; the next
 * transition is planned from this copy (plan/transitions.ts).
 */
import { and, eq, inArray } from "drizzle-orm";
import type { Reader } from "../../../database/database.ts";
import { getBodyModules } from "../../../engines/flow-engine/launch.ts";
import type {
  Frame,
  FrameState,
  Iteration,
  NestedBody,
  ResultRef,
} from "../../../engines/flow-engine/state.ts";
import type { FlowModule, FlowValue } from "../../../engines/flow-engine/types.ts";
import { Internal } from "../../../lib/errors.ts";
import { parseJson, parseSchemaJson } from "../../../lib/json/json.ts";
import type { App } from "../../../platform/app/context.ts";
import { isFrame, type JobStatus } from "../../../platform/queue/states.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { type FlowResume, flowFrames, flowItems } from "../../code/flows/tables.ts";
import { toRunnableFlow } from "../../code/flows/value/to-runnable.ts";
import type { StoredFlow } from "../../code/flows/value/walk-steps.ts";
import { getFlowValue } from "../../code/flows/versions.ts";
import { indexModules } from "./modules.ts";

/** A flow and the job that runs it. */
export interface LiveFlow {
  job: Job;
  value: FlowValue;
  modules: Map<string, FlowModule>;
  /** Its arguments. */
  input: Record<string, unknown>;
  /** Number of flows around it. */
  depth: number;
  /** Known results of its steps by id, at any depth; undefined if a step has none. */
  finished: Map<string, ResultRef | undefined>;
  /** Whether the run was in memory from its first step, so that all results are known. */
  isComplete: boolean;
}

/** A running list of modules: of a flow, a loop's iteration or a branch. */
export interface LiveFrame {
  id: string;
  flow: LiveFlow;
  /** The frame around it, of the same flow or of the calling one. */
  parent: LiveFrame | undefined;
  /** The parent's module that it belongs to, and the iteration or branch. */
  module: string | undefined;
  index: number | undefined;
  iter: Iteration | undefined;
  frame: Frame;
  state: FrameState;
  wake_at: Date | null;
  started_at: Date;
  /** Start in milliseconds of `performance.now()`; undefined if another process started it. */
  started_ms?: number;
}

/** Returns the frame's duration in milliseconds, by the monotonic clock if this process started it. */
export function measureFrameMs({ started_ms, started_at }: LiveFrame, now: Date): number {
  if (started_ms !== undefined) return Math.round(performance.now() - started_ms);
  return Math.max(0, now.getTime() - started_at.getTime());
}

/** Stored place of a nested frame. */
export interface StoredFrameBody {
  module: string;
  body: NestedBody;
  iter?: Iteration;
}

/** A completed child of a frame that is not committed yet. */
export interface UncommittedEnd {
  id: string;
  parent: string | undefined;
  module: string | undefined;
  index: number | undefined;
  status: JobStatus;
}

/** Returns when the flow times out, pauses included; undefined without a limit. */
export function computeFrameDeadline({ id, flow, started_at }: LiveFrame): Date | undefined {
  const { timeout_s } = flow.job;
  if (id !== flow.job.id || timeout_s === null) return undefined;
  return new Date(started_at.getTime() + timeout_s * 1000);
}

export interface FlowRun {
  readonly root_id: string;
  version: number;
  frames: Map<string, LiveFrame>;
  /** Results by job, as JSON text: uncommitted ones and recent ones. */
  results: Map<string, string>;
  /** Uncommitted completions, by job. */
  uncommitted: Map<string, UncommittedEnd>;
  /** Committed jobs in `results`, oldest first. */
  recent: string[];
  /** Items of loops, by frame and module. */
  items: Map<string, unknown[]>;
  /** Number of times that a start of frames in this run was postponed; see `wake-times.ts`. */
  turns: number;
  /** Number of expressions that reached their time limit since the run was loaded. */
  overruns: number;
  /** Error with which the run fails; no more expressions are evaluated. */
  fatal_error: { name: string; message: string; step_id?: string } | undefined;
  /** The approval answer that is being stored. */
  answer: FlowResume | undefined;
  /** Whether a write failed, so that memory is ahead of the database. */
  broken: boolean;
  /** Number of writes in progress. */
  writing: number;
  /** Resolves when all writes in progress have finished or failed. */
  written: Promise<unknown>;
  /** Whether its steps may share a folder (`same_worker`). */
  sharesFolder: boolean;
}

/** Creates a run without frames. */
export function createEmptyRun(root_id: string): FlowRun {
  return {
    root_id,
    version: 0,
    frames: new Map(),
    results: new Map(),
    uncommitted: new Map(),
    recent: [],
    items: new Map(),
    turns: 0,
    overruns: 0,
    fatal_error: undefined,
    answer: undefined,
    broken: false,
    writing: 0,
    written: Promise.resolve(),
    sharesFolder: false,
  };
}

/** Loads a run from the database. */
export async function loadRun(app: App, root_id: string): Promise<FlowRun> {
  const run = { ...createEmptyRun(root_id), sharesFolder: true };
  // Read first: a later change increments it, so a plan based on an incomplete read is rejected.
  const [root] = await app.db.read
    .select({ version: flowFrames.version, state: jobs.state })
    .from(flowFrames)
    .innerJoin(jobs, eq(jobs.id, flowFrames.job_id))
    .where(eq(flowFrames.job_id, root_id));
  run.version = root?.version ?? 0;
  // Frames still running below it are being stopped.
  if (root?.state === "completed") return run;
  const rows = await app.db.read
    .select({ frame: flowFrames, job: jobs })
    .from(flowFrames)
    .innerJoin(jobs, eq(jobs.id, flowFrames.job_id))
    .where(and(eq(flowFrames.root_job, root_id), eq(jobs.state, "running")));
  const byId = new Map(rows.map((row) => [row.job.id, row]));
  const revive = async (id: string): Promise<LiveFrame | undefined> => {
    const known = run.frames.get(id);
    const row = byId.get(id);
    if (known || !row) return known;
    const parent = row.job.parent_job ? await revive(row.job.parent_job) : undefined;
    // A frame inside a completed one is being stopped.
    if (!parent && row.job.flow_step_id !== null) return undefined;
    const frame = await loadFrame(app, row.job, parent);
    frame.state = row.frame.state as FrameState;
    frame.wake_at = row.frame.wake_at;
    run.frames.set(id, frame);
    return frame;
  };
  for (const id of byId.keys()) await revive(id);
  await loadItems(app.db.read, run);
  return run;
}

async function loadItems(db: Reader, run: FlowRun): Promise<void> {
  const looping = [...run.frames.values()].filter(
    ({ state }) => state.modules[state.step]?.many || state.failure?.many,
  );
  for (let at = 0; at < looping.length; at += 500) {
    const ids = looping.slice(at, at + 500).map(({ id }) => id);
    for (const row of await db.select().from(flowItems).where(inArray(flowItems.job_id, ids))) {
      run.items.set(formatItemsKey(row.job_id, row.module_id), row.items);
    }
  }
}

/** Returns the key of a loop's items in `FlowRun.items`. */
export function formatItemsKey(frame_id: string, module: string): string {
  return `${frame_id} ${module}`;
}

/** Loads the frame of a job, in its initial state. */
export async function loadFrame(app: App, job: Job, parent: LiveFrame | undefined): Promise<LiveFrame> {
  const common = {
    id: job.id,
    parent,
    module: job.flow_step_id ?? undefined,
    index: job.flow_index ?? undefined,
    state: { step: 0, modules: [] },
    wake_at: null,
    started_at: job.started_at ?? job.created_at,
  };
  if (job.kind === "flownode") {
    if (!parent) throw new Internal(`job ${job.id} runs inside a flow that does not run`);
    const { module, body, iter } = parseJson(job.flow_body ?? "null") as StoredFrameBody;
    return {
      ...common,
      flow: parent.flow,
      iter: iter ?? parent.iter,
      frame: createInnerFrame(parent, module, body),
    };
  }
  if (!isFrame(job.kind)) throw new Internal(`job ${job.id} is not a flow`);
  const value = await loadFlowValue(app, job);
  const flow: LiveFlow = {
    job,
    value,
    modules: indexModules(value),
    input: readFlowInput(job),
    depth: parent ? parent.flow.depth + 1 : 0,
    finished: new Map(),
    isComplete: false,
  };
  return { ...common, flow, iter: undefined, frame: value };
}

/**
 * Returns the input that a flow's expressions see. Until its preprocessor has run, these are the preprocessor's
 * parameters: `event`, or the arguments and `wm_trigger`.
 */
export function readFlowInput({
  args,
  preprocessor_input,
  preprocessed,
  trigger_kind,
}: Job): LiveFlow["input"] {
  const input = parseJson(args) as Record<string, unknown>;
  if (preprocessed || preprocessor_input === null) return input;
  return { ...input, wm_trigger: { kind: trigger_kind }, ...(parseJson(preprocessor_input) as object) };
}

/** Creates the frame of an iteration or branch. A branch runs once, so the flow's early return may be in it. */
export function createInnerFrame({ flow, frame }: LiveFrame, module: string, body: NestedBody): Frame {
  const modules = getBodyModules(flow.modules.get(module)!, body);
  const { early_return } = frame;
  return body.of === "loop" || early_return === undefined ? { modules } : { modules, early_return };
}

/** Like `toRunnableFlow`, for a retried run of a script: its step takes the run's arguments as they are. */
export function toRetriedScript(flow: StoredFlow): FlowValue {
  const value = toRunnableFlow(flow);
  for (const step of value.modules) if (step.value.type === "script") step.value.takes_flow_input = true;
  return value;
}

async function loadFlowValue(app: App, job: Job): Promise<FlowValue> {
  if (job.raw_flow !== null) {
    const stored = parseSchemaJson(job.raw_flow) as StoredFlow;
    return job.kind === "singlestepflow" ? toRetriedScript(stored) : toRunnableFlow(stored);
  }
  return getFlowValue(app, job.workspace_id, job.flow_version ?? 0);
}

/** Small, recent results stay in memory; others are read from the database. */
const MAX_RECENT_RESULTS = 64;
const MAX_RECENT_RESULT_CHARS = 20_000;

/** Drops long and old results of jobs that are stored now. */
export function releaseResults(run: FlowRun, committed: string[]): void {
  for (const job_id of committed) {
    run.uncommitted.delete(job_id);
    if ((run.results.get(job_id)?.length ?? 0) > MAX_RECENT_RESULT_CHARS) run.results.delete(job_id);
    else run.recent.push(job_id);
  }
  const more = run.recent.length - MAX_RECENT_RESULTS;
  if (more > 0) for (const job_id of run.recent.splice(0, more)) run.results.delete(job_id);
}

/**
 * A flow that runs, in memory: the frames that have not ended, from the outermost flow down. What is in the database is
 * the truth; this is what the next transition starts from (turns.ts).
 */
import { and, eq, inArray } from "drizzle-orm";
import type { Reader } from "../../../database/database.ts";
import { modulesOf } from "../../../engines/flow-engine/launch.ts";
import type { Body, Frame, FrameState, Iter, ResultRef } from "../../../engines/flow-engine/state.ts";
import type { FlowModule, FlowValue } from "../../../engines/flow-engine/types.ts";
import { Internal } from "../../../lib/errors.ts";
import { parseFields, parseJson } from "../../../lib/json/json.ts";
import type { App } from "../../../platform/app/context.ts";
import { isFrame, type JobStatus } from "../../../platform/queue/states.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { type FlowResume, flowFrames, flowItems } from "../../code/flows/tables.ts";
import { runnable } from "../../code/flows/value/runnable.ts";
import type { StoredFlow } from "../../code/flows/value/tree.ts";
import { flowValueOf } from "../../code/flows/versions.ts";
import { moduleIndex } from "./modules.ts";

/** A flow and the job that runs it. */
export interface LiveFlow {
  job: Job;
  value: FlowValue;
  modules: Map<string, FlowModule>;
  /** Its arguments. */
  input: Record<string, unknown>;
  /** How many flows are around it. */
  depth: number;
  /** Results of its steps by id, wherever they stand, as far as they are known; undefined for one that has none. */
  finished: Map<string, ResultRef | undefined>;
  /** It was in memory from its first step on: none of its results is unknown. */
  isWhole: boolean;
}

/** A list of modules that runs. */
export interface LiveFrame {
  id: string;
  flow: LiveFlow;
  /** The frame around it, of the same flow or of the one that called it. */
  parent: LiveFrame | undefined;
  /** The module of the parent that it runs for, and which iteration or branch. */
  module: string | undefined;
  index: number | undefined;
  iter: Iter | undefined;
  frame: Frame;
  state: FrameState;
  wake_at: Date | null;
  started_at: Date;
  /** In milliseconds of `performance.now()`; undefined where it began before this process read it. */
  began?: number;
}

/** How long a frame has run; counted, where this process began it: a clock that is set changes nothing of that. */
export function ranMs({ began, started_at }: LiveFrame, now: Date): number {
  if (began !== undefined) return Math.round(performance.now() - began);
  return Math.max(0, now.getTime() - started_at.getTime());
}

/** What is stored of a nested frame's place. */
export interface StoredBody {
  module: string;
  body: Body;
  iter?: Iter;
}

/** A child of a frame that has ended, which is not committed yet. */
export interface FreshEnd {
  id: string;
  parent: string | undefined;
  module: string | undefined;
  index: number | undefined;
  status: JobStatus;
}

/** When a flow has run for as long as it may, pauses included; undefined where nothing limits it. */
export function deadlineOf({ id, flow, started_at }: LiveFrame): Date | undefined {
  const { timeout_s } = flow.job;
  if (id !== flow.job.id || timeout_s === null) return undefined;
  return new Date(started_at.getTime() + timeout_s * 1000);
}

export interface FlowRun {
  readonly root_id: string;
  version: number;
  frames: Map<string, LiveFrame>;
  /** Results of jobs that may not be committed yet, and recent ones: JSON text by job. */
  results: Map<string, string>;
  /** Ends that are not committed yet, by job. */
  fresh: Map<string, FreshEnd>;
  /** Those of the results that are committed, oldest first. */
  recent: string[];
  /** What loops go over, by frame and module. */
  items: Map<string, unknown[]>;
  /** Frames that were left to begin by themselves, in turn. */
  turns: number;
  /** Expressions that ran into their time limit since this process has the run in memory. */
  overruns: number;
  /** Why nothing more is evaluated: the run fails with it. */
  exhausted: { name: string; message: string; step_id?: string } | undefined;
  /** The answer to an approval that is being stored. */
  answer: FlowResume | undefined;
  /** A write did not go through: what is in memory is ahead of the database. */
  broken: boolean;
  /** Writes that are on their way to the database. */
  writing: number;
  /** Resolves when all of them are there, or were refused. */
  written: Promise<unknown>;
  /** Steps of it may have a folder in common. */
  shares: boolean;
}

/** A run of which nothing is known yet. */
export function emptyRun(root_id: string): FlowRun {
  return {
    root_id,
    version: 0,
    frames: new Map(),
    results: new Map(),
    fresh: new Map(),
    recent: [],
    items: new Map(),
    turns: 0,
    overruns: 0,
    exhausted: undefined,
    answer: undefined,
    broken: false,
    writing: 0,
    written: Promise.resolve(),
    shares: false,
  };
}

/** A run as the database has it. */
export async function loadRun(app: App, root_id: string): Promise<FlowRun> {
  const run = { ...emptyRun(root_id), shares: true };
  // Read before the rest: what is changed after this raises it, and what is planned on less than that is refused.
  const [root] = await app.db.read
    .select({ version: flowFrames.version, state: jobs.state })
    .from(flowFrames)
    .innerJoin(jobs, eq(jobs.id, flowFrames.job_id))
    .where(eq(flowFrames.job_id, root_id));
  run.version = root?.version ?? 0;
  // What still runs below it is being stopped.
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
    // One that runs inside of what has ended is being stopped.
    if (!parent && row.job.flow_step_id !== null) return undefined;
    const frame = await reviveFrame(app, row.job, parent);
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
      run.items.set(itemsKey(row.job_id, row.module_id), row.items);
    }
  }
}

export function itemsKey(frame_id: string, module: string): string {
  return `${frame_id} ${module}`;
}

/** The frame of a job, at its beginning. */
export async function reviveFrame(app: App, job: Job, parent: LiveFrame | undefined): Promise<LiveFrame> {
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
    const { module, body, iter } = parseJson(job.flow_body ?? "null") as StoredBody;
    return {
      ...common,
      flow: parent.flow,
      iter: iter ?? parent.iter,
      frame: innerFrame(parent, module, body),
    };
  }
  if (!isFrame(job.kind)) throw new Internal(`job ${job.id} is no flow`);
  const value = await runValueOf(app, job);
  const flow: LiveFlow = {
    job,
    value,
    modules: moduleIndex(value),
    input: calledWith(job),
    depth: parent ? parent.flow.depth + 1 : 0,
    finished: new Map(),
    isWhole: false,
  };
  return { ...common, flow, iter: undefined, frame: value };
}

/**
 * What a flow's expressions know as its input. Until its preprocessor has run that is what it may ask for by name: the
 * request as `event`, or the arguments and `wm_trigger`.
 */
export function calledWith({ args, preprocessor_input, preprocessed, trigger_kind }: Job): LiveFlow["input"] {
  const input = parseJson(args) as Record<string, unknown>;
  if (preprocessed || preprocessor_input === null) return input;
  return { ...input, wm_trigger: { kind: trigger_kind }, ...(parseJson(preprocessor_input) as object) };
}

/** An iteration or a branch of a module. The flow's early return may stand in a branch, which runs once. */
export function innerFrame({ flow, frame }: LiveFrame, module: string, body: Body): Frame {
  const modules = modulesOf(flow.modules.get(module)!, body);
  const { early_return } = frame;
  return body.of === "loop" || early_return === undefined ? { modules } : { modules, early_return };
}

async function runValueOf(app: App, job: Job): Promise<FlowValue> {
  if (job.raw_flow !== null) return runnable(parseFields(job.raw_flow) as StoredFlow);
  return flowValueOf(app, job.workspace_id, job.flow_version ?? 0);
}

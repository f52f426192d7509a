/**
 * A flow that runs, in memory: the frames that have not ended, from the outermost flow down. What is in the database is
 * the truth; this is what the next transition starts from, and it is read anew whenever a write did not go through.
 *
 * Transitions of one run follow one another. The next is planned as soon as the one before is on its way to the
 * database, not when it is there: each raises the run's version, and one that does not find the version it started from
 * changes nothing.
 */
import { and, eq, inArray } from "drizzle-orm";
import type { App } from "../../../context.ts";
import type { Reader } from "../../../database/database.ts";
import { Internal } from "../../../errors.ts";
import { modulesOf } from "../../../flow-engine/launch.ts";
import type { Body, Frame, FrameState, Iter } from "../../../flow-engine/state.ts";
import type { FlowModule, FlowValue } from "../../../flow-engine/types.ts";
import { perApp } from "../../../lib/per-app.ts";
import { isFrame } from "../../../queue/states.ts";
import { type Job, jobs } from "../../../queue/tables.ts";
import { flowFrames, flowItems } from "../tables.ts";
import { flowValueOf } from "../versions.ts";
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
}

/** What is stored of a nested frame's place. */
export interface StoredBody {
  module: string;
  body: Body;
  iter?: Iter;
}

export interface FlowRun {
  readonly root_id: string;
  version: number;
  frames: Map<string, LiveFrame>;
  /** Results of jobs that may not be committed yet, and recent ones: JSON text by job. */
  results: Map<string, string>;
  /** Jobs that have ended well, of which that is not committed yet. */
  good: Set<string>;
  /** Those of the results that are committed, oldest first. */
  recent: string[];
  /** What loops go over, by frame and module. */
  items: Map<string, unknown[]>;
  /** A write did not go through: what is in memory is ahead of the database. */
  broken: boolean;
}

/** Runs kept in memory while nothing happens to them. */
const MAX_RUNS = 2_000;

interface Slot {
  run: FlowRun | undefined;
  tail: Promise<unknown>;
  users: number;
}

const slotsOf = perApp<App, Map<string, Slot>>(() => new Map());

/** Hands the run to `work` when everything asked for before has been planned. */
export async function withRun<T>(app: App, root_id: string, work: (run: FlowRun) => Promise<T>): Promise<T> {
  const slots = slotsOf(app);
  const slot = slots.get(root_id) ?? { run: undefined, tail: Promise.resolve(), users: 0 };
  // The one used last stands at the end.
  slots.delete(root_id);
  slots.set(root_id, slot);
  slot.users++;
  const turn = slot.tail.then(async () => {
    if (!slot.run || slot.run.broken) slot.run = await loadRun(app, root_id);
    const { run } = slot;
    try {
      return await work(run);
    } catch (cause) {
      run.broken = true;
      throw cause;
    } finally {
      slot.users--;
      if (run.frames.size === 0 && slot.users === 0) slots.delete(root_id);
    }
  });
  slot.tail = turn.catch(() => {});
  forgetIdle(slots);
  return turn;
}

function forgetIdle(slots: Map<string, Slot>): void {
  if (slots.size <= MAX_RUNS) return;
  for (const [root_id, slot] of slots) {
    if (slot.users > 0) continue;
    slots.delete(root_id);
    if (slots.size <= MAX_RUNS) return;
  }
}

/** A run that begins: nothing of it is in the database yet. */
export function newRun(app: App, root_id: string): FlowRun {
  const run = emptyRun(root_id);
  slotsOf(app).set(root_id, { run, tail: Promise.resolve(), users: 0 });
  return run;
}

function emptyRun(root_id: string): FlowRun {
  return {
    root_id,
    version: 0,
    frames: new Map(),
    results: new Map(),
    recent: [],
    good: new Set(),
    items: new Map(),
    broken: false,
  };
}

async function loadRun(app: App, root_id: string): Promise<FlowRun> {
  const run = emptyRun(root_id);
  const rows = await app.db.read
    .select({ frame: flowFrames, job: jobs })
    .from(flowFrames)
    .innerJoin(jobs, eq(jobs.id, flowFrames.job_id))
    .where(and(eq(flowFrames.root_job, root_id), eq(jobs.state, "running")));
  const [root] = await app.db.read
    .select({ version: flowFrames.version })
    .from(flowFrames)
    .where(eq(flowFrames.job_id, root_id));
  run.version = root?.version ?? 0;
  const byId = new Map(rows.map((row) => [row.job.id, row]));
  const revive = async (id: string): Promise<LiveFrame | undefined> => {
    const known = run.frames.get(id);
    const row = byId.get(id);
    if (known || !row) return known;
    const parent = row.job.parent_job ? await revive(row.job.parent_job) : undefined;
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
  const looping = [...run.frames.values()].filter(({ state }) => state.modules[state.step]?.many);
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
    const { module, body, iter } = JSON.parse(job.flow_body ?? "null") as StoredBody;
    const modules = modulesOf(parent.flow.modules.get(module)!, body);
    return { ...common, flow: parent.flow, iter: iter ?? parent.iter, frame: { modules } };
  }
  if (!isFrame(job.kind)) throw new Internal(`job ${job.id} is no flow`);
  const value = await valueOfJob(app, job);
  const flow: LiveFlow = {
    job,
    value,
    modules: moduleIndex(value),
    input: JSON.parse(job.args),
    depth: parent ? parent.flow.depth + 1 : 0,
  };
  return { ...common, flow, iter: undefined, frame: value };
}

async function valueOfJob(app: App, job: Job): Promise<FlowValue> {
  if (job.raw_flow !== null) return JSON.parse(job.raw_flow) as FlowValue;
  return flowValueOf(app, job.workspace_id, job.flow_version ?? 0);
}

/** The plan of one transition: its writes, in one transaction, and the actions after the commit. */
import { eq } from "drizzle-orm";
import type { Tx } from "../../../../database/database.ts";
import type { Awaitable } from "../../../../lib/async/awaitable.ts";
import type { App } from "../../../../platform/app/context.ts";
import { collectFollowUp } from "../../../../platform/app/job-ends.ts";
import type { JobFinished } from "../../../../platform/events/events.ts";
import type { Reservation } from "../../../../platform/queue/queue.ts";
import { type Job, jobs } from "../../../../platform/queue/tables.ts";
import { flowItems } from "../../../code/flows/tables.ts";
import { type JsonForRunAs, requireCurrentKey } from "../../arguments/stale-ciphertext.ts";
import { storeCachedResult } from "../../job/cached-results.ts";
import { parseLabels } from "../../job/labels.ts";
import {
  type FlowRun,
  formatItemsKey,
  type LiveFrame,
  measureFrameMs,
  releaseResults,
  type UncommittedEnd,
} from "../live-run.ts";
import { deleteAfterUse } from "./delete-after-use.ts";
import {
  claimVersion,
  claimVersionAndUpdate,
  completeFrameRow,
  insertCompletedLeaves,
  insertFrames,
  insertJobs,
  updateFrameRow,
} from "./statements.ts";
import { releaseConcurrencySlot, stopFramesBelow } from "./stop-frames.ts";
import { cacheRun, FlowConflict } from "./transitions.ts";
import { wakeFlowsAt } from "./wake-times.ts";

/** A plan with more jobs than this leaves the rest to later transactions. */
const LARGE_PLAN_JOBS = 200;

function isInside(inner: LiveFrame, frame: LiveFrame): boolean {
  for (let at = inner.parent; at; at = at.parent) if (at === frame) return true;
  return false;
}

/** Thrown if the job was already completed elsewhere; this completion is dropped. */
export class JobAlreadyEnded extends Error {}

/** A frame as one plan leaves it. Later plans change the frame itself while this plan is still being written. */
type FrameSnapshot = Pick<LiveFrame, "state" | "wake_at">;

export interface FrameCompletion {
  frame: LiveFrame;
  status: JobFinished["status"];
  /** JSON text. */
  result: string;
  /** It is a cached result. */
  cached?: boolean;
}

export class Plan {
  readonly #app: App;
  readonly #run: FlowRun;
  /** The version this plan starts from; undefined for a new run. */
  readonly #from: number | undefined;
  readonly #jobs: Job[] = [];
  /** Jobs dispatched to this process's worker after the commit, with their reserved slots. */
  readonly #handed: { job: Job; room: Reservation }[] = [];
  readonly #takenOver: Job[] = [];
  /** Jobs dispatched to this process's worker without a free slot. */
  readonly #bound: Job[] = [];
  readonly #begun = new Map<LiveFrame, FrameSnapshot>();
  readonly #changed = new Map<LiveFrame, FrameSnapshot>();
  /** The run's own frame, if it is changed: its row has the run's version too. */
  #changedRun: FrameSnapshot | undefined;
  readonly #items: { frame: LiveFrame; module: string; items: unknown[] }[] = [];
  readonly #ended: FrameCompletion[] = [];
  readonly #stopped: LiveFrame[] = [];
  readonly #early: { id: string; workspace_id: string; result: string }[] = [];
  readonly #inputs = new Map<string, string>();
  readonly #finishedLeaves: Job[] = [];
  /** Jobs whose results are only in memory until the commit. */
  readonly #results: string[] = [];

  constructor(app: App, run: FlowRun, { begins }: { begins: boolean } = { begins: false }) {
    this.#app = app;
    this.#run = run;
    this.#from = begins ? undefined : run.version;
    if (!begins) run.version++;
  }

  /** Whether the plan is so large that postponable work is left to later transactions. */
  get isLarge(): boolean {
    return this.#jobs.length + this.#finishedLeaves.length > LARGE_PLAN_JOBS;
  }

  /**
   * Adds a leaf: dispatched if there is a free slot, else queued.
   * @param here it must run in this process, even without a free slot
   */
  runLeaf(job: Job, here: boolean): void {
    this.#jobs.push(job);
    if (here) this.#run.sharesFolder = true;
    const { acceptsJobs, queue } = this.#app;
    const now = this.#app.clock();
    if (job.scheduled_for > now || job.concurrency_key !== null || !acceptsJobs) return;
    const isBound = (here || queue.runsAlone) && queue.hasWorker();
    const room = isBound ? undefined : queue.reserve(job.tag);
    if (room?.slots === 0) return;
    Object.assign(job, { state: "running", worker: queue.worker, started_at: now, last_ping: now });
    if (room) this.#handed.push({ job, room });
    else this.#bound.push(job);
  }

  /** Adds an identity step, which needs no process: it is stored as completed. */
  addCompletedLeaf(job: Job): void {
    this.#finishedLeaves.push(job);
    this.#rememberJob(job, "success", job.args);
  }

  /** Adds a completed iteration of an earlier run, stored as one of this run. */
  addTakenOver(job: Job): void {
    this.#takenOver.push(job);
    this.#rememberJob(job, job.status ?? "success", job.result ?? "null");
  }

  #rememberJob(job: Job, status: UncommittedEnd["status"], result: string): void {
    const { id, parent_job, flow_step_id, flow_index } = job;
    const place = {
      parent: parent_job ?? undefined,
      module: flow_step_id ?? undefined,
      index: flow_index ?? undefined,
    };
    this.rememberResult({ id, ...place, status }, result);
  }

  /** Keeps a result in memory for later steps until it can be read from the database. */
  rememberResult(end: UncommittedEnd, result: string): void {
    this.#run.results.set(end.id, result);
    this.#run.uncommitted.set(end.id, end);
    this.#results.push(end.id);
  }

  /** Adds a new frame. @param job stored with the frame; undefined if the submitter stores it */
  addFrame(frame: LiveFrame, job: Job | undefined): void {
    if (job) this.#jobs.push(job);
    this.#begun.set(frame, snapshotFrame(frame));
    this.#run.frames.set(frame.id, frame);
  }

  updateFrame(frame: LiveFrame): void {
    const left = snapshotFrame(frame);
    if (this.#begun.has(frame)) this.#begun.set(frame, left);
    else if (frame.id === this.#run.root_id) this.#changedRun = left;
    else this.#changed.set(frame, left);
  }

  storeItems(frame: LiveFrame, module: string, items: unknown[]): void {
    this.#items.push({ frame, module, items });
    this.#run.items.set(formatItemsKey(frame.id, module), items);
  }

  /** Sets the arguments that the preprocessor returned. */
  setInput(frame: LiveFrame, args: string): void {
    this.#inputs.set(frame.id, args);
  }

  /** Adds an early result, which is sent to waiting synchronous calls. */
  addEarlyResult({ flow: { job } }: LiveFrame, result: string): void {
    this.#early.push({ id: job.id, workspace_id: job.workspace_id, result });
  }

  completeFrame(end: FrameCompletion): void {
    const { frame, status, result } = end;
    const { id, parent, module, index } = frame;
    this.#ended.push(end);
    this.#run.frames.delete(id);
    for (const each of frame.frame.modules) this.#run.items.delete(formatItemsKey(id, each.id));
    this.rememberResult({ id, parent: parent?.id, module, index, status }, result);
  }

  /** Stops everything in a frame. Nothing in it is awaited any more. */
  stopFrame(frame: LiveFrame): void {
    this.#stopped.push(frame);
    for (const inner of [...this.#run.frames.values()]) {
      if (isInside(inner, frame)) this.#run.frames.delete(inner.id);
    }
  }

  /**
   * Writes the plan. The run's version is claimed first, with its own frame: concurrent transitions wait there, so none
   * holds a job's row while it waits for the version, which prevents deadlocks.
   * @param work stores the rows that belong to the plan; false: the job was completed elsewhere
   * @throws FlowConflict if the run was changed since it was read, JobAlreadyEnded, StaleCiphertext
   */
  async store(tx: Tx, work?: (tx: Tx) => Awaitable<boolean>): Promise<void> {
    await this.#claimVersion(tx);
    if (work && !(await work(tx))) throw new JobAlreadyEnded();
    if (this.#from === undefined) await this.#refuseStale(tx);
    if (this.#jobs.length > 0) await insertJobs(tx, this.#jobs);
    if (this.#finishedLeaves.length > 0) await insertCompletedLeaves(tx, this.#finishedLeaves);
    for (const job of this.#takenOver) await tx.insert(jobs).values(job);
    if (this.#begun.size > 0) await this.#insertFrames(tx);
    for (const [{ id }, left] of this.#changed) await tx.exec(updateFrameRow, { job_id: id, ...left });
    for (const { frame, module, items } of this.#items) {
      const row = { job_id: frame.id, module_id: module, items };
      await tx
        .insert(flowItems)
        .values(row)
        .onConflictDoUpdate({ target: [flowItems.job_id, flowItems.module_id], set: { items } });
    }
    for (const [id, args] of this.#inputs) {
      await tx
        .update(jobs)
        .set({ args, preprocessed: true, preprocessor_input: null })
        .where(eq(jobs.id, id));
    }
    for (const frame of this.#stopped) await stopFramesBelow(this.#app, tx, [frame.id]);
    for (const end of this.#ended) await this.#finish(tx, end);
    for (const { frame } of this.#ended) await deleteAfterUse(tx, frame);
    tx.afterCommit(() => this.#committed());
  }

  /** Drops the plan and frees its reserved slots. */
  abandon(): void {
    this.#run.broken = true;
    for (const { room } of this.#handed) room[Symbol.dispose]();
  }

  /**
   * A key rotation waits for the versions of stored runs. A new run has no version yet, so its values are checked here.
   */
  async #refuseStale(tx: Tx): Promise<void> {
    const ofJobs = this.#jobs.map(
      (job): JsonForRunAs => [job, job.args + (job.preprocessor_input ?? "") + (job.flow_body ?? "")],
    );
    const ofLoops = this.#items.map(
      ({ frame, items }): JsonForRunAs => [frame.flow.job, JSON.stringify(items)],
    );
    await requireCurrentKey(this.#app, tx, [...ofJobs, ...ofLoops]);
  }

  #insertFrames(tx: Tx): Promise<void> {
    const ofRun = { root_job: this.#run.root_id, version: 0 };
    return insertFrames(
      tx,
      [...this.#begun].map(([{ id }, left]) => ({ job_id: id, ...ofRun, ...left })),
    );
  }

  async #claimVersion(tx: Tx): Promise<void> {
    if (this.#from === undefined) return;
    const claim = { root_id: this.#run.root_id, from: this.#from };
    const left = this.#changedRun;
    const rows = await (left
      ? tx.exec(claimVersionAndUpdate, { ...claim, ...left })
      : tx.exec(claimVersion, claim));
    if (rows.length === 0) throw new FlowConflict();
  }

  async #finish(tx: Tx, { frame, status, result, cached }: FrameCompletion): Promise<void> {
    const now = this.#app.clock();
    const duration_ms = measureFrameMs(frame, now);
    const { job } = frame.flow;
    const labels = job.id === frame.id ? parseLabels(result) : null;
    await tx.exec(completeFrameRow, { id: frame.id, status, result, labels, completed_at: now, duration_ms });
    if (job.id !== frame.id) return;
    if (job.cache_ttl && status === "success" && !cached) await storeCachedResult(this.#app, tx, job, result);
    await releaseConcurrencySlot(this.#app, tx, job);
    await collectFollowUp(this.#app, job, status)?.(tx);
  }

  #committed(): void {
    const { queue, events, bus } = this.#app;
    if (this.#from === undefined) cacheRun(this.#app, this.#run);
    for (const { id, workspace_id, result } of this.#early) {
      events.publishEarly({ id, workspace_id, result });
      bus.publish("early", id);
    }
    releaseResults(this.#run, this.#results);
    for (const { job, room } of this.#handed) room.dispatch(job);
    for (const job of this.#bound) queue.dispatchBound(job);
    if (this.#jobs.length > this.#handed.length + this.#bound.length) queue.wake();
    const left = [...this.#begun.values(), ...this.#changed.values()];
    if (this.#changedRun) left.push(this.#changedRun);
    for (const { wake_at } of left) {
      if (wake_at) wakeFlowsAt(this.#app, wake_at);
    }
    for (const { frame, status, result } of this.#ended) {
      events.publishFinished({ id: frame.id, workspace_id: frame.flow.job.workspace_id, status, result });
      if (this.#run.sharesFolder && frame.id === this.#run.root_id) this.#app.runner.removeShared(frame.id);
    }
  }
}

function snapshotFrame({ state, wake_at }: LiveFrame): FrameSnapshot {
  return { state, wake_at };
}

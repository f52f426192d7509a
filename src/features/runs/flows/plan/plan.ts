/** What one transition of a run writes, in one transaction, and what happens after its commit. */
import { eq } from "drizzle-orm";
import type { Tx } from "../../../../database/database.ts";
import type { App } from "../../../../platform/app/context.ts";
import { followUpOf } from "../../../../platform/app/job-ends.ts";
import type { JobFinished } from "../../../../platform/events/events.ts";
import type { Reservation } from "../../../../platform/queue/queue.ts";
import { type Job, jobs } from "../../../../platform/queue/tables.ts";
import { flowItems } from "../../../code/flows/tables.ts";
import { type ForRunner, refuseStale } from "../../arguments/stale-ciphertext.ts";
import { cacheResult } from "../../job/cached-results.ts";
import { labelsOf } from "../../job/labels.ts";
import { type FlowRun, type FreshEnd, itemsKey, type LiveFrame, ranMs } from "../run.ts";
import { deleteAfterUse } from "./delete-after-use.ts";
import {
  claimVersion,
  finishFrame,
  insertEnded,
  insertFrames,
  insertJobs,
  leaveFrame,
} from "./statements.ts";
import { freePlace, stopBelow } from "./stopping.ts";
import { FlowConflict, keepRun } from "./transitions.ts";
import { wakeFlowsAt } from "./wake-times.ts";

/** A plan that asks for more than this many jobs leaves the rest to later transactions. */
const MANY_JOBS = 200;

function isInside(inner: LiveFrame, frame: LiveFrame): boolean {
  for (let at = inner.parent; at; at = at.parent) if (at === frame) return true;
  return false;
}

/** The job ended elsewhere before: nothing of this end counts. */
export class NotHeld extends Error {}

/** A frame as one plan leaves it: later plans change the frame itself while this one is still being written. */
type Left = Pick<LiveFrame, "state" | "wake_at">;

export interface FrameEnd {
  frame: LiveFrame;
  status: JobFinished["status"];
  /** JSON text. */
  result: string;
  /** It is the result of an earlier run. */
  cached?: boolean;
}

export class Plan {
  readonly #app: App;
  readonly #run: FlowRun;
  /** The version this plan starts from; undefined for a run that begins. */
  readonly #from: number | undefined;
  readonly #jobs: Job[] = [];
  /** Jobs that go to this process's worker after the commit. */
  readonly #handed: { job: Job; room: Reservation }[] = [];
  readonly #takenOver: Job[] = [];
  /** Jobs that do whether it has room or not. */
  readonly #bound: Job[] = [];
  readonly #begun = new Map<LiveFrame, Left>();
  readonly #changed = new Map<LiveFrame, Left>();
  readonly #items: { frame: LiveFrame; module: string; items: unknown[] }[] = [];
  readonly #ended: FrameEnd[] = [];
  readonly #stopped: LiveFrame[] = [];
  readonly #early: { id: string; workspace_id: string; result: string }[] = [];
  readonly #inputs = new Map<string, string>();
  readonly #finishedLeaves: Job[] = [];
  /** Jobs whose results are in memory alone until the commit. */
  readonly #results: string[] = [];

  constructor(app: App, run: FlowRun, { begins }: { begins: boolean } = { begins: false }) {
    this.#app = app;
    this.#run = run;
    this.#from = begins ? undefined : run.version;
    if (!begins) run.version++;
  }

  /** It asks for so much that what can wait is left to others. */
  get isLarge(): boolean {
    return this.#jobs.length + this.#finishedLeaves.length > MANY_JOBS;
  }

  /**
   * A leaf that runs: at once where there is room, else from the queue.
   * @param here it runs in this process whether there is room or not
   */
  runLeaf(job: Job, here: boolean): void {
    this.#jobs.push(job);
    if (here) this.#run.shares = true;
    const { accepting, queue } = this.#app;
    const now = this.#app.clock();
    if (job.scheduled_for > now || job.concurrency_key !== null || !accepting) return;
    const isBound = (here || queue.alone) && queue.hasWorker();
    const room = isBound ? undefined : queue.reserve(job.tag);
    if (room?.places === 0) return;
    Object.assign(job, { state: "running", worker: queue.worker, started_at: now, last_ping: now });
    if (room) this.#handed.push({ job, room });
    else this.#bound.push(job);
  }

  /** An identity, which needs no process: it is stored as it ended. */
  leafEnded(job: Job): void {
    this.#finishedLeaves.push(job);
    this.#rememberJob(job, "success", job.args);
  }

  /** An iteration of an earlier run, completed: it is stored as one of this run. */
  takenOver(job: Job): void {
    this.#takenOver.push(job);
    this.#rememberJob(job, job.status ?? "success", job.result ?? "null");
  }

  #rememberJob(job: Job, status: FreshEnd["status"], result: string): void {
    const { id, parent_job, flow_step_id, flow_index } = job;
    const place = {
      parent: parent_job ?? undefined,
      module: flow_step_id ?? undefined,
      index: flow_index ?? undefined,
    };
    this.remember({ id, ...place, status }, result);
  }

  /** A result that later steps may ask for before it can be read from the database. */
  remember(end: FreshEnd, result: string): void {
    this.#run.results.set(end.id, result);
    this.#run.fresh.set(end.id, end);
    this.#results.push(end.id);
  }

  /** @param job stored with the frame, unless whoever submitted it does that */
  frameBegins(frame: LiveFrame, job: Job | undefined): void {
    if (job) this.#jobs.push(job);
    this.#begun.set(frame, leftOf(frame));
    this.#run.frames.set(frame.id, frame);
  }

  frameChanged(frame: LiveFrame): void {
    (this.#begun.has(frame) ? this.#begun : this.#changed).set(frame, leftOf(frame));
  }

  keepItems(frame: LiveFrame, module: string, items: unknown[]): void {
    this.#items.push({ frame, module, items });
    this.#run.items.set(itemsKey(frame.id, module), items);
  }

  /** The arguments that a preprocessor made. */
  newInput(frame: LiveFrame, args: string): void {
    this.#inputs.set(frame.id, args);
  }

  /** A synchronous call may be answered already. */
  early({ flow: { job } }: LiveFrame, result: string): void {
    this.#early.push({ id: job.id, workspace_id: job.workspace_id, result });
  }

  frameEnds(end: FrameEnd): void {
    const { frame, status, result } = end;
    const { id, parent, module, index } = frame;
    this.#ended.push(end);
    this.#run.frames.delete(id);
    for (const each of frame.frame.modules) this.#run.items.delete(itemsKey(id, each.id));
    this.remember({ id, parent: parent?.id, module, index, status }, result);
  }

  /** All that is in a frame is stopped, and nothing of it is awaited. */
  stopFrame(frame: LiveFrame): void {
    this.#stopped.push(frame);
    for (const inner of [...this.#run.frames.values()]) {
      if (isInside(inner, frame)) this.#run.frames.delete(inner.id);
    }
  }

  /**
   * The version is claimed before anything else is touched: whoever changes a run waits here for the others, and nobody
   * who holds it waits for a job's row that one of them has.
   * @param work what belongs to it; false: the job ended elsewhere
   * @throws FlowConflict when the run is no longer as this plan found it, NotHeld, StaleSeal
   */
  async store(tx: Tx, work?: (tx: Tx) => Promise<boolean>): Promise<void> {
    await this.#claimVersion(tx);
    if (work && !(await work(tx))) throw new NotHeld();
    if (this.#from === undefined) await this.#refuseStale(tx);
    await insertJobs(tx, this.#jobs);
    await insertEnded(tx, this.#finishedLeaves);
    for (const job of this.#takenOver) await tx.insert(jobs).values(job);
    const { root_id } = this.#run;
    const frames = [...this.#begun].map(([{ id }, left]) => ({
      job_id: id,
      root_job: root_id,
      version: 0,
      ...left,
    }));
    await insertFrames(tx, frames);
    for (const [frame, left] of this.#changed) {
      await tx.exec(leaveFrame, { job_id: frame.id, ...left });
    }
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
    for (const frame of this.#stopped) await stopBelow(this.#app, tx, [frame.id]);
    for (const end of this.#ended) await this.#finish(tx, end);
    for (const { frame } of this.#ended) await deleteAfterUse(tx, frame);
    tx.afterCommit(() => this.#committed());
  }

  /** The plan is not carried out: places that were reserved are free again. */
  abandon(): void {
    this.#run.broken = true;
    for (const { room } of this.#handed) room[Symbol.dispose]();
  }

  /** Whoever exchanges the workspace's key takes the version of runs that are stored; of this one there is nothing yet. */
  async #refuseStale(tx: Tx): Promise<void> {
    const ofJobs = this.#jobs.map(
      (job): ForRunner => [job, job.args + (job.preprocessor_input ?? "") + (job.flow_body ?? "")],
    );
    const ofLoops = this.#items.map(({ frame, items }): ForRunner => [frame.flow.job, JSON.stringify(items)]);
    await refuseStale(this.#app, tx, [...ofJobs, ...ofLoops]);
  }

  async #claimVersion(tx: Tx): Promise<void> {
    if (this.#from === undefined) return;
    const rows = await tx.exec(claimVersion, { root_id: this.#run.root_id, from: this.#from });
    if (rows.length === 0) throw new FlowConflict();
  }

  async #finish(tx: Tx, { frame, status, result, cached }: FrameEnd): Promise<void> {
    const now = this.#app.clock();
    const duration_ms = ranMs(frame, now);
    const { job } = frame.flow;
    const labels = job.id === frame.id ? labelsOf(result) : null;
    await tx.exec(finishFrame, { id: frame.id, status, result, labels, completed_at: now, duration_ms });
    if (job.id !== frame.id) return;
    if (job.cache_ttl && status === "success" && !cached) await cacheResult(this.#app, tx, job, result);
    await freePlace(this.#app, tx, job);
    await followUpOf(this.#app, job, status)?.(tx);
  }

  #committed(): void {
    const { queue, events, relay } = this.#app;
    if (this.#from === undefined) keepRun(this.#app, this.#run);
    for (const { id, workspace_id, result } of this.#early) {
      events.publishEarly({ id, workspace_id, result });
      relay.tell("early", id);
    }
    forgetResults(this.#run, this.#results);
    for (const { job, room } of this.#handed) room.hand(job);
    for (const job of this.#bound) queue.handAnyway(job);
    if (this.#jobs.length > this.#handed.length + this.#bound.length) queue.wake();
    for (const { wake_at } of [...this.#begun.values(), ...this.#changed.values()]) {
      if (wake_at) wakeFlowsAt(this.#app, wake_at);
    }
    for (const { frame, status, result } of this.#ended) {
      events.publishFinished({ id: frame.id, workspace_id: frame.flow.job.workspace_id, status, result });
      if (this.#run.shares && frame.id === this.#run.root_id) this.#app.runner.forgetShared(frame.id);
    }
  }
}

/** Results read again soon stay in memory; the others are in the database. */
const MAX_RESULTS = 64;
const MAX_RESULT_LENGTH = 20_000;

function leftOf({ state, wake_at }: LiveFrame): Left {
  return { state, wake_at };
}

function forgetResults(run: FlowRun, committed: string[]): void {
  for (const job_id of committed) {
    run.fresh.delete(job_id);
    if ((run.results.get(job_id)?.length ?? 0) > MAX_RESULT_LENGTH) run.results.delete(job_id);
    else run.recent.push(job_id);
  }
  for (const job_id of run.recent.splice(0, Math.max(0, run.recent.length - MAX_RESULTS))) {
    run.results.delete(job_id);
  }
}

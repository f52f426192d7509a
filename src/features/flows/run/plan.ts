/** What one transition of a run writes, in one transaction, and what happens after its commit. */
import { and, eq, isNotNull, ne } from "drizzle-orm";
import type { App } from "../../../context.ts";
import type { Tx } from "../../../database/database.ts";
import type { JobFinished } from "../../../events/events.ts";
import { insertJob } from "../../../queue/driver.ts";
import { isFrame } from "../../../queue/states.ts";
import { type Job, jobs } from "../../../queue/tables.ts";
import { canceledResult } from "../../jobs/canceled.ts";
import { flowFrames, flowItems } from "../tables.ts";
import { type FlowRun, itemsKey, type LiveFrame } from "./run.ts";
import { wakeFlowsAt } from "./waker.ts";

const STOPPED = { canceled_by: "flow", canceled_reason: "the flow stopped" } as const;

function isInside(inner: LiveFrame, frame: LiveFrame): boolean {
  for (let at = inner.parent; at; at = at.parent) if (at === frame) return true;
  return false;
}

/** Somebody else has changed the run since it was read. */
export class FlowConflict extends Error {}

export interface FrameEnd {
  frame: LiveFrame;
  status: JobFinished["status"];
  /** JSON text. */
  result: string;
}

export class Plan {
  readonly #app: App;
  readonly #run: FlowRun;
  /** The version this plan starts from; undefined for a run that begins. */
  readonly #from: number | undefined;
  readonly #jobs: Job[] = [];
  /** Jobs that go to this process's worker after the commit. */
  readonly #handed: Job[] = [];
  readonly #begun: LiveFrame[] = [];
  readonly #changed = new Set<LiveFrame>();
  readonly #items: { frame: LiveFrame; module: string; items: unknown[] }[] = [];
  readonly #ended: FrameEnd[] = [];
  readonly #stopped: LiveFrame[] = [];
  readonly #canceled: string[] = [];
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

  /** A leaf that runs: at once where there is room, else from the queue. */
  runLeaf(job: Job): void {
    const due = job.scheduled_for <= this.#app.clock();
    if (due && job.concurrency_key === null && this.#app.accepting && this.#app.queue.reserve()) {
      const now = this.#app.clock();
      Object.assign(job, {
        state: "running",
        worker: this.#app.queue.worker,
        started_at: now,
        last_ping: now,
      });
      this.#handed.push(job);
    }
    this.#jobs.push(job);
  }

  /** A leaf that needed no process: it is stored as it ended. */
  leafEnded(job: Job): void {
    this.#finishedLeaves.push(job);
    this.remember(job.id, job.result ?? "null", "success");
  }

  /** A result that later steps may ask for before it can be read from the database. */
  remember(job_id: string, result: string, status: JobFinished["status"]): void {
    this.#run.results.set(job_id, result);
    if (status === "success" || status === "skipped") this.#run.good.add(job_id);
    this.#results.push(job_id);
  }

  /** @param job stored with the frame, unless whoever submitted it does that */
  frameBegins(frame: LiveFrame, job: Job | undefined): void {
    if (job) this.#jobs.push(job);
    this.#begun.push(frame);
    this.#run.frames.set(frame.id, frame);
  }

  frameChanged(frame: LiveFrame): void {
    this.#changed.add(frame);
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
  early(frame: LiveFrame, result: string): void {
    this.#early.push({ id: frame.id, workspace_id: frame.flow.job.workspace_id, result });
  }

  frameEnds(end: FrameEnd): void {
    this.#ended.push(end);
    this.#run.frames.delete(end.frame.id);
    this.remember(end.frame.id, end.result, end.status);
  }

  /** All that is in a frame is stopped, and nothing of it is awaited. */
  stopFrame(frame: LiveFrame): void {
    this.#stopped.push(frame);
    for (const inner of [...this.#run.frames.values()]) {
      if (isInside(inner, frame)) this.#run.frames.delete(inner.id);
    }
  }

  /** A leaf is to end: whoever runs it, or claims it, stores that it was canceled, and its frame is told. */
  cancelLeaf(job_id: string): void {
    this.#canceled.push(job_id);
  }

  /** @throws FlowConflict when the run is no longer as this plan found it */
  async store(tx: Tx): Promise<void> {
    await this.#claimVersion(tx);
    for (const job of this.#jobs) await insertJob(tx, job);
    for (const job of this.#finishedLeaves) await tx.insert(jobs).values(job);
    for (const frame of this.#begun) await this.#insertFrame(tx, frame);
    for (const frame of this.#changed) {
      if (this.#begun.includes(frame)) continue;
      await tx
        .update(flowFrames)
        .set({ state: frame.state, wake_at: frame.wake_at })
        .where(eq(flowFrames.job_id, frame.id));
    }
    for (const { frame, module, items } of this.#items) {
      const row = { job_id: frame.id, module_id: module, items };
      await tx
        .insert(flowItems)
        .values(row)
        .onConflictDoUpdate({ target: [flowItems.job_id, flowItems.module_id], set: { items } });
    }
    for (const [id, args] of this.#inputs) {
      await tx.update(jobs).set({ args, preprocessed: true }).where(eq(jobs.id, id));
    }
    for (const frame of this.#stopped) await this.#stop(tx, frame.id);
    for (const id of this.#canceled) await this.#ask(tx, id);
    for (const end of this.#ended) await this.#finish(tx, end);
    tx.afterCommit(() => this.#committed());
  }

  /** The plan is not carried out: places that were reserved are free again. */
  abandon(): void {
    this.#run.broken = true;
    for (const _ of this.#handed) this.#app.queue.giveBack();
  }

  async #claimVersion(tx: Tx): Promise<void> {
    if (this.#from === undefined) return;
    const rows = await tx
      .update(flowFrames)
      .set({ version: this.#from + 1 })
      .where(and(eq(flowFrames.job_id, this.#run.root_id), eq(flowFrames.version, this.#from)))
      .returning({ job_id: flowFrames.job_id });
    if (rows.length === 0) throw new FlowConflict();
  }

  async #insertFrame(tx: Tx, frame: LiveFrame): Promise<void> {
    await tx.insert(flowFrames).values({
      job_id: frame.id,
      root_job: this.#run.root_id,
      state: frame.state,
      version: 0,
      wake_at: frame.wake_at,
    });
  }

  async #finish(tx: Tx, { frame, status, result }: FrameEnd): Promise<void> {
    const now = this.#app.clock();
    await tx
      .update(jobs)
      .set({
        state: "completed",
        status,
        result,
        completed_at: now,
        duration_ms: now.getTime() - frame.started_at.getTime(),
      })
      .where(and(eq(jobs.id, frame.id), ne(jobs.state, "completed")));
  }

  /** Queued children end at once; running ones are asked to stop, and frames end with all that is in them. */
  async #stop(tx: Tx, parent: string): Promise<void> {
    const now = this.#app.clock();
    const children = await tx
      .select({ id: jobs.id, kind: jobs.kind, state: jobs.state, workspace_id: jobs.workspace_id })
      .from(jobs)
      .where(and(eq(jobs.parent_job, parent), ne(jobs.state, "completed"), isNotNull(jobs.flow_step_id)));
    const result = canceledResult(STOPPED.canceled_reason, STOPPED.canceled_by);
    for (const { id, kind, state, workspace_id } of children) {
      if (state === "running" && !isFrame(kind)) {
        await this.#ask(tx, id);
        continue;
      }
      if (isFrame(kind)) await this.#stop(tx, id);
      await tx
        .update(jobs)
        .set({
          ...STOPPED,
          state: "completed",
          status: "canceled",
          result,
          completed_at: now,
          duration_ms: 0,
        })
        .where(eq(jobs.id, id));
      tx.afterCommit(() =>
        this.#app.events.publishFinished({ id, workspace_id, status: "canceled", result }),
      );
    }
  }

  async #ask(tx: Tx, id: string): Promise<void> {
    await tx
      .update(jobs)
      .set({ ...STOPPED, cancel_requested: true })
      .where(and(eq(jobs.id, id), ne(jobs.state, "completed")));
    // A queued one is claimed at once, and ended.
    await tx
      .update(jobs)
      .set({ scheduled_for: this.#app.clock(), concurrency_key: null })
      .where(and(eq(jobs.id, id), eq(jobs.state, "queued")));
    tx.afterCommit(() => {
      this.#app.queue.cancel(id);
      this.#app.queue.wake();
    });
  }

  #committed(): void {
    const { queue, events } = this.#app;
    for (const { id, workspace_id, result } of this.#early) events.publishEarly({ id, workspace_id, result });
    forgetResults(this.#run, this.#results);
    for (const job of this.#handed) queue.hand(job);
    if (this.#jobs.length > this.#handed.length) queue.wake();
    for (const frame of [...this.#begun, ...this.#changed]) {
      if (frame.wake_at) wakeFlowsAt(this.#app, frame.wake_at);
    }
    for (const { frame, status, result } of this.#ended) {
      events.publishFinished({ id: frame.id, workspace_id: frame.flow.job.workspace_id, status, result });
    }
  }
}

/** Results read again soon stay in memory; the others are in the database. */
const MAX_RESULTS = 64;
const MAX_RESULT_LENGTH = 100_000;

function forgetResults(run: FlowRun, committed: string[]): void {
  for (const job_id of committed) {
    run.good.delete(job_id);
    if ((run.results.get(job_id)?.length ?? 0) > MAX_RESULT_LENGTH) run.results.delete(job_id);
    else run.recent.push(job_id);
  }
  for (const job_id of run.recent.splice(0, Math.max(0, run.recent.length - MAX_RESULTS))) {
    run.results.delete(job_id);
  }
}

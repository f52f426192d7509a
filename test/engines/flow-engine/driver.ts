/**
 * Runs a flow in memory, for tests of the engine: frames by id, leaves answered by a function, expressions by
 * `new Function`. The caller chooses the next event. Invariants are checked throughout: a repeated event
 * changes nothing, the state is plain JSON, a frame ends once, completed work does not run again, and nothing
 * is left running.
 */
import { expect } from "bun:test";
import { getBodyModules } from "../../../src/engines/flow-engine/launch.ts";
import type {
  ChildStatus,
  EngineCommand,
  EngineEnvironment,
  Frame,
  FrameEvent,
  FrameScope,
  FrameState,
  ResultRef,
} from "../../../src/engines/flow-engine/state.ts";
import { computeTransition, createInitialState } from "../../../src/engines/flow-engine/transition.ts";
import { toErrorValue } from "../../../src/engines/flow-engine/values.ts";
import { compiled, type Name } from "./expressions.ts";
import { frameLabel, leafLabel, lineOf, pathOf } from "./trace.ts";

export interface Outcome {
  status: ChildStatus;
  result: unknown;
  /** A condition ended it early. */
  stopped?: boolean;
  /** It failed because a job in it was canceled. */
  canceled?: boolean;
}

/** A running leaf or nested frame, as its parent sees it. */
export interface Job {
  id: string;
  /** The step, and the indices of the iterations around it: `a@1.0`. */
  label: string;
  parent: FrameRun;
  module: string;
  index: number | undefined;
  args: unknown;
  /** Attempt numbers of the modules around it, and of itself: `.0.1`. */
  tries: string;
  /** The nested frame; undefined for a leaf. */
  frame?: FrameRun;
  isIdentity?: boolean;
  isCanceled?: boolean;
  ended?: { event: FrameEvent; status: ChildStatus; result: unknown };
}

export interface FrameRun {
  id: string;
  label: string;
  /** Indices of the iterations it is in: `1.0`. */
  path: string;
  job?: Job;
  frame: Frame;
  state: FrameState;
  input: Record<string, unknown>;
  items: Map<string, unknown[]>;
  wake?: number;
  ends: Extract<EngineCommand, { type: "end" }>[];
  isCanceled?: boolean;
}

/** @param attempt number of earlier jobs with the same label */
export type Answer = (job: Job, attempt: number) => Outcome;

const CANCELED: Outcome = {
  status: "canceled",
  result: { error: { name: "Canceled", message: "stopped" } },
};

export class FlowRun {
  readonly root: FrameRun;
  readonly frames: FrameRun[] = [];
  readonly jobs = new Map<string, Job>();
  /** Leaves that have not ended, oldest first. */
  readonly running = new Set<Job>();
  /** Ended, but not yet reported to the parent. */
  readonly untold: Job[] = [];
  readonly told: { to: FrameRun; event: FrameEvent }[] = [];
  readonly trace: string[] = [];
  readonly approvals = new Map<string, unknown[]>();
  now = 0;
  /** Random number for the engine. */
  chance = 0.5;
  /** Checking every event is slow with very many events. */
  checkEvery = 1;
  #events = 0;
  #newest = new Map<string, Job>();
  #attempts = new Map<string, number>();
  #answer: Answer;

  constructor(frame: Frame, input: Record<string, unknown>, answer: Answer) {
    this.#answer = answer;
    this.root = this.#addFrame({
      id: "root",
      label: "",
      path: "",
      frame,
      input,
      state: createInitialState(),
    });
  }

  #addFrame(run: Omit<FrameRun, "items" | "ends">): FrameRun {
    const added = { ...run, items: new Map(), ends: [] };
    this.frames.push(added);
    return added;
  }

  /** Frames that wait for a time, the earliest first. */
  get sleeping(): FrameRun[] {
    const waiting = this.frames.filter((run) => run.wake !== undefined && !run.isCanceled);
    return waiting.sort((a, b) => a.wake! - b.wake!);
  }

  /** Applies an event, and executes the engine's commands. */
  async tell(to: FrameRun, event: FrameEvent): Promise<void> {
    if (to.isCanceled) return;
    this.told.push({ to, event });
    const isChecked = this.#events++ % this.checkEvery === 0;
    const before = isChecked ? JSON.stringify(to.state) : "";
    const { state, commands } = await computeTransition(to.frame, to.state, event, this.#envOf(to));
    if (isChecked) {
      expect(JSON.stringify(to.state)).toBe(before);
      await this.#check(to, event, state);
    }
    to.state = state;
    if (!state.waits) delete to.wake;
    for (const step of commands) await this.#carryOut(to, step);
  }

  /** Checks the invariants of a transition. */
  async #check(to: FrameRun, event: FrameEvent, state: FrameState): Promise<void> {
    const after = JSON.stringify(state);
    expect(Bun.deepEquals(JSON.parse(after), state, true)).toBe(true);
    const again = await computeTransition(to.frame, state, event, this.#envOf(to));
    expect(JSON.stringify(state)).toBe(after);
    expect(JSON.stringify(again.state)).toBe(after);
    expect(again.commands.filter(({ type }) => type !== "wake")).toEqual([]);
    for (const { type, many } of state.modules) {
      if (type !== "InProgress" || state.waits) expect(many?.running ?? {}).toEqual({});
    }
  }

  /** Ends a leaf, with the outcome of the table unless one is given. */
  end(job: Job, outcome?: Outcome): void {
    const attempt = this.#attempts.get(job.label) ?? 0;
    this.#attempts.set(job.label, attempt + 1);
    const own = (): Outcome =>
      job.isIdentity ? { status: "success", result: job.args ?? null } : this.#answer(job, attempt);
    this.#ended(job, outcome ?? (job.isCanceled ? CANCELED : own()));
  }

  #ended(job: Job, { status, result, stopped, canceled }: Outcome): void {
    expect(job.ended).toBeUndefined();
    const event: FrameEvent = {
      type: "child",
      module: job.module,
      job: job.id,
      status,
      result: JSON.stringify(result),
      ...(job.index === undefined ? {} : { index: job.index }),
      ...(stopped ? { stopped } : {}),
      ...(canceled ? { canceled } : {}),
    };
    job.ended = { event, status, result };
    this.running.delete(job);
    this.untold.push(job);
  }

  async #carryOut(run: FrameRun, step: EngineCommand): Promise<void> {
    this.#note(run, step);
    switch (step.type) {
      case "run": {
        const job = this.#addJob(run, step, leafLabel(run, step));
        job.isIdentity = step.leaf.value.type === "identity";
        this.running.add(job);
        return;
      }
      case "frame":
        return this.#nest(run, step);
      case "items":
        run.items.set(step.module, step.items);
        return;
      case "input":
        run.input = this.resolve(step.result) as Record<string, unknown>;
        return this.tell(run, { type: "start" });
      case "wake":
        run.wake = step.at;
        return;
      case "end": {
        run.ends.push(step);
        expect(run.ends).toHaveLength(1);
        if (run.job) this.#ended(run.job, { ...step, result: this.resolve(step.result) });
      }
    }
  }

  #addJob(parent: FrameRun, step: Extract<EngineCommand, { job: string }>, label: string): Job {
    const { id, module, index, args } = { id: step.job, args: undefined, index: undefined, ...step };
    const tries = `${parent.job?.tries ?? ""}.${parent.state.fail_count ?? 0}`;
    const job: Job = { id, label, parent, module, index, args, tries };
    const key = `${parent.id}/${module}/${index}`;
    const last = this.#newest.get(key);
    // Successful steps do not run again, except when a whole loop or branches are retried.
    expect(last?.tries).not.toBe(tries);
    if (index === undefined) expect(["success", "skipped"]).not.toContain(last?.ended?.status);
    this.jobs.set(id, job);
    this.#newest.set(key, job);
    return job;
  }

  async #nest(parent: FrameRun, step: Extract<EngineCommand, { type: "frame" }>): Promise<void> {
    const module = parent.frame.modules.find(({ id }) => id === step.module)!;
    const job = this.#addJob(parent, step, frameLabel(parent, step));
    const outer = parent.input.iter ? { iter: parent.input.iter } : {};
    const input = step.iter ? { ...parent.input, iter: { ...step.iter, ...outer } } : parent.input;
    job.frame = this.#addFrame({
      id: step.job,
      label: job.label,
      path: pathOf(parent, step.body.of === "loop" ? step.index : undefined),
      job,
      frame: { modules: getBodyModules(module, step.body) },
      state: createInitialState(step),
      input,
    });
    await this.tell(job.frame, { type: "start" });
  }

  /** A leaf ends later, and until then may still end by itself; a nested frame ends with everything in it. */
  cancel(job: Job): void {
    job.isCanceled = true;
    if (!job.frame) return;
    job.frame.isCanceled = true;
    for (const inner of this.jobs.values()) {
      if (inner.parent === job.frame && !inner.ended) this.cancel(inner);
    }
    this.#ended(job, CANCELED);
  }

  resolve(ref: ResultRef): unknown {
    if ("value" in ref) return ref.value;
    if ("job" in ref) return this.jobs.get(ref.job)!.ended!.result;
    return Array.from({ length: ref.count }, (_, index) => {
      const ended = this.#newest.get(`${ref.of}/${ref.gather}/${index}`)?.ended;
      if (ended && ["success", "skipped"].includes(ended.status)) return ended.result;
      const { failures } = ref;
      if (!ended || !failures || failures.but.includes(index)) return null;
      return Array.isArray(ended.result)
        ? ended.result
        : toErrorValue(JSON.stringify(ended.result), failures.step);
    });
  }

  #envOf(run: FrameRun): EngineEnvironment {
    return {
      frame_job_id: run.id,
      evaluate: async (expr, scope) => compiled(expr)(...Object.values(this.#names(run, scope))),
      loopItem: (module, index) => run.items.get(module)![index],
      defaultParallelism: 256,
      newId: () => `job${this.#ids++}`,
      now: () => this.now,
      random: () => this.chance,
    };
  }

  #ids = 1;

  #names(run: FrameRun, { state, result, error, iter }: FrameScope): Record<Name, unknown> {
    const outer = run.input.iter ? { iter: run.input.iter } : {};
    const flow_input = iter ? { ...run.input, iter: { ...iter, ...outer } } : run.input;
    const results: Record<string, unknown> = {};
    for (let each: FrameRun | undefined = run; each; each = each.job?.parent) {
      for (const own of each === run ? state.modules : each.state.modules) {
        if (own.result) results[own.id] ??= this.resolve(own.result);
      }
    }
    const { resumed, previous } = state;
    const resumes = (resumed && this.approvals.get(resumed.module)) ?? [];
    return {
      flow_input,
      results,
      previous_result: previous ? this.resolve(previous) : flow_input,
      result: result ? this.resolve(result) : previous ? this.resolve(previous) : flow_input,
      error,
      resume: resumed?.refused ?? resumes.at(-1),
      resumes,
    };
  }

  #note(run: FrameRun, step: EngineCommand): void {
    const line = lineOf(run, step, this);
    this.trace.push(run.label ? `${run.label}: ${line}` : line);
  }
}

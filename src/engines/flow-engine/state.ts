/** The state of one run of a list of modules (a frame), what may happen to it, and what it asks for. Types only. */
import type { FlowModule } from "./types.ts";

/** Where the result of a module is found: it is kept once, by the job that made it. */
export type ResultRef =
  | { job: string }
  /**
   * The results of a module's iterations or branches, `count` of them by index: of the children of the frame `of`, the
   * newest at each index, since a module that was tried again has older ones. Null where there is none, or it failed;
   * with `failures` its error value, as one of the step `step`, unless its index is in `but`.
   */
  | { gather: string; of: string; count: number; failures?: Failures }
  | { value: unknown };

/** How those that failed are told: `error` is that of the one at `index`, which may be one that no job was made of. */
export interface Failures {
  step: string;
  but: number[];
  index: number;
  error: unknown;
}

/** Iterations of a loop, or branches that all run. */
export interface Many {
  /** Unknown for a while loop. */
  total?: number;
  /** How many may run at once. */
  most: number;
  started: number;
  /** Jobs of those that run, by index. */
  running: Record<string, string>;
  /** No more begin: a condition said stop, or one of those that run in order failed. */
  stopping?: boolean;
  failed?: Failure;
  /** The first branch in which a condition stopped the flow, and as what it is to end. */
  stopped?: { index: number; status: "success" | "skipped" };
}

/**
 * The failure that counts: of those that were not to be skipped the one with the lowest index. It is final, which does not
 * get better when it is tried again, when any of them is.
 */
export interface Failure {
  index: number;
  job: string;
  error: unknown;
  final: boolean;
  /** Somebody canceled what failed. */
  canceled?: boolean;
  /** The loop itself failed: not the list of its iterations, but the error is its result. */
  own?: boolean;
}

export interface ModuleState {
  id: string;
  type: "InProgress" | "WaitingForEvents" | "Success" | "Failure";
  /** The job of the module, or of its newest iteration. */
  job?: string;
  skipped?: boolean;
  result?: ResultRef;
  branch_chosen?: { type: "branch" | "default"; branch?: number };
  many?: Many;
  /** The newest of them. */
  failed_retries?: string[];
  /** The approvals that were asked for after it: given, or the error value that the flow went on with in their place. */
  answered?: { refused?: unknown };
}

export interface ApprovalConditions {
  required_events: number;
  user_auth_required: boolean;
  user_groups_required: string[];
  self_approval_disabled: boolean;
}

/** What a frame waits for other than a child; `until` is in milliseconds since 1970. */
export type Wait =
  | { for: "sleep" | "retry"; until: number }
  | { for: "events"; until: number; approval: ApprovalConditions };

export interface FrameState {
  /** Index of the module that runs, or waits; the number of modules once all have run. */
  step: number;
  /** Of the modules that have begun, by index, and of the one that approvals are awaited for. */
  modules: ModuleState[];
  failure?: ModuleState;
  preprocessor?: ModuleState;
  /** Result of the module that ran last; none: the frame's own input stands for it. For the failure module, that of the one that failed. */
  previous?: ResultRef;
  /** What the failure module knows as `error`. */
  error?: unknown;
  waits?: Wait;
  /** Failures so far of the module that runs. */
  fail_count?: number;
  /** The module whose approvals the next one may read, and the error value it reads instead when there were none. */
  resumed?: { module: string; refused?: unknown };
  /** Of an iteration whose input could not be evaluated, the error it begins and ends with. */
  fault?: unknown;
  /** It fails because somebody canceled a job in it. */
  canceled?: boolean;
  ended?: boolean;
}

/** A list of modules with what belongs to the flow as a whole: a nested frame has its modules alone. */
export interface Frame {
  modules: FlowModule[];
  failure_module?: FlowModule | undefined;
  preprocessor_module?: FlowModule | undefined;
  skip_expr?: string | undefined;
  early_return?: string | undefined;
}

export type ChildStatus = "success" | "failure" | "canceled" | "skipped";

export type FrameEvent =
  | { type: "start"; skip_preprocessor?: boolean }
  /** A job that the frame asked for has ended. */
  | {
      type: "child";
      module: string;
      job: string;
      index?: number | undefined;
      status: ChildStatus;
      /** JSON text. */
      result: string;
      /** A nested frame ended early, as its `end` said. */
      stopped?: boolean | undefined;
      /** A nested frame failed because somebody canceled a job in it, as its `end` said. */
      canceled?: boolean | undefined;
    }
  /** The moment that was asked for has come. */
  | { type: "woken" }
  /** Enough approvals of the module are there. */
  | { type: "resumed"; module: string }
  | { type: "disapproved"; module: string; by: string };

/** Which modules a nested frame runs. */
export type Body = { of: "loop" } | { of: "branch"; branch: number } | { of: "default" };

export interface Iter {
  value: unknown;
  index: number;
}

export type Step =
  /** Run a leaf. */
  | {
      type: "run";
      job: string;
      module: string;
      /** The leaf itself: the module, or the only one inside a loop. */
      leaf: FlowModule;
      /** An object; for an identity, any value: its result. */
      args: unknown;
      index?: number;
      timeout_s?: number;
    }
  /** Run nested modules. */
  | {
      type: "frame";
      job: string;
      module: string;
      body: Body;
      index?: number;
      iter?: Iter;
      /** What its state begins with: the result its first module sees as the one before it. None: its input. */
      previous?: ResultRef;
      /** It is to fail with this error: its state begins with it. */
      fault?: unknown;
    }
  /** Keep what a loop goes over, in place of what was kept for it before. */
  | { type: "items"; module: string; items: unknown[] }
  /** The preprocessor's result is the flow's input from here on; then `start` again. */
  | { type: "input"; result: ResultRef }
  /** Where the state waits for something else or nothing any more, an earlier `wake` is void. */
  | { type: "wake"; at: number }
  /** The module of `early_return` has its result. */
  | { type: "early"; result: ResultRef }
  | {
      type: "end";
      status: "success" | "failure" | "skipped";
      result: ResultRef;
      stopped?: boolean;
      canceled?: boolean;
    };

/** What a transition may ask: values, never effects. */
export interface Env {
  /** Id of the frame's own job. */
  readonly frame: string;
  /** @throws Error that says what is wrong with the expression */
  evaluate(expr: string, scope: Scope): Promise<unknown>;
  /** An element of what a loop goes over. */
  item(module: string, index: number): unknown;
  /** Iterations of a parallel loop that are under way at once when the flow sets no `parallelism`. */
  readonly atOnce: number;
  newId(): string;
  /** Milliseconds since 1970. */
  now(): number;
  /** 0 to 1. */
  random(): number;
}

/** Names an expression sees beside those of its frame. */
export interface Extra {
  /** Found only if the expression names it: it may be large. */
  result?: ResultRef;
  error?: unknown;
  iter?: Iter;
}

export interface Scope extends Extra {
  /** The frame as it stands in the middle of the transition: newer than what is stored. */
  state: FrameState;
}

export interface Transition {
  state: FrameState;
  steps: Step[];
}

/** One transition under way. */
export interface Move {
  frame: Frame;
  state: FrameState;
  env: Env;
  steps: Step[];
}

/** The error value of what failed, and where its result is found when that is another one: a list that has the error in it. */
export interface Failed {
  error: unknown;
  result?: ResultRef | undefined;
}

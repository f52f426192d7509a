/** State of one frame (a run of a list of modules), its events, and the engine's commands. Types only. */
import type { FlowModule } from "./types.ts";

/** Location of a module's result, which is stored once, with the job that produced it. */
export type ResultRef =
  | { job: string }
  /**
   * Results of a module's iterations or branches: indexes 0 to `count` - 1 among the children of frame `of`, the newest
   * at each index, because retries leave older ones. A missing or failed one is null; with `failures`, a failed one is
   * its error value (attributed to step `step`) unless its index is in `but`. Failures of branches are never null.
   */
  | { gather: string; of: string; count: number; failures?: IterationFailures }
  | { value: unknown };

/** How failures appear in gathered results; `error` is the error at `index`, which may have no job. */
export interface IterationFailures {
  step: string;
  but: number[];
  index?: number;
  error?: unknown;
}

/** Iterations of a loop, or branches that all run. */
export interface Iterations {
  /** Undefined for a while loop. */
  total?: number;
  /** Maximum number running at once. */
  most: number;
  started: number;
  /** Running jobs by index. */
  running: Record<string, string>;
  /** No more are started: a condition held, or a sequential one failed. */
  stopping?: boolean;
  failed?: IterationFailure;
  /** First branch in which a condition stopped the flow, and the resulting status. */
  stopped?: { index: number; status: "success" | "skipped" };
}

/**
 * The decisive failure: the one with the lowest index, without skipped ones. It is final (not retried) if any failure
 * is.
 */
export interface IterationFailure {
  index: number;
  job: string;
  error: unknown;
  final: boolean;
  /** The failed job was canceled. */
  canceled?: boolean;
  /** The loop itself failed, so its result is the error instead of the list. */
  own?: boolean;
}

export interface ModuleState {
  id: string;
  type: "InProgress" | "WaitingForEvents" | "Success" | "Failure";
  /** Job of the module, or of its newest iteration. */
  job?: string;
  skipped?: boolean;
  result?: ResultRef;
  branch_chosen?: { type: "branch" | "default"; branch?: number };
  many?: Iterations;
  /** The newest failed attempts. */
  failed_retries?: string[];
  /** Set after its approvals: granted, or the error value with which the flow continued. */
  answered?: { refused?: unknown };
}

export interface ApprovalConditions {
  required_events: number;
  user_auth_required: boolean;
  user_groups_required: string[];
  self_approval_disabled: boolean;
}

/** Waits of a frame other than for children; `until` is Unix time in milliseconds. */
export type Wait =
  | { for: "sleep" | "retry"; until: number }
  | { for: "events"; until: number; approval: ApprovalConditions };

export interface FrameState {
  /** Index of the module that runs or waits; the number of modules after the last one. */
  step: number;
  /** Started modules by index, and the one whose approvals are awaited. */
  modules: ModuleState[];
  failure?: ModuleState;
  preprocessor?: ModuleState;
  /** Result of the last module; absent: the frame's input. For the failure module, the failed module's result. */
  previous?: ResultRef;
  /** Value of `error` in the failure module. */
  error?: unknown;
  waits?: Wait;
  /** Failed attempts of the current module. */
  fail_count?: number;
  /** Module whose approvals the next one may read, and the error value in place of missing ones. */
  resumed?: { module: string; refused?: unknown };
  /** Error of an iteration whose input could not be evaluated; it starts and ends with it. */
  fault?: unknown;
  /** The frame fails because a job in it was canceled. */
  canceled?: boolean;
  ended?: boolean;
}

/** A list of modules, with flow-wide modules and options; a nested frame has modules only. */
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
  /** A job of the frame has ended. */
  | {
      type: "child";
      module: string;
      job: string;
      index?: number | undefined;
      status: ChildStatus;
      /** JSON text. */
      result: string;
      /** A nested frame was stopped early, as its `end` command says. */
      stopped?: boolean | undefined;
      /** A nested frame failed because a job in it was canceled, as its `end` command says. */
      canceled?: boolean | undefined;
    }
  /** The requested wake-up time has come. */
  | { type: "woken" }
  /** The module has enough approvals. */
  | { type: "resumed"; module: string }
  | { type: "disapproved"; module: string; by: string };

/** Selects the modules of a nested frame. */
export type NestedBody = { of: "loop" } | { of: "branch"; branch: number } | { of: "default" };

export interface Iteration {
  value: unknown;
  index: number;
}

export type EngineCommand =
  /** Runs a leaf. */
  | {
      type: "run";
      job: string;
      module: string;
      /** The leaf: the module itself, or the only one in a loop. */
      leaf: FlowModule;
      /** An object; for an identity, any value, which is its result. */
      args: unknown;
      index?: number;
      timeout_s?: number;
    }
  /** Runs nested modules. */
  | {
      type: "frame";
      job: string;
      module: string;
      body: NestedBody;
      index?: number;
      iter?: Iteration;
      /** Previous result for its first module; absent: its input. */
      previous?: ResultRef;
      /** Error that the frame must fail with. */
      fault?: unknown;
    }
  /** Stores a loop's items, replacing earlier ones. */
  | { type: "items"; module: string; items: unknown[] }
  /** Replaces the flow's input by the preprocessor's result; `start` follows again. */
  | { type: "input"; result: ResultRef }
  /** Requests a wake-up. An earlier one is void once the state waits for something else, or for nothing. */
  | { type: "wake"; at: number }
  /** Reports the result of the `early_return` module. */
  | { type: "early"; result: ResultRef }
  | {
      type: "end";
      status: "success" | "failure" | "skipped";
      result: ResultRef;
      stopped?: boolean;
      canceled?: boolean;
    };

/** Inputs of a transition; they have no side effects. */
export interface EngineEnvironment {
  /** Id of the frame's own job. */
  readonly frame_job_id: string;
  /** Evaluates an expression of a flow. @throws Error describing the problem of the expression */
  evaluate(expr: string, scope: FrameScope): Promise<unknown>;
  /** Returns an item of a loop. */
  loopItem(module: string, index: number): unknown;
  /** Default parallelism of a parallel loop. */
  readonly defaultParallelism: number;
  newId(): string;
  /** Unix time in milliseconds. */
  now(): number;
  /** Random number from 0 to 1. */
  random(): number;
}

/** Names visible to an expression beside those of its frame. */
export interface ExtraNames {
  /** Loaded only if the expression uses it, because it may be large. */
  result?: ResultRef;
  error?: unknown;
  iter?: Iteration;
}

export interface FrameScope extends ExtraNames {
  /** State of the frame during the transition, newer than the stored one. */
  state: FrameState;
}

export interface TransitionResult {
  state: FrameState;
  commands: EngineCommand[];
}

/** Working state of one transition. */
export interface TransitionContext {
  frame: Frame;
  state: FrameState;
  env: EngineEnvironment;
  commands: EngineCommand[];
}

/** Error value of a failure, and its result if that differs: a list that contains the error. */
export interface ModuleFailure {
  error: unknown;
  result?: ResultRef | undefined;
}

/** The state of one run of a list of modules (a frame), what may happen to it, and what it asks for. Types only. */
import type { FlowModule } from "./types.ts";

/** Where the result of a module is found: it is kept once, by the job that made it. */
export type ResultRef =
  | { job: string }
  /** The results of a module's iterations or branches, in order: the children of the frame `of`. */
  | { gather: string; of: string }
  | { value: unknown };

/** Iterations of a loop, or branches that all run. */
export interface Many {
  /** Unknown for a while loop. */
  total: number | undefined;
  started: number;
  running: number;
  /** It ends once what runs has ended: a condition said stop, or an iteration failed. */
  stopping?: "done" | "failed";
  /** JSON text of the first failure that was not to be skipped. */
  error?: string;
}

export interface ModuleState {
  id: string;
  type: "WaitingForExecutor" | "InProgress" | "WaitingForEvents" | "Success" | "Failure";
  /** The job of the module, or of its newest iteration. */
  job?: string;
  skipped?: boolean;
  result?: ResultRef;
  branch_chosen?: { type: "branch" | "default"; branch?: number };
  many?: Many;
  failed_retries?: string[];
}

export interface FrameState {
  /** Index of the module that runs, or waits; the number of modules once all have run. */
  step: number;
  /** Of the modules that have begun, by index. */
  modules: ModuleState[];
  failure?: ModuleState;
  preprocessor?: ModuleState;
  /** Result of the module that ran last; none: the frame's own input stands for it. */
  previous?: ResultRef;
  /** What the frame waits for other than a child. */
  waits?: "sleep" | "retry" | "events";
  /** Failures of the running module so far. */
  fail_count?: number;
  /** The module whose approvals the next one may read. */
  resumed?: string;
  ended?: boolean;
}

/** A list of modules with what belongs to the flow as a whole. */
export interface Frame {
  modules: FlowModule[];
  failure_module?: FlowModule | undefined;
  preprocessor_module?: FlowModule | undefined;
  skip_expr?: string | undefined;
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
      /** A condition inside stopped it early. */
      stopped?: boolean | undefined;
    }
  /** The moment that was asked for has come. */
  | { type: "woken" }
  /** Enough approvals are there. */
  | { type: "resumed" }
  | { type: "disapproved"; by: string };

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
      args: Record<string, unknown>;
      index?: number;
    }
  /** Run nested modules. */
  | {
      type: "frame";
      job: string;
      module: string;
      body: Body;
      index?: number;
      iter?: Iter;
      /** What its first module sees as the result before it; none: its input. */
      previous?: ResultRef;
    }
  /** Keep what a loop goes over. */
  | { type: "items"; module: string; items: unknown[] }
  /** Stop what still runs of a module. */
  | { type: "cancel"; module: string }
  /** The preprocessor's result is the flow's input from here on; then `start` again. */
  | { type: "input"; result: ResultRef }
  | { type: "wake"; at: number }
  | { type: "end"; status: "success" | "failure" | "skipped"; result: ResultRef; stopped?: boolean };

/** What a transition may ask: values, never effects. */
export interface Env {
  /** Id of the frame's own job. */
  readonly frame: string;
  /** @throws Error that says what is wrong with the expression */
  evaluate(expr: string, extra: Extra): Promise<unknown>;
  resolve(ref: ResultRef): Promise<unknown>;
  /** An element of what a loop goes over. */
  item(module: string, index: number): unknown;
  newId(): string;
  /** Milliseconds since 1970. */
  now(): number;
  /** 0 to 1. */
  random(): number;
}

/** Names an expression sees beside those of its frame. */
export interface Extra {
  result?: unknown;
  error?: unknown;
  iter?: Iter;
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

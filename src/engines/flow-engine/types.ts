/** Flows as data, in the OpenFlow format (modules, transforms, options). Types only. */

export type InputTransform =
  | { type: "static"; value?: unknown }
  | { type: "javascript"; expr: string }
  | Unsupported;
export type InputTransforms = Record<string, InputTransform>;

/** A stored value that is not supported; a run that reaches it fails with `problem`. */
export interface Unsupported {
  type: "refused";
  problem: string;
}

export interface Condition {
  expr: string;
}

export interface StopCondition extends Condition {
  /** If the flow stops here, it counts as skipped. */
  skip_if_stopped?: boolean | undefined;
  /** If the flow stops here, it fails with this message. */
  error_message?: string | undefined;
  /** That error has the step's own result, as `result`. */
  error_include_result?: boolean | undefined;
}

/** Constant attempts come first, then exponential ones. */
export interface Retry {
  constant?: { attempts: number; seconds: number } | undefined;
  exponential?:
    | { attempts: number; multiplier: number; seconds: number; random_factor?: number | undefined }
    | undefined;
  retry_if?: Condition | undefined;
}

export interface Suspend {
  required_events?: number | undefined;
  /** Seconds. */
  timeout?: number | undefined;
  resume_form?: unknown;
  user_auth_required?: boolean | undefined;
  user_groups_required?: InputTransform | undefined;
  self_approval_disabled?: boolean | undefined;
  hide_cancel?: boolean | undefined;
  continue_on_disapprove_timeout?: boolean | undefined;
}

export interface Branch {
  summary?: string | undefined;
  modules: FlowModule[];
}

export interface RawScript {
  type: "rawscript";
  input_transforms: InputTransforms;
  content: string;
  language: string;
  path?: string | undefined;
  lock?: string | undefined;
  tag?: string | undefined;
  concurrent_limit?: number | undefined;
  concurrency_time_window_s?: number | undefined;
  custom_concurrency_key?: string | undefined;
}

export interface ScriptStep {
  type: "script";
  input_transforms: InputTransforms;
  path: string;
  hash?: string | undefined;
  tag_override?: string | undefined;
  /** Its arguments are the flow's, unchanged; it has no `input_transforms`. */
  takes_flow_input?: boolean | undefined;
}

export interface FlowStep {
  type: "flow";
  input_transforms: InputTransforms;
  path: string;
}

export interface ForLoop {
  type: "forloopflow";
  modules: FlowModule[];
  iterator: InputTransform;
  skip_failures: boolean;
  parallel?: boolean | undefined;
  parallelism?: number | InputTransform | undefined;
}

export interface WhileLoop {
  type: "whileloopflow";
  modules: FlowModule[];
  skip_failures: boolean;
  parallel?: boolean | undefined;
  parallelism?: number | InputTransform | undefined;
}

export interface BranchOne {
  type: "branchone";
  branches: (Branch & Condition)[];
  default: FlowModule[];
}

export interface BranchAll {
  type: "branchall";
  branches: (Branch & { skip_failure?: boolean | undefined })[];
  parallel?: boolean | undefined;
}

export interface IdentityStep {
  type: "identity";
  flow?: boolean | undefined;
}

export type FlowModuleValue =
  | RawScript
  | ScriptStep
  | FlowStep
  | ForLoop
  | WhileLoop
  | BranchOne
  | BranchAll
  | IdentityStep
  | Unsupported;

export interface FlowModule {
  id: string;
  value: FlowModuleValue;
  summary?: string | undefined;
  stop_after_if?: StopCondition | undefined;
  stop_after_all_iters_if?: StopCondition | undefined;
  skip_if?: Condition | undefined;
  /** Seconds to sleep before the next step. */
  sleep?: InputTransform | undefined;
  /** Seconds. */
  timeout?: number | InputTransform | undefined;
  cache_ttl?: number | undefined;
  delete_after_use?: boolean | undefined;
  mock?: { enabled?: boolean | undefined; return_value?: unknown } | undefined;
  suspend?: Suspend | undefined;
  retry?: Retry | undefined;
  continue_on_error?: boolean | undefined;
  priority?: number | undefined;
}

export interface FlowValue {
  modules: FlowModule[];
  failure_module?: FlowModule | undefined;
  preprocessor_module?: FlowModule | undefined;
  same_worker?: boolean | undefined;
  concurrent_limit?: number | undefined;
  concurrency_key?: string | undefined;
  concurrency_time_window_s?: number | undefined;
  skip_expr?: string | undefined;
  cache_ttl?: number | undefined;
  priority?: number | undefined;
  /** Id of the module whose result is returned to synchronous calls. */
  early_return?: string | undefined;
  flow_env?: Record<string, unknown> | undefined;
}

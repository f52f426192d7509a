/** All options of steps and flows in the API, grouped into the sections in which they are shown. */
import type { Path } from "../model/document.ts";

export interface OptionField {
  /** Path from the step or the flow. */
  path: Path;
  label: string;
  about?: string;
  kind: "switch" | "number" | "text" | "lines" | "expression" | "transform" | "json";
}

export interface OptionSection {
  title: string;
  about?: string;
  /** The field whose presence enables the section: enabling sets it to `initial`, disabling removes it. */
  root?: Path;
  initial?: unknown;
  fields: OptionField[];
}

const field = (kind: OptionField["kind"], path: string, label: string, about?: string): OptionField => ({
  kind,
  path: path.split("."),
  label,
  ...(about ? { about } : {}),
});

const section = (
  root: string,
  title: string,
  about: string,
  initial: unknown,
  fields: OptionField[],
): OptionSection => ({ root: root.split("."), title, about, initial, fields });

const FAILURE: OptionSection[] = [
  section(
    "retry.constant",
    "Retry at an interval",
    "Retries after a constant delay",
    { attempts: 3, seconds: 5 },
    [
      field("number", "retry.constant.attempts", "Attempts"),
      field("number", "retry.constant.seconds", "Seconds between"),
    ],
  ),
  section(
    "retry.exponential",
    "Retry with backoff",
    "Retries after delays that grow",
    { attempts: 3, multiplier: 1, seconds: 2, random_factor: 0 },
    [
      field("number", "retry.exponential.attempts", "Attempts"),
      field("number", "retry.exponential.multiplier", "Multiplier"),
      field("number", "retry.exponential.seconds", "Base of the delay, in seconds"),
      field("number", "retry.exponential.random_factor", "Jitter, in percent"),
    ],
  ),
  section(
    "retry.retry_if",
    "Retry only if",
    "Other failures are final",
    { expr: "error.name !== 'BadRequest'" },
    [field("expression", "retry.retry_if.expr", "Condition for a retry")],
  ),
  {
    title: "After a failure",
    fields: [
      field(
        "switch",
        "continue_on_error",
        "Continue after an error",
        "The next step gets the error as its input.",
      ),
    ],
  },
];

const CONTROL: OptionSection[] = [
  section("skip_if", "Skip", "Does not run if the condition is true", { expr: "false" }, [
    field("expression", "skip_if.expr", "Condition to skip the step"),
  ]),
  section(
    "stop_after_if",
    "End early",
    "After the step, ends the flow or the loop",
    { expr: "false", skip_if_stopped: false },
    [
      field("expression", "stop_after_if.expr", "Condition to end early"),
      field("switch", "stop_after_if.skip_if_stopped", "Mark the run as skipped"),
      field("text", "stop_after_if.error_message", "Fail with this message"),
      field("switch", "stop_after_if.error_include_result", "Keep the result in the error"),
    ],
  ),
  section(
    "stop_after_all_iters_if",
    "End after all iterations",
    "Ends the flow after a loop",
    { expr: "false", skip_if_stopped: false },
    [
      field("expression", "stop_after_all_iters_if.expr", "Condition to end after all iterations"),
      field("switch", "stop_after_all_iters_if.skip_if_stopped", "Mark the run as skipped"),
      field("text", "stop_after_all_iters_if.error_message", "Fail with this message"),
      field("switch", "stop_after_all_iters_if.error_include_result", "Keep the result in the error"),
    ],
  ),
  section("suspend", "Approval", "Waits after the step until somebody approves", { required_events: 1 }, [
    field("number", "suspend.required_events", "Approvals needed"),
    field("number", "suspend.timeout", "Time limit, in seconds"),
    field("json", "suspend.resume_form", "Form for approvers", '{ "schema": … }, a JSON Schema'),
    field("switch", "suspend.user_auth_required", "Approvers have to sign in"),
    field("transform", "suspend.user_groups_required", "Groups that may approve", "A list of names"),
    field("switch", "suspend.self_approval_disabled", "Not by the user who started the flow"),
    field("switch", "suspend.hide_cancel", "No reject button"),
    field("switch", "suspend.continue_on_disapprove_timeout", "Continue after a rejection or timeout"),
  ]),
  section("sleep", "Wait", "Waits before the step, in seconds", { type: "static", value: 60 }, [
    field("transform", "sleep", "Seconds to wait"),
  ]),
];

const RUNNING: OptionSection[] = [
  section("timeout", "Time limit", "Ends the step, in seconds", 300, [
    field("transform", "timeout", "Seconds to run"),
  ]),
  section("cache_ttl", "Cache", "Reuses the result for the same inputs", 600, [
    field("number", "cache_ttl", "Seconds to keep the result"),
  ]),
  section(
    "mock",
    "Pinned result",
    "Returns this result instead of running",
    { enabled: true, return_value: null },
    [field("switch", "mock.enabled", "Use the pinned result"), field("json", "mock.return_value", "Result")],
  ),
  section("priority", "Priority", "Runs before jobs of lower priority, 0 to 100", 10, [
    field("number", "priority", "Priority of the step"),
  ]),
  {
    title: "Storage",
    fields: [field("switch", "delete_after_use", "Delete arguments and result when the flow has ended")],
  },
];

const CODE: OptionSection[] = [
  {
    title: "Worker and concurrency",
    fields: [
      field("text", "value.tag", "Tag of the workers that run it"),
      field("number", "value.concurrent_limit", "Maximum at the same time"),
      field("number", "value.concurrency_time_window_s", "Time window, in seconds"),
      field(
        "text",
        "value.custom_concurrency_key",
        "Concurrency key",
        "Steps with the same key share the limit.",
      ),
    ],
  },
];

const INLINE: OptionSection[] = [
  {
    title: "Path and packages",
    fields: [
      field("text", "value.path", "Path of the code", "Kept for other clients."),
      field("lines", "value.lock", "Lock of its packages", "Removed when the code or language changes."),
    ],
  },
];

const SCRIPT: OptionSection[] = [
  {
    title: "Version and worker",
    fields: [
      field("text", "value.hash", "Fixed version", "Its hash; empty for the newest one."),
      field("text", "value.tag_override", "Tag of the workers that run it"),
    ],
  },
];

const LOOP: OptionSection[] = [
  {
    title: "Iterations",
    fields: [
      field("switch", "value.skip_failures", "Continue with the next item after a failure"),
      field("switch", "value.parallel", "Run iterations in parallel"),
      field("transform", "value.parallelism", "Maximum in parallel"),
      field("switch", "value.squash", "Run all in one process"),
    ],
  },
];

const BRANCHES: OptionSection[] = [
  { title: "Branches", fields: [field("switch", "value.parallel", "Run branches in parallel")] },
];

const IDENTITY: OptionSection[] = [
  { title: "Client", fields: [field("switch", "value.flow", "Other clients show it as a flow")] },
];

const OF_KIND: Record<string, OptionSection[]> = {
  rawscript: [...CODE, ...INLINE],
  script: SCRIPT,
  forloopflow: LOOP,
  whileloopflow: LOOP,
  branchall: BRANCHES,
  identity: IDENTITY,
};

/** Lists the options of a step by the type of its value. */
export const listStepOptions = (type: string): OptionSection[] => [
  ...(OF_KIND[type] ?? []),
  ...CONTROL,
  ...FAILURE,
  ...RUNNING,
];

/** Options of the flow itself. */
export const FLOW_OPTIONS: OptionSection[] = [
  {
    title: "Runs",
    fields: [
      field("switch", "value.same_worker", "All steps on one worker", "They share the folder ./shared."),
      field("expression", "value.skip_expr", "Do not run if"),
      field(
        "expression",
        "value.early_return",
        "Early response to a synchronous call",
        "The run continues after it.",
      ),
      field("number", "value.cache_ttl", "Cache the result for, in seconds"),
      field("number", "value.priority", "Priority, 0 to 100"),
      field("number", "timeout", "Time limit, in seconds"),
      field("text", "tag", "Tag of the workers that run it"),
    ],
  },
  {
    title: "Concurrency",
    fields: [
      field("number", "value.concurrent_limit", "Maximum runs at the same time"),
      field("number", "value.concurrency_time_window_s", "Time window, in seconds"),
      field("text", "value.concurrency_key", "Concurrency key"),
    ],
  },
  {
    title: "Others",
    fields: [
      field("json", "value.flow_env", "Names and values that all steps can use, as flow_env"),
      field("switch", "ws_error_handler_muted", "A failure does not start the workspace's error handler"),
      field("switch", "visible_to_runner_only", "Only the user who started a run can see it"),
    ],
  },
];

/** Fields of steps, by the type of their value, that the panel or the canvas shows besides the options. */
const PARTS: Record<string, string[]> = {
  rawscript: ["value.content", "value.language", "value.input_transforms"],
  script: ["value.path", "value.input_transforms"],
  flow: ["value.path", "value.input_transforms"],
  forloopflow: ["value.iterator", "value.modules"],
  whileloopflow: ["value.modules"],
  branchone: ["value.branches", "value.default"],
  branchall: ["value.branches"],
  identity: [],
};

/** Lists the fields of a step that are not options: name, code or path, inputs, and nested steps. */
export function listNonOptionFields(type: string): string[] {
  return ["id", "summary", "value.type", ...(PARTS[type] ?? ["value"])];
}

/** Lists the paths of fields that have a form field; others are shown as JSON. */
export function listShownFields(sections: OptionSection[], more: string[]): ReadonlySet<string> {
  return new Set([...more, ...sections.flatMap(({ fields }) => fields.map(({ path }) => path.join(".")))]);
}

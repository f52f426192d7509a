/**
 * Converts a stored flow to the form the flow engine runs. Missing fields get defaults and every step gets an id. A
 * step or input that cannot run becomes a refusal: it fails with the reason when the run reaches it.
 */
import type {
  Condition,
  FlowModule,
  FlowModuleValue,
  FlowValue,
  InputTransform,
  Retry,
  StopCondition,
  Suspend,
} from "../../../../engines/flow-engine/types.ts";
import { LANGUAGES } from "../../../../engines/languages/languages.ts";
import { isJsonObject } from "../../../../lib/json/json.ts";
import { parsePath } from "../../../../lib/text/paths.ts";
import { assignStepIds, type StoredFlow, type StoredObject, toArray } from "./walk-steps.ts";

const LEAF_KINDS = ["rawscript", "script", "flow", "identity"];
const STEP_KINDS = [...LEAF_KINDS, "forloopflow", "whileloopflow", "branchone", "branchall"];
const MAX_PRIORITY = 100;

export function toRunnableFlow(flow: StoredFlow): FlowValue {
  const ids = assignStepIds(flow);
  const leaf = (field: string) => {
    const stored = flow[field];
    if (!isJsonObject(stored)) return undefined;
    const module = toModule(stored, ids);
    const { type } = module.value;
    if (type === "refused" || LEAF_KINDS.includes(type)) return module;
    return {
      ...module,
      value: createRefusal(`a ${type} cannot be the flow's \`${field}\`: use ${formatChoices(LEAF_KINDS)}`),
    };
  };
  const preprocessor = leaf("preprocessor_module");
  return omitUndefined<FlowValue>({
    modules: toModules(flow.modules, ids),
    failure_module: leaf("failure_module"),
    // The engine finds the preprocessor's job by this id.
    preprocessor_module: preprocessor && { ...preprocessor, id: "preprocessor" },
    same_worker: toBoolean(flow.same_worker),
    concurrent_limit: toCount(flow.concurrent_limit),
    concurrency_key: toText(flow.concurrency_key),
    concurrency_time_window_s: toCount(flow.concurrency_time_window_s),
    skip_expr: toText(flow.skip_expr),
    cache_ttl: toAmount(flow.cache_ttl),
    priority: toPriority(flow.priority),
    early_return: toText(flow.early_return),
    flow_env: isJsonObject(flow.flow_env) ? flow.flow_env : undefined,
  });
}

type StepIds = Map<StoredObject, string>;

function toModules(modules: unknown, ids: StepIds): FlowModule[] {
  return toArray(modules)
    .filter(isJsonObject)
    .map((module) => toModule(module, ids));
}

function toModule(stored: StoredObject, ids: StepIds): FlowModule {
  const { mock } = stored;
  return omitUndefined<FlowModule>({
    id: ids.get(stored)!,
    value: toModuleValue(stored.value, ids),
    summary: toText(stored.summary),
    stop_after_if: toStopCondition(stored.stop_after_if),
    stop_after_all_iters_if: toStopCondition(stored.stop_after_all_iters_if),
    skip_if: toCondition(stored.skip_if),
    sleep: toOptionalInput(stored.sleep),
    timeout: toNumberOrInput(stored.timeout),
    cache_ttl: toAmount(stored.cache_ttl),
    delete_after_use: toBoolean(stored.delete_after_use),
    mock: isJsonObject(mock)
      ? { enabled: mock.enabled === true, return_value: mock.return_value }
      : undefined,
    suspend: toSuspend(stored.suspend),
    retry: toRetry(stored.retry),
    continue_on_error: toBoolean(stored.continue_on_error),
    priority: toPriority(stored.priority),
  });
}

function toModuleValue(stored: unknown, ids: StepIds): FlowModuleValue {
  if (!isJsonObject(stored)) return createRefusal("the step has no `value` that says what it runs");
  switch (stored.type) {
    case "rawscript":
      return toInlineScript(stored);
    case "script":
    case "flow":
      return toPathReference(stored, stored.type);
    case "forloopflow":
    case "whileloopflow":
      return toLoop(stored, stored.type, ids);
    case "branchone": {
      const branches = toBranches(stored, ids).map((branch, index) => ({
        ...branch,
        expr: toCondition(toArray(stored.branches)[index])?.expr ?? "null",
      }));
      return { type: "branchone", branches, default: toModules(stored.default, ids) };
    }
    case "branchall": {
      const branches = toBranches(stored, ids);
      return { type: "branchall", branches, parallel: stored.parallel === true };
    }
    case "identity":
      return { type: "identity" };
    default:
      return createRefusal(
        `steps of kind ${JSON.stringify(stored.type)} are not offered: use ${formatChoices(STEP_KINDS)}`,
      );
  }
}

function toBranches(
  stored: StoredObject,
  ids: StepIds,
): Extract<FlowModuleValue, { type: "branchall" }>["branches"] {
  return toArray(stored.branches).map((branch) => {
    const { modules, summary, skip_failure } = isJsonObject(branch) ? branch : {};
    return omitUndefined({
      modules: toModules(modules, ids),
      summary: toText(summary),
      skip_failure: toBoolean(skip_failure),
    });
  });
}

function toInlineScript(stored: StoredObject): FlowModuleValue {
  const { content, language } = stored;
  if (typeof content !== "string" || content.trim() === "") {
    return createRefusal("`content` must be the script's code, and is empty");
  }
  if (typeof language !== "string" || !(LANGUAGES as readonly string[]).includes(language)) {
    return createRefusal(
      `\`language\`: ${JSON.stringify(language)} is not supported: use ${formatChoices(LANGUAGES)}`,
    );
  }
  return omitUndefined<Extract<FlowModuleValue, { type: "rawscript" }>>({
    type: "rawscript",
    input_transforms: toInputs(stored.input_transforms),
    content,
    language,
    path: toText(stored.path),
    lock: typeof stored.lock === "string" ? stored.lock : undefined,
    tag: toText(stored.tag),
    concurrent_limit: toCount(stored.concurrent_limit),
    concurrency_time_window_s: toCount(stored.concurrency_time_window_s),
    custom_concurrency_key: toText(stored.custom_concurrency_key),
  });
}

function toPathReference(stored: StoredObject, type: "script" | "flow"): FlowModuleValue {
  const { path } = stored;
  if (typeof path !== "string") return createRefusal(`\`path\` must name a ${type}`);
  if (path.startsWith("hub/")) {
    return createRefusal(`${path}: scripts of a hub are not offered; deploy the script here`);
  }
  try {
    parsePath(path);
  } catch (cause) {
    return createRefusal(`\`path\`: ${(cause as Error).message}`);
  }
  const input_transforms = toInputs(stored.input_transforms);
  if (type === "flow") return { type, input_transforms, path };
  const more = { hash: toText(stored.hash), tag_override: toText(stored.tag_override) };
  return omitUndefined<FlowModuleValue>({ type, input_transforms, path, ...more });
}

function toLoop(stored: StoredObject, type: "forloopflow" | "whileloopflow", ids: StepIds): FlowModuleValue {
  const iterator = type === "forloopflow" ? { iterator: toInput(stored.iterator) } : {};
  return omitUndefined<FlowModuleValue>({
    type,
    ...iterator,
    modules: toModules(stored.modules, ids),
    skip_failures: stored.skip_failures === true,
    parallel: toBoolean(stored.parallel),
    parallelism: toNumberOrInput(stored.parallelism),
  } as FlowModuleValue);
}

function toInputs(stored: unknown): Record<string, InputTransform> {
  if (!isJsonObject(stored)) return {};
  return Object.fromEntries(Object.entries(stored).map(([name, input]) => [name, toInput(input)]));
}

/** Converts an input; an empty one becomes null. */
function toInput(stored: unknown): InputTransform {
  if (stored === null || stored === undefined) return { type: "static", value: null };
  const { type, value, expr } = isJsonObject(stored) ? stored : {};
  if (type === "static") return { type, value };
  if (type === "javascript") {
    const expression = toText(expr);
    return expression === undefined ? { type: "static", value: null } : { type, expr: expression };
  }
  return createRefusal(`inputs of kind ${JSON.stringify(type)} are not offered: use static, javascript`);
}

/** Converts an input that is an option; undefined if it is empty. */
function toOptionalInput(stored: unknown): InputTransform | undefined {
  const input = toInput(stored);
  const isEmpty = input.type === "static" && (input.value === null || input.value === undefined);
  return isEmpty ? undefined : input;
}

function toNumberOrInput(stored: unknown): number | InputTransform | undefined {
  return typeof stored === "number" ? stored : toOptionalInput(stored);
}

function toCondition(stored: unknown): Condition | undefined {
  const expr = isJsonObject(stored) ? toText(stored.expr) : undefined;
  return expr === undefined ? undefined : { expr };
}

function toStopCondition(stored: unknown): StopCondition | undefined {
  const condition = toCondition(stored);
  if (!condition || !isJsonObject(stored)) return undefined;
  const { skip_if_stopped, error_message, error_include_result } = stored;
  return omitUndefined<StopCondition>({
    ...condition,
    skip_if_stopped: toBoolean(skip_if_stopped),
    error_message: toText(error_message),
    error_include_result: toBoolean(error_include_result),
  });
}

function toRetry(stored: unknown): Retry | undefined {
  if (!isJsonObject(stored)) return undefined;
  const { constant, exponential } = stored;
  const triesOf = (given: StoredObject) => ({
    attempts: toCount(given.attempts) ?? 0,
    seconds: toAmount(given.seconds) ?? 0,
  });
  return omitUndefined<Retry>({
    constant: isJsonObject(constant) ? triesOf(constant) : undefined,
    exponential: isJsonObject(exponential)
      ? omitUndefined<NonNullable<Retry["exponential"]>>({
          ...triesOf(exponential),
          multiplier: toAmount(exponential.multiplier) ?? 1,
          random_factor: toAmount(exponential.random_factor),
        })
      : undefined,
    retry_if: toCondition(stored.retry_if),
  });
}

/** Converts the suspend options; undefined if no approval is required. */
function toSuspend(stored: unknown): Suspend | undefined {
  if (!isJsonObject(stored) || stored.required_events === 0) return undefined;
  return omitUndefined<Suspend>({
    required_events: toCount(stored.required_events),
    timeout: toAmount(stored.timeout),
    resume_form: stored.resume_form,
    user_auth_required: toBoolean(stored.user_auth_required),
    user_groups_required: toOptionalInput(stored.user_groups_required),
    self_approval_disabled: toBoolean(stored.self_approval_disabled),
    hide_cancel: toBoolean(stored.hide_cancel),
    continue_on_disapprove_timeout: toBoolean(stored.continue_on_disapprove_timeout),
  });
}

function createRefusal(problem: string): { type: "refused"; problem: string } {
  return { type: "refused", problem };
}

function formatChoices(words: readonly string[]): string {
  return `one of ${words.join(", ")}`;
}

function toText(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

function toBoolean(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

function toAmount(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 ? value : undefined;
}

function toCount(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}

function toPriority(value: unknown): number | undefined {
  const given = toCount(value);
  return given === undefined ? undefined : Math.min(given, MAX_PRIORITY);
}

/** Removes undefined fields, as JSON does. */
function omitUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as T;
}

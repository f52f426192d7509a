/**
 * What the engine runs of a flow as it is stored. What is missing is what it stands for when it is left out, each step has
 * an id, and what cannot run is a step or an input that fails and says why.
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
import { checkPath } from "../../../../lib/text/paths.ts";
import { idsOf, listIn, type Stored, type StoredFlow } from "./tree.ts";

const LEAVES = ["rawscript", "script", "flow", "identity"];
const KINDS = [...LEAVES, "forloopflow", "whileloopflow", "branchone", "branchall"];
const MAX_PRIORITY = 100;

export function runnable(flow: StoredFlow): FlowValue {
  const ids = idsOf(flow);
  const leaf = (field: string) => {
    const stored = flow[field];
    if (!isJsonObject(stored)) return undefined;
    const module = moduleOf(stored, ids);
    const { type } = module.value;
    if (type === "refused" || LEAVES.includes(type)) return module;
    return { ...module, value: refused(`a ${type} cannot be the flow's \`${field}\`: use ${list(LEAVES)}`) };
  };
  const preprocessor = leaf("preprocessor_module");
  return known<FlowValue>({
    modules: modulesIn(flow.modules, ids),
    failure_module: leaf("failure_module"),
    // Its job is known by this id.
    preprocessor_module: preprocessor && { ...preprocessor, id: "preprocessor" },
    same_worker: flag(flow.same_worker),
    concurrent_limit: count(flow.concurrent_limit),
    concurrency_key: text(flow.concurrency_key),
    concurrency_time_window_s: count(flow.concurrency_time_window_s),
    skip_expr: text(flow.skip_expr),
    cache_ttl: amount(flow.cache_ttl),
    priority: priority(flow.priority),
    early_return: text(flow.early_return),
    flow_env: isJsonObject(flow.flow_env) ? flow.flow_env : undefined,
  });
}

type Ids = Map<Stored, string>;

function modulesIn(modules: unknown, ids: Ids): FlowModule[] {
  return listIn(modules)
    .filter(isJsonObject)
    .map((module) => moduleOf(module, ids));
}

function moduleOf(stored: Stored, ids: Ids): FlowModule {
  const { mock } = stored;
  return known<FlowModule>({
    id: ids.get(stored)!,
    value: kindOf(stored.value, ids),
    summary: text(stored.summary),
    stop_after_if: stopOf(stored.stop_after_if),
    stop_after_all_iters_if: stopOf(stored.stop_after_all_iters_if),
    skip_if: conditionOf(stored.skip_if),
    sleep: filledIn(stored.sleep),
    timeout: numberOrInput(stored.timeout),
    cache_ttl: amount(stored.cache_ttl),
    delete_after_use: flag(stored.delete_after_use),
    mock: isJsonObject(mock)
      ? { enabled: mock.enabled === true, return_value: mock.return_value }
      : undefined,
    suspend: suspendOf(stored.suspend),
    retry: retryOf(stored.retry),
    continue_on_error: flag(stored.continue_on_error),
    priority: priority(stored.priority),
  });
}

function kindOf(stored: unknown, ids: Ids): FlowModuleValue {
  if (!isJsonObject(stored)) return refused("the step has no `value` that says what it runs");
  switch (stored.type) {
    case "rawscript":
      return scriptOf(stored);
    case "script":
    case "flow":
      return pathOf(stored, stored.type);
    case "forloopflow":
    case "whileloopflow":
      return loopOf(stored, stored.type, ids);
    case "branchone": {
      const branches = branchesOf(stored, ids).map((branch, index) => ({
        ...branch,
        expr: conditionOf(listIn(stored.branches)[index])?.expr ?? "null",
      }));
      return { type: "branchone", branches, default: modulesIn(stored.default, ids) };
    }
    case "branchall": {
      const branches = branchesOf(stored, ids);
      return { type: "branchall", branches, parallel: stored.parallel === true };
    }
    case "identity":
      return { type: "identity" };
    default:
      return refused(`steps of kind ${JSON.stringify(stored.type)} are not offered: use ${list(KINDS)}`);
  }
}

function branchesOf(stored: Stored, ids: Ids): Extract<FlowModuleValue, { type: "branchall" }>["branches"] {
  return listIn(stored.branches).map((branch) => {
    const { modules, summary, skip_failure } = isJsonObject(branch) ? branch : {};
    return known({
      modules: modulesIn(modules, ids),
      summary: text(summary),
      skip_failure: flag(skip_failure),
    });
  });
}

function scriptOf(stored: Stored): FlowModuleValue {
  const { content, language } = stored;
  if (typeof content !== "string" || content.trim() === "") {
    return refused("`content` must be the script's code, and is empty");
  }
  if (typeof language !== "string" || !(LANGUAGES as readonly string[]).includes(language)) {
    return refused(`\`language\`: ${JSON.stringify(language)} is not offered: use ${list(LANGUAGES)}`);
  }
  return known<Extract<FlowModuleValue, { type: "rawscript" }>>({
    type: "rawscript",
    input_transforms: inputsOf(stored.input_transforms),
    content,
    language,
    path: text(stored.path),
    lock: typeof stored.lock === "string" ? stored.lock : undefined,
    tag: text(stored.tag),
    concurrent_limit: count(stored.concurrent_limit),
    concurrency_time_window_s: count(stored.concurrency_time_window_s),
    custom_concurrency_key: text(stored.custom_concurrency_key),
  });
}

function pathOf(stored: Stored, type: "script" | "flow"): FlowModuleValue {
  const { path } = stored;
  if (typeof path !== "string") return refused(`\`path\` must name a ${type}`);
  if (path.startsWith("hub/")) {
    return refused(`${path}: scripts of a hub are not offered; deploy the script here`);
  }
  try {
    checkPath(path);
  } catch (cause) {
    return refused(`\`path\`: ${(cause as Error).message}`);
  }
  const input_transforms = inputsOf(stored.input_transforms);
  if (type === "flow") return { type, input_transforms, path };
  const more = { hash: text(stored.hash), tag_override: text(stored.tag_override) };
  return known<FlowModuleValue>({ type, input_transforms, path, ...more });
}

function loopOf(stored: Stored, type: "forloopflow" | "whileloopflow", ids: Ids): FlowModuleValue {
  const iterator = type === "forloopflow" ? { iterator: inputOf(stored.iterator) } : {};
  return known<FlowModuleValue>({
    type,
    ...iterator,
    modules: modulesIn(stored.modules, ids),
    skip_failures: stored.skip_failures === true,
    parallel: flag(stored.parallel),
    parallelism: numberOrInput(stored.parallelism),
  } as FlowModuleValue);
}

function inputsOf(stored: unknown): Record<string, InputTransform> {
  if (!isJsonObject(stored)) return {};
  return Object.fromEntries(Object.entries(stored).map(([name, input]) => [name, inputOf(input)]));
}

/** What nobody has filled in is null. */
function inputOf(stored: unknown): InputTransform {
  if (stored === null || stored === undefined) return { type: "static", value: null };
  const { type, value, expr } = isJsonObject(stored) ? stored : {};
  if (type === "static") return { type, value };
  if (type === "javascript") {
    const expression = text(expr);
    return expression === undefined ? { type: "static", value: null } : { type, expr: expression };
  }
  return refused(`inputs of kind ${JSON.stringify(type)} are not offered: use static, javascript`);
}

/** Of an option, which does not apply where nobody has filled it in. */
function filledIn(stored: unknown): InputTransform | undefined {
  const input = inputOf(stored);
  const isEmpty = input.type === "static" && (input.value === null || input.value === undefined);
  return isEmpty ? undefined : input;
}

function numberOrInput(stored: unknown): number | InputTransform | undefined {
  return typeof stored === "number" ? stored : filledIn(stored);
}

function conditionOf(stored: unknown): Condition | undefined {
  const expr = isJsonObject(stored) ? text(stored.expr) : undefined;
  return expr === undefined ? undefined : { expr };
}

function stopOf(stored: unknown): StopCondition | undefined {
  const condition = conditionOf(stored);
  if (!condition || !isJsonObject(stored)) return undefined;
  const { skip_if_stopped, error_message } = stored;
  return known<StopCondition>({
    ...condition,
    skip_if_stopped: flag(skip_if_stopped),
    error_message: text(error_message),
  });
}

function retryOf(stored: unknown): Retry | undefined {
  if (!isJsonObject(stored)) return undefined;
  const { constant, exponential } = stored;
  const triesOf = (given: Stored) => ({
    attempts: count(given.attempts) ?? 0,
    seconds: amount(given.seconds) ?? 0,
  });
  return known<Retry>({
    constant: isJsonObject(constant) ? triesOf(constant) : undefined,
    exponential: isJsonObject(exponential)
      ? known<NonNullable<Retry["exponential"]>>({
          ...triesOf(exponential),
          multiplier: amount(exponential.multiplier) ?? 1,
          random_factor: amount(exponential.random_factor),
        })
      : undefined,
    retry_if: conditionOf(stored.retry_if),
  });
}

/** Where no answer is awaited, none is asked for. */
function suspendOf(stored: unknown): Suspend | undefined {
  if (!isJsonObject(stored) || stored.required_events === 0) return undefined;
  return known<Suspend>({
    required_events: count(stored.required_events),
    timeout: amount(stored.timeout),
    resume_form: stored.resume_form,
    user_auth_required: flag(stored.user_auth_required),
    user_groups_required: filledIn(stored.user_groups_required),
    self_approval_disabled: flag(stored.self_approval_disabled),
    hide_cancel: flag(stored.hide_cancel),
    continue_on_disapprove_timeout: flag(stored.continue_on_disapprove_timeout),
  });
}

function refused(problem: string): { type: "refused"; problem: string } {
  return { type: "refused", problem };
}

function list(words: readonly string[]): string {
  return `one of ${words.join(", ")}`;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

function flag(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

function amount(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 ? value : undefined;
}

function count(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}

function priority(value: unknown): number | undefined {
  const given = count(value);
  return given === undefined ? undefined : Math.min(given, MAX_PRIORITY);
}

/** Without what is undefined, as JSON is. */
function known<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as T;
}

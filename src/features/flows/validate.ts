/** What must hold of a flow before it is deployed, beyond its form. */
import { BadRequest } from "../../errors.ts";
import type { FlowModule, FlowValue, InputTransform } from "../../flow-engine/types.ts";
import { asNumber, noNumber } from "../../flow-engine/values.ts";
import { checkPath } from "../../lib/paths.ts";
import { checkExpressions, stepFault } from "./check.ts";
import { bodiesOf, everyStep } from "./tree.ts";

/** It stands in URLs and, as `results.<id>`, in expressions. */
const ID = /^[A-Za-z][\w-]{0,99}$/;
const MAX_STEPS = 1_000;
/** Each level of steps inside of steps is a job of its own when it runs. */
const MAX_DEPTH = 20;

/**
 * Checks ids, required fields, paths, expressions, and what steps say of each other.
 * @param path where the flow is to stand
 * @throws BadRequest naming the step and the field
 */
export async function validateFlow(value: FlowValue, path: string): Promise<void> {
  checkTree(value);
  for (const { module } of everyStep(value)) checkFields(module);
  await checkExpressions(value);
  checkEarlyReturn(value);
  const caller = value.skip_expr === undefined ? callerOf(value.modules, path) : undefined;
  if (caller) {
    throw stepFault(
      caller.id,
      "path",
      `the flow calls itself (${path}) whatever happens, and would never end`,
    );
  }
}

function checkTree(value: FlowValue): void {
  const places = new Map<string, string>();
  for (const { module, at, outer } of everyStep(value)) {
    const { id } = module;
    const isReserved = id === "failure" || id === "preprocessor";
    if (!ID.test(id) || id in Object.prototype) {
      throw new BadRequest(
        `\`${at}.id\`: ${JSON.stringify(id.slice(0, 120))} cannot be the id of a step: begin with a letter, then letters, digits, _ and -, 100 characters at most`,
      );
    }
    if (isReserved && at !== `value.${id}_module`) {
      throw new BadRequest(`\`${at}.id\`: ${id} is reserved for the flow's \`${id}_module\``);
    }
    const twin = places.get(id);
    if (twin !== undefined) {
      throw new BadRequest(`\`${at}.id\`: there is a step ${id} already, at \`${twin}\``);
    }
    places.set(id, at);
    if (places.size > MAX_STEPS) throw new BadRequest(`the flow has more than ${MAX_STEPS} steps`);
    if (outer.length >= MAX_DEPTH) {
      throw new BadRequest(`step ${id}: steps stand inside of steps more than ${MAX_DEPTH} deep`);
    }
  }
  checkLeaf("failure_module", value.failure_module);
  checkLeaf("preprocessor_module", value.preprocessor_module);
}

function checkLeaf(field: string, module: FlowModule | undefined): void {
  const kinds = ["rawscript", "script", "flow", "identity"];
  if (!module || kinds.includes(module.value.type)) return;
  throw new BadRequest(
    `\`${field}\`: ${module.value.type} cannot be run there; use one of ${kinds.join(", ")}`,
  );
}

function checkFields(module: FlowModule): void {
  const { id, value } = module;
  for (const field of ["timeout", "cache_ttl"] as const) {
    if (module[field] === undefined || bodiesOf(module).length === 0) continue;
    throw stepFault(id, field, `a ${value.type} has none; set it on the steps inside of it`);
  }
  checkNumber(id, "sleep", module.sleep, 0);
  checkNumber(id, "timeout", module.timeout, 0);
  if ("parallelism" in value) checkNumber(id, "parallelism", value.parallelism, 1);
  if (
    value.type === "forloopflow" &&
    value.iterator.type === "static" &&
    !Array.isArray(value.iterator.value)
  ) {
    const found = value.iterator.value === undefined ? "missing" : JSON.stringify(value.iterator.value);
    throw stepFault(id, "iterator.value", `must be an array, and is ${found.slice(0, 100)}`);
  }
  if (value.type === "rawscript" && value.content.trim() === "") {
    throw stepFault(id, "content", "must be the script's code, and is empty");
  }
  if (value.type !== "script" && value.type !== "flow") return;
  if (value.path.startsWith("hub/")) {
    throw stepFault(id, "path", `${value.path}: scripts of a hub are not offered; deploy the script here`);
  }
  try {
    checkPath(value.path);
  } catch (cause) {
    throw stepFault(id, "path", (cause as Error).message);
  }
}

/** What an expression comes to, the run finds out; an input that nobody has filled in, too. */
function checkNumber(
  id: string,
  field: string,
  given: InputTransform | number | undefined,
  least: number,
): void {
  if (given === undefined || (typeof given === "object" && given.type === "javascript")) return;
  const value = typeof given === "object" ? (given.value ?? undefined) : given;
  if (value === undefined || asNumber(value, least) !== undefined) return;
  throw stepFault(id, field, noNumber(value, least));
}

function checkEarlyReturn({ modules, early_return }: FlowValue): void {
  if (early_return === undefined) return;
  const steps = [...everyStep({ modules })];
  const kinds = new Map(steps.map(({ module }) => [module.id, module.value.type]));
  const step = steps.find(({ module }) => module.id === early_return);
  if (!step) throw new BadRequest(`\`early_return\`: the flow has no step ${early_return}`);
  const loop = step.outer.find((id) => kinds.get(id) === "forloopflow" || kinds.get(id) === "whileloopflow");
  if (loop === undefined) return;
  throw new BadRequest(
    `\`early_return\`: step ${early_return} runs once an iteration of loop ${loop}; name a step that runs once`,
  );
}

/** The step that runs the flow at `path` whatever its own conditions and the steps before it say. */
function callerOf(modules: readonly FlowModule[], path: string): FlowModule | undefined {
  for (const module of modules) {
    const { value, skip_if, mock, stop_after_if, stop_after_all_iters_if, suspend } = module;
    if (value.type === "flow" && value.path === path && !skip_if && !mock?.enabled) return module;
    if (stop_after_if || stop_after_all_iters_if || suspend || bodiesOf(module).length > 0) return undefined;
  }
  return undefined;
}

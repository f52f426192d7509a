/** The expressions of a flow: they must parse, and name steps whose results are there when they are evaluated. */
import { BadRequest } from "../../errors.ts";
import { mentions } from "../../expressions/evaluate.ts";
import type { FlowModule, FlowValue, InputTransform } from "../../flow-engine/types.ts";
import { bodiesOf, everyStep } from "./tree.ts";

/** The error of a field of a step. */
export function stepFault(id: string, field: string, problem: string): BadRequest {
  return new BadRequest(`step ${id}, \`${field}\`: ${problem}`);
}

/** Ids of the steps that hold a step, by the id of the step. */
type Outer = Map<string, string[]>;

/** @throws BadRequest naming the step, the field, and the place in the expression or the step it names */
export async function checkExpressions(value: FlowValue): Promise<void> {
  const { modules, failure_module, preprocessor_module, skip_expr } = value;
  const outer: Outer = new Map();
  for (const { module, outer: ids } of everyStep({ modules })) outer.set(module.id, ids);
  if (skip_expr !== undefined) {
    const problem = await problemOf(skip_expr, new Set(), outer);
    if (problem) throw new BadRequest(`\`skip_expr\`: ${problem}`);
  }
  await checkList(modules, new Set(), outer);
  const all = new Set(modules.map(({ id }) => id));
  if (failure_module) await checkList([failure_module], all, outer);
  if (preprocessor_module) await checkList([preprocessor_module], new Set(), outer);
}

/** @param earlier the steps before the list whose results its steps see */
async function checkList(
  modules: readonly FlowModule[],
  earlier: ReadonlySet<string>,
  outer: Outer,
): Promise<void> {
  const seen = new Set(earlier);
  const check = async ({ id }: FlowModule, expressions: Iterable<Expression>) => {
    for (const [field, text] of expressions) {
      const problem = await problemOf(text, seen, outer);
      if (problem) throw stepFault(id, field, problem);
    }
  };
  for (const module of modules) {
    await check(module, expressionsBefore(module));
    for (const body of bodiesOf(module)) await checkList(body.modules, seen, outer);
    seen.add(module.id);
    await check(module, expressionsAfter(module));
  }
}

/** What is wrong with an expression, if anything is. @param seen the steps whose results are there */
async function problemOf(text: string, seen: ReadonlySet<string>, outer: Outer): Promise<string | undefined> {
  if (text.trim() === "") return "must be an expression, and is empty";
  const results = await resultsIn(text);
  if (results instanceof Error) return results.message;
  const missing = results.find((id) => !seen.has(id));
  if (missing === undefined) return undefined;
  const holders = outer.get(missing);
  if (!holders) return `results.${missing}: the flow has no step ${missing}`;
  const holder = holders.find((each) => seen.has(each));
  return holder === undefined
    ? `results.${missing}: step ${missing} has no result yet when this is evaluated`
    : `results.${missing}: step ${missing} is inside of step ${holder} and seen only there; use results.${holder}`;
}

/** Ids of the steps an expression names; none where it looks at all of them. @returns the error when it does not parse */
async function resultsIn(text: string): Promise<readonly string[] | Error> {
  try {
    const results = (await mentions(text)).get("results") ?? [];
    return results === "all" ? [] : results;
  } catch (cause) {
    if (cause instanceof BadRequest) return cause;
    throw cause;
  }
}

/** The field, and the expression in it. */
type Expression = [field: string, text: string];

/** What is evaluated before the step has a result. */
function* expressionsBefore({ value, skip_if, timeout }: FlowModule): Generator<Expression> {
  if (skip_if) yield ["skip_if.expr", skip_if.expr];
  yield* inTransform("timeout", timeout);
  if ("input_transforms" in value) {
    for (const [name, transform] of Object.entries(value.input_transforms)) {
      yield* inTransform(`input_transforms.${name}`, transform);
    }
  }
  if ("iterator" in value) yield* inTransform("iterator", value.iterator);
  if ("parallelism" in value) yield* inTransform("parallelism", value.parallelism);
  if (value.type === "branchone") {
    for (const [index, { expr }] of value.branches.entries()) yield [`branches.${index}.expr`, expr];
  }
}

/** What is evaluated once it has one. */
function* expressionsAfter(module: FlowModule): Generator<Expression> {
  const { stop_after_if, stop_after_all_iters_if, retry, sleep, suspend } = module;
  if (stop_after_if) yield ["stop_after_if.expr", stop_after_if.expr];
  if (stop_after_all_iters_if) yield ["stop_after_all_iters_if.expr", stop_after_all_iters_if.expr];
  if (retry?.retry_if) yield ["retry.retry_if.expr", retry.retry_if.expr];
  yield* inTransform("sleep", sleep);
  yield* inTransform("suspend.user_groups_required", suspend?.user_groups_required);
}

function* inTransform(field: string, transform: InputTransform | number | undefined): Generator<Expression> {
  if (typeof transform === "object" && transform.type === "javascript")
    yield [`${field}.expr`, transform.expr];
}

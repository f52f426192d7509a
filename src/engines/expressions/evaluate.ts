/**
 * Evaluates expressions of flows: input transforms, branch conditions, iterators, `stop_after_if` and similar. They are
 * JavaScript on JSON values. The parser is loaded on first use; QuickJS runs in worker threads.
 */

import { isTooDeep, MAX_JSON_DEPTH } from "../../lib/json/depth.ts";
import { parseJson } from "../../lib/json/json.ts";
import { ExpressionError, ExpressionTimeout } from "./error.ts";
import type { Mentions } from "./parse/names.ts";
import { NOT_SIMPLE } from "./parse/operators.ts";
import { type Prepared, prepareExpression } from "./parse/prepare.ts";
import { type ExpressionScope, entryToText, type GivenValues, resolveMentioned } from "./parse/scope.ts";
import type { EvaluationLimits, TextFunction } from "./sandbox/limits.ts";
import { runInThread } from "./sandbox/thread-pool.ts";

export type HostFunction = (...args: unknown[]) => Promise<unknown>;

/** Default limits: 1,000 ms, 64 MB, a stack of 256 KB and 1,000 calls. */
export interface EvaluationOptions extends Partial<EvaluationLimits> {
  /** Async functions that the expression may call by name; arguments and results are JSON. */
  functions?: Record<string, HostFunction>;
  /** Replaces what an error may not show, such as secrets that the functions have returned. */
  maskCause?: (cause: string) => string;
}

/**
 * Evaluates an expression to a JSON value: undefined for undefined and functions, null for NaN, a text for a Date.
 * Promises are awaited. The value may share objects with the scope, so callers must not modify it.
 * @throws ExpressionError if the expression does not parse, throws, or exceeds a limit; ExpressionTimeout for the time
 * limit; errors of the scope's functions
 */
export async function evaluateExpression(
  expression: string,
  scope: ExpressionScope,
  options: EvaluationOptions = {},
): Promise<unknown> {
  const prepared = await prepareExpression(expression);
  const given = await resolveMentioned(scope, prepared.mentions);
  const value = prepared.fast ? prepared.fast(given) : NOT_SIMPLE;
  return value === NOT_SIMPLE ? evaluateInSandbox(expression, prepared, given, options) : value;
}

async function evaluateInSandbox(
  expression: string,
  prepared: Prepared,
  given: GivenValues,
  options: EvaluationOptions,
): Promise<unknown> {
  const { functions = {}, time_ms = 1000, memory_mb = 64, stack_kb = 256, calls = 1000 } = options;
  const called = [...prepared.mentions.keys()].filter((name) => Object.hasOwn(functions, name));
  const names = [...given.keys()].filter((name) => !called.includes(name));
  const program = {
    source: prepared.toFunction([...names, ...called], (name) => called.includes(name)),
    values: names.map((name) => entryToText(given.get(name))),
    functions: called.map((name) => toTextFunction(functions[name]!)),
  };
  const outcome = await runInThread(program, { time_ms, memory_mb, stack_kb, calls });
  if (outcome.ok && outcome.text !== undefined && isTooDeep(outcome.text)) {
    const message = `its value is nested deeper than ${MAX_JSON_DEPTH} levels`;
    throw new ExpressionError(`RangeError: ${message}`, expression);
  }
  if (outcome.ok) return outcome.text === undefined ? undefined : parseJson(outcome.text);
  const { maskCause = (cause) => cause } = options;
  throw new (outcome.overran ? ExpressionTimeout : ExpressionError)(maskCause(outcome.cause), expression);
}

function toTextFunction(work: HostFunction): TextFunction {
  return async (args) => JSON.stringify(await work(...(parseJson(args) as unknown[])));
}

/**
 * Lists the free names of an expression, with the members read of each.
 * @throws ExpressionError if the expression does not parse
 */
export async function listMentions(expression: string): Promise<Mentions> {
  return (await prepareExpression(expression)).mentions;
}

/**
 * Checks the syntax of an expression without evaluating it.
 * @throws ExpressionSyntaxError with line and column; ExpressionError if it is too long
 */
export async function checkExpression(expression: string): Promise<void> {
  await prepareExpression(expression);
}

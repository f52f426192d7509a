/**
 * Expressions of flows: input transforms, conditions of branches, iterators, `stop_after_if` and the like. They are
 * JavaScript on JSON values. The parser is loaded when an expression first needs it; QuickJS, by a thread of its own.
 */

import { isTooDeep, MAX_JSON_DEPTH } from "../../lib/json/depth.ts";
import { parseJson } from "../../lib/json/json.ts";
import { ExpressionError, ExpressionOverrun } from "./error.ts";
import type { Mentions } from "./parse/names.ts";
import { UNSURE } from "./parse/operators.ts";
import { type Prepared, prepare } from "./parse/prepare.ts";
import { type Given, type Scope, takeMentioned, toText } from "./parse/scope.ts";
import type { Limits, TextFunction } from "./sandbox/limits.ts";
import { runInThread } from "./sandbox/threads.ts";

export type HostFunction = (...args: unknown[]) => Promise<unknown>;

/** Limits that are not given are 1,000 ms, 64 MB, a stack of 256 KB and 1,000 calls. */
export interface EvaluationOptions extends Partial<Limits> {
  /** Async functions that the expression may call by name, with JSON for arguments and result. */
  functions?: Record<string, HostFunction>;
}

/**
 * The value of an expression, as JSON has it: undefined for undefined and functions, null for NaN, a text for a Date.
 * A promise is awaited. The value may be the scope's own or hold parts of it, so it is not to be changed.
 * @throws ExpressionError for an expression that does not parse, that throws, or that meets a limit, ExpressionOverrun
 * when that is the limit of time; and whatever a function of the scope throws
 */
export async function evaluate(
  expression: string,
  scope: Scope,
  options: EvaluationOptions = {},
): Promise<unknown> {
  const prepared = await prepare(expression);
  const given = await takeMentioned(scope, prepared.mentions);
  const value = prepared.fast ? prepared.fast(given) : UNSURE;
  return value === UNSURE ? evaluateInSandbox(expression, prepared, given, options) : value;
}

async function evaluateInSandbox(
  expression: string,
  prepared: Prepared,
  given: Given,
  options: EvaluationOptions,
): Promise<unknown> {
  const { functions = {}, time_ms = 1000, memory_mb = 64, stack_kb = 256, calls = 1000 } = options;
  const called = [...prepared.mentions.keys()].filter((name) => Object.hasOwn(functions, name));
  const names = [...given.keys()].filter((name) => !called.includes(name));
  const program = {
    source: prepared.toFunction([...names, ...called], (name) => called.includes(name)),
    values: names.map((name) => toText(given.get(name))),
    functions: called.map((name) => onText(functions[name]!)),
  };
  const outcome = await runInThread(program, { time_ms, memory_mb, stack_kb, calls });
  if (outcome.ok && outcome.text !== undefined && isTooDeep(outcome.text)) {
    const message = `its value is nested deeper than ${MAX_JSON_DEPTH} levels`;
    throw new ExpressionError(`RangeError: ${message}`, expression);
  }
  if (outcome.ok) return outcome.text === undefined ? undefined : parseJson(outcome.text);
  throw new (outcome.overran ? ExpressionOverrun : ExpressionError)(outcome.cause, expression);
}

function onText(work: HostFunction): TextFunction {
  return async (args) => JSON.stringify(await work(...(parseJson(args) as unknown[])));
}

/**
 * The names that an expression takes from outside, and which members of each.
 * @throws ExpressionError for an expression that does not parse
 */
export async function mentions(expression: string): Promise<Mentions> {
  return (await prepare(expression)).mentions;
}

/** @throws ExpressionSyntaxError with line and column; ExpressionError for one that is too long */
export async function checkExpression(expression: string): Promise<void> {
  await prepare(expression);
}

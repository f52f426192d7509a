/** Evaluates expressions and converts errors to values. */
import { readControlKey } from "../../lib/json/control-keys.ts";
import { isJsonObject, parseJson, toPlainNumber } from "../../lib/json/json.ts";
import type { ExtraNames, TransitionContext } from "./state.ts";
import type { InputTransform, InputTransforms } from "./types.ts";

/** Evaluates an expression. @throws Error that names the field */
export async function evaluateField(
  move: TransitionContext,
  field: string,
  expr: string,
  extra: ExtraNames = {},
): Promise<unknown> {
  try {
    return await move.env.evaluate(expr, { ...extra, state: move.state });
  } catch (cause) {
    const { name, message } = cause as Error;
    throw createFault(name, `${field}: ${message}`);
  }
}

/** Evaluates a condition. @throws Error that names the field */
export async function evaluateCondition(
  move: TransitionContext,
  field: string,
  expr: string,
  extra: ExtraNames = {},
): Promise<boolean> {
  return Boolean(toPlainNumber(await evaluateField(move, field, expr, extra)));
}

/** Evaluates a transform. @throws Error that names the field */
export async function evaluateTransform(
  move: TransitionContext,
  field: string,
  transform: InputTransform | number,
  extra: ExtraNames = {},
): Promise<unknown> {
  if (typeof transform === "number") return transform;
  if (transform.type === "static") return transform.value;
  if (transform.type === "refused") throw createFault("NotOffered", `${field}: ${transform.problem}`);
  return evaluateField(move, field, transform.expr, extra);
}

/** Evaluates a step's arguments. @throws Error that names the argument */
export async function evaluateArguments(
  move: TransitionContext,
  value: { input_transforms: InputTransforms; takes_flow_input?: boolean | undefined },
  extra: ExtraNames,
): Promise<unknown> {
  if (value.takes_flow_input) return evaluateField(move, "input", "flow_input", extra);
  const args: Record<string, unknown> = {};
  for (const [name, transform] of Object.entries(value.input_transforms)) {
    args[name] = await evaluateTransform(move, `input ${name}`, transform, extra);
  }
  return args;
}

/** Evaluates a number of at least `minimum`. @throws Error that names the field */
export async function evaluateNumber(
  move: TransitionContext,
  field: string,
  transform: InputTransform | number,
  minimum: number,
  extra: ExtraNames = {},
): Promise<number> {
  const value = await evaluateTransform(move, field, transform, extra);
  const number = toNumberAtLeast(value, minimum);
  if (number !== undefined) return number;
  throw createFault("InvalidNumber", `${field} ${describeInvalidNumber(value, minimum)}`);
}

/** Converts a number or its text; undefined for other values, and below `minimum`. */
export function toNumberAtLeast(value: unknown, minimum: number): number | undefined {
  // Number(value) would turn null and an empty text into 0.
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : toPlainNumber(value);
  return typeof number === "number" && number >= minimum ? number : undefined;
}

export function describeInvalidNumber(value: unknown, minimum: number): string {
  return `must be a number of at least ${minimum}, and is ${JSON.stringify(value)}`;
}

/**
 * Runs `work` and converts an error into the step's error value; commands emitted by `work` are then discarded.
 * @param step_id undefined: the flow as a whole
 */
export async function captureError<T>(
  move: TransitionContext,
  step_id: string | undefined,
  work: () => Promise<T>,
): Promise<{ value: T } | { error: unknown }> {
  const before = move.commands.length;
  try {
    return { value: await work() };
  } catch (cause) {
    move.commands.length = before;
    const { name, message } = cause as Error;
    return { error: { error: { name, message, ...(step_id === undefined ? {} : { step_id }) } } };
  }
}

/**
 * Returns the error value of a failed job, with the innermost step it comes from. A result that declares itself a
 * failure keeps its other keys for the flow's caller. For the list of a failed loop, it is the first error.
 * @param result JSON text
 */
export function toErrorValue(result: string, step_id: string): unknown {
  return toErrorValueIn(parseJson(result), step_id);
}

function toErrorValueIn(value: unknown, step_id: string): unknown {
  const inner = Array.isArray(value) ? value.find(hasError) : undefined;
  if (inner !== undefined) return toErrorValueIn(inner, step_id);
  if (!isJsonObject(value)) return { error: { ...UNKNOWN_ERROR, step_id, result: value } };
  if (isJsonObject(value.error)) {
    return { ...value, error: { ...value.error, step_id: value.error.step_id ?? step_id } };
  }
  const said = readControlKey(value, "failure");
  return {
    ...value,
    error: { ...UNKNOWN_ERROR, ...(typeof said === "string" ? { message: said } : {}), step_id },
  };
}

/** Whether a result is the list of a failed loop or branches. @param result JSON text */
export function isJsonList(result: string): boolean {
  return result.startsWith("[");
}

function hasError(value: unknown): boolean {
  return Array.isArray(value) ? value.some(hasError) : isJsonObject(value) && isJsonObject(value.error);
}

const UNKNOWN_ERROR = { name: "Error", message: "the step failed" };

/** Returns the value of `error` in expressions. */
export function unwrapError(error: unknown): unknown {
  return (error as { error?: unknown } | null)?.error ?? error;
}

export function createFault(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}

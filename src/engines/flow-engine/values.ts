/** Expressions and errors as values. */
import { control } from "../../lib/json/control-keys.ts";
import { isJsonObject, parseJson, plainNumber } from "../../lib/json/json.ts";
import type { Extra, Move } from "./state.ts";
import type { InputTransform, InputTransforms } from "./types.ts";

/** @throws Error that names the field */
export async function evaluated(
  move: Move,
  field: string,
  expr: string,
  extra: Extra = {},
): Promise<unknown> {
  try {
    return await move.env.evaluate(expr, { ...extra, state: move.state });
  } catch (cause) {
    const { name, message } = cause as Error;
    throw fault(name, `${field}: ${message}`);
  }
}

/** Whether a condition holds. @throws Error that names the field */
export async function holds(move: Move, field: string, expr: string, extra: Extra = {}): Promise<boolean> {
  return Boolean(plainNumber(await evaluated(move, field, expr, extra)));
}

/** A transform's value. @throws Error that names the field */
export async function transformed(
  move: Move,
  field: string,
  transform: InputTransform | number,
  extra: Extra = {},
): Promise<unknown> {
  if (typeof transform === "number") return transform;
  if (transform.type === "static") return transform.value;
  if (transform.type === "refused") throw fault("NotOffered", `${field}: ${transform.problem}`);
  return evaluated(move, field, transform.expr, extra);
}

/** A step's arguments. @throws Error that names the argument */
export async function argsOf(
  move: Move,
  transforms: InputTransforms,
  extra: Extra,
): Promise<Record<string, unknown>> {
  const args: Record<string, unknown> = {};
  for (const [name, transform] of Object.entries(transforms)) {
    args[name] = await transformed(move, `input ${name}`, transform, extra);
  }
  return args;
}

/** A number that must be at least `least`. @throws Error that names the field */
export async function numberOf(
  move: Move,
  field: string,
  transform: InputTransform | number,
  least: number,
  extra: Extra = {},
): Promise<number> {
  const value = await transformed(move, field, transform, extra);
  const number = asNumber(value, least);
  if (number !== undefined) return number;
  throw fault("InvalidNumber", `${field} ${noNumber(value, least)}`);
}

/** A number or its text; undefined when it is neither, or less than `least`. */
export function asNumber(value: unknown, least: number): number | undefined {
  // Not Number(value): it makes 0 of null and of an empty text.
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : plainNumber(value);
  return typeof number === "number" && number >= least ? number : undefined;
}

export function noNumber(value: unknown, least: number): string {
  return `must be a number of at least ${least}, and is ${JSON.stringify(value)}`;
}

/**
 * What is thrown becomes the error value of the step; what had been asked for until then is not asked for.
 * @param step_id undefined: the flow as a whole
 */
export async function tried<T>(
  move: Move,
  step_id: string | undefined,
  work: () => Promise<T>,
): Promise<{ value: T } | { error: unknown }> {
  const before = move.steps.length;
  try {
    return { value: await work() };
  } catch (cause) {
    move.steps.length = before;
    const { name, message } = cause as Error;
    return { error: { error: { name, message, ...(step_id === undefined ? {} : { step_id }) } } };
  }
}

/**
 * The error value of a failed job, with the innermost step it comes from. A result that says itself that it is a failure
 * keeps its other keys: they are for whoever waits for the flow. Of the list that a failed loop leaves, its first error.
 * @param result JSON text
 */
export function errorValue(result: string, step_id: string): unknown {
  return errorIn(parseJson(result), step_id);
}

function errorIn(value: unknown, step_id: string): unknown {
  const inner = Array.isArray(value) ? value.find(hasError) : undefined;
  if (inner !== undefined) return errorIn(inner, step_id);
  if (!isJsonObject(value)) return { error: { ...UNKNOWN, step_id, result: value } };
  if (isJsonObject(value.error)) {
    return { ...value, error: { ...value.error, step_id: value.error.step_id ?? step_id } };
  }
  const said = control(value, "failure");
  return { ...value, error: { ...UNKNOWN, ...(typeof said === "string" ? { message: said } : {}), step_id } };
}

/** What a loop or branches leave that failed: results and error values. @param result JSON text */
export function isList(result: string): boolean {
  return result.startsWith("[");
}

function hasError(value: unknown): boolean {
  return Array.isArray(value) ? value.some(hasError) : isJsonObject(value) && isJsonObject(value.error);
}

const UNKNOWN = { name: "Error", message: "the step failed" };

/** What expressions know as `error`. */
export function innerError(error: unknown): unknown {
  return (error as { error?: unknown } | null)?.error ?? error;
}

export function fault(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}

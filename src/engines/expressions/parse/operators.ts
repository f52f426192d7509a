/**
 * JavaScript operators on JSON values and undefined, restricted to simple cases. They give up on coercions (objects to
 * text, text to numbers), inherited members and errors.
 */
import { isExactNumber } from "../../../lib/json/json.ts";

/** Thrown where the fast path does not support an expression: QuickJS must evaluate it. */
export const NOT_SIMPLE = new Error("the expression needs the sandbox");

/** Longer texts are built in QuickJS, where memory is limited. */
const MAXIMUM_CHARACTERS = 1_000_000;

type Primitive = string | number | boolean | null | undefined;

export function throwNotSimple(): never {
  throw NOT_SIMPLE;
}

function isPrimitive(value: unknown): value is Primitive {
  return typeof requireExact(value) !== "object" || value === null;
}

/** Leaves the fast path for numbers kept as text, which can be passed on but not computed with. */
export function requireExact(value: unknown): unknown {
  return isExactNumber(value) ? throwNotSimple() : value;
}

/** Returns `object[key]`, for own members only. */
export function readProperty(object: unknown, key: unknown): unknown {
  if (object === null || object === undefined || isExactNumber(object)) throwNotSimple();
  if (typeof key !== "string" && typeof key !== "number") throwNotSimple();
  if (Object.hasOwn(object, key)) return (object as Record<string | number, unknown>)[key];
  return key in Object(object) ? throwNotSimple() : undefined;
}

export function concatenateParts(parts: unknown[]): string {
  let text = "";
  for (const part of parts) {
    if (!isPrimitive(part) || text.length > MAXIMUM_CHARACTERS) throwNotSimple();
    text += part;
  }
  return text.length > MAXIMUM_CHARACTERS ? throwNotSimple() : text;
}

function requireNumbers(left: unknown, right: unknown): [number, number] {
  return typeof left === "number" && typeof right === "number" ? [left, right] : throwNotSimple();
}

/** Returns comparable numbers; texts compare by UTF-16 units. */
function toComparable(left: unknown, right: unknown): [number, number] {
  const texts = typeof left === "string" && typeof right === "string";
  return texts ? [left < right ? -1 : left > right ? 1 : 0, 0] : requireNumbers(left, right);
}

function strictlyEqual(left: unknown, right: unknown): boolean {
  // Object identity is not known from JSON.
  if (!isPrimitive(left) && !isPrimitive(right)) throwNotSimple();
  return requireExact(left) === requireExact(right);
}

function looselyEqual(left: unknown, right: unknown): boolean {
  if (left === null || left === undefined) return right === null || right === undefined;
  if (right === null || right === undefined) return false;
  return typeof left === typeof right ? strictlyEqual(left, right) : throwNotSimple();
}

function add(left: unknown, right: unknown): unknown {
  if (typeof left === "string" || typeof right === "string") return concatenateParts([left, right]);
  const [a, b] = requireNumbers(left, right);
  return a + b;
}

const arithmetic = (operate: (a: number, b: number) => number) => (left: unknown, right: unknown) =>
  operate(...requireNumbers(left, right));

const comparison = (holds: (a: number, b: number) => boolean) => (left: unknown, right: unknown) =>
  holds(...toComparable(left, right));

export const BINARY_OPERATORS: Record<string, (left: unknown, right: unknown) => unknown> = {
  "===": strictlyEqual,
  "!==": (left, right) => !strictlyEqual(left, right),
  "==": looselyEqual,
  "!=": (left, right) => !looselyEqual(left, right),
  "<": comparison((a, b) => a < b),
  "<=": comparison((a, b) => a <= b),
  ">": comparison((a, b) => a > b),
  ">=": comparison((a, b) => a >= b),
  "+": add,
  "-": arithmetic((a, b) => a - b),
  "*": arithmetic((a, b) => a * b),
  "/": arithmetic((a, b) => a / b),
  "%": arithmetic((a, b) => a % b),
};

export const UNARY: Record<string, (value: unknown) => unknown> = {
  "!": (value) => !requireExact(value),
  "-": (value) => (typeof value === "number" ? -value : throwNotSimple()),
  typeof: (value) => typeof requireExact(value),
};

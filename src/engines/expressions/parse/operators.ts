/**
 * Operators of JavaScript on JSON values and undefined, where they do what they look like. Where they do not (an object
 * is turned into text, a text into a number, a member comes from a prototype) or throw, they give up.
 */
import { isExactNumber } from "../../../lib/json/json.ts";

/** Thrown by giveUp: the caller has to ask QuickJS. */
export const UNSURE = new Error("this is not simple");

/** Longer texts are put together in QuickJS, where memory is limited. */
const MAXIMUM_CHARACTERS = 1_000_000;

type Primitive = string | number | boolean | null | undefined;

export function giveUp(): never {
  throw UNSURE;
}

function isPrimitive(value: unknown): value is Primitive {
  return typeof known(value) !== "object" || value === null;
}

/** A value that is what it looks like. A number that is kept as it was written can be handed on, and no more. */
export function known(value: unknown): unknown {
  return isExactNumber(value) ? giveUp() : value;
}

/** `object[key]`, own members only. */
export function property(object: unknown, key: unknown): unknown {
  if (object === null || object === undefined || isExactNumber(object)) giveUp();
  if (typeof key !== "string" && typeof key !== "number") giveUp();
  if (Object.hasOwn(object, key)) return (object as Record<string | number, unknown>)[key];
  return key in Object(object) ? giveUp() : undefined;
}

export function concatenate(parts: unknown[]): string {
  let text = "";
  for (const part of parts) {
    if (!isPrimitive(part) || text.length > MAXIMUM_CHARACTERS) giveUp();
    text += part;
  }
  return text.length > MAXIMUM_CHARACTERS ? giveUp() : text;
}

function numbers(left: unknown, right: unknown): [number, number] {
  return typeof left === "number" && typeof right === "number" ? [left, right] : giveUp();
}

/** Both are numbers, or both are texts: those are compared by their UTF-16 units. */
function comparable(left: unknown, right: unknown): [number, number] {
  const texts = typeof left === "string" && typeof right === "string";
  return texts ? [left < right ? -1 : left > right ? 1 : 0, 0] : numbers(left, right);
}

function strictlyEqual(left: unknown, right: unknown): boolean {
  // Whether two objects are the same one is not known from their JSON.
  if (!isPrimitive(left) && !isPrimitive(right)) giveUp();
  return known(left) === known(right);
}

function looselyEqual(left: unknown, right: unknown): boolean {
  if (left === null || left === undefined) return right === null || right === undefined;
  if (right === null || right === undefined) return false;
  return typeof left === typeof right ? strictlyEqual(left, right) : giveUp();
}

function add(left: unknown, right: unknown): unknown {
  if (typeof left === "string" || typeof right === "string") return concatenate([left, right]);
  const [a, b] = numbers(left, right);
  return a + b;
}

const arithmetic = (operate: (a: number, b: number) => number) => (left: unknown, right: unknown) =>
  operate(...numbers(left, right));

const comparison = (holds: (a: number, b: number) => boolean) => (left: unknown, right: unknown) =>
  holds(...comparable(left, right));

export const BINARY: Record<string, (left: unknown, right: unknown) => unknown> = {
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
  "!": (value) => !known(value),
  "-": (value) => (typeof value === "number" ? -value : giveUp()),
  typeof: (value) => typeof known(value),
};

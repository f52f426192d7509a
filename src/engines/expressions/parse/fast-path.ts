/**
 * Fast path: computes simple expressions (property access, comparisons, literals) without QuickJS. It is used only if
 * the result equals JavaScript's exactly; all other cases, errors included, go to QuickJS.
 */
import type {
  ArrayExpression,
  MemberExpression,
  Node,
  ObjectExpression,
  OptionalMemberExpression,
} from "@babel/types";
import { findStaticName } from "./names.ts";
import {
  BINARY_OPERATORS,
  concatenateParts,
  NOT_SIMPLE,
  readProperty,
  requireExact,
  throwNotSimple,
  UNARY,
} from "./operators.ts";
import { entryToValue, type GivenValues } from "./scope.ts";

/** Evaluates an expression without the sandbox. @returns the JSON value, or NOT_SIMPLE if the sandbox must decide */
export type FastPath = (given: GivenValues) => unknown;

interface FastRun {
  given: GivenValues;
  /** Objects and long texts copied into literals so far. */
  copies: number;
}

type Compute = (run: FastRun) => unknown;

/** Limit, because a literal such as `[results.a, results.a, …]` may be far larger than its source as JSON. */
const MAXIMUM_COPIES = 16;
const LONG_TEXT = 1000;
/** Value of a chain such as `a?.b.c` after its `?.` met null or undefined. */
const SHORT_CIRCUITED = Symbol("cut off");

/**
 * Compiles an expression; the syntax tree is not kept.
 * @returns undefined if it is not simple
 */
export function compileFast(root: Node): FastPath | undefined {
  const compute = orUnsure(() => compile(root));
  if (compute === NOT_SIMPLE) return undefined;
  return (given) => orUnsure(() => toJsonValue((compute as Compute)({ given, copies: 0 })));
}

function orUnsure(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    if (error === NOT_SIMPLE) return NOT_SIMPLE;
    throw error;
  }
}

function compile(node: Node): Compute {
  switch (node.type) {
    case "StringLiteral":
    case "NumericLiteral":
    case "BooleanLiteral": {
      const { value } = node;
      return () => value;
    }
    case "NullLiteral":
      return () => null;
    case "Identifier":
    case "MemberExpression":
    case "OptionalMemberExpression": {
      const chain = compileChain(node);
      return (run) => {
        const value = chain(run);
        return value === SHORT_CIRCUITED ? undefined : value;
      };
    }
    case "TemplateLiteral": {
      const texts = node.quasis.map((quasi) => quasi.value.cooked);
      const values = node.expressions.map(compile);
      return (run) =>
        concatenateParts(texts.flatMap((text, at) => (at === 0 ? [text] : [values[at - 1]!(run), text])));
    }
    case "UnaryExpression": {
      const operate = UNARY[node.operator] ?? throwNotSimple();
      const value = compile(node.argument);
      return (run) => operate(value(run));
    }
    case "BinaryExpression": {
      const operate = BINARY_OPERATORS[node.operator] ?? throwNotSimple();
      const [left, right] = [compile(node.left), compile(node.right)];
      return (run) => operate(left(run), right(run));
    }
    case "LogicalExpression": {
      const [left, right] = [compile(node.left), compile(node.right)];
      if (node.operator === "&&") return (run) => requireExact(left(run)) && right(run);
      if (node.operator === "||") return (run) => requireExact(left(run)) || right(run);
      return (run) => left(run) ?? right(run);
    }
    case "ConditionalExpression": {
      const [test, then, otherwise] = [compile(node.test), compile(node.consequent), compile(node.alternate)];
      return (run) => (requireExact(test(run)) ? then(run) : otherwise(run));
    }
    case "ObjectExpression":
      return compileObject(node);
    case "ArrayExpression":
      return compileArray(node);
    default:
      return throwNotSimple();
  }
}

/** Compiles a name with member accesses. The base is never a literal, because literals become JSON only at the end. */
function compileChain(node: Node): Compute {
  if (node.type === "Identifier") return compileName(node.name);
  if (node.type !== "MemberExpression" && node.type !== "OptionalMemberExpression") return throwNotSimple();
  // Parentheses end a chain: `(a?.b).c` throws where `a?.b.c` does not.
  const chained = node.type === "OptionalMemberExpression";
  const optional = chained && node.optional;
  const object = compileChain(node.object);
  const key = compileKey(node);
  return (run) => {
    const base = object(run);
    if (base === SHORT_CIRCUITED) return chained ? SHORT_CIRCUITED : throwNotSimple();
    if (optional && (base === null || base === undefined)) return SHORT_CIRCUITED;
    return readProperty(base, key(run));
  };
}

function compileName(name: string): Compute {
  if (name === "undefined") return () => undefined;
  return ({ given }) => (given.has(name) ? entryToValue(given.get(name)) : throwNotSimple());
}

function compileKey(node: MemberExpression | OptionalMemberExpression): Compute {
  const name = findStaticName(node.property, node.computed ?? false);
  return name === undefined ? compile(node.property) : () => name;
}

function compileObject(node: ObjectExpression): Compute {
  const parts = node.properties.map((member): ((run: FastRun) => [string, unknown][]) => {
    if (member.type === "SpreadElement") {
      const spread = compileChain(member.argument);
      return (run) => Object.entries(copyIntoLiteral(run, spread(run), isPlainObject) as object);
    }
    if (member.type !== "ObjectProperty") return throwNotSimple();
    const name =
      findStaticName(member.key, member.key.type !== "Identifier" || member.computed) ?? throwNotSimple();
    // This syntax sets the prototype instead of a member.
    if (name === "__proto__") return throwNotSimple();
    const value = compile(member.value);
    return (run) => [[name, copyIntoLiteral(run, value(run))]];
  });
  return (run) => {
    const members = parts.flatMap((part) => part(run));
    return Object.fromEntries(members.filter(([, value]) => value !== undefined));
  };
}

function compileArray(node: ArrayExpression): Compute {
  const parts = node.elements.map((element): ((run: FastRun) => unknown[]) => {
    if (element === null) return throwNotSimple();
    if (element.type === "SpreadElement") {
      const spread = compileChain(element.argument);
      return (run) => copyIntoLiteral(run, spread(run), Array.isArray) as unknown[];
    }
    const value = compile(element);
    return (run) => [copyIntoLiteral(run, value(run)) ?? null];
  });
  return (run) => parts.flatMap((part) => part(run));
}

const isPlainObject = (value: unknown) =>
  typeof requireExact(value) === "object" && value !== null && !Array.isArray(value);

/** Copies a value into a literal as JSON; gives up if its type is wrong or too many are large. */
function copyIntoLiteral(
  run: FastRun,
  value: unknown,
  is_right: (value: unknown) => boolean = () => true,
): unknown {
  if (!is_right(value)) throwNotSimple();
  const large = typeof value === "string" ? value.length > LONG_TEXT : typeof value === "object";
  if (large && value !== null && ++run.copies > MAXIMUM_COPIES) throwNotSimple();
  return toJsonValue(value);
}

/** Converts a number to JSON; objects are JSON already. */
function toJsonValue(value: unknown): unknown {
  if (typeof value !== "number") return value;
  return Number.isFinite(value) ? value + 0 : null;
}

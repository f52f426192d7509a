/**
 * What most expressions are (reading properties, comparing, literals) is computed here, without QuickJS. Only where
 * the outcome is exactly that of JavaScript on JSON values; in every other case, errors too, QuickJS is asked.
 */
import type {
  ArrayExpression,
  MemberExpression,
  Node,
  ObjectExpression,
  OptionalMemberExpression,
} from "@babel/types";
import { staticName } from "./names.ts";
import { BINARY, concatenate, giveUp, known, property, UNARY, UNSURE } from "./operators.ts";
import { type Given, toValue } from "./scope.ts";

/** @returns the value as JSON has it, or UNSURE */
export type FastPath = (given: Given) => unknown;

interface Run {
  given: Given;
  /** How many objects and long texts were put into literals. */
  copies: number;
}

type Compute = (run: Run) => unknown;

/** Written out, `[results.a, results.a, …]` is many times as long as what it refers to. */
const MAXIMUM_COPIES = 16;
const LONG_TEXT = 1000;
/** What a chain `a?.b.c` is from the `?.` on that met nothing. */
const CUT_OFF = Symbol("cut off");

/**
 * The syntax tree is read here and not kept.
 * @returns undefined for what is not simple
 */
export function compileFast(root: Node): FastPath | undefined {
  const compute = notGivenUp(() => compile(root));
  if (compute === UNSURE) return undefined;
  return (given) => notGivenUp(() => toJson((compute as Compute)({ given, copies: 0 })));
}

function notGivenUp(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    if (error === UNSURE) return UNSURE;
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
        return value === CUT_OFF ? undefined : value;
      };
    }
    case "TemplateLiteral": {
      const texts = node.quasis.map((quasi) => quasi.value.cooked);
      const values = node.expressions.map(compile);
      return (run) =>
        concatenate(texts.flatMap((text, at) => (at === 0 ? [text] : [values[at - 1]!(run), text])));
    }
    case "UnaryExpression": {
      const operate = UNARY[node.operator] ?? giveUp();
      const value = compile(node.argument);
      return (run) => operate(value(run));
    }
    case "BinaryExpression": {
      const operate = BINARY[node.operator] ?? giveUp();
      const [left, right] = [compile(node.left), compile(node.right)];
      return (run) => operate(left(run), right(run));
    }
    case "LogicalExpression": {
      const [left, right] = [compile(node.left), compile(node.right)];
      if (node.operator === "&&") return (run) => known(left(run)) && right(run);
      if (node.operator === "||") return (run) => known(left(run)) || right(run);
      return (run) => left(run) ?? right(run);
    }
    case "ConditionalExpression": {
      const [test, then, otherwise] = [compile(node.test), compile(node.consequent), compile(node.alternate)];
      return (run) => (known(test(run)) ? then(run) : otherwise(run));
    }
    case "ObjectExpression":
      return compileObject(node);
    case "ArrayExpression":
      return compileArray(node);
    default:
      return giveUp();
  }
}

/** A name and what is read of it. The base is never a literal, which only becomes JSON at the end. */
function compileChain(node: Node): Compute {
  if (node.type === "Identifier") return compileName(node.name);
  if (node.type !== "MemberExpression" && node.type !== "OptionalMemberExpression") return giveUp();
  // Parentheses end a chain: `(a?.b).c` fails where `a?.b.c` does not.
  const chained = node.type === "OptionalMemberExpression";
  const optional = chained && node.optional;
  const object = compileChain(node.object);
  const key = compileKey(node);
  return (run) => {
    const base = object(run);
    if (base === CUT_OFF) return chained ? CUT_OFF : giveUp();
    if (optional && (base === null || base === undefined)) return CUT_OFF;
    return property(base, key(run));
  };
}

function compileName(name: string): Compute {
  if (name === "undefined") return () => undefined;
  return ({ given }) => (given.has(name) ? toValue(given.get(name)) : giveUp());
}

function compileKey(node: MemberExpression | OptionalMemberExpression): Compute {
  const name = staticName(node.property, node.computed ?? false);
  return name === undefined ? compile(node.property) : () => name;
}

function compileObject(node: ObjectExpression): Compute {
  const parts = node.properties.map((member): ((run: Run) => [string, unknown][]) => {
    if (member.type === "SpreadElement") {
      const spread = compileChain(member.argument);
      return (run) => Object.entries(copy(run, spread(run), isPlainObject) as object);
    }
    if (member.type !== "ObjectProperty") return giveUp();
    const name = staticName(member.key, member.key.type !== "Identifier" || member.computed) ?? giveUp();
    // Written like this it is the prototype, not a member.
    if (name === "__proto__") return giveUp();
    const value = compile(member.value);
    return (run) => [[name, copy(run, value(run))]];
  });
  return (run) => {
    const members = parts.flatMap((part) => part(run));
    return Object.fromEntries(members.filter(([, value]) => value !== undefined));
  };
}

function compileArray(node: ArrayExpression): Compute {
  const parts = node.elements.map((element): ((run: Run) => unknown[]) => {
    if (element === null) return giveUp();
    if (element.type === "SpreadElement") {
      const spread = compileChain(element.argument);
      return (run) => copy(run, spread(run), Array.isArray) as unknown[];
    }
    const value = compile(element);
    return (run) => [copy(run, value(run)) ?? null];
  });
  return (run) => parts.flatMap((part) => part(run));
}

const isPlainObject = (value: unknown) =>
  typeof known(value) === "object" && value !== null && !Array.isArray(value);

/** A value for a literal: as JSON has it, of the kind that is needed, and not too many of the large ones. */
function copy(run: Run, value: unknown, is_right: (value: unknown) => boolean = () => true): unknown {
  if (!is_right(value)) giveUp();
  const large = typeof value === "string" ? value.length > LONG_TEXT : typeof value === "object";
  if (large && value !== null && ++run.copies > MAXIMUM_COPIES) giveUp();
  return toJson(value);
}

/** Objects are JSON already, be they given or made by literals. */
function toJson(value: unknown): unknown {
  if (typeof value !== "number") return value;
  return Number.isFinite(value) ? value + 0 : null;
}

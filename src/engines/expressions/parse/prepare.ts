/** Results of parsing expressions, cached for the most recently used texts. */
import type { Expression, Node, Program } from "@babel/types";
import { Cache } from "../../../lib/async/cache.ts";
import { ExpressionSyntaxError } from "../error.ts";
import { compileFast, type FastPath } from "./fast-path.ts";
import { type FreeCall, findNames, type Mentions } from "./names.ts";
import type { Parsed } from "./parse.ts";

export interface Prepared {
  mentions: Mentions;
  fast: FastPath | undefined;
  /**
   * Returns the source of an async function with these parameters that computes the value.
   * @param awaited selects functions whose results are awaited implicitly
   */
  toFunction(parameters: string[], awaited: (name: string) => boolean): string;
}

/** Longer expressions do not use the fast path. */
const MAXIMUM_FAST_CHARACTERS = 2000;
/** Cache size in characters. A compiled expression weighs a multiple of its text. */
const MAXIMUM_CACHE_WEIGHT = 2_000_000;
const WEIGHT_OF_FAST = 10;

const cache = new Cache<Prepared>({
  max: MAXIMUM_CACHE_WEIGHT,
  weigh: (text, { fast }) => (fast ? text.length * WEIGHT_OF_FAST : text.length),
});

/** Parses an expression, or returns the cached result of parsing it. @throws ExpressionError like parseText */
export async function prepareExpression(text: string): Promise<Prepared> {
  return cache.get(text) ?? cache.load(text, () => parse(text));
}

async function parse(text: string): Promise<Prepared> {
  const { parseText } = await import("./parse.ts");
  return toPrepared(text, parseText(text));
}

function toPrepared(text: string, { root, returned }: Parsed): Prepared {
  try {
    const { mentions, calls } = findNames(root);
    const source = toSource(text, root, returned);
    return {
      mentions,
      fast: text.length <= MAXIMUM_FAST_CHARACTERS ? compileFast(returnedExpression(root)) : undefined,
      toFunction: (parameters, awaited) =>
        `async (${parameters}) => ${source(calls.filter(({ name }) => awaited(name)))}`,
    };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ExpressionSyntaxError("it is nested too deeply", 1, 1, text);
  }
}

/** Returns the expression returned by a program that does nothing else. */
function returnedExpression(root: Expression | Program): Node {
  if (root.type !== "Program" || root.body.length !== 1) return root;
  const [statement] = root.body;
  if (statement?.type === "ExpressionStatement") return statement.expression;
  return statement?.type === "ReturnStatement" && statement.argument ? statement.argument : root;
}

/**
 * Returns the body of an arrow function. The closing bracket is on its own line, because the text may end with a
 * comment.
 */
function toSource(text: string, root: Expression | Program, returned: number | undefined) {
  const is_program = root.type === "Program";
  const [start, end] = is_program ? [0, text.length] : [root.start!, root.end!];
  return (awaited: FreeCall[]) => {
    const insertions: [at: number, inserted: string][] = awaited.flatMap(
      ({ start, end, startsStatement }) => [
        // A leading bracket would continue the previous line.
        [start, startsStatement ? "0, (await " : "(await "],
        [end, ")"],
      ],
    );
    if (returned !== undefined) insertions.unshift([returned, "return "]);
    const body = insertInto(text, start, end, insertions);
    return is_program ? `{\n${body}\n}` : `(${body})`;
  };
}

function insertInto(text: string, start: number, end: number, insertions: [number, string][]): string {
  const pieces: string[] = [];
  let copied = start;
  for (const [at, inserted] of insertions.sort(([one], [other]) => one - other)) {
    pieces.push(text.slice(copied, at), inserted);
    copied = at;
  }
  return pieces.join("") + text.slice(copied, end);
}

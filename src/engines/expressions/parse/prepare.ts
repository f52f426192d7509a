/** What is known of an expression from its text alone, kept for the texts that were used last. */
import type { Expression, Node, Program } from "@babel/types";
import { ExpressionSyntaxError } from "../error.ts";
import { compileFast, type FastPath } from "./fast.ts";
import { type FreeCall, findNames, type Mentions } from "./names.ts";
import type { Parsed } from "./parse.ts";

export interface Prepared {
  mentions: Mentions;
  fast: FastPath | undefined;
  /**
   * The source of an async function of these parameters that gives the value.
   * @param awaited functions whose result is awaited where it is not used as a promise
   */
  toFunction(parameters: string[], awaited: (name: string) => boolean): string;
}

/** Longer ones are not simple, whatever is in them. */
const MAXIMUM_FAST_CHARACTERS = 2000;
/** Characters of the texts that are kept. Compiled, a simple one is many times as large as its text. */
const MAXIMUM_KEPT = 2_000_000;
const WEIGHT_OF_FAST = 10;

const kept = new Map<string, Prepared>();
let keptWeight = 0;

/** @throws ExpressionError as parseText does */
export async function prepare(text: string): Promise<Prepared> {
  const known = kept.get(text);
  if (known) {
    // A map is in the order of insertion: the first one is the one not used for longest.
    kept.delete(text);
    kept.set(text, known);
    return known;
  }
  const { parseText } = await import("./parse.ts");
  const prepared = toPrepared(text, parseText(text));
  keep(text, prepared);
  return prepared;
}

function keep(text: string, prepared: Prepared): void {
  if (kept.has(text)) return;
  kept.set(text, prepared);
  keptWeight += weightOf(text, prepared);
  for (const [oldest, about] of kept) {
    if (keptWeight <= MAXIMUM_KEPT) return;
    kept.delete(oldest);
    keptWeight -= weightOf(oldest, about);
  }
}

function weightOf(text: string, { fast }: Prepared): number {
  return fast ? text.length * WEIGHT_OF_FAST : text.length;
}

function toPrepared(text: string, { root, returned }: Parsed): Prepared {
  try {
    const { mentions, calls } = findNames(root);
    const source = toSource(text, root, returned);
    return {
      mentions,
      fast: text.length <= MAXIMUM_FAST_CHARACTERS ? compileFast(returnedBy(root)) : undefined,
      toFunction: (parameters, awaited) =>
        `async (${parameters}) => ${source(calls.filter(({ name }) => awaited(name)))}`,
    };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ExpressionSyntaxError("it is nested too deeply", 1, 1, text);
  }
}

/** What is returned by a program that does nothing else. */
function returnedBy(root: Expression | Program): Node {
  if (root.type !== "Program" || root.body.length !== 1) return root;
  const [statement] = root.body;
  if (statement?.type === "ExpressionStatement") return statement.expression;
  return statement?.type === "ReturnStatement" && statement.argument ? statement.argument : root;
}

/** The body of an arrow function. A comment may end the statements, so what closes stands on a line of its own. */
function toSource(text: string, root: Expression | Program, returned: number | undefined) {
  const is_program = root.type === "Program";
  const [start, end] = is_program ? [0, text.length] : [root.start!, root.end!];
  return (awaited: FreeCall[]) => {
    const insertions: [at: number, inserted: string][] = awaited.flatMap(({ start, end, leads }) => [
      // A bracket at the beginning of a line would go on with the line before.
      [start, leads ? "0, (await " : "(await "],
      [end, ")"],
    ]);
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

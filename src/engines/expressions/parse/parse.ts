/**
 * Parses an expression. The text is either an expression, with `{ a: 1 }` as an object, or statements that return.
 * Without a return, the last statement is the value if it is an expression.
 */
import { type ParserOptions, parse, parseExpression } from "@babel/parser";
import type { Expression, File, Program } from "@babel/types";
import { ExpressionError, ExpressionSyntaxError } from "../error.ts";

export interface Parsed {
  root: Expression | Program;
  /** Offset of the statement to return, if there is no explicit return. */
  returned: number | undefined;
}

const MAXIMUM_CHARACTERS = 64 * 1024;
const OPTIONS: ParserOptions = {
  sourceType: "script",
  allowAwaitOutsideFunction: true,
  allowReturnOutsideFunction: true,
  attachComment: false,
};

/**
 * Parses the text of an expression to a syntax tree.
 * @throws ExpressionSyntaxError; ExpressionError if the text is too long
 */
export function parseText(text: string): Parsed {
  if (text.length > MAXIMUM_CHARACTERS) {
    throw new ExpressionError(`${text.length} characters, but at most ${MAXIMUM_CHARACTERS} are read,`, text);
  }
  try {
    const expression = text.slice(0, endOfExpression(text));
    return { root: parseExpression(expression, OPTIONS) as unknown as Expression, returned: undefined };
  } catch (asExpression) {
    try {
      return parseStatements(text);
    } catch (asStatements) {
      throw syntaxError(selectFurthest(asExpression, asStatements), text);
    }
  }
}

/** Returns the end without trailing semicolons, so that `{ a: 1 };` stays an object. */
function endOfExpression(text: string): number {
  let end = text.length;
  while (end > 0 && " \t\r\n;".includes(text[end - 1]!)) end--;
  return end;
}

function parseStatements(text: string): Parsed {
  const { program } = parse(text, OPTIONS) as unknown as File;
  const last = program.body.at(-1) ?? program.directives.at(-1);
  const is_value = last?.type === "ExpressionStatement" || last?.type === "Directive";
  return { root: program, returned: is_value ? last.start! : undefined };
}

interface ParseFault {
  loc?: { line: number; column: number; index: number };
  message: string;
}

/** Returns the error of the attempt that parsed further, which is probably what was meant. */
function selectFurthest(one: unknown, other: unknown): ParseFault {
  const [first, second] = [one as ParseFault, other as ParseFault];
  if (!first.loc || !second.loc) return first.loc ? second : first;
  return second.loc.index > first.loc.index ? second : first;
}

function syntaxError(fault: ParseFault, text: string): Error {
  if (fault instanceof RangeError) return new ExpressionSyntaxError("it is nested too deeply", 1, 1, text);
  if (!fault.loc) return fault as unknown as Error;
  const message = fault.message.replace(/ \(\d+:\d+\)$/, "").trim();
  return new ExpressionSyntaxError(message, fault.loc.line, fault.loc.column + 1, text);
}

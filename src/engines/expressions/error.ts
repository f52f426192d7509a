import { BadRequest } from "../../lib/errors.ts";

const SHOWN_CHARACTERS = 200;
const SHOWN_CAUSE_CHARACTERS = 1000;

/** An expression of a flow does not parse, threw an error, or exceeded a limit. */
export class ExpressionError extends BadRequest {
  override readonly name: string = "ExpressionError";
  constructor(cause: string, expression: string) {
    super(`${truncate(cause, SHOWN_CAUSE_CHARACTERS)} in \`${truncate(expression, SHOWN_CHARACTERS)}\``);
  }
}

/** The expression exceeded its time limit. */
export class ExpressionTimeout extends ExpressionError {}

/** The expression does not parse; line and column count from 1. */
export class ExpressionSyntaxError extends ExpressionError {
  readonly line: number;
  readonly column: number;
  constructor(message: string, line: number, column: number, expression: string) {
    super(`SyntaxError: ${message} at line ${line}, column ${column}`, expression);
    this.line = line;
    this.column = column;
  }
}

function truncate(text: string, characters: number): string {
  return text.length > characters ? `${text.slice(0, characters)}…` : text;
}

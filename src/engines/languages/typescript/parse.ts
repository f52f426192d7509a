import { type ParserOptions, parse } from "@babel/parser";
import type { File } from "@babel/types";
import { SyntaxFault } from "../types.ts";

/** Positions by line and column, of nodes (not of errors), would take a third of the memory and time. */
const OPTIONS: ParserOptions = {
  sourceType: "module",
  plugins: ["typescript", "decorators"],
  locations: false,
};

/** Parses a TypeScript or JavaScript module. @throws SyntaxFault with the position of the first error */
export function parseModule(content: string): File {
  try {
    return parse(content, OPTIONS) as unknown as File;
  } catch (cause) {
    if (cause instanceof RangeError) throw new SyntaxFault(1, 1, "the source is nested too deeply");
    const { loc, message } = cause as { loc?: { line: number; column: number }; message: string };
    if (!loc) throw cause;
    throw new SyntaxFault(loc.line, loc.column + 1, message.replace(/ \(\d+:\d+\)$/, "").trim());
  }
}

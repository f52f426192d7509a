/** Evaluates expressions of flows by `new Function`. */

const NAMES = ["flow_input", "results", "previous_result", "result", "error", "resume", "resumes"] as const;
export type Name = (typeof NAMES)[number];
const functions = new Map<string, (...values: unknown[]) => unknown>();

/** Compiles an expression; the parameters are the names in its scope, in order. */
export function compiled(expr: string): (...values: unknown[]) => unknown {
  let found = functions.get(expr);
  if (!found) {
    found = new Function(...NAMES, `return (${expr});`) as (...values: unknown[]) => unknown;
    functions.set(expr, found);
  }
  return found;
}

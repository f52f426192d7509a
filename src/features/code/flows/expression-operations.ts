/** Operations for editors: checking an expression of a flow, and evaluating it with the values of an earlier run. */
import { ExpressionError, ExpressionSyntaxError } from "../../../engines/expressions/error.ts";
import { checkExpression, evaluateExpression } from "../../../engines/expressions/evaluate.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import { Conflict, TooManyRequests } from "../../../lib/errors.ts";
import * as z from "../../../lib/zod/z.ts";
import type { App } from "../../../platform/app/context.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";

/** Time limit, shorter than in a run: the expression is evaluated while the user types. */
const TIME_MS = 200;
const MEMORY_MB = 32;

const Outcome = z.object({
  ok: z.boolean(),
  /** Absent for `undefined`. */
  value: z.unknown().optional(),
  error: z
    .object({ message: z.string(), line: z.number().optional(), column: z.number().optional() })
    .optional(),
});

/**
 * Creates a function that throws: values that a run reads with the flow's rights are not available to the user who
 * writes the expression.
 */
const createUnavailable = (name: string) => async () => {
  throw new Conflict(`${name}(…) is read when the flow runs, and has no value here`);
};
const functions = { variable: createUnavailable("variable"), resource: createUnavailable("resource") };

/** Maximum number of concurrent evaluations per user, because flow runs use the same threads. */
const MAX_AT_ONCE = 4;
const evaluating = memoizePerApp<App, Map<string, number>>(() => new Map());

/** Takes one of the caller's evaluation slots; disposing of the result gives it back. @throws TooManyRequests */
function takeTurn(app: App, email: string): Disposable {
  const counts = evaluating(app);
  const running = counts.get(email) ?? 0;
  if (running >= MAX_AT_ONCE)
    throw new TooManyRequests(`${MAX_AT_ONCE} expressions of yours are being evaluated: wait for one`, 1);
  counts.set(email, running + 1);
  return {
    [Symbol.dispose]: () => {
      const left = counts.get(email)! - 1;
      if (left === 0) counts.delete(email);
      else counts.set(email, left);
    },
  };
}

const evaluateFlowExpression = operation({
  name: "evaluateFlowExpression",
  method: "POST",
  path: "/w/{workspace}/flows/expressions/evaluate",
  access: "author",
  summary: "Check an expression of a flow, and evaluate it with given values",
  body: z.object({
    expr: z.string(),
    scope: z
      .record(z.string(), z.unknown())
      .optional()
      .describe("values of the names in it; without them it is only parsed"),
  }),
  responds: responds.json(Outcome),
  run: async ({ app, caller }, { body: { expr, scope } }) => {
    try {
      if (!scope) {
        await checkExpression(expr);
        return { ok: true };
      }
      using _turn = takeTurn(app, caller.identity.email);
      const limits = { time_ms: TIME_MS, memory_mb: MEMORY_MB };
      return { ok: true, value: await evaluateExpression(expr, scope, { functions, ...limits }) };
    } catch (error) {
      const { message } = error as Error;
      if (error instanceof ExpressionSyntaxError) {
        return { ok: false, error: { message, line: error.line, column: error.column } };
      }
      if (error instanceof ExpressionError || error instanceof Conflict)
        return { ok: false, error: { message } };
      throw error;
    }
  },
});

export const flowExpressionOperations: Operation[] = [evaluateFlowExpression];

/** Expressions of flows while they are written: checked, and evaluated on values of an earlier run. */
import { z } from "zod";
import { ExpressionError, ExpressionSyntaxError } from "../../../engines/expressions/error.ts";
import { checkExpression, evaluateExpression } from "../../../engines/expressions/evaluate.ts";
import { Conflict } from "../../../lib/errors.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";

/** Shorter than in a run: it is evaluated while somebody types. */
const TIME_MS = 200;
const MEMORY_MB = 32;

const Outcome = z.object({
  ok: z.boolean(),
  /** Missing for `undefined`. */
  value: z.unknown().optional(),
  error: z
    .object({ message: z.string(), line: z.number().optional(), column: z.number().optional() })
    .optional(),
});

/** What a run reads with the rights of the flow is not read for whoever writes the expression. */
const notHere = (name: string) => async () => {
  throw new Conflict(`${name}(…) is read when the flow runs, and has no value here`);
};
const functions = { variable: notHere("variable"), resource: notHere("resource") };

const evaluateFlowExpression = operation({
  name: "evaluateFlowExpression",
  method: "POST",
  path: "/w/{workspace}/flows/expressions/evaluate",
  access: "author",
  summary: "Check an expression of a flow, and evaluate it on given values",
  body: z.object({
    expr: z.string(),
    scope: z
      .record(z.string(), z.unknown())
      .optional()
      .describe("values of the names that it uses; without them it is only parsed"),
  }),
  responds: responds.json(Outcome),
  run: async (_ctx, { body: { expr, scope } }) => {
    try {
      if (!scope) await checkExpression(expr);
      else {
        const limits = { time_ms: TIME_MS, memory_mb: MEMORY_MB };
        return { ok: true, value: await evaluateExpression(expr, scope, { functions, ...limits }) };
      }
      return { ok: true };
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

/** Evaluates in an executable: see executable.test.ts. */
import { evaluateExpression } from "../../../src/engines/expressions/evaluate.ts";

console.log(JSON.stringify(await evaluateExpression("flow_input.map((x) => x + 1)", { flow_input: [1, 2] })));
console.log(
  await evaluateExpression("new Array(4294967295).indexOf(1)", {}, { time_ms: 50 }).catch(
    (error) => error.message,
  ),
);

/** Expressions that never end only delay their own run, whose evaluation time is limited. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Ask, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer({ workers: 2 });
  ({ ask } = await server.workspace());
});
afterAll(() => server.stop());

const js = (expr: string) => ({ type: "javascript", expr });
/** An iterator of `count` elements, each with an input that runs into its time limit. */
const hostile = (count: number) => ({
  id: "loop",
  value: {
    type: "forloopflow",
    iterator: js(`[...Array(${count}).keys()]`),
    parallel: true,
    skip_failures: true,
    modules: [
      {
        id: "spin",
        value: {
          type: "rawscript",
          language: "bun",
          content: "export const main = (x) => x",
          input_transforms: { x: js("(() => { while (true) {} })()") },
        },
      },
    ],
  },
});
const run = async (modules: object[]) =>
  (await ask("POST", "/w/acme/jobs/run_wait_result/preview_flow", { value: { modules }, args: {} })).json();

test("other requests are served while expressions run, and each is evaluated once", async () => {
  let over = false;
  let answers = 0;
  const ended = run([hostile(5)]).finally(() => {
    over = true;
  });
  while (!over) {
    expect((await ask("GET", "/version")).status).toBe(200);
    answers++;
  }
  // Evaluating them twice would exceed the limit of a run.
  expect(await ended).toEqual([null, null, null, null, null]);
  // A few are answered whenever no expression is evaluated, which is many per expression.
  expect(answers).toBeGreaterThan(50);
}, 60_000);

test("a run that has used up its limit fails, with the position", async () => {
  expect(await run([hostile(30)])).toMatchObject({
    error: {
      name: "ExpressionError",
      message: expect.stringMatching(/^10 expressions of this run .* of step spin: .*while \(true\)/),
      step_id: "spin",
    },
  });
}, 120_000);

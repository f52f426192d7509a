/** The fast path returns what QuickJS returns, or leaves the expression to QuickJS. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { checkExpression, evaluateExpression } from "../../../src/engines/expressions/evaluate.ts";
import { NOT_SIMPLE } from "../../../src/engines/expressions/parse/operators.ts";
import { prepareExpression } from "../../../src/engines/expressions/parse/prepare.ts";
import {
  type ExpressionScope,
  JsonText,
  Members,
  resolveMentioned,
} from "../../../src/engines/expressions/parse/scope.ts";

async function fastValue(expression: string, scope: ExpressionScope): Promise<unknown> {
  const { fast, mentions } = await prepareExpression(expression);
  return fast ? fast(await resolveMentioned(scope, mentions)) : NOT_SIMPLE;
}

/** The value as JSON, or the error without the expression's text. */
async function outcome(expression: string, scope: ExpressionScope): Promise<string | undefined> {
  try {
    return JSON.stringify(await evaluateExpression(expression, scope));
  } catch (error) {
    return (error as Error).message.split(" in `")[0];
  }
}

const scope = {
  flow_input: {
    name: "Bob",
    n: 3,
    list: [1, [2]],
    iter: { index: 1, value: { id: 7 } },
    empty: {},
    none: null,
  },
  results: new Members({ a: { ok: true }, "b-1": new JsonText('{"c":[{"d":"e"}]}') }),
  previous_result: "text",
};

describe("the fast path is used for", () => {
  test.each([
    ["flow_input", scope.flow_input],
    ["flow_input.iter.value.id;", 7],
    ["return flow_input.n", 3],
    ["results['b-1'].c[0].d", "e"],
    ['results["b-1"]?.c?.[0]?.["d"]', "e"],
    ["results", { a: { ok: true }, "b-1": { c: [{ d: "e" }] } }],
    ["flow_input.list[flow_input.iter.index][0]", 2],
    ["flow_input.list.length", 2],
    ["previous_result.length", 4],
    ["previous_result[0]", "t"],
    ["flow_input.missing", undefined],
    ["flow_input.missing?.x.y.z", undefined],
    ["results.later?.x", undefined],
    ["flow_input.none ?? 'nothing'", "nothing"],
    [
      "`hello ${flow_input.name}, ${flow_input.n} ${flow_input.none} ${flow_input.missing}`",
      "hello Bob, 3 null undefined",
    ],
    ["results.a.ok && flow_input.n > 2 && !flow_input.none", true],
    ["flow_input.n === 3 ? 'three' : 'other'", "three"],
    ["flow_input.n % 2 === 1 || flow_input.none != null", true],
    ["typeof flow_input.name === 'string' && flow_input.missing === undefined", true],
    ["(flow_input.n + 1) * -2 / 4", -2],
    ["flow_input.n / 0", null],
    ["-0", 0],
    [
      "{ a: flow_input.n, 'b-c': [true, null, flow_input.missing], d: undefined, ...flow_input.iter }",
      { a: 3, "b-c": [true, null, null], index: 1, value: { id: 7 } },
    ],
    ["[...flow_input.list, 3]", [1, [2], 3]],
    ["'a' + 1 + null + true", "a1nulltrue"],
    ["previous_result < 'Z' || 'a' < 'B'", false],
    ["'\\uffff' < '\\u{1f600}'", false],
  ])("%s", async (expression, value) => {
    expect(await fastValue(expression, scope)).toEqual(value as any);
  });
});

describe("the fast path is not used for", () => {
  test.each([
    "'😀'.length",
    "flow_input.none.x",
    "flow_input.missing.x",
    "(flow_input.missing?.x).y",
    "nowhere",
    "NaN",
    "flow_input.toString",
    "flow_input.empty.__proto__",
    "flow_input.list.map",
    "flow_input.n.constructor",
    "`${flow_input.list}`",
    "flow_input.list + ''",
    "flow_input.list == 1",
    "flow_input.list === flow_input.list",
    "flow_input.n > '2'",
    "flow_input.n == '3'",
    "flow_input.none + 1",
    "flow_input[flow_input.list]",
    "flow_input.n ** 2",
    "'id' in flow_input.iter.value",
    "{ __proto__: flow_input }",
    "{ get a() { return 1 } }",
    "[1, , 2]",
    "[...previous_result]",
    "{ ...flow_input.list }",
    "1n",
    "this",
    "flow_input.n = 4",
    "variable('x')",
    `[${"flow_input, ".repeat(20)}]`,
    `\`${"${flow_input.name}".repeat(200)}\``,
  ])("%s", async (expression) => {
    expect(await fastValue(expression, scope)).toBe(NOT_SIMPLE);
  });

  test("texts that grow too long", async () => {
    expect(await fastValue("`${t}${t}`", { t: "x".repeat(600_000) })).toBe(NOT_SIMPLE);
  });
});

test("QuickJS has no prototype members that the fast path does not know", async () => {
  const names =
    "[{}, [], '', 1, true].map((value) => Reflect.ownKeys(Object.getPrototypeOf(value)).map(String))";
  const theirs = (await evaluateExpression(names, {})) as string[][];
  const ours = [{}, [], "", 1, true];
  const unknown = theirs.flatMap((list, at) =>
    list.filter((name) => !name.startsWith("Symbol") && !(name in Object(ours[at]))),
  );
  expect(unknown).toEqual([]);
  expect(theirs[0]).toContain("hasOwnProperty");
});

const key = fc.constantFrom(
  ..."a,b,iter,value,length,0,1,-1,1.5,constructor,toString,__proto__,map,undefined".split(","),
);
const text = fc.oneof(
  fc.constantFrom("", "a", "b", "0", "1", " 1 ", "NaN", "\ud800"),
  fc.string({ unit: "binary" }),
);
const number = fc.oneof(
  fc.integer({ min: -2, max: 3 }),
  fc.double(),
  fc.constantFrom(1e21, 1e-7, 2 ** 53, 5e-324),
);

const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(null, true, false),
    text,
    number,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.array(fc.tuple(key, tie("value")), { maxLength: 4 }).map((members) => Object.fromEntries(members)),
  ),
})).value;

/** A JSON value: no NaN, no -0, members in the order JSON gives them. */
const json = value.map((value) => JSON.parse(JSON.stringify(value)));

const member = fc.oneof(
  key.filter((name) => /^[a-z_]/.test(name)).map((name) => `.${name}`),
  key.map((name) => `[${JSON.stringify(name)}]`),
  fc.constantFrom(
    "[0]",
    "[1]",
    "[-1]",
    "[1.5]",
    "[1e21]",
    "[undefined]",
    "[results.a]",
    "?.a",
    "?.[0]",
    "?.length",
  ),
);
const chain = fc
  .tuple(
    fc.constantFrom("flow_input", "results", "previous_result", "missing"),
    fc.array(member, { maxLength: 4 }),
  )
  .map(([name, members]) => name + members.join(""));
const literal = fc.oneof(
  fc.constantFrom("null", "undefined", "true", "false", "0", "-1", "1.5", "1e21", "0x10", "{}", "[]"),
  text.map((text) => JSON.stringify(text)),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => `${Math.abs(number)}`),
);
const binary = "===,!==,==,!=,<,<=,>,>=,+,-,*,/,%,&&,||,**,in".split(",");

const expression = fc.letrec<{ expression: string }>((tie) => {
  const inner = tie("expression");
  return {
    expression: fc.oneof(
      { depthSize: "small" },
      chain,
      literal,
      chain,
      fc
        .tuple(inner, fc.constantFrom(...binary), inner)
        .map(([a, operator, b]) => `(${a}) ${operator} (${b})`),
      fc.tuple(inner, inner).map(([a, b]) => `(${a}) ?? (${b})`),
      fc
        .tuple(fc.constantFrom("!", "-", "typeof ", "+", "void "), inner)
        .map(([operator, a]) => `${operator}(${a})`),
      fc.tuple(inner, inner, inner).map(([a, b, c]) => `(${a}) ? (${b}) : (${c})`),
      fc.tuple(inner, inner).map(([a, b]) => `\`x\${${a}}y\${${b}}\``),
      fc
        .array(
          fc.oneof(
            inner,
            chain.map((a) => `...${a}`),
          ),
          { maxLength: 3 },
        )
        .map((list) => `[${list.join(", ")}]`),
      fc
        .array(
          fc.oneof(
            fc.tuple(key, inner).map(([name, a]) => `${JSON.stringify(name)}: ${a}`),
            chain.map((a) => `...${a}`),
          ),
          { maxLength: 3 },
        )
        .map((list) => `({ ${list.join(", ")} })`),
      fc.tuple(inner, member).map(([a, read]) => `(${a})${read}`),
    ),
  };
}).expression;

test("agrees with QuickJS, errors included", async () => {
  let taken = 0;
  let all = 0;
  await fc.assert(
    fc.asyncProperty(expression, json, json, json, async (expression, flow_input, a, previous_result) => {
      // A literal with two members `__proto__` has a syntax error.
      const parses = await checkExpression(expression).then(
        () => true,
        () => false,
      );
      fc.pre(parses);
      const scope = { flow_input, results: new Members({ a }), previous_result };
      all++;
      if ((await fastValue(expression, scope)) !== NOT_SIMPLE) taken++;
      // A sequence never takes the fast path; this one also mentions each name as a whole.
      const slow = `(flow_input, results, previous_result, ${expression})`;
      expect(await outcome(expression, scope)).toBe((await outcome(slow, scope)) as string);
    }),
    { numRuns: 1500 },
  );
  expect(taken / all).toBeGreaterThan(0.2);
}, 120_000);

/** Expressions of flows: their syntax, their input and output values, and their errors. */
import { describe, expect, test } from "bun:test";
import { ExpressionError } from "../../../src/engines/expressions/error.ts";
import { evaluateExpression } from "../../../src/engines/expressions/evaluate.ts";
import { JsonText, Members } from "../../../src/engines/expressions/parse/scope.ts";
import { BadRequest } from "../../../src/lib/errors.ts";

const scope = {
  flow_input: { name: "Bob", n: 3, items: [1, 2, 3], iter: { index: 0, value: "first" }, "a-b": { c: [5] } },
  results: new Members({ a: { x: 1, deep: { y: null } }, "b-1": new JsonText('{"rows":[{"id":7}]}') }),
  previous_result: null,
};

const functions = {
  variable: async (path: unknown) => {
    if (typeof path !== "string") throw new BadRequest("a path is a text");
    return `value of ${path}`;
  },
  resource: async (path: unknown) => ({ host: path, nothing: undefined }),
  nothing: async () => undefined,
};

const give = (expression: string) => evaluateExpression(expression, scope, { functions });
const errorOf = (expression: string) =>
  give(expression).then(
    (value) => expect.unreachable(`gave ${JSON.stringify(value)}`),
    (error) => (error instanceof ExpressionError ? error.message : error),
  );

describe("the forms of an expression", () => {
  test.each([
    ["results.a.x", 1],
    ["results['b-1'].rows[0].id", 7],
    ["flow_input.iter.value", "first"],
    ["previous_result?.x", undefined],
    ["{ a: 1, name: flow_input.name }", { a: 1, name: "Bob" }],
    ["{ a: 1 };", { a: 1 }],
    ["{}", {}],
    ["({ a: 1 })", { a: 1 }],
    ["'text';", "text"],
    ["results.a.x; // why", 1],
    ["/* first */ results.a.x", 1],
    ["`hello ${flow_input.name}`", "hello Bob"],
    ["flow_input.items.map((x) => x * 2)", [2, 4, 6]],
    ["[1, 2, 3, 4].reduce((sum, x) => sum + x, 0)", 10],
    ["/b(o)/i.exec(flow_input.name)[1]", "o"],
    ["Math.max(...flow_input.items)", 3],
    ["new Date(0).toISOString()", "1970-01-01T00:00:00.000Z"],
    ["JSON.parse(JSON.stringify(flow_input.items))", [1, 2, 3]],
    ["return flow_input.n // why", 3],
    ["const x = flow_input.n;\nreturn x + 1;", 4],
    ["if (flow_input.n > 2) { return 'big' }\nreturn 'small'", "big"],
    ["let x = 5;\n`my ${x}\nlines`", "my 5\nlines"],
    ["const x = 1; ({ x })", { x: 1 }],
    ["x = 5; return x", 5],
    ["const x = 1", undefined],
    ["'use strict'; 'directive'", "directive"],
    ["", undefined],
    ["// nothing", undefined],
    ["typeof nowhere", "undefined"],
  ])("%s", async (expression, value) => {
    expect(await give(expression)).toEqual(value as any);
  });
});

describe("functions of the host", () => {
  test.each([
    ["await variable('u/a/b')", "value of u/a/b"],
    ["variable('u/a/b')", "value of u/a/b"],
    ["`Bearer ${variable('t')}`", "Bearer value of t"],
    ["resource('f/x').host", "f/x"],
    ["(await resource('f/x')).host", "f/x"],
    [
      "{ key: variable('k'), all: [variable(variable('j'))] }",
      { key: "value of k", all: ["value of value of j"] },
    ],
    ["const a = 1\nvariable('z')", "value of z"],
    ["const a = 1\nvariable('z')\nreturn a", 1],
    ["const a = await variable('z')\nreturn a.length", 10],
    ["variable('q').then((text) => text.length)", 10],
    ["Promise.all(['a', 'b'].map((path) => variable(path)))", ["value of a", "value of b"]],
    ["['a'].map(async (path) => await variable(path))[0]", "value of a"],
    [
      "try { await variable(1) } catch (error) { return [error.name, error.message, error instanceof Error] }",
      ["BadRequest", "a path is a text", true],
    ],
    ["const variable = (path) => path; variable('mine')", "mine"],
    ["nothing()", undefined],
    ["resource({ a: [1] }).host", { a: [1] }],
  ])("%s", async (expression, value) => {
    expect(await give(expression)).toEqual(value as any);
  });

  test("only the given ones exist", async () => {
    await expect(evaluateExpression("variable('a')", {}, {})).rejects.toThrow(
      "ReferenceError: 'variable' is not defined in",
    );
  });

  test("waiting evaluations do not block others, and stay separate", async () => {
    const waiting = Promise.withResolvers<string>();
    const own = { functions: { wait: () => waiting.promise } };
    const first = evaluateExpression(
      "globalThis.mark = 'first'; const got = await wait(); return [mark, got]",
      {},
      own,
    );
    expect(await evaluateExpression("typeof mark", {}, own)).toBe("undefined");
    waiting.resolve("done");
    expect(await first).toEqual(["first", "done"]);
  });

  test("a function that still runs when the expression has ended is not awaited", async () => {
    const waiting = Promise.withResolvers<string>();
    const own = { functions: { wait: () => waiting.promise } };
    expect(await evaluateExpression("(() => { wait(); return 1 })()", {}, own)).toBe(1);
    waiting.resolve("late");
    expect(await evaluateExpression("(() => 2)()", {}, own)).toBe(2);
  });
});

describe("the value is JSON", () => {
  test.each([
    ["undefined", undefined],
    ["() => 1", undefined],
    ["Symbol()", undefined],
    ["NaN", null],
    ["1 / 0", null],
    ["[undefined, () => 1, NaN]", [null, null, null]],
    ["{ a: undefined, b: NaN, c: -0, d: () => 1 }", { b: null, c: 0 }],
    ["new Date(0)", "1970-01-01T00:00:00.000Z"],
    ["new Map([[1, 2]])", {}],
    ["'\\ud800'", "\ud800"],
    ["'a\\0b'", "a\0b"],
    ["'\\u{1f600}'.length", 2],
  ])("%s", async (expression, value) => {
    expect(await give(expression)).toEqual(value as any);
  });

  test("a promise inside of the value is an error, not an empty object", async () => {
    expect(await errorOf("['a'].map((path) => variable(path))")).toBe(
      "TypeError: the value contains a promise: await it, or several with Promise.all in `['a'].map((path) => variable(path))`",
    );
  });

  test("a promise that never settles is an error", async () => {
    expect(await errorOf("new Promise(() => {})")).toStartWith(
      "The promise of the expression never settles in `",
    );
  });

  test("texts are passed in and out unchanged", async () => {
    const text = "\ud800 \udc00 \0 \u2028 😀 __proto__ ${1} ` \\";
    expect(await evaluateExpression("(() => t)()", { t: { [text]: text } })).toEqual({ [text]: text });
  });
});

describe("the scope", () => {
  test("only mentioned entries are resolved", async () => {
    const asked: string[] = [];
    const entry = (name: string, value: unknown) => () => {
      asked.push(name);
      return value;
    };
    const results = new Members({ a: entry("a", new JsonText("[1]")), b: entry("b", Promise.resolve(2)) });
    const given = { results, flow_input: entry("flow_input", {}) };
    expect(await evaluateExpression("results.a", given)).toEqual([1]);
    expect(await evaluateExpression("results.b.toFixed(1)", given)).toBe("2.0");
    expect(asked).toEqual(["a", "b"]);
    expect(await evaluateExpression("Object.keys(results)", given)).toEqual(["a", "b"]);
    expect(asked.sort()).toEqual(["a", "a", "b", "b"]);
  });

  test("errors of an entry are thrown unchanged", async () => {
    const broken = () => Promise.reject(new TypeError("the database is gone"));
    await expect(evaluateExpression("results", { results: broken })).rejects.toThrow(
      new TypeError("the database is gone"),
    );
  });

  test("the caller's values cannot be changed", async () => {
    const flow_input = { list: [1] };
    expect(await evaluateExpression("flow_input.list.push(2); flow_input.list", { flow_input })).toEqual([
      1, 2,
    ]);
    expect(flow_input).toEqual({ list: [1] });
  });

  test("a step without a result yet is undefined", async () => {
    expect(await give("results.later")).toBeUndefined();
    expect(await errorOf("results.later.x")).toBe(
      "TypeError: cannot read property 'x' of undefined in `results.later.x`",
    );
  });
});

describe("errors", () => {
  test.each([
    ["results.a.deep.y.z", "TypeError: cannot read property 'z' of null"],
    ["nowhere.x", "ReferenceError: 'nowhere' is not defined"],
    ["flow_input.name.nothing()", "TypeError: not a function"],
    ["throw new RangeError('mine')", "RangeError: mine"],
    ["throw 'text'", 'a thrown "text"'],
    ["throw { a: 1 }", 'a thrown {"a":1}'],
    ["throw undefined", "a thrown undefined"],
    ["const e = {}; e.self = e; throw e", "an error that cannot be shown"],
    ["Promise.reject(new Error('later'))", "Error: later"],
    ["variable(1)", "BadRequest: a path is a text"],
    ["10n", "TypeError: Do not know how to serialize a BigInt"],
    ["const a = []; a[0] = a; a", "TypeError: circular reference"],
  ])("%s", async (expression, cause) => {
    expect(await errorOf(expression)).toBe(`${cause} in \`${expression}\``);
  });

  test("long expressions are truncated in errors, which are bad requests with their own name", async () => {
    const error: any = await give(`nowhere + ${"1 + ".repeat(100)}1`).catch((error) => error);
    expect(error).toBeInstanceOf(BadRequest);
    expect(error.name).toBe("ExpressionError");
    expect(error.message).toBe(
      `ReferenceError: 'nowhere' is not defined in \`nowhere + ${"1 + ".repeat(100).slice(0, 190)}…\``,
    );
  });
});

test.each([1, 2, 3, 8])("a text of %i MB can be passed in and out", async (megabytes) => {
  const text = "ü".repeat(megabytes * 500_000);
  // An evaluation leaves nothing behind that affects the next one.
  for (const end of ["y", "z"]) {
    const given = await evaluateExpression(`flow_input.text + '${end}'`, { flow_input: { text } });
    expect(given === text + end).toBe(true);
  }
  expect(await evaluateExpression("flow_input.text.length + 1", { flow_input: { text } })).toBe(
    text.length + 1,
  );
});

/** Names that an expression mentions, and errors of expressions that do not parse. */
import { describe, expect, test } from "bun:test";
import { ExpressionError, ExpressionSyntaxError } from "../../../src/engines/expressions/error.ts";
import {
  checkExpression,
  evaluateExpression,
  listMentions,
} from "../../../src/engines/expressions/evaluate.ts";

describe("mentions", () => {
  test.each([
    ["results.a", { results: ["a"] }],
    ["results.a.b.c + results['b-1'][0] + results.a", { results: ["a", "b-1"] }],
    ["results?.a?.b", { results: ["a"] }],
    ["results[`a`]", { results: ["a"] }],
    ["results[0]", { results: ["0"] }],
    ["results.a.map((x) => x.y)", { results: ["a"] }],
    ["results[flow_input.step]", { results: "all", flow_input: ["step"] }],
    ["results[`a${1}`]", { results: "all" }],
    ["const { a } = results; a", { results: "all" }],
    ["Object.keys(results)", { Object: "all", results: "all" }],
    ["results.a && results", { results: "all" }],
    ["results.hasOwnProperty('a')", { results: "all" }],
    ["results?.hasOwnProperty?.('a')", { results: "all" }],
    ["results['a']('b')", { results: "all" }],
    ["results.tag`a`", { results: "all" }],
    [
      "({ results, a: flow_input.b, [error.name]: 1 })",
      { results: "all", flow_input: ["b"], error: ["name"] },
    ],
    ["flow_input.iter.value", { flow_input: ["iter"] }],
    ["`${resume.a} ${await variable('x')}`", { resume: ["a"], variable: "all" }],
    ["with (results) { x }", { results: "all", x: "all" }],
    ["x = flow_input.y; return x", { x: "all", flow_input: ["y"] }],
    ["/results/.test('results.a')", {}],
    ["", {}],
  ])("%s", async (expression, names) => {
    expect(Object.fromEntries(await listMentions(expression))).toEqual(names as any);
  });

  test.each([
    ["flow_input.list.map((results) => results.x)", ["flow_input"]],
    ["((a, { b, c: [d] = e }, ...f) => a + b + c + d + f)()", ["e", "c"]],
    ["const results = 1; results", []],
    ["return result; var result", []],
    ["() => { if (a) { var result = 1 } return result }", ["a"]],
    ["{ const result = 1 } return result", ["result"]],
    ["{ let result = 1; result } { result }", ["result"]],
    ["for (const result of results.a) result.x", ["results"]],
    ["for (let i = 0, n = resume.n; i < n; i++) i; return i", ["resume", "i"]],
    ["for (const key in error) key", ["error"]],
    ["try { a } catch ({ message }) { message; error }", ["a", "error"]],
    ["try { a } catch { error }", ["a", "error"]],
    ["switch (a) { case b: let c; c }", ["a", "b"]],
    ["function f(x) { return f(x) + y } f(1)", ["y"]],
    ["(function g() { return g + arguments })", []],
    ["arguments", ["arguments"]],
    ["class A extends B { x = y; #z; m() { return this.#z + A } static { var v; v } } new A()", ["B", "y"]],
    ["(class C { [k] = C })", ["k"]],
    ["here: for (;;) { break here; continue here }", []],
    ["({ a: 1, b() { c }, get d() { return e } })", ["c", "e"]],
    ["a.b.c", ["a"]],
    ["[a, ...b]", ["a", "b"]],
    ["async () => { for await (const x of y) x }", ["y"]],
    ["(a = b) => a", ["b"]],
    ["[x, { y: z = w }] = v", ["x", "z", "w", "v"]],
  ])("free names of %s", async (expression, names) => {
    expect([...(await listMentions(expression)).keys()].sort()).toEqual([...names].sort());
  });

  test("names that are not mentioned are absent; if that cannot be known, all are present", async () => {
    const scope = { results: { a: 1, b: 2 } };
    expect(await evaluateExpression("Object.keys(results)", scope)).toEqual(["a", "b"]);
    expect(await evaluateExpression("(() => results.a + results['b'])()", scope)).toBe(3);
    expect(await evaluateExpression("['a'].map((id) => results[id])", scope)).toEqual([1]);
    expect(await evaluateExpression("results.hasOwnProperty('b')", scope)).toBe(true);
  });
});

describe("checkExpression", () => {
  test.each([
    ["results.", 1, 9, "Unexpected token"],
    ["{ a: 1,, }", 1, 8, "Unexpected token"],
    ["const a = 1;\nreturn a +", 2, 11, "Unexpected token"],
    ["const a = 1;\nconst a = 2;", 2, 7, "Identifier 'a' has already been declared"],
    ["`${", 1, 4, "Unexpected token"],
    ["import x from 'y'", 1, 1, ""],
    ["'a", 1, 1, "Unterminated string constant"],
    ["[".repeat(60_000), 1, 1, "it is nested too deeply"],
    [`1${"+1".repeat(30_000)}`, 1, 1, "it is nested too deeply"],
  ])("%.30s", async (expression, line, column, message) => {
    const error = await checkExpression(expression).catch((error) => error);
    expect(error).toBeInstanceOf(ExpressionSyntaxError);
    expect([error.name, error.line, error.column]).toEqual(["ExpressionError", line, column]);
    expect(error.message).toStartWith(`SyntaxError: ${message}`);
    expect(error.message).toContain(`at line ${line}, column ${column} in \`${expression.slice(0, 200)}`);
    expect(error.message.length).toBeLessThan(400);
  });

  test("accepts 64 KB and rejects more", async () => {
    const text = `'${"x".repeat(64 * 1024 - 2)}'`;
    expect(await checkExpression(text)).toBeUndefined();
    expect(await evaluateExpression(text, {})).toHaveLength(text.length - 2);
    const error = await checkExpression(`${text} `).catch((error) => error);
    expect(error).toBeInstanceOf(ExpressionError);
    expect(error.message).toStartWith("65537 characters, but at most 65536 are read, in `'xxx");
  });
});

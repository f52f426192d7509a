/** Hostile expressions: each ends in an error that names the limit, and the next evaluation is not affected. */
import { afterEach, describe, expect, test } from "bun:test";
import { evaluateExpression } from "../../../src/engines/expressions/evaluate.ts";

const time_ms = 150;
const functions = { variable: async (path: unknown) => path };
const errorOf = (expression: string, scope = {}, options = {}) =>
  evaluateExpression(expression, scope, { time_ms, functions, ...options }).then(
    (value) => expect.unreachable(`gave ${JSON.stringify(value)}`),
    (error) => error.message as string,
  );

afterEach(async () => {
  expect(await evaluateExpression("[typeof mark, [1, 2].map((x) => x * 2)]", {})).toEqual([
    "undefined",
    [2, 4],
  ]);
});

describe("time", () => {
  test.each([
    "while (1);",
    "Promise.resolve().then(() => { while (1); })",
    "(async () => { for (;;) await 1 })()",
    "(async () => { for (;;) await variable('x') })()",
    "try { while (1); } catch {} finally { while (1); }",
    "({ toJSON() { while (1); } })",
    "throw { toJSON() { while (1); } }",
    "throw Object.defineProperty(new Error(), 'message', { get() { while (1); } })",
    "variable({ toJSON() { while (1); } })",
    // Regular expressions that backtrack.
    "/^(a+)+$/.test('a'.repeat(40) + '!')",
    "/(.*)*(.*)*(.*)*x/.test('a'.repeat(1000))",
    "'a'.repeat(1e6).replace(/a*?b/g, '')",
    // Loops inside the engine, which it does not interrupt.
    "new Array(4294967295).indexOf(5)",
    "new Array(4294967295).sort()",
    "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)",
    "const z = []; z[4294967294] = 1; z.shift()",
    "'a'.repeat(1e7).indexOf('a'.repeat(5e6) + 'b')",
    "'\\u0301\\u0316'.repeat(1e6).normalize('NFC')",
    "String.raw({ raw: { length: 2 ** 53 - 1 } })",
    "(3n ** 600000n).toString()",
    "const u = new Uint8Array(3e7); for (;;) u.indexOf(5)",
    "const u = new Uint8Array(3e7); for (;;) u.copyWithin(0, 1)",
    "const [a, b] = ['a', 'b'].map((x) => 'x'.repeat(1e7) + x); for (;;) a < b",
  ])("%s", async (expression) => {
    const started = performance.now();
    // The number of calls of host functions is raised, so that this limit is reached first.
    const message = await errorOf(expression, {}, { calls: 1e9 });
    expect(message).toBe(`The limit of 150 ms of running time was met in \`${expression}\``);
    // Not a measurement: without the limit it would take minutes, or never end.
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  test("there is a default limit", async () => {
    expect(await errorOf("while (1);", {}, { time_ms: undefined })).toBe(
      "The limit of 1000 ms of running time was met in `while (1);`",
    );
  });

  test("waiting does not count as running", async () => {
    const wait = () => new Promise((resolve) => setTimeout(resolve, 40));
    const loop = "for (let i = 0; i < 5; i++) await wait(); return 'waited'";
    expect(await evaluateExpression(loop, {}, { time_ms, functions: { wait } })).toBe("waited");
  });
});

describe("memory", () => {
  test.each([
    "const all = []; for (;;) all.push(new Array(1000).fill('x'))",
    "const all = new Map(); for (let i = 0; ; i++) all.set(i, i)",
    "'a'.repeat(1e9)",
    "let a = ['x'.repeat(1000)]; for (;;) a = [...a, ...a]",
    "new Uint8Array(1e9)",
    "let p = () => 1; for (;;) p = p.bind(null)",
    "let a = {}; for (let i = 0; i < 40; i++) a = { x: a, y: a }; a",
    "Promise.all(Array.from({ length: 1e7 }, () => new Promise(() => {})))",
  ])("%s", async (expression) => {
    expect(await errorOf(expression, {}, { time_ms: 30_000, memory_mb: 24 })).toBe(
      `The limit of 24 MB of memory was met in \`${expression}\``,
    );
  });

  test("the limit includes input values", async () => {
    const scope = { big: "x".repeat(2e7) };
    expect(await errorOf("big.length + 0n", scope, { memory_mb: 24 })).toStartWith(
      "The limit of 24 MB of memory",
    );
  });

  test("an expression that was refused memory may continue", async () => {
    const expression = "try { 'a'.repeat(1e9) } catch { return 'less then' }";
    expect(await evaluateExpression(expression, {})).toBe("less then");
  });
});

describe("stack", () => {
  test.each([
    "(function f() { return f() })()",
    "(async function f() { return await f() })()",
    "JSON.parse('['.repeat(1e6))",
    "let a = 1; for (let i = 0; i < 1e5; i++) a = [a]; a",
    "const a = []; a[0] = a; String(a.toString()) + a.flat(Infinity)",
    "(0, eval)('['.repeat(1e5))",
    "let p = {}; for (let i = 0; i < 1e4; i++) p = new Proxy(p, {}); p.x",
    "`${'${x}'.repeat(3)}`.length + (0, eval)('`' + '${1}'.repeat(1e5) + '`')",
  ])("%s", async (expression) => {
    expect(await errorOf(expression, {}, { time_ms: 30_000 })).toBe(
      `The limit of 256 KB of stack was met, by calls or data nested too deeply in \`${expression}\``,
    );
  });
});

test("the number of host function calls is limited", async () => {
  const expression = "for (;;) await variable('x')";
  expect(await errorOf(expression, {}, { calls: 3, time_ms: 30_000 })).toBe(
    `RangeError: the limit of 3 calls was reached in \`${expression}\``,
  );
});

describe("host objects are not accessible", () => {
  test.each([
    ["process", "ReferenceError: 'process' is not defined"],
    ["Bun", "ReferenceError: 'Bun' is not defined"],
    ["require('node:fs')", "ReferenceError: 'require' is not defined"],
    ["fetch('http://localhost')", "ReferenceError: 'fetch' is not defined"],
    ["import('node:fs')", "ReferenceError: could not load module 'node:fs'"],
    ["import('./x.js')", "ReferenceError: could not load module 'x.js'"],
    ["globalThis.constructor.constructor('return process')()", "ReferenceError: 'process' is not defined"],
    ["(() => {}).constructor('return Bun')()", "ReferenceError: 'Bun' is not defined"],
    ["variable.constructor('return process')()", "ReferenceError: 'process' is not defined"],
    ["flow_input.constructor.constructor('return process')()", "ReferenceError: 'process' is not defined"],
    ["(0, eval)('process')", "ReferenceError: 'process' is not defined"],
    ["setTimeout(() => {}, 1)", "ReferenceError: 'setTimeout' is not defined"],
    ["console.log(1)", "ReferenceError: 'console' is not defined"],
  ])("%s", async (expression, cause) => {
    expect(await errorOf(expression, { flow_input: {} })).toBe(`${cause} in \`${expression}\``);
  });

  test("only the language's globals exist", async () => {
    const globals = await evaluateExpression("Object.getOwnPropertyNames(globalThis)", {});
    const ours = new Set(Object.getOwnPropertyNames(globalThis));
    const unknown = (globals as string[]).filter((name) => !ours.has(name) && name !== "InternalError");
    expect(unknown).toEqual([]);
    expect(globals).not.toContainAnyValues(["process", "Bun", "require", "fetch", "WebAssembly", "console"]);
  });
});

describe("no state is left behind", () => {
  test("prototypes and globals belong to one evaluation", async () => {
    const polluting = [
      "Object.prototype.mark = 1; globalThis.mark = 1; mark",
      "Array.prototype.map = () => 'mine'; [].map()",
      "JSON.stringify = () => 'null'; Promise.prototype.then = null; 1",
      "({}).__proto__.mark = 1; flow_input.__proto__.mark = 2; 1",
    ];
    for (const expression of polluting)
      await evaluateExpression(expression, { flow_input: {} }).catch(() => {});
    expect(
      await evaluateExpression("[{}.mark, flow_input.mark, typeof mark, [1].map((x) => x)]", {
        flow_input: {},
      }),
    ).toEqual([null, null, "undefined", [1]]);
    expect("mark" in {}).toBe(false);
    expect([1].map((x) => x)).toEqual([1]);
  });

  test("a key __proto__ is an ordinary key", async () => {
    const stored = JSON.parse('{"__proto__":{"mark":1},"constructor":2}');
    for (const expression of [
      "results",
      "(() => results)()",
      "{ ...results }",
      "Object.assign({}, results, { a: 1 })",
    ]) {
      const value = (await evaluateExpression(expression, { results: stored })) as object;
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect("mark" in value).toBe(false);
    }
    expect(await evaluateExpression("results.__proto__.mark", { results: stored })).toBe(1);
    expect(await evaluateExpression('JSON.parse(\'{"__proto__":{"mark":1}}\')', {})).toEqual(
      JSON.parse('{"__proto__":{"mark":1}}'),
    );
  });

  test.each(["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf"])(
    "%s of an object without it is not taken from the host",
    async (name) => {
      expect(await evaluateExpression(`typeof flow_input.${name}`, { flow_input: {} })).toBe(
        name === "__proto__" ? "object" : "function",
      );
      expect(await evaluateExpression(`flow_input.${name}.mark`, { flow_input: { a: 1 } })).toBeUndefined();
    },
  );
});

/** main's TypeScript signature → the JSON Schema of the arguments object. */
import { describe, expect, test } from "bun:test";
import type { ParameterSchema } from "../../../src/engines/languages/types.ts";
import { analyseTypeScript } from "../../../src/engines/languages/typescript/analyse.ts";

const string = { type: "string" };
const number = { type: "number" };
const date = { type: "string", format: "date-time" };
const object = (properties: Record<string, ParameterSchema>, required = Object.keys(properties)) => ({
  type: "object",
  properties,
  required,
  order: Object.keys(properties),
});

const SLACK = { ...object({ token: string }), format: "resource-slack" };

/** One parameter: its source text, its schema, and the types that the file declares. */
type Row = [parameter: string, schema: ParameterSchema, declarations?: string];

const filled = (rows: Row[]) =>
  rows.map(([parameter, schema, declarations = ""]) => [parameter, schema, declarations] as const);

function analyseOne(parameter: string, declarations: string) {
  const { schema, signature } = analyseTypeScript(`${declarations}\nexport function main(${parameter}) {}`);
  expect(signature.has_main).toBe(true);
  const properties = schema.properties as Record<string, ParameterSchema>;
  return { schema: properties.x!, required: (schema.required as string[]).includes("x") };
}

const REQUIRED: Row[] = [
  ["x: string", string],
  ["x: number", number],
  ["x: boolean", { type: "boolean" }],
  ["x: bigint", { type: "integer" }],
  ["x: object", { type: "object" }],
  ["x: Date", date],
  ["x", {}],
  ["x: any", {}],
  ["x: unknown", {}],
  ["x: () => void", {}],
  ["x: `a${string}`", string],
  // Literals, unions and enums.
  ["x: 'a' | 'b'", { type: "string", enum: ["a", "b"] }],
  ["x: 1 | -2", { type: "number", enum: [1, -2] }],
  ["x: 'a' | 1", { enum: ["a", 1] }],
  ["x: string | number", { oneOf: [string, number] }],
  ["x: E", { type: "string", enum: ["a", "b"] }, "enum E { A = 'a', B = 'b' }"],
  ["x: E", { type: "number", enum: [0, 5, 6] }, "export enum E { A, B = 5, C }"],
  ["x: E", { enum: ["a", 1] }, "enum E { A = 'a', B = 1 }"],
  // Arrays.
  ["x: string[]", { type: "array", items: string }],
  ["x: readonly string[]", { type: "array", items: string }],
  ["x: Array<number[]>", { type: "array", items: { type: "array", items: number } }],
  ["x: ('a' | 'b')[]", { type: "array", items: { type: "string", enum: ["a", "b"] } }],
  ["x: [string, n?: number]", { type: "array", prefixItems: [string, number] }],
  // Objects.
  ["x: { a: { b?: string }; 'c-d': Date }", object({ a: object({ b: string }, []), "c-d": date })],
  ["x: { a: string | null; b: number }", object({ a: string, b: number }, ["b"])],
  ["x: i", object({ a: string, b: number }, ["a"]), "interface i { a: string; b?: number }"],
  ["x: T & { b: 1 }", object({ a: string, b: { type: "number", enum: [1] } }), "type T = { a: string }"],
  ["x: Partial<i>", object({ a: string }, []), "interface i { a: string }"],
  ["x: Record<string, number>", { type: "object", additionalProperties: number }],
  // An unknown type with a capital letter is a resource type.
  ["x: Postgresql", { type: "object", format: "resource-postgresql" }],
  ["x: RT.MySqlServer", { type: "object", format: "resource-my_sql_server" }],
  ["x: HTTPRequest2", { type: "object", format: "resource-http_request2" }],
  ["x: S3Object", { type: "object", format: "resource-s3_object" }],
  ["x: Base64", { type: "string", contentEncoding: "base64" }],
  // A declared one has fields besides.
  ["x: Slack", SLACK, "type Slack = { token: string }"],
  ["x: MySlack", { ...SLACK, format: "resource-my_slack" }, "export interface MySlack { token: string }"],
  ["x: Mine", SLACK, "type Slack = { token: string }; type Mine = Slack"],
  ["x: { s: Slack; b: number }", object({ s: SLACK, b: number }), "interface Slack { token: string }"],
  ["x: Slack[]", { type: "array", items: SLACK }, "interface Slack { token: string }"],
  ["x: Name", { type: "string", enum: ["a", "b"] }, "type Name = 'a' | 'b'"],
  // A recursive type ends at the recursion.
  [
    "x: tree",
    object({ of: { type: "array", items: {} }, n: number }),
    "interface tree { of: tree[]; n: number }",
  ],
];

const OPTIONAL: Row[] = [
  ["x?: string", string],
  ["x: string | undefined", string],
  ["x: Date | null", date],
  ["x: T", string, "type T = string | undefined"],
  ["x: Slack | null", SLACK, "interface Slack { token: string }"],
  ["x: string = 'd'", { type: "string", default: "d" }],
  ["x = 1", { type: "number", default: 1 }],
  ["x = -1.5", { type: "number", default: -1.5 }],
  ["x = true", { type: "boolean", default: true }],
  ["x = `t`", { type: "string", default: "t" }],
  ["x: number[] = [1, 2]", { type: "array", items: number, default: [1, 2] }],
  ["x = { a: [null] }", { type: "object", default: { a: [null] } }],
  ["x: 'a' | 'b' = 'b'", { type: "string", enum: ["a", "b"], default: "b" }],
  ["x = null", { default: null }],
  ["x: Date = new Date()", date],
  ["x = process.env.HOME", {}],
  ["...x: number[]", { type: "array", items: number }],
];

describe("a parameter", () => {
  test.each(filled(REQUIRED))("%s is required", (parameter, schema, declarations) => {
    expect(analyseOne(parameter, declarations)).toEqual({ schema, required: true });
  });

  test.each(filled(OPTIONAL))("%s is optional", (parameter, schema, declarations) => {
    expect(analyseOne(parameter, declarations)).toEqual({ schema, required: false });
  });

  test("JSDoc describes it", () => {
    const { schema } = analyseTypeScript(
      "/**\n * @param a - first\n * @param {number} b second\n */\nexport function main(a: string, b: number) {}",
    );
    expect(schema.properties).toEqual({
      a: { ...string, description: "first" },
      b: { ...number, description: "second" },
    });
  });

  test("a large nested type needs little time and memory", () => {
    const fields = Array.from({ length: 60 }, (_, n) => `f${n}: T`).join(";");
    const { schema } = analyseTypeScript(`interface T { ${fields} } export function main(a: T) {}`);
    expect(JSON.stringify(schema).length).toBeLessThan(10_000);
  });
});

test("the arguments object is a draft 2020-12 schema with an order", () => {
  expect(analyseTypeScript("export function main(b: string, a = 1) {}").schema).toEqual({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    ...object({ b: string, a: { ...number, default: 1 } }, ["b"]),
  });
});

describe("main", () => {
  const takesOne = { properties: { a: string }, required: ["a"] };
  test.each([
    "export async function main(a: string) {}",
    "export async function* main(a: string) {}",
    "export const main = (a: string) => a",
    "export const main = async (a: string) => a",
    "export const main = async function (a: string) {}",
    "export const main = ((a: string) => a) satisfies unknown",
    "function main(a: string) {}\nexport { main }",
    "async function other(a: string) {}\nexport { other as main }",
    "export { other as main };\nconst other = (a: string) => a",
    "export function main(a: number): void;\nexport function main(a: string) {}",
    "#!/usr/bin/env bun\nexport function main(a: string) {}",
    "export function main<T extends string>(a: T) {}",
  ])("%s", (content) => {
    const { schema, signature } = analyseTypeScript(content);
    expect(schema).toMatchObject(takesOne);
    expect(signature).toMatchObject({ has_main: true, preprocessor: undefined });
  });

  test("a type parameter counts as its constraint", () => {
    const { schema } = analyseTypeScript("export const main = <T, U extends Date>(a: T, b: T[], c: U) => a");
    expect(schema.properties).toEqual({ a: {}, b: { type: "array", items: {} }, c: date });
  });

  test.each([
    [
      "{ a, b = 2, c: renamed, ...rest }: { a: string; b?: number; c: Date }",
      { a: string, b: { ...number, default: 2 }, c: date },
      ["a", "c"],
    ],
    ["{ a, b = 'd' }", { a: {}, b: { ...string, default: "d" } }, ["a"]],
    ["{ a }: I", { a: string, z: number }, ["a", "z"]],
    ["{ a = 'd' }: { a: string }", { a: { ...string, default: "d" } }, []],
  ])("destructured (%s) takes the whole arguments object", (parameter, properties, required) => {
    const { schema, signature } = analyseTypeScript(
      `interface I { a: string; z: number }\nexport function main(${parameter}) {}`,
    );
    expect(schema).toMatchObject({ properties, required });
    expect(signature.parameters).toMatchObject([{ kind: "whole" }]);
  });

  test.each([
    "",
    "function main() {}",
    "export default function () {}",
    "export class main {}",
    "export const other = () => 1",
  ])("is missing in: %s", (content) => {
    const { schema, signature } = analyseTypeScript(content);
    expect(signature.has_main).toBe(false);
    expect(schema).toMatchObject({ properties: {}, required: [] });
  });

  test.each([
    ["export const preprocessor = () => ({})", []],
    ["export async function preprocessor(event: { body: unknown }) {}", [{ name: "event", kind: "named" }]],
    [
      "function before(a: string, at: Date, ...more: string[]) {}\nexport { before as preprocessor }",
      [
        { name: "a", kind: "named" },
        { name: "at", kind: "named", is_date: true },
        { name: "more", kind: "rest" },
      ],
    ],
    ["export function preprocessor({ wm_trigger, a }: any) {}", [{ kind: "whole" }]],
  ])("a preprocessor has its own parameters: %s", (preprocessor, parameters) => {
    const { schema, signature } = analyseTypeScript(`${preprocessor}\nexport function main(a: string) {}`);
    expect(signature.preprocessor).toMatchObject(parameters);
    expect(signature.preprocessor).toHaveLength(parameters.length);
    expect(schema).toMatchObject(takesOne);
  });
});

describe("a syntax error", () => {
  test.each([
    ["export function main(a: string { }", 1, 32],
    ["export function main() {\n  const x = ;\n}", 2, 13],
    ["export const main = () => {\n", 2, 1],
    ["const a = 1;\nconst a = 2;", 2, 7],
  ])("%j is reported with line and column", (content, line, column) => {
    const fault = `Syntax error at line ${line}, column ${column}: `;
    expect(() => analyseTypeScript(content)).toThrow(fault);
  });

  test("a source nested too deeply for the parser is rejected, and no internal error", () => {
    const content = `export const main = () => ${"(".repeat(100_000)}1${")".repeat(100_000)}`;
    expect(() => analyseTypeScript(content)).toThrow("nested too deeply");
  });
});

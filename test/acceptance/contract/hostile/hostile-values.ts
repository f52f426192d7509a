/** Inputs generated from the operations' declarations: valid ones, partly replaced by invalid ones. */
import fc from "fast-check";
import * as z from "../../../../src/lib/zod/z.ts";
import { getBasePath, isGreedy, type Operation } from "../../../../src/platform/http/operation.ts";
import { listParameterNames } from "../../../../src/platform/http/path-parameters.ts";

export interface HostileCall {
  op: Operation;
  /** With query, relative to the server's address. */
  path: string;
  body: string | Uint8Array<ArrayBuffer> | undefined;
  type: string;
}

interface Schema {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  items?: Schema;
  prefixItems?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  $ref?: string;
  $defs?: Record<string, Schema>;
}

/** Texts that identify items of the test workspace, and texts in the formats that fields expect. */
const TEXTS = [
  "u/admin/echo",
  "u/admin/flow",
  "u/admin/thing",
  "u/admin/other",
  "f/shared/new",
  "script/u/admin/echo",
  "acme",
  "admin",
  "admin_acme@example.org",
  "somebody@example.org",
  "export const main = () => 1",
  "bun",
  "all",
  "0 0 12 * * *",
  "Europe/Zurich",
  "https://example.invalid/x",
  "2030-01-31T09:00:00Z",
  "0196e4d2-6a6b-7c4b-8a57-4f0f1a3e2b11",
  "$var:u/admin/thing",
  "$res:u/admin/thing",
  "1",
  "x",
];

const HOSTILE_TEXTS = [
  "",
  " ",
  "\0",
  "a\0b",
  "\ud800",
  "\udfff\ud800",
  "__proto__",
  "constructor",
  "../../etc/passwd",
  "%00",
  "%",
  "'; DROP TABLE jobs; --",
  "\u202e\ufeff",
  "😀".repeat(300),
  "x".repeat(100_000),
  "[".repeat(600),
  "9".repeat(400),
  "1e400",
  "-1",
  "NaN",
  "null",
];

const nested = (levels: number): unknown => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`);

const HOSTILE_VALUES: unknown[] = [
  null,
  true,
  -1,
  0.5,
  2 ** 31,
  2 ** 53 + 2,
  -(2 ** 63),
  1e308,
  [],
  {},
  [null],
  [[[]]],
  nested(100),
  nested(499),
  JSON.parse('{"__proto__":{"admin":true},"constructor":{"prototype":1},"toString":null}'),
  JSON.parse('{"":"","a\\u0000b":1,"\\ud800":2}'),
  { rawJSON: "1" },
  JSON.parse('{"toJSON":1,"then":1,"length":-1}'),
  Array.from({ length: 5_000 }, (_, at) => at),
  Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`k${at}`, at])),
];

/** Whole bodies as text, including some that JSON.stringify never writes. */
const HOSTILE_BODIES: (string | Uint8Array<ArrayBuffer>)[] = [
  "",
  "null",
  "[]",
  '"text"',
  "1e400",
  "123456789012345678901234567890",
  "{",
  '{"a":1,"a":2}',
  "\ufeff{}",
  "[".repeat(50_000),
  `${"[".repeat(50_000)}${"]".repeat(50_000)}`,
  `${'{"a":'.repeat(400)}1${"}".repeat(400)}`,
  `[${"1.0,".repeat(100_000)}1]`,
  new Uint8Array([0xff, 0xfe, 0x7b, 0x7d]),
  "a=1&".repeat(20_000),
];

const hostile: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(...HOSTILE_VALUES),
  fc.constantFrom(...HOSTILE_TEXTS),
  fc.jsonValue({ maxDepth: 3 }),
);
const text = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 1, arbitrary: fc.constantFrom(...HOSTILE_TEXTS) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 20 }) },
);

function describe(schema: z.ZodType): Schema {
  return z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Schema;
}

/** Mostly values that the schema accepts, with invalid ones in places. */
function arbitraryOf(schema: Schema, all: Schema, depth = 0): fc.Arbitrary<unknown> {
  const given = depth > 6 ? hostile : fitting(schema, all, depth);
  return fc.oneof({ weight: 20, arbitrary: given }, { weight: 1, arbitrary: hostile });
}

function fitting(schema: Schema, all: Schema, depth: number): fc.Arbitrary<unknown> {
  const inner = (part: Schema) => arbitraryOf(part, all, depth + 1);
  if (schema.$ref) return inner(all.$defs?.[schema.$ref.split("/").at(-1)!] ?? all);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (choices) return fc.oneof(...choices.map(inner));
  const [kind] = [schema.type ?? "any"].flat();
  switch (kind) {
    case "string":
      return text;
    case "integer":
    case "number":
      return fc.oneof(fc.integer({ min: 0, max: 10 }), fc.constantFrom(-1, 1e15, 1e308, 0.5));
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return fc.array(schema.items ? inner(schema.items) : hostile, { maxLength: 3 });
    case "object": {
      const { properties = {}, required = [], additionalProperties } = schema;
      const fields = Object.fromEntries(
        Object.entries(properties).map(([name, part]) => [name, inner(part)]),
      );
      const more = typeof additionalProperties === "object" ? inner(additionalProperties) : hostile;
      return fc
        .tuple(
          fc.record(fields, { requiredKeys: required }),
          fc.oneof(
            { weight: 6, arbitrary: fc.constant({}) },
            { weight: 1, arbitrary: fc.dictionary(text, more, { maxKeys: 1 }) },
          ),
        )
        .map(([own, others]) => ({ ...others, ...own }));
    }
    default:
      return hostile;
  }
}

function bodyOf(op: Operation): fc.Arbitrary<Pick<HostileCall, "body" | "type">> {
  const declared = op.body ? describe(op.body) : undefined;
  const raw = fc.constantFrom(...HOSTILE_BODIES);
  const value = declared
    ? arbitraryOf(declared, declared)
    : fc.oneof(fc.dictionary(text, hostile, { maxKeys: 3 }), hostile);
  const types = ["application/json", ...Object.keys(op.reads ?? {})];
  return fc.record({
    body: fc.oneof(
      { weight: 5, arbitrary: value.map((given) => JSON.stringify(given)) },
      { weight: 1, arbitrary: raw },
    ),
    type: fc.oneof(
      { weight: 6, arbitrary: fc.constant("application/json") },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          ...types,
          "text/plain",
          "application/cloudevents+json",
          "multipart/form-data",
        ),
      },
    ),
  });
}

/** Encodes text for a URL; a lone surrogate cannot be encoded. */
const encoded = (value: unknown) => {
  const plain = typeof value === "string" ? value : JSON.stringify(value);
  return encodeURIComponent((plain ?? "").toWellFormed().slice(0, 2_000));
};

function queryOf(op: Operation): fc.Arbitrary<string> {
  if (!op.query) return fc.constant("");
  const schema = describe(op.query);
  return arbitraryOf({ ...schema, type: "object" }, schema).map((query) => {
    if (typeof query !== "object" || query === null) return `?${encoded(query)}`;
    const parts = Object.entries(query).slice(0, 20);
    return parts.length === 0
      ? ""
      : `?${parts.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join("&")}`;
  });
}

function pathOf(op: Operation, workspace: string): fc.Arbitrary<string> {
  const names = listParameterNames(op.path);
  const one = (name: string, last: boolean) => {
    if (name === "workspace") return fc.constant(workspace);
    const greedy = last && isGreedy(op.path);
    return text.map((value) => (greedy ? encoded(value).replaceAll("%2F", "/") : encoded(value)) || "x");
  };
  return fc.tuple(...names.map((name, at) => one(name, at === names.length - 1))).map((values) => {
    const filled = names.reduce((path, name, at) => path.replace(`{${name}}`, () => values[at]!), op.path);
    return getBasePath(op) + filled;
  });
}

/** Generates calls of an operation, the same ones for the same seed. */
export function hostileCalls(
  op: Operation,
  workspace: string,
  { count, seed }: { count: number; seed: number },
): HostileCall[] {
  const takesBody = op.method !== "GET";
  const call = fc
    .tuple(
      pathOf(op, workspace),
      queryOf(op),
      takesBody ? bodyOf(op) : fc.constant({ body: undefined, type: "" }),
    )
    .map(([path, query, rest]) => ({ op, path: path + query, ...rest }));
  return fc.sample(call, { numRuns: count, seed });
}

/** The signature of a Python main → the JSON Schema of the arguments object. Needs python3. */
import { describe, expect, test } from "bun:test";
import { analysePython } from "../../../src/engines/languages/python/analyse.ts";
import type { ParameterSchema } from "../../../src/engines/languages/types.ts";

const analyse = (content: string) => analysePython(content, { owner: "acme" });

const string = { type: "string" };
const integer = { type: "integer" };
const array = (items: ParameterSchema) => ({ type: "array", items });

/** Many parameters are analysed at once, because each analysis starts an interpreter. */
async function look(parameters: [text: string, schema: ParameterSchema][]) {
  const named = parameters.map(([text], n) => text.replace(/^x/, `x${n}`));
  const { schema } = await analyse(`def main(*, ${named.join(", ")}):\n    pass\n`);
  const properties = Object.values(schema.properties as Record<string, ParameterSchema>);
  return {
    found: parameters.map(([text], n) => [text, properties[n]]),
    required: schema.required as string[],
  };
}

describe("a parameter", () => {
  test("that is required", async () => {
    const rows: [string, ParameterSchema][] = [
      ["x", {}],
      ["x: str", string],
      ["x: int", integer],
      ["x: float", { type: "number" }],
      ["x: bool", { type: "boolean" }],
      ["x: list", { type: "array" }],
      ["x: dict", { type: "object" }],
      ["x: bytes", { type: "string", contentEncoding: "base64" }],
      ["x: Any", {}],
      ["x: 'str'", string],
      ["x: datetime", { type: "string", format: "date-time" }],
      ["x: datetime.datetime", { type: "string", format: "date-time" }],
      ["x: datetime.date", { type: "string", format: "date" }],
      ["x: list[str]", array(string)],
      ["x: List[int]", array(integer)],
      ["x: typing.List[list[int]]", array(array(integer))],
      ["x: list[Literal['a']]", array({ type: "string", enum: ["a"] })],
      ["x: dict[str, int]", { type: "object" }],
      ["x: Dict[str, int]", { type: "object" }],
      ["x: Literal['a', 'b']", { type: "string", enum: ["a", "b"] }],
      ["x: Literal[1, 2]", { type: "integer", enum: [1, 2] }],
      ["x: Literal['a', 1]", { enum: ["a", 1] }],
      ["x: Union[int, str]", { oneOf: [integer, string] }],
      ["x: int | str", { oneOf: [integer, string] }],
      ["x: OrderInput | dict[str, object]", { type: "object" }],
      ["x: postgresql | str", { oneOf: [{ type: "object", format: "resource-postgresql" }, string] }],
      ["x: postgresql", { type: "object", format: "resource-postgresql" }],
      ["x: S3Object", { type: "object", format: "resource-s3_object" }],
    ];
    const { found, required } = await look(rows);
    expect(found).toEqual(rows);
    expect(required).toEqual(rows.map((_, n) => `x${n}`));
  });

  test("that is optional", async () => {
    const rows: [string, ParameterSchema][] = [
      ["x: Optional[int]", integer],
      ["x: typing.Optional[str]", string],
      ["x: int | None", integer],
      ["x: None | int", integer],
      ["x: 'int | None'", integer],
      ["x: Union[str, None]", string],
      ["x: int = 3", { ...integer, default: 3 }],
      ["x: int = None", integer],
      ["x: Optional[Literal['a']] = 'a'", { type: "string", enum: ["a"], default: "a" }],
      ["x = 'd'", { ...string, default: "d" }],
      ["x = -1", { ...integer, default: -1 }],
      ["x = 1.5", { type: "number", default: 1.5 }],
      ["x = True", { type: "boolean", default: true }],
      ["x = [1, 'a']", { type: "array", default: [1, "a"] }],
      ["x = {'a': None}", { type: "object", default: { a: null } }],
      ["x = None", {}],
      ["x = compute()", {}],
      ["x = b'bytes'", {}],
      ["x = 1e999", {}],
    ];
    const { found, required } = await look(rows);
    expect(found).toEqual(rows);
    expect(required).toEqual([]);
  });

  test("positional-only, keyword-only and remaining parameters", async () => {
    const content = "def main(a: str, /, b: int = 1, *args, c, **more):\n    pass\n";
    const { schema } = await analyse(content);
    expect(schema).toMatchObject({
      properties: { a: string, b: { ...integer, default: 1 }, c: {}, args: array({}) },
      required: ["a", "c"],
    });
    expect(schema.properties).not.toHaveProperty("more");
  });
});

test("an async main, with a preprocessor", async () => {
  const content =
    "async def main(a: int):\n    pass\nasync def preprocessor(event, *, at: datetime, data: bytes = b''):\n    pass\n";
  const { schema, signature } = await analyse(content);
  expect(schema).toMatchObject({ properties: { a: integer }, required: ["a"] });
  expect(signature.has_main).toBe(true);
  expect(signature.preprocessor).toMatchObject([
    { name: "event", kind: "named" },
    { name: "at", kind: "named", is_date: true },
    { name: "data", kind: "named", is_bytes: true },
  ]);
});

test("no preprocessor, and one without parameters", async () => {
  expect((await analyse("def main(): pass")).signature.preprocessor).toBeUndefined();
  expect((await analyse("def preprocessor(): pass")).signature.preprocessor).toEqual([]);
});

test.each(["", "def other(): pass", "class M:\n  def main(self): pass", "main = 1"])(
  "main is missing in: %j",
  async (content) => {
    const { schema, signature } = await analyse(content);
    expect(signature.has_main).toBe(false);
    expect(schema).toMatchObject({ properties: {}, required: [] });
  },
);

describe("a syntax error", () => {
  test.each([
    ["def main(:\n  pass", 1, 10],
    ["def main():\n  return 1 +\n", 2, 13],
    ["x = 'ünï' 2", 1, 11],
  ])("%j is reported with line and column", async (content, line, column) => {
    const told = await analyse(content).catch((error) => error);
    expect(told).toMatchObject({ name: "SyntaxError", line, column });
    expect(told.message).toStartWith(`Syntax error at line ${line}, column ${column}: `);
  });

  test("invalid bytes in Python source are a syntax error too", async () => {
    await expect(analyse("x = '\0'")).rejects.toThrow("Syntax error at line 1");
  });
});

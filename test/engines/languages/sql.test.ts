/** Splitting SQL into statements, and rewriting it with the values that each client binds. */
import { describe, expect, test } from "bun:test";
import { analyseScript } from "../../../src/engines/languages/reading/analyse.ts";
import { type SqlDialect, splitStatements } from "../../../src/engines/languages/sql/statements.ts";
import {
  bindMysqlStatement as boundMysql,
  toMysqlValue,
} from "../../../src/engines/runner/child/query/mysql.ts";
import { bindPostgresStatement as boundPostgres } from "../../../src/engines/runner/child/query/postgresql.ts";

/** Each statement as `line: text`, with placeholders in angle brackets. */
const split = (dialect: SqlDialect, source: string) =>
  splitStatements(source, dialect).map(
    ({ line, parts }) =>
      `${line}: ${parts.map((part) => (typeof part === "string" ? part : `<${part.placeholder}>`)).join("")}`,
  );

const cases: [dialect: SqlDialect, source: string, statements: string[]][] = [
  ["postgresql", "", []],
  ["postgresql", "-- only\n/* this */;;", []],
  ["postgresql", "SELECT 1;\n\n -- two\nSELECT $1;", ["1: SELECT 1", "4: SELECT <$1>"]],
  [
    "postgresql",
    "SELECT ';', \"a;b\", $$;$1$$, $x$;$$;$x$, 'it''s; $1'",
    ["1: SELECT ';', \"a;b\", $$;$1$$, $x$;$$;$x$, 'it''s; $1'"],
  ],
  ["postgresql", "SELECT E'\\';', '\\'; SELECT 2", ["1: SELECT E'\\';', '\\'", "1: SELECT 2"]],
  ["postgresql", "SELECT /* a /* b; */ c; */ 1", ["1: SELECT /* a /* b; */ c; */ 1"]],
  [
    "postgresql",
    "SELECT a$1, b::text, c->'$1', x ? 'y', $12",
    ["1: SELECT a$1, b::text, c->'$1', x ? 'y', <$12>"],
  ],
  [
    "postgresql",
    "CREATE FUNCTION f() BEGIN ATOMIC SELECT 1; SELECT CASE 1 WHEN 1 THEN 2 END; END; SELECT 2",
    ["1: CREATE FUNCTION f() BEGIN ATOMIC SELECT 1; SELECT CASE 1 WHEN 1 THEN 2 END; END", "1: SELECT 2"],
  ],
  ["postgresql", "BEGIN; SELECT 1; END", ["1: BEGIN", "1: SELECT 1", "1: END"]],
  [
    "mysql",
    "SELECT `a;b`, 'it\\'s; ?', \"?\" # ? ;\n, ?, :name, a:=1, b--1",
    ["1: SELECT `a;b`, 'it\\'s; ?', \"?\" # ? ;\n, <?>, <:name>, a:=1, b--1"],
  ],
  [
    "mysql",
    "CREATE PROCEDURE p() BEGIN IF 1 THEN SELECT 1; END IF; WHILE 0 DO SELECT 2; END WHILE; END; SELECT ?",
    [
      "1: CREATE PROCEDURE p() BEGIN IF 1 THEN SELECT 1; END IF; WHILE 0 DO SELECT 2; END WHILE; END",
      "1: SELECT <?>",
    ],
  ],
  ["sqlite", "SELECT [a;b], :x, $y, ?; SELECT '\\'", ["1: SELECT [a;b], <:x>, <$y>, <?>", "1: SELECT '\\'"]],
  [
    "sqlite",
    "CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM b; END;\nSELECT 1",
    ["1: CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM b; END", "2: SELECT 1"],
  ],
];
test.each(cases)("statements of %s: %j", (dialect, source, statements) => {
  expect(split(dialect, source)).toEqual(statements);
});

test.each([
  ["postgresql", "SELECT 1;\nSELECT 'x"],
  ["postgresql", "SELECT 1;\nSELECT $a$ x $b$"],
  ["mysql", "SELECT 1;\nSELECT `x"],
  ["sqlite", "SELECT 1;\n/* x"],
] as const)("a construct that does not end in %s is reported with its line", (dialect, source) => {
  expect(() => splitStatements(source, dialect)).toThrow(expect.objectContaining({ line: 2 }));
});

const parametersOf = async (dialect: SqlDialect, source: string) =>
  (await analyseScript(dialect, source, { owner: "acme" })).signature.parameters;

test("a statement of PostgreSQL has its own parameter numbers, and each value its declared type", async () => {
  const source =
    "-- $1 a (int)\n-- $2 b (numeric(10, 2)[])\n-- $3 c (text)\n-- $4 d (char)\n-- $5 e (x); drop\nSELECT $3, $2, $3, $4";
  const parameters = await parametersOf("postgresql", source.replace("-- $5 e (x); drop\n", ""));
  const [statement] = splitStatements(source, "postgresql");
  const { text, used } = boundPostgres(statement!, parameters);
  expect(text).toBe("SELECT $1::text, $2::text::numeric(10, 2)[], $1::text, $3");
  expect(used.map(({ name }) => name)).toEqual(["c", "b", "d"]);
});

describe("a statement of MySQL", () => {
  test("has a question mark for each placeholder", async () => {
    const source =
      "-- ? first (int)\n-- :name (text) = 'x'\n-- ? second (json)\nSELECT ?, :name; SELECT :name, ?";
    const parameters = await parametersOf("mysql", source);
    const unnamed = parameters.filter(({ placeholder }) => placeholder === "?");
    const statements = splitStatements(source, "mysql").map((each) => boundMysql(each, parameters, unnamed));
    expect(statements.map(({ text, used }) => [text, ...used.map(({ name }) => name)])).toEqual([
      ["SELECT ?, ?", "first", "name"],
      ["SELECT ?, ?", "name", "second"],
    ]);
  });

  test.each([
    [undefined, "int", null],
    [5, "int", 5],
    [true, "bool", true],
    ["x'; --", "text", "x'; --"],
    [{ a: 1 }, "json", '{"a":1}'],
    ["text", "json", '"text"'],
    ["3q2+7w==", "blob", Buffer.from("deadbeef", "hex")],
    ["2024-02-03T04:05:06Z", "datetime", "2024-02-03 04:05:06.000"],
    ["2024-02-03T04:05:06+02:00", "timestamp", "2024-02-03 02:05:06.000"],
    ["2024-02-03 04:05:06", "datetime", "2024-02-03 04:05:06"],
  ])("receives %p as %s", (value, type, sent) => {
    expect(toMysqlValue(value, type)).toEqual(sent);
  });
});

test("comments determine the schema of the arguments", async () => {
  const source = `-- database f/shop/db
    -- ? a (bigint)
    -- :b (double) = 1.5
    -- :c (json) = {"x": 1}
    -- :d (varbinary(16))
    -- :e (boolean) = TRUE
    -- :f = it is
    -- :g (date)
    -- this $1 is (no declaration) of one
    SELECT ?`;
  const { schema, signature } = await analyseScript("mysql", source, { owner: "acme" });
  expect(schema).toEqual({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    order: ["a", "b", "c", "d", "e", "f", "g"],
    properties: {
      a: { type: "integer" },
      b: { type: "number", default: 1.5 },
      c: { default: { x: 1 } },
      d: { type: "string", contentEncoding: "base64" },
      e: { type: "boolean", default: true },
      f: { type: "string", default: "it is" },
      g: { type: "string", format: "date" },
    },
    required: ["a", "d", "g"],
  });
  expect(signature.parameters[0]).toMatchObject({
    name: "database",
    kind: "pinned",
    default: "$res:f/shop/db",
  });
});

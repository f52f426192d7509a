/** Values as PostgreSQL returns them, and arguments as it takes them. */

export const VALUES: [what: string, content: string, args: object, rows: unknown][] = [
  ["without arguments", "SELECT 1 AS one, 'x' AS text", {}, [{ one: 1, text: "x" }]],
  [
    "with typed arguments",
    `-- $1 id (int)
     -- $2 name (text)
     -- $3 ids (int[])
     -- $4 names (text[])
     -- $5 doc (jsonb)
     -- $6 yes (bool)
     -- $7 price (numeric(10,2))
     -- $8 raw (bytea)
     -- $9 at (timestamptz)
     -- $10 day (date)
     SELECT $1 + 1 AS id, $2 AS name, $3 AS ids, $4 AS names, $5->'a' AS a, NOT $6 AS no, $7 AS price,
       $8 AS raw, $9 AS at, $10 AS day`,
    {
      id: 41,
      name: "O'Brien; DROP TABLE x --",
      ids: [1, 2],
      names: ['a"b', "c,d\\e", null],
      doc: { a: [1, { b: "ü" }] },
      yes: true,
      price: 12.5,
      raw: "3q2+7w==",
      at: "2024-02-03T04:05:06Z",
      day: "2024-02-03",
    },
    [
      {
        id: 42,
        name: "O'Brien; DROP TABLE x --",
        ids: [1, 2],
        names: ['a"b', "c,d\\e", null],
        a: [1, { b: "ü" }],
        no: false,
        price: 12.5,
        raw: "3q2+7w==",
        at: "2024-02-03T04:05:06.000Z",
        day: "2024-02-03T00:00:00.000Z",
      },
    ],
  ],
  [
    "with arguments that are not declared, whose types the server infers",
    `SELECT $1 = true AS yes, $2 + 1 AS n, CAST($3 AS jsonb) -> 1 AS second, $4 AS text, $5::int[] AS list,
       CAST($3 AS jsonb) ->> 0 AS first, EXISTS (SELECT FROM pg_class WHERE relname = $6) AS is_there`,
    { $1: true, $2: 41, $3: [1, { b: "ü" }], $4: "x", $5: [1, null], $6: "pg_class" },
    [{ yes: true, n: 42, second: { b: "ü" }, text: "x", list: [1, null], first: "1", is_there: true }],
  ],
  [
    "with decimals: numbers where these have all digits",
    `SELECT 1.50::numeric AS a, 100::numeric AS b, -0.001::numeric AS c, 0.1::numeric AS d, 'NaN'::numeric AS nan,
       12345678901234567890.5::numeric AS long, 0.12345678901234567890::numeric AS fine, '1.50' AS text`,
    {},
    [
      {
        a: 1.5,
        b: 100,
        c: -0.001,
        d: 0.1,
        nan: "NaN",
        long: "12345678901234567890.5",
        fine: "0.12345678901234567890",
        text: "1.50",
      },
    ],
  ],
  [
    "with defaults and nulls",
    "-- $1 a (int) = 7\n-- $2 b (text) = 'it is'\n-- $3 c (int) = null\nSELECT $1 AS a, $2 AS b, $3 AS c, $1 AS again",
    {},
    [{ a: 7, b: "it is", c: null, again: 7 }],
  ],
  [
    "with whole numbers beyond JavaScript's",
    "SELECT 12::int8 AS small, 9007199254740993::int8 AS big, ARRAY[9007199254740993::int8] AS list",
    {},
    [{ small: 12, big: "9007199254740993", list: ["9007199254740993"] }],
  ],
  [
    "of several statements: the last one's rows",
    `CREATE TEMP TABLE t (id int, note text); -- a semicolon; in a comment
     INSERT INTO t VALUES (1, 'a;b'), (2, $$c;d$$);
     /* and; here */ SELECT note FROM t ORDER BY id;`,
    {},
    [{ note: "a;b" }, { note: "c;d" }],
  ],
  [
    "whose statements use different arguments",
    "-- $1 a (int)\n-- $2 b (int)\nSELECT $2 AS b;\nSELECT $1 AS a, $2 AS b",
    { a: 1, b: 2 },
    [{ a: 1, b: 2 }],
  ],
  [
    "with a function's body",
    `CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN IF true THEN RETURN 5; END IF; END; $$;
     CREATE FUNCTION pg_temp.g() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT 1; SELECT CASE WHEN true THEN 6 END; END;
     SELECT pg_temp.f() AS f, pg_temp.g() AS g`,
    {},
    [{ f: 5, g: 6 }],
  ],
  [
    "that gives one value",
    "-- result_collection=last_statement_first_row_scalar\nSELECT 5 AS x UNION SELECT 6 ORDER BY x",
    {},
    5,
  ],
  [
    "that gives every statement's rows",
    "-- result_collection=all_statements_all_rows\nSELECT 1 AS x; SELECT 2 AS x",
    {},
    [[{ x: 1 }], [{ x: 2 }]],
  ],
];

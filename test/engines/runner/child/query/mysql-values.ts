/** Values as MySQL returns them, and arguments as it takes them. */

export const VALUES: [what: string, content: string, args: object, rows: unknown][] = [
  [
    "without arguments",
    "SELECT 1 AS one, 'x' AS text, NULL AS nothing",
    {},
    [{ one: 1, text: "x", nothing: null }],
  ],
  [
    "with typed arguments",
    `-- ? id (int)
     -- ? name (text)
     -- ? doc (json)
     -- ? yes (bool)
     -- ? price (decimal(10,2))
     -- ? raw (blob)
     -- ? at (datetime)
     SELECT ? + 1 AS id, ? AS name, JSON_EXTRACT(?, '$.a[1].b') AS b, NOT ? AS no,
       CAST(? AS DECIMAL(10,2)) AS price, HEX(?) AS raw, DATE_FORMAT(?, '%H:%i:%s.%f') AS at`,
    {
      id: 41,
      name: "O'Brien; DROP TABLE x -- ü 🙂",
      doc: { a: [1, { b: "ü" }] },
      yes: true,
      price: 12.5,
      raw: "3q2+7w==",
      at: "2024-02-03T04:05:06.789+02:00",
    },
    [
      {
        id: 42,
        name: "O'Brien; DROP TABLE x -- ü 🙂",
        b: "ü",
        no: 0,
        price: "12.50",
        raw: "DEADBEEF",
        at: "02:05:06.789000",
      },
    ],
  ],
  [
    "with arguments by name, one of them twice",
    "-- :a (int) = 7\n-- :b (text) = 'it is'\n-- :c (int) = null\nSELECT :a AS a, :b AS b, :c AS c, :a AS again",
    {},
    [{ a: 7, b: "it is", c: null, again: 7 }],
  ],
  [
    "of stored values of many types",
    `CREATE TEMPORARY TABLE t (id BIGINT UNSIGNED, big BIGINT, price DECIMAL(12,3), at DATETIME(3), stamp TIMESTAMP NULL,
       day DATE, clock TIME, year YEAR, doc JSON, raw VARBINARY(8), flag TINYINT(1), ratio DOUBLE, kind ENUM('a','b'), note TEXT);
     INSERT INTO t VALUES (18446744073709551615, -9007199254740993, 12.5, '2024-02-03 04:05:06.789', '2024-02-03 04:05:06',
       '2024-02-03', '04:05:06', 2024, '{"a":[1]}', X'DEADBEEF', 1, 0.25, 'b', 'a;b');
     SELECT * FROM t`,
    {},
    [
      {
        id: "18446744073709551615",
        big: "-9007199254740993",
        price: "12.500",
        at: "2024-02-03T04:05:06.789Z",
        stamp: "2024-02-03T04:05:06.000Z",
        day: "2024-02-03T00:00:00.000Z",
        clock: "04:05:06",
        year: 2024,
        doc: { a: [1] },
        raw: "3q2+7w==",
        flag: 1,
        ratio: 0.25,
        kind: "b",
        note: "a;b",
      },
    ],
  ],
  [
    "of several statements: the last one's rows",
    `CREATE TEMPORARY TABLE s (id int, note text); # a semicolon; in a comment
     INSERT INTO s VALUES (1, 'a;b'), (2, "c;d"), (3, 'it''s\\';');
     /* and; here */ SELECT note FROM s ORDER BY id;`,
    {},
    [{ note: "a;b" }, { note: "c;d" }, { note: "it's';" }],
  ],
  [
    "whose statements use different arguments",
    "-- ? a (int)\n-- ? b (int)\nSELECT ? AS a;\nSELECT ? AS b",
    { a: 1, b: 2 },
    [{ b: 2 }],
  ],
  ["that gives no rows", "DO 1", {}, []],
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

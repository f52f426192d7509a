/** Scripts that are queries: of a real PostgreSQL, of SQLite files, of a GraphQL endpoint. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import {
  type Ask,
  createDatabase,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../../support/harness.ts";
import { type PostgresServer, startPostgres } from "../../../../support/peers/postgres-server.ts";

const PASSWORD = "svc";

let postgres: PostgresServer | undefined;
let database: Awaited<ReturnType<typeof createDatabase>>;
let direct: SQL;
let server: TestServer;
let ask: Ask;
let pg: Record<string, unknown>;

beforeAll(async () => {
  if (!process.env.DATABASE_URL) postgres = await startPostgres();
  database = await createDatabase(process.env.DATABASE_URL ?? postgres!.url);
  direct = new SQL({ url: database.url, max: 1 });
  const url = new URL(database.url);
  server = await startTestServer();
  ({ ask } = await server.workspace());
  const secret = { path: "u/admin/pg_password", value: PASSWORD, is_secret: true, description: "" };
  await expectOk(ask("POST", "/w/acme/variables/create", secret));
  pg = {
    host: url.hostname,
    port: Number(url.port),
    user: url.username,
    password: "$var:u/admin/pg_password",
    dbname: url.pathname.slice(1),
    sslmode: "disable",
  };
  const answer = await expectOk(
    ask("POST", "/w/acme/resources/create", { path: "u/admin/pg", value: pg, resource_type: "postgresql" }),
  );
  expect(answer.text).not.toContain("warning");
}, 60_000);
afterAll(async () => {
  await server.stop();
  await direct.close();
  await database.drop();
  await postgres?.stop();
});

interface Ended {
  id: string;
  success: boolean;
  result: any;
  args: any;
}

async function ended(id: string): Promise<Ended> {
  const job = await until(async () => {
    const answer = await ask("GET", `/w/acme/jobs_u/completed/get/${id}`);
    return answer.status === 200 ? answer.json<Ended>() : undefined;
  }, `job ${id}`);
  return { ...job, result: (await ask("GET", `/w/acme/jobs_u/completed/get_result/${id}`)).json() };
}

const start = async (language: string, content: string, args: object, query = "") =>
  (await expectOk(ask("POST", `/w/acme/jobs/run/preview${query}`, { language, content, args }))).text;
const run = async (language: string, content: string, args: object = {}) =>
  ended(await start(language, content, args));
const onPg = (content: string, args: object = {}) =>
  run("postgresql", content, { database: "$res:u/admin/pg", ...args });

describe("a query of PostgreSQL", () => {
  const values: [what: string, content: string, args: object, rows: unknown][] = [
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
  test.each(values)("%s", async (_, content, args, rows) => {
    const { success, result } = await onPg(content, args);
    expect([success, result]).toEqual([true, rows]);
  });

  test("is a transaction on request, of which nothing remains after a failure", async () => {
    await direct`CREATE TABLE kept (id int PRIMARY KEY)`;
    expect((await onPg("BEGIN; INSERT INTO kept VALUES (1); COMMIT")).success).toBe(true);
    expect(
      (await onPg("BEGIN; INSERT INTO kept VALUES (2); INSERT INTO kept VALUES (1); COMMIT")).success,
    ).toBe(false);
    expect([...(await direct`SELECT id FROM kept`)]).toEqual([{ id: 1 }]);
  });

  test("never treats an argument as SQL", async () => {
    const nasty = [
      "'; DROP TABLE safe; --",
      "$1",
      "\\'; SELECT 1",
      "\u0000".replace("\u0000", "%00"),
      '"',
      "a'b''c",
    ];
    await direct`CREATE TABLE safe (text text)`;
    for (const text of nasty) {
      const { result } = await onPg("-- $1 text (text)\nINSERT INTO safe VALUES ($1) RETURNING text", {
        text,
      });
      expect(result).toEqual([{ text }]);
    }
    expect([...(await direct`SELECT count(*)::int AS n FROM safe`)]).toEqual([{ n: nasty.length }]);
  });

  const failures: [what: string, content: string, args: object, error: object][] = [
    [
      "a name that is none",
      "SELECT 1;\n\nSELECT\n  nope",
      {},
      { line: 4, code: "42703", message: 'line 4: column "nope" does not exist' },
    ],
    [
      "no SQL",
      "SELECT 1;\nSELEC 2",
      {},
      { line: 2, code: "42601", message: expect.stringContaining("SELEC") },
    ],
    [
      "what cannot be computed",
      "SELECT 1;\nSELECT 1/0",
      {},
      { line: 2, code: "22012", message: "line 2: division by zero" },
    ],
    [
      "an argument of another type",
      "-- $1 id (int)\nSELECT $1",
      { id: "x" },
      { code: "22P02", message: expect.stringContaining('"x"') },
    ],
    [
      "an unknown collection",
      "-- result_collection=some\nSELECT 1",
      {},
      { message: expect.stringContaining("result_collection=some") },
    ],
  ];
  test.each(failures)("fails with line and message: %s", async (_, content, args, error) => {
    const { success, result } = await onPg(content, args);
    expect(success).toBe(false);
    const { name, message, extra } = result.error;
    expect({ name, message, ...extra }).toMatchObject({ name: "QueryError", ...error });
    expect(result.error.stack).toBeUndefined();
  });

  test.each([
    ["a wrong password", { password: "open-sesame-4711" }, "password authentication failed"],
    ["no such server", { port: 1 }, "cannot connect to svc@"],
    ["no such database", { dbname: "nowhere" }, '"nowhere" does not exist'],
    ["a server without TLS", { sslmode: "require" }, "SSL"],
  ])("that cannot connect reports it without the password: %s", async (_, change, message) => {
    const { success, result } = await onPg("SELECT 1", {
      database: { ...pg, password: PASSWORD, ...change },
    });
    expect(success).toBe(false);
    expect(result.error.message).toContain("cannot connect to ");
    expect(result.error.message).toContain(message);
    expect(JSON.stringify(result)).not.toContain("open-sesame");
  });

  test("falls back to a connection without TLS if the server has none, unless configured otherwise", async () => {
    const { sslmode: _, ...unsaid }: Record<string, unknown> = { ...pg, password: PASSWORD };
    for (const database of [unsaid, { ...unsaid, sslmode: "allow" }]) {
      expect((await onPg("SELECT 1 AS x", { database })).result).toEqual([{ x: 1 }]);
    }
    const unknown = await onPg("SELECT 1", { database: { ...unsaid, sslmode: "maybe" } });
    expect(unknown.result.error.message).toContain("sslmode maybe is not known");
  });

  test("reports a missing database", async () => {
    const { result } = await run("postgresql", "SELECT 1");
    expect(result.error.message).toContain("argument database must be a resource of type postgresql");
  });

  /** How many statements that sleep so long the server runs. */
  const sleeping = async (seconds: number) => {
    const like = `%pg_sleep(${seconds})%`;
    const [row] = await direct`SELECT count(*)::int AS n FROM pg_stat_activity
      WHERE state = 'active' AND query LIKE ${like} AND pid <> pg_backend_pid()`;
    return row.n as number;
  };
  const untilSleeping = (seconds: number, count: number) =>
    until(async () => ((await sleeping(seconds)) === count ? true : undefined), `${count} sleeping`);

  test("is canceled on the server when the job is canceled", async () => {
    const id = await start("postgresql", "SELECT 1; SELECT pg_sleep(71); SELECT pg_sleep(72)", {
      database: "$res:u/admin/pg",
    });
    await untilSleeping(71, 1);
    await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${id}`, { reason: "enough" }));
    expect((await ended(id)).result.error.name).toBe("Canceled");
    expect([await sleeping(71), await sleeping(72)]).toEqual([0, 0]);
  });

  test("is canceled on the server when it times out", async () => {
    const id = await start(
      "postgresql",
      "SELECT pg_sleep(73)",
      { database: "$res:u/admin/pg" },
      "?timeout=1",
    );
    expect((await ended(id)).result.error.name).toBe("ExecutionTimeout");
    expect(await sleeping(73)).toBe(0);
  });

  test("is canceled by the server when its process is gone", async () => {
    const id = await start("postgresql", "SELECT pg_sleep(74)", { database: "$res:u/admin/pg" });
    await untilSleeping(74, 1);
    const [found] =
      await direct`SELECT client_port AS port FROM pg_stat_activity WHERE query LIKE '%pg_sleep(74)%' AND pid <> pg_backend_pid()`;
    const pids = Bun.spawnSync(["pgrep", "-P", String(process.pid)])
      .stdout.toString()
      .trim()
      .split("\n")
      .map(Number);
    expect(found.port).toBeGreaterThan(0);
    const owner = pids.find((pid) => {
      const sockets = Bun.spawnSync([
        "sh",
        "-c",
        `ls -l /proc/${pid}/fd | grep -o 'socket:\\[[0-9]*\\]'`,
      ]).stdout.toString();
      const tcp = Bun.spawnSync(["cat", "/proc/net/tcp"]).stdout.toString();
      const hex = Number(found.port).toString(16).toUpperCase().padStart(4, "0");
      const inode = new RegExp(`^\\s*\\d+: \\w+:${hex} (?:\\S+\\s+){7}(\\d+)`, "m").exec(tcp)?.[1];
      return inode !== undefined && sockets.includes(`[${inode}]`);
    });
    process.kill(owner!, "SIGKILL");
    expect((await ended(id)).success).toBe(false);
    await untilSleeping(74, 0);
  });

  test("blocks neither the server nor other jobs", async () => {
    const id = await start("postgresql", "SELECT pg_sleep(75)", { database: "$res:u/admin/pg" });
    await untilSleeping(75, 1);
    expect((await onPg("SELECT 2 AS two")).result).toEqual([{ two: 2 }]);
    await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${id}`, {}));
    await ended(id);
  });

  test("is deployed with the schema from its comments, and runs warm with a new connection", async () => {
    const content =
      "-- $1 id (int)\n-- $2 since (timestamptz) = 2024-01-01\n-- $3 tags (text[])\nSELECT $1 AS id, pg_backend_pid() AS pid";
    await deploy(ask, "acme", "u/admin/report", content, { language: "postgresql" });
    const { schema } = (await ask("GET", "/w/acme/scripts/get/p/u/admin/report")).json();
    expect(schema).toMatchObject({
      order: ["database", "id", "since", "tags"],
      required: ["database", "id", "tags"],
      properties: {
        database: { type: "object", format: "resource-postgresql" },
        id: { type: "integer" },
        since: { type: "string", format: "date-time", default: "2024-01-01" },
        tags: { type: "array", items: { type: "string" } },
      },
    });
    const runIt = async (id: number) =>
      (
        await expectOk(
          ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/report", {
            id,
            tags: [],
            database: "$res:u/admin/pg",
          }),
        )
      ).json();
    const [[one], [two]] = [await runIt(1), await runIt(2)];
    expect([one.id, two.id]).toEqual([1, 2]);
    expect(one.pid).not.toBe(two.pid);
  });

  test("with a pinned database ignores the caller's", async () => {
    const content = "-- database u/admin/pg\n-- $1 id (int)\nSELECT $1 AS id";
    await deploy(ask, "acme", "u/admin/pinned", content, { language: "postgresql" });
    const { schema } = (await ask("GET", "/w/acme/scripts/get/p/u/admin/pinned")).json();
    expect(Object.keys(schema.properties)).toEqual(["id"]);
    const args = { id: 3, database: { ...pg, port: 1 } };
    const answer = await expectOk(ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/pinned", args));
    expect(answer.json()).toEqual([{ id: 3 }]);
  });

  test("is a step of a flow", async () => {
    const fixed = (value: unknown) => ({ type: "static", value });
    const modules = [
      {
        id: "a",
        value: {
          type: "rawscript",
          language: "postgresql",
          content: "-- $1 n (int)\nSELECT x FROM generate_series(1, $1) AS x",
          input_transforms: {
            database: fixed("$res:u/admin/pg"),
            n: { type: "javascript", expr: "flow_input.n" },
          },
        },
      },
      {
        id: "b",
        value: {
          type: "rawscript",
          language: "bun",
          content: "export const main = (rows: any[]) => rows.map(({ x }) => x)",
          input_transforms: { rows: { type: "javascript", expr: "results.a" } },
        },
      },
    ];
    const started = await expectOk(
      ask("POST", "/w/acme/jobs/run/preview_flow", { value: { modules }, args: { n: 3 } }),
    );
    expect((await ended(started.text)).result).toEqual([1, 2, 3]);
  });
});

test.each([
  ["postgresql", "SELECT 1;\nSELECT 'abc", 2, "does not end"],
  ["postgresql", "-- $1 a (int)\n-- $1 b (int)\nSELECT $1", 2, "declared twice"],
  ["postgresql", "-- $1 a (int) = many\nSELECT $1", 1, "the default many is not a valid integer"],
  ["postgresql", "-- database nowhere\nSELECT 1", 1, "nowhere"],
  ["mysql", "SELECT :name", 1, ":name is not declared: add a line `-- :name (type)`"],
  ["mysql", "SELECT ?", 1, "? is not declared"],
  ["sqlite", "SELECT /* never", 1, "does not end"],
])(
  "a script in %s that cannot be parsed says its line when it is run: %s",
  async (language, content, line, message) => {
    await deploy(ask, "acme", "u/admin/bad", content, { language });
    const answer = await ask("POST", "/w/acme/jobs/run/p/u/admin/bad", {});
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(`line ${line}`);
    expect(answer.text).toContain(message);
  },
);

describe("a query of SQLite", () => {
  test("runs in memory, with its arguments as parameters", async () => {
    const content = `-- $1 name (text)
      -- :count (int) = 2
      -- ? raw (blob)
      CREATE TABLE t (name TEXT, count INTEGER, raw BLOB);
      CREATE TRIGGER tr AFTER INSERT ON t BEGIN UPDATE t SET count = count + 1; END;
      INSERT INTO t VALUES ($1, :count, ?);
      SELECT *, 9007199254740993 AS big, 1.5 AS half, NULL AS nil FROM t WHERE name = $1`;
    const { result } = await run("sqlite", content, { name: "a';--", raw: "3q2+7w==" });
    expect(result).toEqual([
      { name: "a';--", count: 3, raw: "3q2+7w==", big: "9007199254740993", half: 1.5, nil: null },
    ]);
    expect((await run("sqlite", "SELECT 1;\n\nSELECT * FROM nowhere")).result.error).toMatchObject({
      name: "QueryError",
      message: "line 3: no such table: nowhere",
    });
  });

  test("receives 64-bit integers with all their digits", async () => {
    const path = "u/admin/big_number";
    const content = "-- :n (bigint)\nSELECT :n AS n, typeof(:n) AS type";
    await deploy(ask, "acme", path, content, { language: "sqlite" });
    const headers = { "content-type": "application/json" };
    const body = '{"n":9007199254740993}';
    const answer = await ask("POST", `/w/acme/jobs/run_wait_result/p/${path}`, body, headers);
    expect(answer.json()).toEqual([{ n: "9007199254740993", type: "integer" }]);
  });

  test("stores a file in the workspace's storage, except after a failure", async () => {
    const query = (content: string) => run("sqlite", `-- database s3:///shop/orders.db\n${content}`);
    const nowhere = await query("SELECT 1");
    expect(nowhere.result.error.message).toContain("workspace acme has no object storage configured");
    const settings = { large_file_storage: { type: "FilesystemStorage" } };
    await expectOk(server.operator("POST", "/w/acme/workspaces/edit_large_file_storage_config", settings));
    expect((await query("CREATE TABLE orders (id INTEGER); INSERT INTO orders VALUES (1)")).success).toBe(
      true,
    );
    const read = "SELECT count(*) AS n FROM orders";
    expect((await query(read)).result).toEqual([{ n: 1 }]);
    expect((await query("INSERT INTO orders VALUES (2); SELECT nope")).success).toBe(false);
    expect((await query(read)).result).toEqual([{ n: 1 }]);
    const named = await run("sqlite", "INSERT INTO orders VALUES (3) RETURNING id", {
      database: { s3: "shop/orders.db" },
    });
    expect(named.result).toEqual([{ id: 3 }]);
    expect((await query(read)).result).toEqual([{ n: 2 }]);
  });

  test("does not overwrite a file stored by another run in the meantime", async () => {
    const database = { s3: "shop/both.db" };
    expect((await run("sqlite", "CREATE TABLE t (x)", { database })).success).toBe(true);
    // Counting so far takes longer than storing another file.
    const slow = `WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 8000000)
      INSERT INTO t SELECT max(x) FROM n`;
    const id = await start("sqlite", slow, { database });
    const fetched = new Bun.Glob("runner/children/*/job/sqlite-*/database.db");
    await until(
      () => ([...fetched.scanSync(server.data_dir)].length > 0 ? true : undefined),
      "the fetched file",
    );
    await expectOk(
      ask("POST", "/w/acme/job_helpers/upload_s3_file?file_key=shop/both.db", "of somebody else"),
    );
    const { success, result } = await ended(id);
    expect([success, result.error?.message]).toEqual([
      false,
      expect.stringContaining("changed by somebody else"),
    ]);
    const kept = await expectOk(ask("GET", "/w/acme/job_helpers/download_s3_file?file_key=shop/both.db"));
    expect(kept.text).toBe("of somebody else");
  });

  test("opens a file of the job, and none outside of it", async () => {
    const there = await run("sqlite", "CREATE TABLE t (x); SELECT count(*) AS n FROM t", {
      database: "./a/b.db",
    });
    expect(there.result).toEqual([{ n: 0 }]);
    for (const path of ["/etc/passwd", "../x.db", "./../../x.db", 5]) {
      const { success, result } = await run("sqlite", "SELECT 1", { database: path });
      expect([success, result.error.name]).toEqual([false, "QueryError"]);
    }
  });
});

describe("a GraphQL operation", () => {
  const seen: { body: any; authorization: string | null; custom: string | null }[] = [];
  const endpoint = Bun.serve({
    port: 0,
    async fetch(request) {
      const body: any = await request.json();
      const { headers } = request;
      seen.push({ body, authorization: headers.get("authorization"), custom: headers.get("x-team") });
      if (body.query.includes("broken"))
        return new Response("<html>token-4711 is tired</html>", { status: 502 });
      if (body.query.includes("nope")) {
        const errors = [
          { message: 'Cannot query field "nope"', locations: [{ line: 3, column: 5 }], path: ["a", 0] },
          {},
        ];
        return Response.json({ errors, data: null });
      }
      return Response.json({ data: { echoed: body.variables } });
    },
  });
  afterAll(() => endpoint.stop(true));
  const api = () => ({
    base_url: endpoint.url.href,
    bearer_token: "token-4711",
    custom_headers: { "x-team": "shop" },
  });

  test("is sent with its variables to the resource's endpoint", async () => {
    const content = `# comments (may say: anything)
query Orders($id: ID!, $first: Int = 10, $tags: [String!]!) {
  orders(id: $id, first: $first, tags: $tags) { id }
}`;
    await deploy(ask, "acme", "u/admin/orders", content, { language: "graphql" });
    const { schema } = (await ask("GET", "/w/acme/scripts/get/p/u/admin/orders")).json();
    expect(schema).toMatchObject({
      order: ["api", "id", "first", "tags"],
      required: ["api", "id", "tags"],
      properties: {
        api: { format: "resource-graphql" },
        id: { type: "string" },
        first: { type: "integer", default: 10 },
        tags: { type: "array", items: { type: "string" } },
      },
    });
    const args = { api: api(), id: "7", tags: ['"'] };
    const answer = await expectOk(ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/orders", args));
    expect(answer.json()).toEqual({ echoed: { id: "7", tags: ['"'] } });
    expect(seen.at(-1)).toEqual({
      body: { query: content, variables: { id: "7", tags: ['"'] } },
      authorization: "Bearer token-4711",
      custom: "shop",
    });
  });

  test("fails with line and message, without the token", async () => {
    const wrong = await run("graphql", "query {\n  a {\n    nope\n  }\n}", { api: api() });
    expect(wrong.result.error).toMatchObject({
      name: "QueryError",
      message: 'line 3: Cannot query field "nope" at a.0 (and 1 more)',
    });
    const broken = await run("graphql", "{ broken }", { api: api() });
    expect(broken.result.error.message).toContain("502");
    expect(broken.result.error.message).not.toContain("4711");
    const nowhere = await run("graphql", "{ a }", { api: { base_url: "http://127.0.0.1:1/" } });
    expect(nowhere.result.error.message).toContain("cannot reach 127.0.0.1:1");
    const none = await run("graphql", "{ a }", { api: {} });
    expect(none.result.error.message).toContain("base_url");
  });
});

test("the error of a statement with inferred arguments names its line", async () => {
  const { success, result } = await onPg("SELECT 1;\n\nSELECT $1 +\n  nowhere", { $1: 1 });
  expect([success, result.error.message]).toEqual([false, expect.stringContaining("line 4: ")]);
});

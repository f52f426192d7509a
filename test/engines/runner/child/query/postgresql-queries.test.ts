/** Query scripts on a real PostgreSQL. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { createDatabase, deploy, expectOk, until } from "../../../../support/harness.ts";
import { type PostgresServer, startPostgres } from "../../../../support/peers/postgres-server.ts";
import { VALUES } from "./postgresql-values.ts";
import { ask, awaitJobEnd, run, setUpQueries, start } from "./query-setup.ts";

const PASSWORD = "svc";

let postgres: PostgresServer | undefined;
let database: Awaited<ReturnType<typeof createDatabase>>;
let direct: SQL;
let pg: Record<string, unknown>;

setUpQueries();
beforeAll(async () => {
  if (!process.env.DATABASE_URL) postgres = await startPostgres();
  database = await createDatabase(process.env.DATABASE_URL ?? postgres!.url);
  direct = new SQL({ url: database.url, max: 1 });
  const url = new URL(database.url);
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
  await direct.close();
  await database.drop();
  await postgres?.stop();
});

const onPg = (content: string, args: object = {}) =>
  run("postgresql", content, { database: "$res:u/admin/pg", ...args });

describe("a query of PostgreSQL", () => {
  test.each(VALUES)("%s", async (_, content, args, rows) => {
    const { success, result } = await onPg(content, args);
    expect([success, result]).toEqual([true, rows]);
  });

  test("is a transaction on request, which is rolled back completely after a failure", async () => {
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

  /** Returns the number of running statements that sleep for this many seconds. */
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
    expect((await awaitJobEnd(id)).result.error.name).toBe("Canceled");
    expect([await sleeping(71), await sleeping(72)]).toEqual([0, 0]);
  });

  test("is canceled on the server when it times out", async () => {
    const id = await start(
      "postgresql",
      "SELECT pg_sleep(73)",
      { database: "$res:u/admin/pg" },
      "?timeout=1",
    );
    expect((await awaitJobEnd(id)).result.error.name).toBe("ExecutionTimeout");
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
    expect((await awaitJobEnd(id)).success).toBe(false);
    await untilSleeping(74, 0);
  });

  test("blocks neither the server nor other jobs", async () => {
    const id = await start("postgresql", "SELECT pg_sleep(75)", { database: "$res:u/admin/pg" });
    await untilSleeping(75, 1);
    expect((await onPg("SELECT 2 AS two")).result).toEqual([{ two: 2 }]);
    await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${id}`, {}));
    await awaitJobEnd(id);
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
    expect((await awaitJobEnd(started.text)).result).toEqual([1, 2, 3]);
  });
});

test("the error of a statement with inferred arguments names its line", async () => {
  const { success, result } = await onPg("SELECT 1;\n\nSELECT $1 +\n  nowhere", { $1: 1 });
  expect([success, result.error.message]).toEqual([false, expect.stringContaining("line 4: ")]);
});

/** Queries of SQLite, and queries of any language that cannot be parsed. */
import { describe, expect, test } from "bun:test";
import { deploy, expectOk, until } from "../../../../support/harness.ts";
import { ask, awaitJobEnd, run, server, setUpQueries, start } from "./query-setup.ts";

setUpQueries();

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
    // Counting this far takes longer than storing another file.
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
    const { success, result } = await awaitJobEnd(id);
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

test.each([
  ["postgresql", "SELECT 1;\nSELECT 'abc", 2, "does not end"],
  ["postgresql", "-- $1 a (int)\n-- $1 b (int)\nSELECT $1", 2, "declared twice"],
  ["postgresql", "-- $1 a (int) = many\nSELECT $1", 1, "the default many is not a valid integer"],
  ["postgresql", "-- database nowhere\nSELECT 1", 1, "nowhere"],
  ["mysql", "SELECT :name", 1, ":name is not declared: add a line `-- :name (type)`"],
  ["mysql", "SELECT ?", 1, "? is not declared"],
  ["sqlite", "SELECT /* never", 1, "does not end"],
])(
  "a script in %s that cannot be parsed reports its line when it is run: %s",
  async (language, content, line, message) => {
    await deploy(ask, "acme", "u/admin/bad", content, { language });
    const answer = await ask("POST", "/w/acme/jobs/run/p/u/admin/bad", {});
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(`line ${line}`);
    expect(answer.text).toContain(message);
  },
);

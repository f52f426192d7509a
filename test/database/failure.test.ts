/** Distinguishes an outage from a rejected statement, by the real errors of the databases. */
import { Database as SqliteFile } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { DrizzleQueryError, sql } from "drizzle-orm";
import { isOutage, isTransient } from "../../src/database/failure.ts";
import { openPostgres } from "../../src/database/postgres/postgres.ts";
import { Internal, StorageFull, Unavailable } from "../../src/lib/errors.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-failure-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const thrownBy = async (work: () => unknown): Promise<unknown> => {
  try {
    await work();
  } catch (cause) {
    return cause;
  }
  throw new Error("nothing was thrown");
};

function locked(): void {
  const path = join(folder, "locked.db");
  using one = new SqliteFile(path);
  using other = new SqliteFile(path);
  one.run("CREATE TABLE t (a)");
  one.run("BEGIN IMMEDIATE");
  other.run("INSERT INTO t VALUES (1)");
}

function full(): void {
  using file = new SqliteFile(join(folder, "full.db"));
  file.run("CREATE TABLE t (a)");
  file.run("PRAGMA max_page_count = 3");
  file.run("INSERT INTO t VALUES (zeroblob(100000))");
}

function refused(text: string): void {
  using file = new SqliteFile(":memory:");
  file.run("CREATE TABLE t (a NOT NULL)");
  file.run(text);
}

const nobodyThere = () =>
  openPostgres({ url: "postgres://svc@127.0.0.1:1/svc", max_connections: 1 }).write(async (tx) => {
    await tx.rows(sql`SELECT 1`);
  });

test.each([
  ["SQLite, locked", locked, true],
  ["SQLite, full", full, true],
  ["SQLite, a wrong statement", () => refused("INSERT INTO nowhere VALUES (1)"), false],
  ["SQLite, a constraint", () => refused("INSERT INTO t VALUES (NULL)"), false],
  ["PostgreSQL, nobody there", nobodyThere, true],
])("%s", async (_, work, outage) => {
  const thrown = await thrownBy(work);
  expect(isOutage(thrown)).toBe(outage);
  expect(isOutage(new DrizzleQueryError("insert", [], thrown as Error))).toBe(outage);
  expect(isOutage(new Internal("the database rejected a statement", { cause: thrown }))).toBe(outage);
});

test.skipIf(!process.env.DATABASE_URL)("PostgreSQL, a statement", async () => {
  const client = new SQL({ url: process.env.DATABASE_URL!, max: 1 });
  const says = (text: string) => thrownBy(() => client.unsafe(text));
  expect(isOutage(await says("SELECT * FROM nowhere"))).toBe(false);
  expect(isOutage(await says("SELECT 1 / 0"))).toBe(false);
  expect(isOutage(await says("SELECT pg_terminate_backend(pg_backend_pid())"))).toBe(true);
  await client.close();
});

test.each([
  ["a full disk", new StorageFull("full"), true],
  ["a mistake of ours", new TypeError("undefined is not a function"), false],
  ["a text", "ECONNREFUSED", false],
  ["nothing", undefined, false],
  ["a disk that is full for another file", Object.assign(new Error("no space"), { code: "ENOSPC" }), false],
])("%s", (_, thrown, outage) => expect(isOutage(thrown)).toBe(outage));

test.each([
  ["a server that shuts down", new Unavailable("the server is shutting down"), true],
  ["a full disk", new StorageFull("full"), true],
  [
    "what could not be made for the lack of something else",
    new Internal("no", { cause: new Unavailable("away") }),
    false,
  ],
  ["a mistake of ours", new TypeError("undefined is not a function"), false],
])("passing: %s", (_, thrown, passing) => expect(isTransient(thrown)).toBe(passing));

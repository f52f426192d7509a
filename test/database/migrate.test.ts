/** Opening a database: the schema, rejected files, and what a commit guarantees. */
import { Database as SqliteDatabase } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { sql } from "drizzle-orm";
import type { Database } from "../../src/database/database.ts";
import { dialect } from "../../src/database/kit.ts";
import { migrations } from "../../src/database/migrations/index.ts";
import {
  compareMigrations,
  createMigrationTable,
  isBreaking,
  migrateDatabase,
  splitMigration,
} from "../../src/database/migrations/migrate.ts";
import { partitionByMonth } from "../../src/database/months/convert.ts";
import { openDatabase } from "../../src/database/open-database.ts";
import { listJobTables } from "../../src/features/lifecycle/retention/job-tables.ts";
import { jobLogs } from "../../src/platform/queue/tables.ts";
import { features } from "../../src/server/features.ts";
import { createDatabase } from "../support/harness.ts";

let folder: string;
let server: Awaited<ReturnType<typeof createDatabase>> | undefined;
let opened: Database[] = [];

async function open(max_bytes = 0): Promise<Database> {
  const db = await openDatabase({
    data_dir: folder,
    database_url: server?.url,
    max_bytes,
    max_connections: 4,
  });
  opened.push(db);
  return db;
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "svc-contract-"));
  server = process.env.DATABASE_URL ? await createDatabase(process.env.DATABASE_URL) : undefined;
});
afterEach(async () => {
  for (const db of opened) await db.close();
  opened = [];
  await server?.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** Migrations from before the rule existed. */
const RELEASED = 4;
/** The migrations that create the tables of jobs; later ones must work with their partitions. */
const PARTITIONABLE = 14;
const line = (seq: number, content = "text") => ({ job_id: "a", seq, content });
const names = migrations[dialect].map((migration) => migration.name);

/** Returns the schema of a database, and the rows of all tables. */
function describeContents(db: SqliteDatabase): unknown[] {
  const parts = db
    .query<{ name: string; type: string }, []>(
      "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE '%svc_migrations%' ORDER BY name",
    )
    .all();
  return parts.map((part) => [
    part,
    part.type === "table" ? db.query(`SELECT * FROM "${part.name}"`).values() : undefined,
  ]);
}

describe("migrations", () => {
  test("are applied once; a second time changes nothing and keeps the rows", async () => {
    const db = await open();
    expect(await migrateDatabase(db)).toEqual(names);
    await db.write(async (tx) => tx.insert(jobLogs).values(line(0)));
    expect(await migrateDatabase(db)).toEqual([]);
    expect(await migrateDatabase(await open())).toEqual([]);
    expect(await db.read.select().from(jobLogs)).toEqual([line(0)]);
  });

  test.skipIf(dialect === "sqlite")("apply to tables with monthly partitions", async () => {
    const db = await open();
    const client = new SQL({ url: server!.url, max: 1 });
    await client.unsafe(createMigrationTable("postgres"));
    for (const [index, migration] of migrations.postgres.entries()) {
      const statements = index < PARTITIONABLE ? splitMigration(migration) : [];
      for (const text of statements) await client.unsafe(text);
      await client`INSERT INTO svc_migrations (name, applied_at) VALUES (${migration.name}, 0)`;
    }
    await partitionByMonth(server!.url, listJobTables(features), new Date(), () => {});
    await client`DELETE FROM svc_migrations WHERE name >= ${names[PARTITIONABLE]!}`;
    expect(await migrateDatabase(db)).toEqual(names.slice(PARTITIONABLE));
    const [index] =
      await client`SELECT count(*) AS parts FROM pg_inherits WHERE inhparent = 'jobs_blocked'::regclass`;
    expect(Number(index.parts)).toBe(4);
    await client.close();
  });

  test.skipIf(dialect === "postgres")(
    "give a new database the schema that they give an old one",
    async () => {
      const stepwise = new SqliteDatabase(":memory:");
      for (const migration of migrations.sqlite)
        for (const statement of splitMigration(migration)) stepwise.run(statement);
      await migrateDatabase(await open());
      const at_once = new SqliteDatabase(join(folder, "svc.db"), { readonly: true });
      expect(describeContents(at_once)).toEqual(describeContents(stepwise));
      at_once.close();
    },
  );

  test("two programs that start on one database at the same time apply them once", async () => {
    const both = await Promise.all([open(), open()]);
    const applied = await Promise.all(both.map(migrateDatabase));
    expect(applied.flat()).toEqual(names);
  });

  test("of a newer version that only add are tolerated", async () => {
    const db = await open();
    await migrateDatabase(db);
    const later = sql`INSERT INTO svc_migrations (name, applied_at) VALUES ('9999_future', 1)`;
    await db.write((tx) => tx.rows(later));
    expect(await migrateDatabase(db)).toEqual([]);
    expect(compareMigrations(dialect, [...names, "9999_future"])).toEqual({
      missing: [],
      unknown: [],
      newer: ["9999_future"],
    });
  });

  /** Changes that break servers of the previous version. New tables are not restricted. */
  test("that remove, rename or require something have `breaking` in their names", () => {
    const takes =
      /\bDROP (TABLE|COLUMN)|\bRENAME\b|SET NOT NULL|\bALTER COLUMN\b.*\bTYPE\b|ADD CONSTRAINT|__new_/i;
    for (const { name, sql: text } of migrations[dialect].slice(RELEASED)) {
      const made = [...text.matchAll(/CREATE TABLE [`"](\w+)/g)].map((match) => match[1]!);
      const demands = text
        .split("--> statement-breakpoint")
        .filter((each) => !made.some((table) => new RegExp(`(ON|TABLE) .${table}\\W`).test(each)))
        .filter(
          (each) =>
            takes.test(each) ||
            /CREATE UNIQUE INDEX/i.test(each) ||
            (/\bADD\b/i.test(each) && /NOT NULL/i.test(each) && !/DEFAULT/i.test(each)),
        );
      if (!isBreaking(name)) expect([name, demands]).toEqual([name, []]);
    }
  });

  test("a database with a breaking newer migration is refused and left unchanged", async () => {
    const db = await open();
    await migrateDatabase(db);
    await db.write((tx) =>
      tx.rows(sql`INSERT INTO svc_migrations (name, applied_at) VALUES ('9999_breaking_future', 1)`),
    );
    const refusal = await migrateDatabase(db).catch((error) => error);
    expect(refusal.name).toBe("Internal");
    expect(refusal.message).toBe(
      "the database is newer than this executable: it has migration 9999_breaking_future",
    );
    expect(refusal.hint).toContain("newer svc");
    const rows = await db.read.rows<{ name: string }>(sql`SELECT name FROM svc_migrations ORDER BY name`);
    expect(rows.map((row) => row.name)).toEqual([...names, "9999_breaking_future"]);
  });
});

describe("closing", () => {
  test("waits for the writes that were accepted; they are there when it is opened again", async () => {
    const first = await open();
    await migrateDatabase(first);
    const writing = Promise.all(
      Array.from({ length: 20 }, (_, seq) => first.write(async (tx) => tx.insert(jobLogs).values(line(seq)))),
    );
    await first.close();
    await writing;
    expect(await (await open()).read.select().from(jobLogs)).toHaveLength(20);
  });

  test("a write after it is refused", async () => {
    const db = await open();
    await db.close();
    await expect(db.write(async () => 1)).rejects.toThrow();
  });
});

describe.if(dialect === "sqlite")("the SQLite file", () => {
  test("a write is in the log's file before it is answered, and both connections use the required settings", async () => {
    const db = await open();
    await migrateDatabase(db);
    await db.write(async (tx) => {
      await tx.insert(jobLogs).values(line(0, "acknowledged"));
    });
    expect(readFileSync(join(folder, "svc.db-wal"), "latin1")).toContain("acknowledged");
    for (const [pragma, value] of [
      ["journal_mode", "wal"],
      ["foreign_keys", 1],
    ] as const) {
      const text = sql.raw(`PRAGMA ${pragma}`);
      const wanted = [{ [pragma]: value }];
      expect(await db.read.rows(text)).toEqual(wanted);
      expect(await db.write((tx) => tx.rows(text))).toEqual(wanted);
    }
  });

  test("nothing can be written through the reader", async () => {
    const db = await open();
    await migrateDatabase(db);
    const writing = async () => db.read.insert(jobLogs).values(line(0));
    await expect(writing()).rejects.toThrow();
    expect(await db.read.select().from(jobLogs)).toEqual([]);
  });

  test("at its size limit a write is rejected as StorageFull; stored data can be read and small writes continue", async () => {
    const db = await open(1_000_000);
    await migrateDatabase(db);
    await db.write(async (tx) => tx.insert(jobLogs).values(line(0)));
    const large = (seq: number) =>
      db.write(async (tx) => tx.insert(jobLogs).values(line(seq, "x".repeat(2_000_000))));
    const alone: any = await large(1).catch((error) => error);
    expect([alone.name, alone.hint]).toEqual(["StorageFull", expect.stringContaining("disk space")]);
    const answers = await Promise.allSettled([large(2), large(3)]);
    expect(answers.map((answer: any) => answer.reason?.name)).toEqual(["StorageFull", "StorageFull"]);
    await db.write(async (tx) => tx.insert(jobLogs).values(line(4)));
    expect(await db.read.select().from(jobLogs)).toEqual([line(0), line(4)]);
  });
});

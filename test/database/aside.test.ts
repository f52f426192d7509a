/** Long reads: their snapshot, and that others are served meanwhile, on the selected database. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import type { Database } from "../../src/database/database.ts";
import { dialect } from "../../src/database/kit.ts";
import { migrateDatabase } from "../../src/database/migrations/migrate.ts";
import { openDatabase } from "../../src/database/open-database.ts";
import type { AsideOptions } from "../../src/database/read-limit.ts";
import { jobs } from "../../src/platform/queue/tables.ts";
import { createDatabase, until } from "../support/harness.ts";
import { completedRow, idOf } from "../support/job-rows.ts";

let folder: string;
let server: Awaited<ReturnType<typeof createDatabase>> | undefined;
let db: Database;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "svc-aside-"));
  server = process.env.DATABASE_URL ? await createDatabase(process.env.DATABASE_URL) : undefined;
  db = await openDatabase({ data_dir: folder, database_url: server?.url, max_bytes: 0, max_connections: 4 });
  await migrateDatabase(db);
});
afterEach(async () => {
  await db.close();
  await server?.drop();
  rmSync(folder, { recursive: true, force: true });
});

const store = (n: number) => db.write((tx) => tx.insert(jobs).values(completedRow(idOf(n), new Date(n))));
const readIds = () =>
  db.readAside<{ id: string }>(
    sql`SELECT ${jobs.id} AS id FROM ${jobs} WHERE ${jobs.tag} = ${"bun"} ORDER BY id`,
  );
/** Counts rows that are generated while it runs. */
const countTo = (rows: number, options?: AsideOptions) =>
  db.readAside<{ rows: number | string }>(
    sql`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${sql.raw(String(rows))}) SELECT count(*) AS rows FROM n`,
    options,
  );
const LONG = 10_000_000;
const LATE = /took longer than the 0.02 s it may/;

test("readAside sees what was committed before it began", async () => {
  for (const n of [1, 2]) {
    await store(n);
    expect(await readIds()).toEqual(Array.from({ length: n }, (_, i) => ({ id: idOf(i + 1) })));
  }
});

test("the event loop is free while readAside runs", async () => {
  let isOver = false;
  const counting = countTo(300_000).finally(() => {
    isOver = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 0));
  expect(isOver).toBe(false);
  await store(1);
  expect(await db.read.select({ id: jobs.id }).from(jobs)).toEqual([{ id: idOf(1) }]);
  expect(Number((await counting)[0]!.rows)).toBe(300_000);
});

test("concurrent calls each get their own rows, and a failed one its error", async () => {
  await store(1);
  const nonsense = db.readAside(sql`SELECT missing_column FROM ${jobs}`);
  const answers = await Promise.allSettled([countTo(10), nonsense, readIds(), countTo(20)]);
  expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
  expect(String((answers[1] as PromiseRejectedResult).reason)).toContain("missing_column");
  const rows = answers.map((answer) => (answer.status === "fulfilled" ? answer.value : undefined));
  expect([0, 3].map((n) => Number((rows[n] as { rows: number }[])[0]!.rows))).toEqual([10, 20]);
  expect(rows[2] as unknown).toEqual([{ id: idOf(1) }]);
});

test("a statement above the time limit ends with 503, and the next one runs", async () => {
  await store(1);
  const late = countTo(LONG, { timeout_ms: 20 });
  const next = readIds();
  await expect(late).rejects.toThrow(LATE);
  expect(await next).toEqual([{ id: idOf(1) }]);
  expect(await readIds()).toHaveLength(1);
});

test.if(dialect === "postgres")("the server ends the statement of one that takes too long", async () => {
  const sleeping = sql`SELECT pg_sleep(600)`;
  await expect(db.readAside(sleeping, { timeout_ms: 20 })).rejects.toThrow(LATE);
  const isGone = async () => {
    const active = await db.read.rows(
      sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND query LIKE 'SELECT pg_sleep%'`,
    );
    return active.length === 0 ? true : undefined;
  };
  await until(isGone, "the end of the statement");
});

test.if(dialect === "sqlite")("while two run beyond their time, others are refused at once", async () => {
  for (const _ of [1, 2]) await expect(countTo(LONG, { timeout_ms: 20 })).rejects.toThrow(LATE);
  await expect(readIds()).rejects.toThrow(/earlier reads take longer than they may/);
  await store(1);
  const rows = await until(() => readIds().catch(() => undefined), "the end of the statements");
  expect(rows).toEqual([{ id: idOf(1) }]);
});

test.if(dialect === "sqlite")("cannot write", async () => {
  await store(1);
  const deleting = db.readAside(sql`DELETE FROM ${jobs} RETURNING id`);
  expect(await deleting.catch(String)).toContain("readonly");
  expect(await readIds()).toHaveLength(1);
});

test.if(dialect === "sqlite")("the embedded database can be closed once the read has ended", async () => {
  const counting = countTo(300_000);
  await Promise.all([db.close(), counting]);
  expect(Number((await counting)[0]!.rows)).toBe(300_000);
});

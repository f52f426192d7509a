/** Reads that may take long: what they see, and that others are served meanwhile, on whichever database is selected. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import type { Database } from "../../src/database/database.ts";
import { dialect } from "../../src/database/kit.ts";
import { migrateDatabase } from "../../src/database/migrations/migrate.ts";
import { openDatabase } from "../../src/database/open-database.ts";
import { jobs } from "../../src/platform/queue/tables.ts";
import { createDatabase } from "../support/harness.ts";
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
/** Counts rows that are made up while it runs. */
const countTo = (rows: number) =>
  db.readAside<{ rows: number | string }>(
    sql`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${sql.raw(String(rows))}) SELECT count(*) AS rows FROM n`,
  );

test("it sees what was committed before it began", async () => {
  for (const n of [1, 2]) {
    await store(n);
    expect(await readIds()).toEqual(Array.from({ length: n }, (_, i) => ({ id: idOf(i + 1) })));
  }
});

test("others are served while it runs", async () => {
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

test("each of several at once gets its own answer, and one that fails says why", async () => {
  await store(1);
  const nonsense = db.readAside(sql`SELECT missing_column FROM ${jobs}`);
  const answers = await Promise.allSettled([countTo(10), nonsense, readIds(), countTo(20)]);
  expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
  expect(String((answers[1] as PromiseRejectedResult).reason)).toContain("missing_column");
  const rows = answers.map((answer) => (answer.status === "fulfilled" ? answer.value : undefined));
  expect([0, 3].map((n) => Number((rows[n] as { rows: number }[])[0]!.rows))).toEqual([10, 20]);
  expect(rows[2] as unknown).toEqual([{ id: idOf(1) }]);
});

test.if(dialect === "sqlite")("it cannot write", async () => {
  await store(1);
  const deleting = db.readAside(sql`DELETE FROM ${jobs} RETURNING id`);
  expect(await deleting.catch(String)).toContain("readonly");
  expect(await readIds()).toHaveLength(1);
});

test.if(dialect === "sqlite")("the embedded database closes once it has ended", async () => {
  const counting = countTo(300_000);
  await Promise.all([db.close(), counting]);
  expect(Number((await counting)[0]!.rows)).toBe(300_000);
});

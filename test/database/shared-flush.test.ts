/** Effects before the flush, and writes that wait for the flush of another. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { WriteOptions } from "../../src/database/database.ts";
import { BadRequest } from "../../src/lib/errors.ts";
import { jobs } from "../../src/platform/queue/tables.ts";
import { db, gate, ids, job, onSqlite, setUpEmptyDatabase } from "./contract-setup.ts";

setUpEmptyDatabase();

/** Inserts a job, and adds what happens to `told`. @param onStart called before the flush */
function add(id: string, told: string[], options: WriteOptions = {}, onStart = () => {}): Promise<void> {
  const written = db.write(async (tx) => {
    tx.beforeFlush(() => {
      told.push(`${id} starts`);
      onStart();
    });
    tx.afterCommit(() => told.push(`${id} is kept`));
    await tx.insert(jobs).values(job(id));
  }, options);
  return written.then(() => void told.push(`${id} is told`));
}

/** Inserts a job that shares its flush. @returns once it is committed, before its flush */
async function addShared(id: string, told: string[]): Promise<{ written: Promise<void> }> {
  const started = gate();
  const written = add(id, told, { sharesFlush: true }, started.open);
  await started.promise;
  return { written };
}

test("an effect before the flush comes first, and not at all if its write fails", async () => {
  const told: string[] = [];
  await add("a", told);
  expect(told.splice(0)).toEqual(["a starts", "a is kept", "a is told"]);
  const answers = await Promise.allSettled([add("b", told), add("a", told), add("c", told)]);
  expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(told.filter((each) => each.startsWith("a"))).toEqual([]);
  expect(told.filter((each) => each.endsWith("starts")).sort()).toEqual(["b starts", "c starts"]);
});

test("a write that shares its flush is told of with the next write, or soon", async () => {
  const told: string[] = [];
  await add("a", told, { sharesFlush: true });
  expect(told.splice(0)).toEqual(["a starts", "a is kept", "a is told"]);
  const { written } = await addShared("b", told);
  // Committed and not flushed yet: on PostgreSQL it is both.
  expect(await ids()).toEqual(["a", "b"]);
  await add("c", told);
  await written;
  const [started] = told;
  expect(started).toBe("b starts");
  expect(told.indexOf("b is kept")).toBeLessThan(told.indexOf("c is kept"));
  expect(told).toHaveLength(6);
});

test.if(onSqlite)("a reader waits for the flush of what it has read", async () => {
  const told: string[] = [];
  const { written } = await addShared("a", told);
  expect([await ids(), told]).toEqual([["a"], ["a starts"]]);
  const barrier = db.readBarrier();
  expect(barrier).toBeDefined();
  await barrier;
  expect(told).toContain("a is kept");
  await written;
  expect(db.readBarrier()).toBeUndefined();
});

test.if(onSqlite)("closing flushes what waits for another write", async () => {
  const told: string[] = [];
  const { written } = await addShared("a", told);
  await db.close();
  await written;
  expect(told).toEqual(["a starts", "a is kept", "a is told"]);
});

test.if(onSqlite)(
  "a reader does not wait for, nor fail with, writes that come after what it has read",
  async () => {
    const told: string[] = [];
    const { written } = await addShared("a", told);
    const held = gate();
    const refused = db.write(async () => {
      await held.promise;
      throw new BadRequest("refused");
    });
    await db.readBarrier();
    expect(told).toContain("a is kept");
    held.open();
    await expect(refused).rejects.toThrow("refused");
    await written;
  },
);

/** Runs a program whose flushes fail once it has called `fail`. @returns what it prints as JSON */
async function runWithFailingFlush<T>(steps: string): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "svc-shared-flush-"));
  const source = resolve(import.meta.dirname, "../../src/database/sqlite/sqlite.ts");
  const preload = resolve(import.meta.dirname, "../support/failing-flush.ts");
  await Bun.write(
    join(folder, "program.ts"),
    `import { writeFileSync } from "node:fs";
    import { openSqlite } from ${JSON.stringify(source)};
    import { sql } from ${JSON.stringify(require.resolve("drizzle-orm"))};
    const db = openSqlite({ path: ${JSON.stringify(join(folder, "test.db"))}, max_bytes: 0 });
    const told: string[] = [];
    const insert = (n: number, options = {}) => db.write(async (tx) => {
      tx.beforeFlush(() => void told.push(n + " starts"));
      tx.afterCommit(() => void told.push(n + " is kept"));
      await tx.rows(sql.raw("INSERT INTO kept VALUES (" + n + ")"));
    }, options).catch((cause) => void told.push(n + ": " + cause.name));
    await db.write((tx) => tx.rows(sql.raw("CREATE TABLE kept (n INTEGER)")));
    const fail = () => writeFileSync(process.env.FAIL_FLUSH_FILE!, "");
    ${steps}
    console.log(JSON.stringify(told));
    process.exit(0);`,
  );
  try {
    const started = Bun.spawn([process.execPath, "--preload", preload, join(folder, "program.ts")], {
      env: { ...process.env, FAIL_FLUSH_FILE: join(folder, "fails") },
      stdout: "pipe",
    });
    return JSON.parse(await started.stdout.text());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test.if(onSqlite)("a failed flush rejects all writes that shared it, and their readers", async () => {
  const shared =
    "fail(); const written = insert(1, { sharesFlush: true }); while (told.length === 0) await Bun.sleep(0);";
  const rejections = (told: string[]) => told.filter((each) => !each.endsWith("starts")).sort();
  const alone = await runWithFailingFlush<string[]>(`${shared} await Promise.all([insert(2), written]);`);
  expect(rejections(alone)).toEqual(["1: Unavailable", "2: Unavailable"]);
  const read = await runWithFailingFlush<string[]>(`${shared}
    const reading = Promise.resolve(db.readBarrier()).catch((cause) => void told.push("read: " + cause.name));
    await Promise.all([insert(2), written, reading]);`);
  expect(rejections(read)).toEqual(["1: Unavailable", "2: Unavailable", "read: Unavailable"]);
});

test.if(onSqlite)("a lazy write is flushed soon after", async () => {
  const told = await runWithFailingFlush<string[]>(`
    fail();
    const broken = new Promise<void>((resolve) => db.onBroken(() => resolve()));
    await insert(1, { lazy: true });
    await Promise.race([broken.then(() => told.push("flushed")), Bun.sleep(20_000)]);`);
  expect(told).toEqual(["1 starts", "1 is kept", "flushed"]);
});

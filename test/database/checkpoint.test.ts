/** SQLite's write-ahead log is copied into the database file during writes, and restarted. */
import { Database as SqliteFile } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { openSqlite } from "../../src/database/sqlite/sqlite.ts";
import { until } from "../support/harness.ts";

const MB = 1_000_000;

test("checkpoints run beside writes, and no write is lost", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-checkpoint-"));
  const path = join(folder, "svc.db");
  const db = openSqlite({ path, max_bytes: 0 });
  try {
    const run = (statement: string) => db.write((tx) => tx.rows(sql.raw(statement)));
    await run("CREATE TABLE filled (id INTEGER PRIMARY KEY, content TEXT)");
    const write = (id: number) => run(`INSERT INTO filled VALUES (${id}, '${"x".repeat(MB)}')`);
    for (let id = 0; id < 60; id++) await write(id);
    const looking = new SqliteFile(path, { readonly: true });
    /** Pages in the log, and how many of them are in the database file. */
    const counts = () => looking.query("PRAGMA wal_checkpoint(NOOP)").values()[0]!.slice(1).map(Number);
    const whole = () => statSync(path).size > 40 * MB;
    expect(await until(() => (whole() ? true : undefined), "the log to be copied")).toBe(true);
    let id = 60;
    // All of it is copied between two writes; then the next one restarts the log.
    const anew = async () => {
      await write(id++);
      return counts()[0]! < 2_000 ? true : undefined;
    };
    expect(await until(anew, "the log to begin anew")).toBe(true);
    const [row] = await db.read.rows<{ count: number; bytes: number }>(
      sql.raw("SELECT count(*) AS count, sum(length(content)) AS bytes FROM filled"),
    );
    expect(row).toEqual({ count: id, bytes: id * MB });
    looking.close();
  } finally {
    await db.close();
    rmSync(folder, { recursive: true, force: true });
  }
}, 60_000);

/** Checkpoints of a log that other connections write meanwhile, with SQLite of this version and of older ones. */
import { Database as SqliteFile } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCheckpoints } from "../../src/database/sqlite/checkpoints.ts";
import { createPageCount, readVersion } from "../../src/database/sqlite/log-size.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-checkpoint-log-"));
afterAll(() => rmSync(folder, { recursive: true }));

function open(name: string) {
  const path = join(folder, `${name}.db`);
  const writer = new SqliteFile(path, { create: true, readwrite: true });
  for (const pragma of ["journal_mode = WAL", "wal_autocheckpoint = 0"]) writer.run(`PRAGMA ${pragma}`);
  writer.run("CREATE TABLE filled (content TEXT)");
  const reader = new SqliteFile(path, { readwrite: true });
  reader.run("PRAGMA wal_autocheckpoint = 0");
  const counts = () => reader.query("PRAGMA wal_checkpoint(NOOP)").values()[0] as number[];
  return {
    path,
    connections: { writer, reader },
    write: () => writer.run("INSERT INTO filled VALUES (?)", ["x".repeat(100_000)]),
    /** Pages in the log, and how many of them are in the database file. */
    pages: () => counts()[1],
    copied: () => counts()[2],
  };
}

test("a requested checkpoint copies the writes made during the previous one", async () => {
  const { connections, path, write, pages, copied } = open("asked");
  const checkpoints = createCheckpoints(connections, path);
  write();
  const first = checkpoints.run();
  const second = checkpoints.run();
  await first;
  write();
  await second;
  expect(copied()).toBe(pages());
  await checkpoints.close();
});

describe.each(["current", "3.43.2"])("with SQLite %s", (name) => {
  test("measuring the log counts its pages and copies none", async () => {
    const { connections, path, write, pages, copied } = open(`look-${name}`);
    const version = name === "current" ? readVersion(connections.reader) : name;
    const readPages = createPageCount(connections, path, version);
    for (let times = 0; times < 3; times++) write();
    expect(readPages()).toBe(pages()!);
    expect(readPages()).toBeGreaterThan(3 * 24);
    expect(copied()).toBe(0);
    const checkpoints = createCheckpoints(connections, path, version);
    await checkpoints.run();
    write();
    // The log has been restarted.
    expect(readPages()).toBe(pages()!);
    expect(readPages()).toBeLessThan(2 * 30);
    await checkpoints.close();
  });
});

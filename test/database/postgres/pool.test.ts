/** Connections to PostgreSQL: as few as possible are used, and work that finds none free waits for one. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { sql } from "drizzle-orm";
import type { Database } from "../../../src/database/database.ts";
import { openPostgres } from "../../../src/database/postgres/postgres.ts";
import { createDatabase } from "../../support/harness.ts";

const CONNECTIONS = 3;

describe.skipIf(!process.env.DATABASE_URL)("with three connections to PostgreSQL", () => {
  let server: Awaited<ReturnType<typeof createDatabase>>;
  let db: Database;
  beforeEach(async () => {
    server = await createDatabase(process.env.DATABASE_URL!);
    db = openPostgres({ url: server.url, max_connections: CONNECTIONS });
  });
  afterEach(async () => {
    await db.close();
    await server.drop();
  });

  type Read = (seconds?: number) => Promise<number>;
  const statement = (seconds: number) =>
    sql`SELECT pg_backend_pid() AS pid, pg_sleep(${sql.raw(String(seconds))})`;
  /** As a single statement. */
  const readPid: Read = async (seconds = 0) =>
    ((await db.read.rows(statement(seconds))) as { pid: number }[])[0]!.pid;
  /** In a transaction. */
  const readPidAside: Read = async (seconds = 0) =>
    (await db.readAside<{ pid: number }>(statement(seconds)))[0]!.pid;
  const KINDS: [string, Read][] = [
    ["single statements", readPid],
    ["transactions", readPidAside],
  ];
  const readAtOnce = (read: Read, count: number, seconds = 0.1) =>
    Promise.all(Array.from({ length: count }, () => read(seconds)));

  test.each(KINDS)("consecutive %s use one, also after several were in use", async (_, read) => {
    const first = await read();
    expect(new Set(await readAtOnce(read, CONNECTIONS, 1)).size).toBe(CONNECTIONS);
    for (let i = 0; i < 5; i++) expect(await read()).toBe(first);
  });

  test.each(KINDS)("%s beyond those wait, and all of them are answered", async (_, read) => {
    const pids = await readAtOnce(read, 8 * CONNECTIONS);
    expect(new Set(pids).size).toBe(CONNECTIONS);
  });

  test("a failed statement fails alone among others", async () => {
    const [failed, ...others] = await Promise.allSettled([
      db.read.rows(sql`SELECT 1 / (pg_backend_pid() - pg_backend_pid())`),
      ...Array.from({ length: 8 * CONNECTIONS }, () => readPid()),
    ]);
    expect(failed.status).toBe("rejected");
    expect(others.filter(({ status }) => status === "rejected")).toEqual([]);
  });

  test("a write completes while statements never cease", async () => {
    let isWritten = false;
    const reader = async () => {
      while (!isWritten) await readPid(0.01);
    };
    const readers = Array.from({ length: 8 * CONNECTIONS }, reader);
    await readPid();
    await db.write((tx) => tx.rows(sql`CREATE TABLE written (id int)`));
    isWritten = true;
    await Promise.all(readers);
  });

  test("while PostgreSQL refuses further connections, the open one serves all work", async () => {
    const role = `limited_${crypto.randomUUID().replaceAll("-", "")}`;
    const admin = new SQL({ url: server.url, max: 1 });
    await admin.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD 'secret' CONNECTION LIMIT 1`);
    const url = new URL(server.url);
    Object.assign(url, { username: role, password: "secret" });
    const limited = openPostgres({ url: url.href, max_connections: CONNECTIONS });
    const work = () => [limited.read.rows(sql`SELECT pg_sleep(0.05)`), limited.readAside(sql`SELECT 1`)];
    expect((await Promise.all(Array.from({ length: 10 }, work).flat())).length).toBe(20);
    await limited.close();
    await admin.unsafe(`DROP ROLE ${role}`);
    await admin.close();
  });

  test("a failed query and a failed write leave their connections usable", async () => {
    for (let i = 0; i < 2 * CONNECTIONS; i++) {
      await expect(db.readAside(sql`SELECT missing_column`)).rejects.toThrow("missing_column");
      const write = db.write(async (tx) => {
        await tx.rows(sql`SELECT 1`);
        throw new Error("left");
      });
      await expect(write).rejects.toThrow("left");
    }
    expect(new Set(await readAtOnce(readPidAside, 8 * CONNECTIONS)).size).toBe(CONNECTIONS);
  });

  test("transactions that wait when it closes are rejected, those in progress are answered", async () => {
    const admin = new SQL({ url: server.url, max: 1 });
    const running = Array.from({ length: CONNECTIONS }, () => readPidAside(1));
    const waiting = readPidAside();
    const count = async () => {
      const rows =
        await admin`SELECT count(*)::int AS count FROM pg_stat_activity WHERE query LIKE ${"%pg_sleep(1)%"} AND state = 'active'`;
      return rows[0].count as number;
    };
    while ((await count()) < CONNECTIONS) await Bun.sleep(10);
    const closing = db.close();
    await expect(waiting).rejects.toThrow("closed");
    expect((await Promise.all(running)).length).toBe(CONNECTIONS);
    await closing;
    await admin.close();
  });
});

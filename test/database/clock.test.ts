/** Servers of one database use its clock, whatever happens to their machines' clocks. */
import { expect, setSystemTime, test } from "bun:test";
import { openPostgres } from "../../src/database/postgres/postgres.ts";
import { createLog } from "../../src/lib/logging/log.ts";
import { createDatabaseClock } from "../../src/platform/cluster/clock.ts";

test.skipIf(!process.env.DATABASE_URL)(
  "the database's clock is used while the machine's clock is wrong",
  async () => {
    const db = openPostgres({ url: process.env.DATABASE_URL!, max_connections: 1 });
    const right = { ms: Date.now(), at: performance.now() };
    setSystemTime(new Date(right.ms - 600_000));
    const clock = createDatabaseClock(db, createLog("silent", "json"));
    await clock.start();
    const isRight = () => Math.abs(clock.now().getTime() - right.ms - performance.now() + right.at) < 1_000;
    expect(isRight()).toBe(true);
    setSystemTime();
    expect(isRight()).toBe(true);
    setSystemTime(new Date(right.ms + 600_000));
    expect(isRight()).toBe(true);
    setSystemTime();
    await clock.stop();
    await db.close();
  },
);

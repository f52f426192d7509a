/** Memory used by a burst of jobs is freed once the server is idle. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { createIdleCollection } from "../../../../src/features/runs/worker/idle-collection.ts";
import { startTestServer, type TestServer, until } from "../../../support/harness.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ workers: 1 });
});
afterAll(() => server.stop());

test("memory is collected after a burst of jobs, once none have come for a while", async () => {
  const { app } = server.server;
  const began = app.db.stats().writes;
  let collection: { writes: number; at: number } | undefined;
  const service = createIdleCollection(app, {
    idle_intervals: 2,
    collect() {
      collection = { writes: app.db.stats().writes - began, at: performance.now() };
    },
  });
  await service.start();
  await Promise.all(Array.from({ length: 2_500 }, () => app.db.write((tx) => tx.rows(sql`SELECT 1`))));
  const ended = performance.now();
  const { writes, at } = await until(() => collection, "the collection");
  expect(writes).toBeGreaterThanOrEqual(2_500);
  // Two intervals of one second, less what timers vary.
  expect(at - ended).toBeGreaterThan(1_500);
  await service.stop();
});

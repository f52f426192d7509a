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

test("memory is collected after a burst of jobs", async () => {
  const { app } = server.server;
  const began = app.db.stats().writes;
  let collections = 0;
  let at_writes = 0;
  const collection = createIdleCollection(app, () => {
    collections++;
    at_writes = app.db.stats().writes - began;
  });
  await collection.start();
  await Promise.all(Array.from({ length: 2_500 }, () => app.db.write((tx) => tx.rows(sql`SELECT 1`))));
  await until(async () => (collections > 0 ? true : undefined), "the collection");
  expect(at_writes).toBeGreaterThanOrEqual(2_500);
  await collection.stop();
});

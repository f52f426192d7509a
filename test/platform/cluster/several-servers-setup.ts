/** Two servers on one PostgreSQL. */
import { afterAll, beforeAll } from "bun:test";
import { createDatabase, startTestServer, type TestServer } from "../../support/harness.ts";

export const postgres = process.env.DATABASE_URL;
export const SVC_SECRET_KEY = "0123456789abcdef0123456789abcdef";

export let database: Awaited<ReturnType<typeof createDatabase>>;
/** Accepts calls, and runs no jobs. */
export let front: TestServer;
export let back: TestServer;
export let admin: Awaited<ReturnType<TestServer["workspace"]>>;
export let atBack: TestServer["operator"];

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpServers(): void {
  beforeAll(async () => {
    database = await createDatabase(postgres!, "migrated");
    const both = { database_url: database.url, secret_key: SVC_SECRET_KEY };
    front = await startTestServer({ ...both, workers: 1 });
    back = await startTestServer(both);
    admin = await front.workspace();
    atBack = back.as(admin.token);
  });
  afterAll(async () => {
    await back?.stop();
    await front?.stop();
    await database?.drop();
  });
}

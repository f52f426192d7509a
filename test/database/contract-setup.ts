/** An empty database of either kind for each test, and jobs stored in it. */
import { afterAll, afterEach, beforeAll, beforeEach } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asc, eq } from "drizzle-orm";
import type { Database } from "../../src/database/database.ts";
import { dialect } from "../../src/database/kit.ts";
import { migrateDatabase } from "../../src/database/migrations/migrate.ts";
import { openDatabase } from "../../src/database/open-database.ts";
import { jobs, type NewJob } from "../../src/platform/queue/tables.ts";
import { createDatabase } from "../support/harness.ts";

export const onSqlite = dialect === "sqlite";
let folder: string;
let server: Awaited<ReturnType<typeof createDatabase>> | undefined;
export let db: Database;

// Writes in these tests wait for each other, so each closure runs only once.
const rehearse = process.env.SVC_TEST_REHEARSE_WRITES;

export const MOMENT = new Date("2024-02-29T12:34:56.789Z");

export const job = (id: string, more: Partial<NewJob> = {}): NewJob => ({
  id,
  workspace_id: "acme",
  kind: "script",
  state: "queued",
  created_by: "ann",
  permissioned_as: "u/ann",
  email: "ann@example.org",
  created_at: MOMENT,
  scheduled_for: MOMENT,
  tag: "bun",
  args: "{}",
  ...more,
});

export const ids = async () =>
  (await db.read.select({ id: jobs.id }).from(jobs).orderBy(asc(jobs.id))).map((row) => row.id);

export const find = async (id: string) => (await db.read.select().from(jobs).where(eq(jobs.id, id)))[0];

/** A promise that is resolved from outside. */
export function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { promise, open: resolve };
}

/** Gives each test of a file an empty database. */
export function setUpEmptyDatabase(): void {
  beforeAll(() => {
    process.env.SVC_TEST_REHEARSE_WRITES = "";
  });
  afterAll(() => {
    process.env.SVC_TEST_REHEARSE_WRITES = rehearse ?? "";
  });

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "svc-contract-"));
    server = process.env.DATABASE_URL ? await createDatabase(process.env.DATABASE_URL) : undefined;
    db = await openDatabase({
      data_dir: folder,
      database_url: server?.url,
      max_bytes: 0,
      max_connections: 4,
    });
    await migrateDatabase(db);
  });
  afterEach(async () => {
    await db.close();
    await server?.drop();
    rmSync(folder, { recursive: true, force: true });
  });
}

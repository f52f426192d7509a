/**
 * `bun run test:postgres [bun test arguments]`: the tests that use a database on a real PostgreSQL, which is
 * stopped after the run.
 */
import { SQL } from "bun";
import { startPostgres } from "./peers/postgres-server.ts";
import { runTests } from "./run/suite.ts";
import { useMemoryForTemporaryFiles } from "./run/temporary-folder.ts";

const SUITE = [
  "test/features",
  "test/database",
  "test/platform/cluster",
  "test/platform/queue",
  "test/engines/runner",
  "test/acceptance/contract",
  "test/acceptance/faults",
  "test/acceptance/packages/script-imports.test.ts",
  "test/acceptance/volume",
];
/**
 * Run on SQLite only: they spend their time in programs that use no database (compilers, installers, large
 * files).
 */
const ELSEWHERE = [
  "test/acceptance/packages/python-packages.test.ts",
  "test/acceptance/packages/program-languages.test.ts",
  "test/acceptance/volume/storage-memory.test.ts",
].map((file) => `--path-ignore-patterns=${file}`);
const TEMPLATE = "svc_template";

/** Creates the migrated database that tests copy. */
async function createTemplate(url: string): Promise<void> {
  const client = new SQL({ url, max: 1 });
  await client.unsafe(`CREATE DATABASE ${TEMPLATE}`);
  await client.close();
  // The dialect is read from the environment when a table is first described.
  const { openPostgres } = await import("../../src/database/postgres/postgres.ts");
  const { migrateDatabase } = await import("../../src/database/migrations/migrate.ts");
  const database = new URL(url);
  database.pathname = TEMPLATE;
  const db = await openPostgres({ url: database.href, max_connections: 1 });
  await migrateDatabase(db);
  await db.close();
}

useMemoryForTemporaryFiles();
const postgres = await startPostgres();
let code = 1;
try {
  process.env.DATABASE_URL = postgres.url;
  await createTemplate(postgres.url);
  process.env.SVC_TEST_DATABASE_TEMPLATE = TEMPLATE;
  // Each connection costs PostgreSQL a process, which plans each statement anew: with ten per server, tests took half
  // as long again.
  process.env.SVC_DATABASE_CONNECTIONS ??= "3";
  // PostgreSQL may repeat a write: here each is repeated.
  process.env.SVC_TEST_REHEARSE_WRITES = "1";
  const args = process.argv.slice(2);
  const names_files = args.some((argument) => !argument.startsWith("-"));
  code = await runTests(args, names_files ? [] : [...ELSEWHERE, ...SUITE]);
} finally {
  await postgres.stop();
}
process.exit(code);

/**
 * `bun run test:postgres [bun test arguments]`: the whole suite on a real PostgreSQL, which ends with the run.
 */
import { startPostgres } from "./peers/postgres-server.ts";

const given = process.argv.slice(2);
const everything = [
  "test/features",
  "test/database",
  "test/platform/cluster",
  "test/engines/runner",
  "test/acceptance/contract",
];
const postgres = await startPostgres();
let code = 1;
try {
  const run = Bun.spawn(
    [
      process.execPath,
      "test",
      "--timeout=60000",
      ...given,
      ...(given.every((argument) => argument.startsWith("-")) ? everything : []),
    ],
    {
      // A write may be done again on PostgreSQL: here each is.
      env: { ...process.env, DATABASE_URL: postgres.url, SVC_TEST_REHEARSE_WRITES: "1" },
      stdio: ["ignore", "inherit", "inherit"],
    },
  );
  code = await run.exited;
} finally {
  await postgres.stop();
}
process.exit(code);

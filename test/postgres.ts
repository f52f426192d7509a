/**
 * `bun run test:postgres [bun test arguments]`: the whole suite on a real PostgreSQL, which ends with the run.
 */
import { startPostgres } from "./postgres-server.ts";

const postgres = await startPostgres();
let code = 1;
try {
  const run = Bun.spawn(
    [
      process.execPath,
      "test",
      "--timeout=20000",
      ...(process.argv.length > 2 ? process.argv.slice(2) : ["test/features", "test/database"]),
    ],
    {
      env: { ...process.env, DATABASE_URL: postgres.url },
      stdio: ["ignore", "inherit", "inherit"],
    },
  );
  code = await run.exited;
} finally {
  await postgres.stop();
}
process.exit(code);

/** A failed vacuum after the conversion to monthly partitions (PostgreSQL) is a warning: the jobs are converted. */
import { expect, test } from "bun:test";
import { SQL } from "bun";
import { jobs } from "../../../../src/platform/queue/tables.ts";
import { createCliEnvironment } from "../../../cli/program.ts";
import { createDatabase, createTemporaryFolder, startTestServer } from "../../../support/harness.ts";
import { completedRow } from "../../../support/job-rows.ts";

const postgres = process.env.DATABASE_URL;
const ID = "01900000-0000-7000-8000-000000000001";

test.skipIf(!postgres)(
  "partition-jobs converts the jobs and warns when the vacuum after it fails",
  async () => {
    using place = createCliEnvironment();
    const database = await createDatabase(postgres!, "migrated");
    try {
      const data_dir = createTemporaryFolder("svc-months-");
      await using server = await startTestServer({ data_dir, database_url: database.url, retention_s: 0 });
      await server.server.app.db.write((tx) => tx.insert(jobs).values([completedRow(ID, new Date())]));
      await server.stop();

      // ANALYZE evaluates the expression of an index. This one can only be evaluated under the lock of a
      // conversion.
      const client = new SQL({ url: database.url, max: 1 });
      await client.unsafe("SELECT pg_advisory_lock(1)");
      await client.unsafe(`
        CREATE FUNCTION under_lock(id text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
          IF NOT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) THEN
            RAISE 'no lock is held';
          END IF;
          RETURN id;
        END $$`);
      await client.unsafe("CREATE INDEX jobs_under_lock ON jobs (under_lock(id))");
      await client.close();

      const partition = () =>
        place.svc(["partition-jobs", "--json"], { env: { DATABASE_URL: database.url } });
      const done = await partition();
      expect({ ...done, out: JSON.parse(done.out) }).toMatchObject({
        code: 0,
        out: { rows: 1, vacuum_error: "no lock is held" },
        err: expect.stringContaining("the tables are converted, but not vacuumed: no lock is held"),
      });
      expect(JSON.parse((await partition()).out)).toMatchObject({ tables: 0 });
    } finally {
      await database.drop();
    }
  },
  60_000,
);

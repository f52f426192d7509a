/** Writes of many rows on PostgreSQL. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { SQL } from "bun";
import { createDatabase, deploy, expectOk, startTestServer, until } from "../../support/harness.ts";

const postgres = process.env.DATABASE_URL;

setDefaultTimeout(60_000);

describe.skipIf(!postgres)("a write of many rows", () => {
  test("does not hold up the others", async () => {
    const database = await createDatabase(postgres!, "migrated");
    const client = new SQL({ url: database.url, max: 1 });
    try {
      await using server = await startTestServer({ database_url: database.url });
      const admin = await server.workspace();
      await deploy(admin.ask, "acme", "u/admin/hello", "export const main = () => 'hello'");
      await expectOk(server.operator("POST", "/settings/global/custom_tags", { value: ["large"] }));
      const root = await server.user("root", { super_admin: true });
      await delayInserts(client, "large");
      const ends: string[] = [];
      const large = root
        .ask("POST", "/w/acme/jobs/add_batch_jobs/3", { kind: "noop", tag: "large" })
        .then(() => ends.push("large"));
      await until(async () => (await isDelayed(client)) || undefined, "the write of the large jobs");
      const answer = await expectOk(admin.ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/hello", {}));
      ends.push("call");
      expect(answer.json()).toBe("hello");
      await large;
      expect(ends).toEqual(["call", "large"]);
    } finally {
      await client.close();
      await database.drop();
    }
  });
});

/** Makes PostgreSQL take a second for each job with this tag. */
async function delayInserts(client: SQL, tag: string): Promise<void> {
  await client.unsafe(`
    CREATE FUNCTION delay() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1); RETURN NEW; END $$;
    CREATE TRIGGER delay BEFORE INSERT ON jobs FOR EACH ROW WHEN (NEW.tag = '${tag}') EXECUTE FUNCTION delay()`);
}

async function isDelayed(client: SQL): Promise<boolean> {
  const delayed = await client`SELECT 1 FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event = 'PgSleep'`;
  return delayed.length > 0;
}

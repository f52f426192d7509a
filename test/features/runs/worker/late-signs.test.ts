/** After an outage of the database, all heartbeats are old: a server that starts then gives the others time. */
import { expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { jobs } from "../../../../src/platform/queue/tables.ts";
import { createDatabase, deploy, expectOk, startTestServer, until } from "../../../support/harness.ts";

test.skipIf(!process.env.DATABASE_URL)(
  "a server that starts leaves jobs with an old heartbeat to the server that runs them",
  async () => {
    const database = await createDatabase(process.env.DATABASE_URL!, "migrated");
    const both = { database_url: database.url, secret_key: "0123456789abcdef0123456789abcdef" };
    const one = await startTestServer(both);
    const { ask } = await one.workspace();
    await deploy(ask, "acme", "u/admin/long", "export const main = () => Bun.sleep(60_000)");
    const id = (await expectOk(ask("POST", "/w/acme/jobs/run/p/u/admin/long", {}))).text;
    const { db } = one.server.app;
    const row = async () => (await db.read.select().from(jobs).where(eq(jobs.id, id)))[0]!;
    const long_ago = new Date(Date.now() - 120_000);
    await db.write((tx) => tx.update(jobs).set({ last_ping: long_ago }).where(eq(jobs.id, id)));
    const other = await startTestServer(both);
    await until(async () => ((await row()).last_ping! > long_ago ? true : undefined), "a sign of life");
    expect(await row()).toMatchObject({ state: "running", attempts: 0, worker: one.server.app.queue.worker });
    await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${id}`, {}));
    await other.stop();
    await one.stop();
    await database.drop();
  },
  60_000,
);

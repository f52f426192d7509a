/** Heartbeats of running jobs: those of large jobs are written one by one, and none waits for another. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import { jobs } from "../../../../src/platform/queue/tables.ts";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

let server: TestServer;
let ask: Ask;
beforeAll(async () => {
  // Several heartbeats a second.
  server = await startTestServer({ lease_s: 1 });
  ({ ask } = await server.workspace());
});
afterAll(() => server.stop());

async function refuseUpdates(id: string): Promise<void> {
  const { db } = server.server.app;
  const refused = "refused for a test";
  const statements =
    db.dialect === "sqlite"
      ? [
          `CREATE TRIGGER refusing BEFORE UPDATE ON jobs WHEN NEW.id = '${id}' BEGIN SELECT RAISE(ABORT, '${refused}'); END`,
        ]
      : [
          `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '${refused}'; END $$`,
          `CREATE TRIGGER refusing BEFORE UPDATE ON jobs FOR EACH ROW WHEN (NEW.id = '${id}') EXECUTE FUNCTION refuse()`,
        ];
  await db.write(async (tx) => {
    for (const statement of statements) await tx.rows(sql.raw(statement));
  });
}

test("a heartbeat that cannot be stored does not prevent those of other jobs", async () => {
  const { db } = server.server.app;
  await deploy(ask, "acme", "u/admin/waits", "export const main = (x?: string) => Bun.sleep(60_000)");
  const start = async (args: object) =>
    (await expectOk(ask("POST", "/w/acme/jobs/run/p/u/admin/waits", args))).text;
  const row = async (id: string) => (await db.read.select().from(jobs).where(eq(jobs.id, id)))[0]!;
  const small = await start({});
  await until(async () => (await row(small)).state === "running", "the small one to run");
  // Written before the large ones.
  await refuseUpdates(small);
  const large = [await start({ x: "x".repeat(1_100_000) }), await start({ x: "y".repeat(1_100_000) })];
  for (const id of large) {
    const { last_ping } = await until(async () => {
      const job = await row(id);
      return job.state === "running" && job.begun && job.last_ping ? job : undefined;
    }, "a large one to be marked as begun");
    await until(async () => (await row(id)).last_ping! > last_ping!, "its heartbeat");
    expect(await row(id)).toMatchObject({ state: "running", attempts: 0 });
  }
  expect((await row(small)).begun).toBeFalsy();
  await db.write((tx) =>
    tx.rows(sql.raw(`DROP TRIGGER refusing ${db.dialect === "sqlite" ? "" : "ON jobs"}`)),
  );
  for (const id of [small, ...large]) await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${id}`, {}));
}, 60_000);

/** Callers that wait for a local job are notified in memory, without reads of its row. */
import { expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { jobs } from "../../../../src/platform/queue/tables.ts";
import { deploy, expectOk, startTestServer, until } from "../../../support/harness.ts";

test.skipIf(!process.env.DATABASE_URL)(
  "a row completed while the job's result is still only in memory",
  async () => {
    const server = await startTestServer();
    const { ask } = await server.workspace();
    const { app } = server.server;
    await deploy(
      ask,
      "acme",
      "u/admin/kept",
      "export const main = () => Bun.sleep(9_000).then(() => 'mine')",
    );
    const answer = expectOk(ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/kept", {}));
    const [job] = await until(async () => {
      const rows = await app.db.read.select().from(jobs).where(eq(jobs.script_path, "u/admin/kept"));
      return rows.length > 0 ? rows : undefined;
    }, "the job");
    const change = (row: Partial<typeof jobs.$inferInsert>) =>
      app.db.write((tx) => tx.update(jobs).set(row).where(eq(jobs.id, job!.id)));
    await change({ state: "completed", status: "success", result: "{}" });
    // Longer than the polling interval for all waiting calls.
    await Bun.sleep(6_000);
    await change({ state: "running", status: null, result: null });
    expect((await answer).json()).toBe("mine");
    await server.stop();
  },
  60_000,
);

/** Views that users create for reports are not tables of a workspace: their rows are not moved or deleted. */
import { expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { deploy, expectOk, startTestServer } from "../../../support/harness.ts";

test("a view on the tables prevents neither a change of id nor a deletion", async () => {
  await using server = await startTestServer();
  const { app } = server.server;
  const { ask } = await server.workspace("acme");
  await deploy(ask, "acme", "u/admin/one", "export const main = () => 1");
  await expectOk(ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/one", {}));
  await app.db.write((tx) =>
    tx.rows(
      sql`CREATE VIEW jobs_a_day AS SELECT workspace_id, count(*) AS jobs FROM jobs GROUP BY workspace_id`,
    ),
  );
  const counts = async () =>
    (await app.db.read.rows<{ workspace_id: string; jobs: unknown }>(sql`SELECT * FROM jobs_a_day`)).map(
      ({ workspace_id, jobs }) => [workspace_id, Number(jobs)],
    );
  await expectOk(ask("POST", "/w/acme/workspaces/change_workspace_id", { new_id: "umbra" }));
  expect(await counts()).toEqual([["umbra", 1]]);
  await expectOk(server.operator("DELETE", "/workspaces/delete/umbra"));
  expect(await counts()).toEqual([]);
}, 60_000);

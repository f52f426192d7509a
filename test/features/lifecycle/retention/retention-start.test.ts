/** A running server deletes expired rows by itself. */
import { expect, test } from "bun:test";
import { jobs } from "../../../../src/platform/queue/tables.ts";
import { startTestServer, until } from "../../../support/harness.ts";
import { completedRow, HOUR, idOf } from "../../../support/job-rows.ts";

test("a server prunes automatically, soon after its start", async () => {
  await using server = await startTestServer({ retention_s: 24 * 3_600 });
  const { db } = server.server.app;
  const [old, young] = [30 * 24, 2].map((hours, at) =>
    completedRow(idOf(at), new Date(Date.now() - hours * HOUR)),
  );
  await db.write((tx) => tx.insert(jobs).values([old!, young!]));
  const idsThere = async () => (await db.read.select({ id: jobs.id }).from(jobs)).map(({ id }) => id);
  await until(async () => ((await idsThere()).length === 1 ? true : undefined), "the old job to go");
  expect(await idsThere()).toEqual([young!.id]);
}, 60_000);

/**
 * Jobs with large arguments are claimed a few at a time, because a claim rewrites them; arguments are complete.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { inArray } from "drizzle-orm";
import { claimJobs } from "../../../src/platform/queue/claim.ts";
import { jobs } from "../../../src/platform/queue/tables.ts";
import { startTestServer, type TestServer } from "../../support/harness.ts";
import { completedRow, idOf, QUEUED } from "../../support/job-rows.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await server.workspace();
});
afterAll(() => server.stop());

const TAG = "nobody-takes-this";
const argumentsOf = (characters: number) => JSON.stringify({ x: "é".repeat(characters) });

/** Claims as many as allowed, of rows with these arguments and priorities in this order, and deletes them. */
async function claim(args: string[], priorities: number[] = []): Promise<string[]> {
  const rows = args.map((each, at) => ({
    ...completedRow(idOf(at), new Date(at)),
    ...QUEUED,
    tag: TAG,
    args: each,
    priority: priorities[at] ?? 0,
    scheduled_for: new Date(at),
  }));
  const ids = rows.map(({ id }) => id);
  return server.server.app.db.write(async (tx) => {
    for (const row of rows) await tx.insert(jobs).values(row);
    const claimed = await claimJobs(tx, { worker: "w", limit: 10, now: new Date(), tags: [TAG] });
    expect(claimed.map(({ id }) => id)).toEqual(ids.slice(0, claimed.length));
    expect(claimed.every(({ state, worker }) => state === "running" && worker === "w")).toBe(true);
    await tx.delete(jobs).where(inArray(jobs.id, ids));
    return claimed.map((job) => job.args);
  });
}

test("small jobs are claimed together", async () => {
  const args = [1, 100, 40_000, 3].map(argumentsOf);
  expect(await claim(args)).toEqual(args);
});

test("large jobs are claimed up to a total size, and at least one", async () => {
  const large = argumentsOf(5_000_000);
  const small = argumentsOf(1);
  const isSqlite = server.server.app.db.dialect === "sqlite";
  const expectClaimed = async (given: string[], count: number) =>
    expect(await claim(given)).toEqual(given.slice(0, isSqlite ? count : given.length));
  await expectClaimed([large, large, large, small], 2);
  await expectClaimed([argumentsOf(9_000_000), small], 1);
  await expectClaimed([small, small, large, small], 4);
});

test("no job is claimed before a waiting one of a higher priority", async () => {
  const large = argumentsOf(5_000_000);
  const small = argumentsOf(1);
  const isSqlite = server.server.app.db.dialect === "sqlite";
  const expectClaimed = async (given: string[], priorities: number[], count: number) =>
    expect(await claim(given, priorities)).toEqual(given.slice(0, isSqlite ? count : given.length));
  await expectClaimed([large, large, large, small], [5, 5, 5, 1], 2);
  await expectClaimed([large, small, large, small, small], [5, 5, 4, 4, 1], 3);
  await expectClaimed([large, large, small], [5, 4, 1], 2);
});

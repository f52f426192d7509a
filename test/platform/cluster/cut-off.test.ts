/**
 * Operations on many rows that are interrupted by `kill -9` are finished at the next start, after any batch.
 */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { resumableOperations } from "../../../src/features/tenancy/resumable/tables.ts";
import { jobs, type NewJob } from "../../../src/platform/queue/tables.ts";
import { cutOff } from "../../support/cut-off.ts";
import {
  createDatabase,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../support/harness.ts";
import { completedRow, idOf, QUEUED } from "../../support/job-rows.ts";
import { SVC_SECRET_KEY } from "../../support/two-servers.ts";

const COMPLETED = 200;
const WAITING = 120;

let place: { data_dir: string; database_url?: string; secret_key?: string; lease_s: number };
let dropDatabase: (() => Promise<void>) | undefined;

beforeEach(async () => {
  place = { data_dir: mkdtempSync(join(tmpdir(), "svc-cut-")), lease_s: 3 };
  if (process.env.DATABASE_URL) {
    const { url, drop } = await createDatabase(process.env.DATABASE_URL, "migrated");
    dropDatabase = drop;
    place = { ...place, database_url: url, secret_key: SVC_SECRET_KEY };
  }
});
afterEach(async () => {
  rmSync(place.data_dir, { recursive: true, force: true });
  await dropDatabase?.();
});

/** A workspace with a history, and with queued jobs: half of them are due. */
async function furnish(): Promise<void> {
  await using server = await startTestServer(place);
  const { ask } = await server.workspace();
  const hash = await deploy(ask, "acme", "u/admin/one", "export const main = () => 'ran'");
  const secret = { path: "u/admin/key", value: "opens", is_secret: true, description: "" };
  await expectOk(ask("POST", "/w/acme/variables/create", secret));
  const now = new Date();
  const rows: NewJob[] = [];
  for (let n = 0; n < COMPLETED; n++) rows.push(completedRow(idOf(n), now));
  for (let n = 0; n < WAITING; n++) {
    const row = completedRow(idOf(n, "0191"), now, {
      ...QUEUED,
      script_hash: hash,
      concurrency_key: "acme/x",
    });
    // No worker is notified of them: the next server finds those that are due. This one would run them while it
    // stops.
    rows.push(n % 2 === 0 ? { ...row, scheduled_for: new Date(now.getTime() + 2_000) } : row);
  }
  await server.server.app.db.write(async (tx) => {
    for (let at = 0; at < rows.length; at += 100) await tx.insert(jobs).values(rows.slice(at, at + 100));
  });
}

/** Counts the jobs of each workspace by state. */
async function counts(server: TestServer): Promise<Record<string, number>> {
  const rows = await server.server.app.db.read
    .select({ key: sql<string>`${jobs.workspace_id} || ' ' || ${jobs.state}`, count: sql`count(*)` })
    .from(jobs)
    .where(sql`${jobs.created_by} = 'admin'`)
    .groupBy(jobs.workspace_id, jobs.state);
  return Object.fromEntries(rows.map(({ key, count }) => [key, Number(count)]));
}

async function finished(server: TestServer): Promise<void> {
  const { read } = server.server.app.db;
  const isOver = async () => (await read.select().from(resumableOperations)).length === 0 || undefined;
  await until(isOver, "what was cut off is finished");
}

for (const commit of [1, 2, 40]) {
  test(`an archiving that is cut off after ${commit} commits: no job runs, all are canceled`, async () => {
    await furnish();
    expect(await cutOff(place, commit, ["POST", "/w/acme/workspaces/archive"])).toBe(true);
    await using server = await startTestServer(place);
    await finished(server);
    expect(await counts(server)).toEqual({ "acme completed": COMPLETED + WAITING });
    const canceled = await server.server.app.db.read
      .select({ id: jobs.id })
      .from(jobs)
      .where(sql`${jobs.status} = 'canceled'`);
    expect(canceled).toHaveLength(WAITING);
    await expectOk(server.operator("POST", "/workspaces/unarchive/acme"));
  }, 60_000);
}

for (const commit of [1, 3, 130, 134]) {
  test(`a deletion that is cut off after ${commit} commits: nothing is left of the workspace`, async () => {
    await furnish();
    expect(await cutOff(place, commit, ["DELETE", "/workspaces/delete/acme"])).toBe(true);
    await using server = await startTestServer(place);
    await finished(server);
    expect(await counts(server)).toEqual({});
    const { operator } = server;
    expect((await operator("GET", "/w/acme/variables/list")).status).toBe(404);
    const again = { id: "acme", name: "acme", owner: "admin_acme@example.org", username: "admin" };
    await expectOk(operator("POST", "/workspaces/create", again));
    expect((await operator("GET", "/w/acme/variables/list")).json()).toEqual([]);
  }, 60_000);
}

for (const commit of [1, 2, 4, 6, 9, 20]) {
  test(`a change of id that is cut off after ${commit} commits: all of it has the new one, what waited runs`, async () => {
    await furnish();
    expect(
      await cutOff(place, commit, ["POST", "/w/acme/workspaces/change_workspace_id", { new_id: "umbra" }]),
    ).toBe(true);
    await using server = await startTestServer(place);
    await finished(server);
    const { operator } = server;
    const half = WAITING / 2;
    const wanted = { "umbra completed": COMPLETED + half, "umbra queued": half };
    const isThere = async () => Bun.deepEquals(await counts(server), wanted) || undefined;
    await until(isThere, "all is there, and what was due has run").catch(async () => {
      expect(await counts(server)).toEqual(wanted);
    });
    const ran = await server.server.app.db.read
      .select({ result: jobs.result, key: jobs.concurrency_key })
      .from(jobs)
      .where(sql`${jobs.id} > '0191' AND ${jobs.state} = 'completed' AND ${jobs.created_by} = 'admin'`);
    expect(new Set(ran.map(({ result, key }) => `${result} ${key}`))).toEqual(new Set(['"ran" umbra/x']));
    const value = await operator("GET", "/w/umbra/variables/get_value/u/admin/key");
    expect([value.status, value.json()]).toEqual([200, "opens"]);
    expect((await operator("GET", "/w/acme/variables/list")).status).toBe(404);
    await expectOk(operator("POST", "/workspaces/create", { id: "acme", name: "another" }));
  }, 60_000);
}

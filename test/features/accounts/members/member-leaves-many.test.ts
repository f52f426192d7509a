/** A leaving member has more queued jobs than one transaction changes: all of them end, also after a crash. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { resumableOperations } from "../../../../src/features/tenancy/resumable/tables.ts";
import { jobs } from "../../../../src/platform/queue/tables.ts";
import { cutOff } from "../../../support/cut-off.ts";
import {
  createDatabase,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";
import { completedRow, idOf, QUEUED } from "../../../support/job-rows.ts";
import { SVC_SECRET_KEY } from "../../../support/two-servers.ts";

const MANY = 1_500;
const LEAVE = ["DELETE", "/w/acme/users/delete/lea"] as const;

let place: { data_dir: string; database_url?: string; secret_key?: string };
/** The next server soon takes over the leases of a killed one. */
const SHORT_LEASE = { lease_s: 3 };
let dropDatabase: (() => Promise<void>) | undefined;

beforeEach(async () => {
  place = { data_dir: mkdtempSync(join(tmpdir(), "svc-leave-")) };
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

async function furnish(server: TestServer): Promise<void> {
  await server.workspace();
  await server.member("acme", "lea");
  const whose = { created_by: "lea", permissioned_as: "u/lea", email: "lea@example.org" };
  await server.server.app.db.write(async (tx) => {
    for (let at = 0; at < MANY; at += 100) {
      const some = Array.from({ length: 100 }, (_, i) => idOf(at + i));
      await tx.insert(jobs).values(some.map((id) => completedRow(id, new Date(), { ...QUEUED, ...whose })));
    }
    await tx.insert(jobs).values(completedRow(idOf(MANY), new Date(), QUEUED));
  });
}

async function expectCanceled(server: TestServer): Promise<void> {
  const { read } = server.server.app.db;
  const who = sql<string>`${jobs.created_by} || ' ' || ${jobs.state} || ' ' || coalesce(${jobs.status}, '')`;
  const rows = await read.select({ who, n: sql`count(*)` }).from(jobs).groupBy(who);
  const counts = Object.fromEntries(rows.map((row) => [row.who, Number(row.n)]));
  expect(counts).toEqual({ "lea completed canceled": MANY, "admin queued ": 1 });
}

test("all runs of a leaving member are canceled while others are served", async () => {
  await using server = await startTestServer(place);
  await furnish(server);
  let isOver = false;
  const leaving = server.operator(...LEAVE).finally(() => {
    isOver = true;
  });
  let served = 0;
  while (!isOver) {
    const group = { name: `g${served}`, summary: "" };
    await expectOk(server.operator("POST", "/w/acme/groups/create", group));
    if (!isOver) served++;
  }
  await expectOk(leaving);
  expect(served).toBeGreaterThan(5);
  await expectCanceled(server);
  const listed = (await server.operator("GET", "/w/acme/audit/list?operation=users.delete")).json();
  expect(listed[0]?.parameters).toMatchObject({ canceled_runs: "1000+" });
}, 60_000);

for (const commit of [1, 3]) {
  test(`runs of who leaves are canceled by the next start, if that is cut off after ${commit} commits`, async () => {
    await using first = await startTestServer(place);
    await furnish(first);
    await first.stop();
    expect(await cutOff(place, commit, [...LEAVE])).toBe(true);
    await using server = await startTestServer({ ...place, ...SHORT_LEASE });
    const { read } = server.server.app.db;
    const isOver = async () => (await read.select().from(resumableOperations)).length === 0 || undefined;
    await until(isOver, "what was cut off is finished");
    await expectCanceled(server);
  }, 60_000);
}

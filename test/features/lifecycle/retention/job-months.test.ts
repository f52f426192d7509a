/**
 * Jobs in monthly partitions (PostgreSQL): converted without changes, created in advance, and dropped at once.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { SQL } from "bun";
import { sql } from "drizzle-orm";
import { getMonthOf } from "../../../../src/database/months/month.ts";
import { prepareMonths } from "../../../../src/features/instance/self/job-months.ts";
import { addComingMonths } from "../../../../src/features/lifecycle/retention/coming-months.ts";
import { listJobTables } from "../../../../src/features/lifecycle/retention/job-tables.ts";
import { createPruner } from "../../../../src/features/lifecycle/retention/pruner.ts";
import { fillSearchIndex } from "../../../../src/features/runs/search/indexer.ts";
import { jobLogs, jobs, type NewJob } from "../../../../src/platform/queue/tables.ts";
import { features } from "../../../../src/server/features.ts";
import { type CliEnvironment, createCliEnvironment } from "../../../cli/program.ts";
import { readTables } from "../../../database/backup/backup-setup.ts";
import {
  type Ask,
  createDatabase,
  createTemporaryFolder,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
} from "../../../support/harness.ts";
import { completedRow, QUEUED } from "../../../support/job-rows.ts";

setDefaultTimeout(60_000);

const postgres = process.env.DATABASE_URL;
const TABLES = listJobTables(features);
const CHOSEN = "ffffffff-0000-4000-8000-000000000001";
const DAY_MS = 86_400_000;

let place: CliEnvironment;
let database: Awaited<ReturnType<typeof createDatabase>>;
let server: TestServer;
let ask: Ask;
let token: string;
let data_dir: string;

const rows = <R>(query: ReturnType<typeof sql>) => server.server.app.db.read.rows<R>(query);
const start = async () => {
  server = await startTestServer({ data_dir, database_url: database.url, retention_s: 0 });
  ask = server.as(token);
};
const partition = () => place.svc(["partition-jobs", "--json"], { env: { DATABASE_URL: database.url } });
/** The middle of a month the given number of months ago. */
const middle = (ago: number) => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 14));
};
const nameOf = (ago: number) => getMonthOf(middle(ago)).name;
const jobOf = (moment: Date, number: number, more: Partial<NewJob> = {}) =>
  completedRow(getMonthOf(moment).from.replace(/0{12}$/, String(number).padStart(12, "0")), moment, more);
const store = (list: NewJob[]) => server.server.app.db.write((tx) => tx.insert(jobs).values(list));
const partitions = async (table: string) =>
  (
    await rows<{ name: string }>(
      sql`SELECT c.relname AS name FROM pg_class c JOIN pg_inherits i ON c.oid = i.inhrelid WHERE i.inhparent = ${table}::regclass`,
    )
  )
    .map(({ name }) => name.slice(table.length + 1))
    .sort();
const partitionOf = async (id: string) =>
  (await rows<{ name: string }>(sql`SELECT tableoid::regclass::text AS name FROM jobs WHERE id = ${id}`))[0]
    ?.name;
/** Makes retention delete only what completed before this time. */
async function prune(before: Date): Promise<void> {
  const { app } = server.server;
  const now = Date.now();
  const app_then = {
    ...app,
    settings: {
      ...app.settings,
      get: (name: string) =>
        name === "retention_period_secs"
          ? Math.round((now - before.getTime()) / 1000)
          : app.settings.get(name as never),
    },
  };
  await createPruner(app_then as typeof app).prune();
}

/** Everything that the interface returns about jobs. */
async function tell(): Promise<unknown> {
  const list = (await expectOk(ask("GET", "/w/acme/jobs/list?per_page=100"))).json<{ id: string }[]>();
  const texts: string[] = [];
  for (const { id } of list) {
    texts.push((await expectOk(ask("GET", `/w/acme/jobs_u/get/${id}`))).text);
    texts.push((await expectOk(ask("GET", `/w/acme/jobs_u/get_logs/${id}`))).text);
  }
  const paths = [
    "jobs/completed/list?per_page=100&success=true",
    "jobs/list?script_path_exact=u/admin/one",
    "jobs/completed/count_jobs",
    "jobs/queue/count",
    "jobs/list?job_kinds=flow",
  ];
  for (const path of paths) texts.push((await expectOk(ask("GET", `/w/acme/${path}`))).text);
  texts.push((await expectOk(ask("GET", "/srch/w/acme/index/search/job?search_query=walrus"))).text);
  return [list, texts];
}

const describeIndexes = async () =>
  (
    await rows<{ text: string }>(
      sql`SELECT pg_get_indexdef(indexrelid) AS text FROM pg_index WHERE indrelid = 'jobs'::regclass`,
    )
  )
    .map(({ text }) => text.replace(" ON ONLY ", " ON "))
    .sort();

describe.skipIf(!postgres)("jobs in monthly partitions", () => {
  beforeAll(async () => {
    place = createCliEnvironment();
    data_dir = createTemporaryFolder("svc-months-");
    database = await createDatabase(postgres!, "migrated");
    server = await startTestServer({ data_dir, database_url: database.url, retention_s: 0 });
    ({ ask, token } = await server.workspace());
    await deploy(
      ask,
      "acme",
      "u/admin/hello",
      "export const main = (x: string) => { console.log('printed', x); return x }",
    );
    const step = (id: string) => ({
      id,
      value: {
        type: "script",
        path: "u/admin/hello",
        input_transforms: { x: { type: "static", value: id } },
      },
    });
    const flow = { path: "u/admin/flow", summary: "", value: { modules: [step("a"), step("b")] } };
    await expectOk(ask("POST", "/w/acme/flows/create", flow));
    await expectOk(ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/hello", { x: "walrus" }));
    await expectOk(ask("POST", "/w/acme/jobs/run_wait_result/f/u/admin/flow", {}));
    await store([
      ...[1, 2, 3].flatMap((ago) => [1, 2, 3].map((n) => jobOf(middle(ago), n))),
      completedRow(CHOSEN, middle(3)),
    ]);
    await server.server.app.db.write((tx) =>
      tx.insert(jobLogs).values([
        { job_id: jobOf(middle(3), 1).id, seq: 0, content: "of old" },
        { job_id: CHOSEN, seq: 0, content: "of a chosen id" },
      ]),
    );
    await fillSearchIndex(server.server.app, new Date(Date.now() + 120_000));
  });
  afterAll(async () => {
    await server.stop();
    await database.drop();
    place[Symbol.dispose]();
  });

  test("return the same as before, and a second conversion changes nothing", async () => {
    const before = await tell();
    const indexes = await describeIndexes();
    const early = await partition();
    expect([early.code, early.err]).toEqual([1, expect.stringContaining("a server works on this database")]);
    await server.stop();
    const rows_before = await readTables("", database.url);
    const done = await partition();
    expect([done.code, JSON.parse(done.out)]).toEqual([
      0,
      expect.objectContaining({ tables: TABLES.length, months: 6, rows: expect.any(Number) }),
    ]);
    expect(await readTables("", database.url)).toEqual(rows_before);
    const again = await partition();
    expect([again.code, JSON.parse(again.out)]).toEqual([0, expect.objectContaining({ tables: 0, rows: 0 })]);
    await start();
    expect(await tell()).toEqual(before);
    expect(await describeIndexes()).toEqual(indexes);
    for (const { table } of TABLES)
      expect(await partitions(table)).toEqual([...[3, 2, 1, 0, -1, -2].map(nameOf), "default"]);
    expect(await partitionOf(CHOSEN)).toBe("jobs_default");
    expect(await partitionOf(jobOf(middle(3), 1).id)).toBe(`jobs_${nameOf(3)}`);
  });

  test("run, and their logs and flows are of the current month", async () => {
    await expectOk(ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/hello", { x: "new" }));
    await expectOk(ask("POST", "/w/acme/jobs/run_wait_result/f/u/admin/flow", {}));
    const [count] = await rows<{ jobs: string; logs: string; frames: string }>(
      sql.raw(
        `SELECT (SELECT count(*) FROM jobs_${nameOf(0)}) AS jobs, (SELECT count(DISTINCT job_id) FROM job_logs_${nameOf(0)}) AS logs, (SELECT count(*) FROM flow_frames_${nameOf(0)}) AS frames`,
      ),
    );
    expect(Object.values(count!).map(Number)).toEqual([8, 6, 2]);
  });

  test("are in a backup, which can be restored", async () => {
    const file = join(place.folder, "months.backup");
    const env = { DATABASE_URL: database.url };
    expect((await place.svc(["backup", file, "--data-dir", data_dir], { env })).code).toBe(0);
    const target = await createDatabase(postgres!);
    const restored = await place.svc(["restore", file], { env: { DATABASE_URL: target.url } });
    expect([restored.code, restored.out]).toEqual([0, expect.stringContaining("restored")]);
    const [there, here] = [await readTables("", target.url), await readTables("", database.url)];
    for (const { table } of TABLES) expect(there[table]).toEqual(here[table]!);
    await target.drop();
  });

  test("get the partitions of coming months, also for existing rows", async () => {
    const { app } = server.server;
    const coming = jobOf(middle(-3), 1, { ...QUEUED });
    await store([coming]);
    expect(await partitionOf(coming.id)).toBe("jobs_default");
    await addComingMonths(app, new Date());
    expect(await partitions("jobs")).not.toContain(nameOf(-3));
    await addComingMonths(app, middle(-1));
    for (const { table } of TABLES) expect(await partitions(table)).toContain(nameOf(-3));
    expect(await partitionOf(coming.id)).toBe(`jobs_${nameOf(-3)}`);
    await app.db.write((tx) => tx.rows(sql`DELETE FROM jobs WHERE id = ${coming.id}`));
  });

  test("raise an alert with the reason if a partition cannot be added", async () => {
    const { app } = server.server;
    const taken = `jobs_${nameOf(-4)}`;
    await app.db.write((tx) => tx.rows(sql.raw(`CREATE TABLE ${taken} (id integer)`)));
    const app_then = { ...app, clock: () => middle(-2) };
    await prepareMonths(app_then);
    const alerts = (await expectOk(server.operator("GET", "/settings/critical_alerts"))).json<object[]>();
    expect(alerts[0]).toEqual(
      expect.objectContaining({
        kind: "job_month_missing",
        message: expect.stringContaining(`relation "${taken}" already exists`),
      }),
    );
    await app.db.write((tx) => tx.rows(sql.raw(`DROP TABLE ${taken}`)));
    await prepareMonths(app_then);
    expect(await partitions("jobs")).toContain(nameOf(-4));
  });

  test("are dropped with their month, except for unfinished ones, and steps of flows that are recent", async () => {
    const unfinished = jobOf(middle(3), 10, { ...QUEUED });
    const flow = jobOf(middle(0), 11);
    const step = jobOf(middle(3), 12, { parent_job: flow.id, root_job: flow.id, flow_step_id: "a" });
    await store([unfinished, flow, step]);
    const content = [{ job_id: step.id, seq: 0, content: "of the step" }];
    await server.server.app.db.write((tx) => tx.insert(jobLogs).values(content));
    const cutoff = new Date(middle(2).getTime() - 5 * DAY_MS);
    const client = new SQL({ url: database.url, max: 1 });
    await client.begin(async (reader) => {
      await reader`SELECT 1 FROM jobs WHERE id = ${step.id}`;
      await prune(cutoff);
    });
    await client.close();
    expect(await partitions("jobs")).toContain(nameOf(3));
    await prune(cutoff);
    for (const { table, key } of TABLES) {
      expect(await partitions(table)).not.toContain(nameOf(3));
      const { from, to } = getMonthOf(middle(3));
      const left = await rows<{ id: string }>(
        sql`SELECT ${sql.identifier(key)} AS id FROM ${sql.identifier(table)} WHERE ${sql.identifier(key)} >= ${from} AND ${sql.identifier(key)} < ${to}`,
      );
      const kept = { jobs: [unfinished.id, step.id], job_logs: [step.id] }[table] ?? [];
      expect([table, ...left.map(({ id }) => id).sort()]).toEqual([table, ...kept]);
    }
    expect((await ask("GET", `/w/acme/jobs_u/get/${jobOf(middle(3), 1).id}`)).status).toBe(404);
    expect((await ask("GET", `/w/acme/jobs_u/get/${CHOSEN}`)).status).toBe(404);
    expect((await ask("GET", `/w/acme/jobs_u/get_logs/${step.id}`)).text).toContain("of the step");
    // Expired, but in a month that will be dropped as a whole.
    expect(await partitionOf(jobOf(middle(2), 1).id)).toBe(`jobs_${nameOf(2)}`);
  });

  test("stay with a month with many recent ones, until a month later the others are deleted one by one", async () => {
    const young = Array.from({ length: 251 }, (_, n) =>
      jobOf(middle(2), 100 + n, { completed_at: new Date() }),
    );
    await store(young);
    await prune(new Date(middle(1).getTime() - 5 * DAY_MS));
    expect(await partitionOf(jobOf(middle(2), 1).id)).toBe(`jobs_${nameOf(2)}`);
    await prune(new Date(middle(0).getTime() - 12 * DAY_MS));
    expect(await partitions("jobs")).toContain(nameOf(2));
    expect(await partitions("jobs")).not.toContain(nameOf(1));
    expect(await partitionOf(jobOf(middle(2), 1).id)).toBeUndefined();
    expect(await partitionOf(young[0]!.id)).toBe(`jobs_${nameOf(2)}`);
  });

  test("of a workspace are renamed and deleted with it in all partitions, and no others", async () => {
    // So many that some have the same positions in their partition as those of the workspace in theirs.
    const others = Array.from({ length: 300 }, (_, n) => jobOf(middle(-1), n, { workspace_id: "other" }));
    await store(others);
    const [own] = await rows<{ count: string }>(sql`SELECT count(*) FROM jobs WHERE workspace_id = 'acme'`);
    const name = { new_id: "renamed", new_name: "renamed" };
    await expectOk(server.operator("POST", "/w/acme/workspaces/change_workspace_id", name));
    const count = sql`SELECT workspace_id AS id, count(*) AS count FROM jobs GROUP BY 1 ORDER BY 1`;
    expect(await rows<object>(count)).toEqual([
      { id: "other", count: "300" },
      { id: "renamed", count: own!.count },
    ]);
    await expectOk(server.operator("DELETE", "/workspaces/delete/renamed"));
    expect(await rows<object>(count)).toEqual([{ id: "other", count: "300" }]);
  });
});

/** Rows past their retention period are deleted, others stay, and the server remains responsive. */
import { Database as SqliteFile } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { asc, eq } from "drizzle-orm";
import { variables } from "../../../../src/features/assets/variable-tables.ts";
import { flowUserStates } from "../../../../src/features/code/flows/tables.ts";
import { stripLogHeader } from "../../../../src/features/runs/job/log-header.ts";
import { auditLog } from "../../../../src/features/signals/audit/tables.ts";
import {
  idempotencyKeys,
  jobCache,
  jobLogs,
  jobStreams,
  jobs,
  type NewJob,
} from "../../../../src/platform/queue/tables.ts";
import { deploy, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";
import { advanceClock, DAY_S, prune, RETENTION, secondsAgo } from "./retention-setup.ts";

const job = (id: string, more: Partial<NewJob> = {}): NewJob => ({
  id,
  workspace_id: "acme",
  kind: "script",
  state: "completed",
  status: "success",
  created_by: "admin",
  permissioned_as: "u/admin",
  email: "admin_acme@example.org",
  created_at: secondsAgo(30 * DAY_S),
  scheduled_for: secondsAgo(30 * DAY_S),
  completed_at: secondsAgo(30 * DAY_S),
  tag: "bun",
  args: "{}",
  result: "1",
  ...more,
});

async function store({ server }: TestServer, rows: NewJob[]): Promise<void> {
  for (let at = 0; at < rows.length; at += 500) {
    await server.app.db.write((tx) => tx.insert(jobs).values(rows.slice(at, at + 500)));
  }
}

const idsOf = async ({ server }: TestServer) =>
  (await server.app.db.read.select({ id: jobs.id }).from(jobs).orderBy(asc(jobs.id))).map(({ id }) => id);

describe("a completed job", () => {
  test("is deleted after its retention, with its log and stream", async () => {
    await using server = await startTestServer(RETENTION);
    const { ask } = await server.workspace();
    const content = `export async function* main() {
      console.log("printed"); await Bun.sleep(700); console.log("again"); yield "streamed";
    }`;
    await deploy(ask, "acme", "u/admin/goes", content);
    const run = async () => {
      await expectOk(ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/goes", {}));
      return (await ask("GET", "/w/acme/jobs/list?per_page=1")).json()[0].id as string;
    };
    const first = await run();
    const { db } = server.server.app;
    expect((await db.read.select().from(jobLogs)).length).toBeGreaterThan(1);
    expect(await db.read.select().from(jobStreams)).toHaveLength(1);

    advanceClock(server, DAY_S - 60);
    const second = await run();
    await prune(server);
    expect(stripLogHeader((await ask("GET", `/w/acme/jobs_u/get_logs/${first}`)).text)).toBe(
      "printed\nagain\n",
    );

    advanceClock(server, DAY_S + 60);
    await prune(server);
    expect((await ask("GET", `/w/acme/jobs_u/get/${first}`)).status).toBe(404);
    expect((await ask("GET", `/w/acme/jobs_u/get_logs/${first}`)).status).toBe(404);
    for (const table of [jobLogs, jobStreams]) {
      const kept = await db.read.select({ of: table.job_id }).from(table);
      expect(new Set(kept.map(({ of }) => of))).toEqual(new Set([second]));
    }
    expect((await ask("GET", `/w/acme/jobs_u/completed/get_result/${second}`)).json()).toBe("streamed");
  });

  test("is deleted with the values that scripts of its flow share", async () => {
    await using server = await startTestServer(RETENTION);
    await server.workspace();
    const { db } = server.server.app;
    await store(server, [job("old"), job("young", { completed_at: secondsAgo(60) })]);
    const kept = ["old", "young"].map((job_id) => ({ job_id, key: "seen", value: 1 }));
    await db.write((tx) => tx.insert(flowUserStates).values(kept));
    await prune(server);
    expect(await idsOf(server)).toEqual(["young"]);
    expect(await db.read.select().from(flowUserStates)).toEqual([kept[1]!]);
  });

  test("is kept forever with a retention of 0, and so are audit rows", async () => {
    await using server = await startTestServer({ retention_s: 0, audit_retention_s: 0 });
    await server.workspace();
    await store(server, [job("old")]);
    advanceClock(server, 5_000 * DAY_S);
    await prune(server);
    expect(await idsOf(server)).toEqual(["old"]);
    expect((await server.server.app.db.read.select().from(auditLog)).length).toBeGreaterThan(0);
  });

  test("in any state and flow stays if it is unfinished, or has a recent or unfinished parent", async () => {
    await using server = await startTestServer({ ...RETENTION, workers: 1 });
    const unfinished = { completed_at: null, status: null, result: null } as const;
    const far = new Date(Date.now() + 365 * DAY_S * 1000);
    const running = { ...unfinished, state: "running", worker: "another", last_ping: new Date() } as const;
    const stays: NewJob[] = [
      job("queued", { ...unfinished, state: "queued", scheduled_for: far }),
      job("running", running),
      job("young", { completed_at: secondsAgo(DAY_S - 60) }),
      job("of-running", { parent_job: "running" }),
      job("of-queued", { root_job: "queued" }),
      job("of-young", { parent_job: "gone", root_job: "young" }),
    ];
    const goes: NewJob[] = [
      job("old", { completed_at: secondsAgo(DAY_S + 60) }),
      job("failed", { status: "failure" }),
      job("canceled", { status: "canceled" }),
      job("of-old", { parent_job: "old", root_job: "old" }),
      job("of-nobody", { parent_job: "gone", root_job: "gone" }),
    ];
    // More than one batch, all of the same time.
    const many = Array.from({ length: 600 }, (_, n) => job(`kept-${n}`, { parent_job: "running" }));
    const few = Array.from({ length: 600 }, (_, n) => job(`left-${n}`));
    await store(server, [...stays, ...goes, ...many, ...few]);
    await prune(server);
    expect(await idsOf(server)).toEqual([...stays, ...many].map(({ id }) => id).sort());
  });

  test("is deleted with a log of any size and number of pieces", async () => {
    await using server = await startTestServer(RETENTION);
    const { db } = server.server.app;
    const piece = (job_id: string, seq: number, content: string) => ({ job_id, seq, content });
    const pieces = [
      Array.from({ length: 900 }, (_, seq) => piece("a", seq, "line\n")),
      ...Array.from({ length: 6 }, (_, seq) => [piece("b", seq, "x".repeat(600_000))]),
      [piece("c", 1, "x".repeat(3_000_000))],
      [piece("young", 1, "stays")],
    ];
    for (const table of [jobLogs, jobStreams]) {
      for (const some of pieces) await db.write((tx) => tx.insert(table).values(some));
    }
    // Last, because the server's own pruner may run in between, and then skips later rows.
    await store(server, [job("a"), job("b"), job("c"), job("young", { completed_at: new Date() })]);
    await prune(server);
    expect(await idsOf(server)).toEqual(["young"]);
    for (const table of [jobLogs, jobStreams]) {
      expect(await db.read.select().from(table)).toEqual([piece("young", 1, "stays")]);
    }
  });
});

test("cached results, idempotency keys, variables and audit rows are deleted after their retention", async () => {
  await using server = await startTestServer(RETENTION);
  const { db } = server.server.app;
  const soon = new Date(Date.now() + 60_000);
  const cached = (key: string, expires_at: Date) => ({ key, workspace_id: "acme", result: "1", expires_at });
  const idempotent = (key: string, created_at: Date) => ({
    workspace_id: "acme",
    email: "ann@example.org",
    key,
    fingerprint: "",
    job_id: key,
    created_at,
  });
  const variable = (path: string, expires_at: Date | null) => ({
    workspace_id: "acme",
    path,
    value: "",
    is_secret: false,
    description: "",
    is_oauth: false,
    expires_at,
    extra_perms: {},
  });
  const audited = (username: string, timestamp: Date) => ({
    workspace_id: "acme",
    timestamp,
    username,
    email: "",
    operation: "",
    action_kind: "",
  });
  const many = Array.from({ length: 600 }, (_, n) => n);
  await db.write(async (tx) => {
    await tx.delete(auditLog);
    const keys = [...many.map((n) => cached(`old-${n}`, secondsAgo(n))), cached("new", soon)];
    await tx.insert(jobCache).values(keys);
    await tx
      .insert(idempotencyKeys)
      .values([
        ...many.map((n) => idempotent(`old-${n}`, secondsAgo(DAY_S + n))),
        idempotent("new", secondsAgo(DAY_S - 60)),
      ]);
    await tx
      .insert(variables)
      .values([variable("u/a/old", secondsAgo(1)), variable("u/a/new", soon), variable("u/a/lasting", null)]);
    await tx
      .insert(auditLog)
      .values([...many.map(() => audited("old", secondsAgo(3 * DAY_S))), audited("new", secondsAgo(DAY_S))]);
  });
  await prune(server);
  expect((await db.read.select().from(jobCache)).map(({ key }) => key)).toEqual(["new"]);
  expect((await db.read.select().from(idempotencyKeys)).map(({ key }) => key)).toEqual(["new"]);
  const paths = await db.read.select().from(variables).orderBy(asc(variables.path));
  expect(paths.map(({ path }) => path)).toEqual(["u/a/lasting", "u/a/new"]);
  expect((await db.read.select().from(auditLog)).map(({ username }) => username)).toEqual(["new"]);
});

test("10,000 jobs are deleted while the server responds, also by two pruners, and the file shrinks", async () => {
  await using server = await startTestServer(RETENTION);
  const { ask } = await server.workspace();
  const { db } = server.server.app;
  await deploy(ask, "acme", "u/admin/fine", "export const main = (n: number) => n + 1");
  const now = new Date();
  const rows = Array.from({ length: 10_000 }, (_, n) => {
    const result = JSON.stringify("x".repeat(1_500));
    return job(Bun.randomUUIDv7(), { completed_at: now, result, script_path: `u/admin/s${n % 50}` });
  });
  await store(server, rows);
  for (let at = 0; at < rows.length; at += 500) {
    const logs = rows
      .slice(at, at + 500)
      .map(({ id }) => ({ job_id: id, seq: 1, content: "line\n".repeat(100) }));
    await db.write((tx) => tx.insert(jobLogs).values(logs));
  }
  const size = () => statSync(join(server.data_dir, "svc.db"), { throwIfNoEntry: false })?.size ?? 0;
  if (db.dialect === "sqlite") {
    const connection = new SqliteFile(join(server.data_dir, "svc.db"));
    connection.run("PRAGMA wal_checkpoint(TRUNCATE)");
    connection.close();
    expect(size()).toBeGreaterThan(20_000_000);
  }
  advanceClock(server, 2 * DAY_S);
  let pruning = true;
  const pruned = Promise.all([prune(server), prune(server)]).finally(() => {
    pruning = false;
  });
  let answered = 0;
  while (pruning) {
    const answer = await ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/fine", { n: answered });
    expect(answer.json()).toBe(++answered);
  }
  await pruned;
  expect(answered).toBeGreaterThan(5);
  const left = await db.read.select({ path: jobs.script_path }).from(jobs).where(eq(jobs.kind, "script"));
  expect(new Set(left.map(({ path }) => path))).toEqual(new Set(["u/admin/fine"]));
  expect(await db.read.select().from(jobLogs)).toEqual([]);
  if (db.dialect === "sqlite") expect(size()).toBeLessThan(10_000_000);
}, 120_000);

/** What has had its time goes, what has not stays, and the server goes on meanwhile. */

import { Database as SqliteFile } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, statSync, utimesSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { asc, eq } from "drizzle-orm";
import { dialect } from "../../../../src/database/kit.ts";
import { variables } from "../../../../src/features/assets/variable-tables.ts";
import { flowUserStates } from "../../../../src/features/code/flows/tables.ts";
import { createFilePruner, createPruner } from "../../../../src/features/lifecycle/retention/pruner.ts";
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
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
/** Jobs are kept for a day in most of these tests. */
const KEPT = { retention_s: DAY_S, audit_retention_s: 2 * DAY_S };

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);

/** Moves the server's clock on. */
function pass({ server }: TestServer, seconds: number): void {
  Object.assign(server.app, { clock: () => new Date(Date.now() + seconds * 1000) });
}

const prune = async ({ server }: TestServer) => {
  await createPruner(server.app).prune();
  await createFilePruner(server.app).prune();
};

const job = (id: string, more: Partial<NewJob> = {}): NewJob => ({
  id,
  workspace_id: "acme",
  kind: "script",
  state: "completed",
  status: "success",
  created_by: "admin",
  permissioned_as: "u/admin",
  email: "admin_acme@example.org",
  created_at: ago(30 * DAY_S),
  scheduled_for: ago(30 * DAY_S),
  completed_at: ago(30 * DAY_S),
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
    await using server = await startTestServer(KEPT);
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

    pass(server, DAY_S - 60);
    const second = await run();
    await prune(server);
    expect(stripLogHeader((await ask("GET", `/w/acme/jobs_u/get_logs/${first}`)).text)).toBe(
      "printed\nagain\n",
    );

    pass(server, DAY_S + 60);
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
    await using server = await startTestServer(KEPT);
    await server.workspace();
    const { db } = server.server.app;
    await store(server, [job("old"), job("young", { completed_at: ago(60) })]);
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
    pass(server, 5_000 * DAY_S);
    await prune(server);
    expect(await idsOf(server)).toEqual(["old"]);
    expect((await server.server.app.db.read.select().from(auditLog)).length).toBeGreaterThan(0);
  });

  test("in any state and flow stays if it is unfinished, or has a recent or unfinished parent", async () => {
    await using server = await startTestServer({ ...KEPT, workers: 1 });
    const unfinished = { completed_at: null, status: null, result: null } as const;
    const far = new Date(Date.now() + 365 * DAY_S * 1000);
    const running = { ...unfinished, state: "running", worker: "another", last_ping: new Date() } as const;
    const stays: NewJob[] = [
      job("queued", { ...unfinished, state: "queued", scheduled_for: far }),
      job("running", running),
      job("young", { completed_at: ago(DAY_S - 60) }),
      job("of-running", { parent_job: "running" }),
      job("of-queued", { root_job: "queued" }),
      job("of-young", { parent_job: "gone", root_job: "young" }),
    ];
    const goes: NewJob[] = [
      job("old", { completed_at: ago(DAY_S + 60) }),
      job("failed", { status: "failure" }),
      job("canceled", { status: "canceled" }),
      job("of-old", { parent_job: "old", root_job: "old" }),
      job("of-nobody", { parent_job: "gone", root_job: "gone" }),
    ];
    // More than fits into one look, and all of one moment.
    const many = Array.from({ length: 600 }, (_, n) => job(`kept-${n}`, { parent_job: "running" }));
    const few = Array.from({ length: 600 }, (_, n) => job(`left-${n}`));
    await store(server, [...stays, ...goes, ...many, ...few]);
    await prune(server);
    expect(await idsOf(server)).toEqual([...stays, ...many].map(({ id }) => id).sort());
  });

  test("is deleted with a log of any size and number of pieces", async () => {
    await using server = await startTestServer(KEPT);
    const { db } = server.server.app;
    await store(server, [job("a"), job("b"), job("c"), job("young", { completed_at: new Date() })]);
    const piece = (job_id: string, seq: number, content: string) => ({ job_id, seq, content });
    const pieces = [
      ...Array.from({ length: 900 }, (_, seq) => piece("a", seq, "line\n")),
      ...Array.from({ length: 6 }, (_, seq) => piece("b", seq, "x".repeat(600_000))),
      piece("c", 1, "x".repeat(3_000_000)),
      piece("young", 1, "stays"),
    ];
    for (const table of [jobLogs, jobStreams]) {
      for (const each of pieces) await db.write((tx) => tx.insert(table).values(each));
    }
    await prune(server);
    expect(await idsOf(server)).toEqual(["young"]);
    for (const table of [jobLogs, jobStreams]) {
      expect(await db.read.select().from(table)).toEqual([piece("young", 1, "stays")]);
    }
  });
});

test("cached results, idempotency keys, variables and audit rows are deleted after their retention", async () => {
  await using server = await startTestServer(KEPT);
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
    const keys = [...many.map((n) => cached(`old-${n}`, ago(n))), cached("new", soon)];
    await tx.insert(jobCache).values(keys);
    await tx
      .insert(idempotencyKeys)
      .values([
        ...many.map((n) => idempotent(`old-${n}`, ago(DAY_S + n))),
        idempotent("new", ago(DAY_S - 60)),
      ]);
    await tx
      .insert(variables)
      .values([variable("u/a/old", ago(1)), variable("u/a/new", soon), variable("u/a/lasting", null)]);
    await tx
      .insert(auditLog)
      .values([...many.map(() => audited("old", ago(3 * DAY_S))), audited("new", ago(DAY_S))]);
  });
  await prune(server);
  expect((await db.read.select().from(jobCache)).map(({ key }) => key)).toEqual(["new"]);
  expect((await db.read.select().from(idempotencyKeys)).map(({ key }) => key)).toEqual(["new"]);
  const paths = await db.read.select().from(variables).orderBy(asc(variables.path));
  expect(paths.map(({ path }) => path)).toEqual(["u/a/lasting", "u/a/new"]);
  expect((await db.read.select().from(auditLog)).map(({ username }) => username)).toEqual(["new"]);
});

test("10,000 jobs are deleted while the server responds, also by two pruners, and the file shrinks", async () => {
  await using server = await startTestServer(KEPT);
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
  pass(server, 2 * DAY_S);
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
}, 60_000);

describe("files of versions", () => {
  const folderOf = (server: TestServer, hash: string) => join(server.data_dir, "runner/versions/acme", hash);
  const call = (ask: Ask, name: string, args = {}) =>
    ask("POST", `/w/acme/jobs/run_wait_result/p/u/admin/${name}`, args);
  const noneWarm = ({ server }: TestServer) =>
    until(() => (server.app.runner.stats().idle === 0 ? true : undefined), "warm processes to end");

  test("are deleted with their dependencies when unused, and recreated on demand", async () => {
    await using server = await startTestServer({ ...KEPT, child_idle_s: 0.1 });
    const { ask } = await server.workspace();
    const content = 'import isNumber from "is-number"; export const main = () => isNumber(1)';
    const hash = await deploy(ask, "acme", "u/admin/depends", content);
    expect((await call(ask, "depends")).text).toBe("true");
    const dependencies = join(server.data_dir, "runner/dependencies");
    const [installed] = readdirSync(dependencies);
    await noneWarm(server);

    await prune(server);
    expect(existsSync(folderOf(server, hash))).toBe(true);
    expect(readdirSync(dependencies)).toEqual([installed!]);

    pass(server, DAY_S + 60);
    await prune(server);
    expect(existsSync(folderOf(server, hash))).toBe(false);
    expect(readdirSync(dependencies)).toEqual([]);
    expect((await call(ask, "depends")).text).toBe("true");
    expect(readdirSync(dependencies)).toEqual([installed!]);
  }, 60_000);

  test("are kept while a process runs them", async () => {
    await using server = await startTestServer(KEPT);
    const { ask } = await server.workspace();
    // What it will load later it needs on disk: a module of its own, and a package.
    const later = `export const mark = "there";
      export async function main(late: boolean) {
        return late ? [(await import(import.meta.path)).mark, (await import("is-number")).default(1)] : [];
      }`;
    const warm = await deploy(ask, "acme", "u/admin/warm", later);
    const idle = await deploy(ask, "acme", "u/admin/idle", "export const main = () => 1");
    expect((await call(ask, "warm", { late: false })).json()).toEqual([]);
    pass(server, DAY_S + 60);
    await prune(server);
    expect([warm, idle].map((hash) => existsSync(folderOf(server, hash)))).toEqual([true, false]);
    expect((await call(ask, "warm", { late: true })).json()).toEqual(["there", true]);
    expect((await call(ask, "idle")).json()).toBe(1);
  }, 60_000);

  // The files are the same with either database; only the embedded one is found again in the folder.
  test.skipIf(dialect !== "sqlite")("are known to be in use by the server that comes after", async () => {
    const data_dir = await mkdtemp(join(tmpdir(), "svc-files-"));
    const first = await startTestServer({ ...KEPT, data_dir });
    const { ask, token } = await first.workspace();
    const folders: Record<string, string> = {};
    for (const name of ["unused", "used", "new"]) {
      const hash = await deploy(ask, "acme", `u/admin/${name}`, `export const main = () => "${name}"`);
      folders[name] = folderOf(first, hash);
      await expectOk(call(ask, name));
    }
    await first.stop();
    const long = ago(10 * DAY_S);
    for (const name of ["unused", "used"]) utimesSync(folders[name]!, long, long);

    const second = await startTestServer({ ...KEPT, data_dir, child_idle_s: 0.1 });
    await expectOk(call(second.as(token), "used"));
    await noneWarm(second);
    await prune(second);
    await second.stop();
    expect(readdirSync(join(data_dir, "runner/versions/acme")).sort()).toEqual(
      [basename(folders.used!), basename(folders.new!)].sort(),
    );
    expect(statSync(folders.used!).mtimeMs).toBeGreaterThan(Date.now() - HOUR_S * 1000);
    await rm(data_dir, { recursive: true, force: true });
  });
});

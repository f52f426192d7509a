/** Groups of jobs that share a concurrency key. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { auditLog } from "../../../../../src/features/signals/audit/tables.ts";
import { jobs, type NewJob } from "../../../../../src/platform/queue/tables.ts";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../../support/harness.ts";
import { completedRow, FUTURE, HOUR, idOf, QUEUED, RUNNING } from "../../../../support/job-rows.ts";

let server: TestServer;
let ask: Ask;

const KEY = "acme/script/u/admin/limited";
const MADE = new Date(Date.now() - 10 * HOUR);

/** The number distinguishes the jobs of a group where other fields are hidden. */
function job(n: number, more: Partial<NewJob>): NewJob {
  return completedRow(idOf(n), MADE, {
    started_at: new Date(MADE.getTime() + n),
    duration_ms: n,
    concurrency_key: KEY,
    concurrent_limit: 1,
    concurrency_time_window_s: 600,
    ...more,
  });
}

beforeAll(async () => {
  server = await startTestServer({ workers: 1, retention_s: 0 });
  ({ ask } = await server.workspace());
  await server.workspace("other");
  const rows = [
    job(1, {}),
    job(2, { permissioned_as: "u/reader", email: "reader@example.org" }),
    job(3, { ...RUNNING, script_path: "u/reader/mine" }),
    job(4, { ...QUEUED, concurrency_blocked: true }),
    job(5, { concurrency_key: "another" }),
    job(6, { concurrency_key: null }),
    job(7, { workspace_id: "other", ...RUNNING }),
    job(8, { workspace_id: "other", ...QUEUED, concurrency_key: "waits only" }),
  ];
  await server.server.app.db.write((tx) => tx.insert(jobs).values(rows));
});
afterAll(() => server.stop());

const list = async (query: string, by: Ask = ask) =>
  (await expectOk(by("GET", `/w/acme/concurrency_groups/list_jobs?${query}`))).json();
const key = `concurrency_key=${encodeURIComponent(KEY)}`;
const ids = (found: any) => found.jobs.map((one: any) => one.id);

test("the jobs of a key are listed; of those that a member may not see, only their times", async () => {
  expect(ids(await list(key))).toEqual([idOf(4), idOf(3), idOf(2), idOf(1)]);
  expect(await list(key)).toMatchObject({ obscured_jobs: [], omitted_obscured_jobs: false });
  expect(ids(await list(`${key}&row_limit=2&order_desc=false`))).toEqual([idOf(1), idOf(2)]);
  expect(ids(await list(""))).toHaveLength(6);

  const { ask: reader } = await server.member("acme", "reader");
  const found = await list(key, reader);
  expect(ids(found)).toEqual([idOf(3), idOf(2)]);
  expect(found.obscured_jobs).toEqual([
    { typ: "QueuedJob" },
    { typ: "CompletedJob", started_at: new Date(MADE.getTime() + 1).toISOString(), duration_ms: 1 },
  ]);
  const timed = await list(`${key}&running=true&created_before=${MADE.toISOString()}`, reader);
  expect([ids(timed), timed.omitted_obscured_jobs]).toEqual([[idOf(3)], false]);
  // Any other filter would reveal hidden fields by its matches.
  for (const filter of ["tag=bun", "created_by=admin", "args=%7B%7D", "script_path_start=u"]) {
    const filtered = await list(`${key}&${filter}`, reader);
    expect([ids(filtered), filtered.obscured_jobs]).toEqual([[idOf(3), idOf(2)], []]);
    expect(filtered.omitted_obscured_jobs).toBe(true);
  }
  expect(ids(await list("", reader))).toEqual([idOf(3), idOf(2)]);
});

test("the groups of the instance are for super admins", async () => {
  const groups = (await expectOk(server.operator("GET", "/concurrency_groups/list"))).json();
  expect(groups).toHaveLength(3);
  expect(groups).toContainEqual({ concurrency_key: KEY, workspace_id: "acme", total_running: 1 });
  expect(groups).toContainEqual({ concurrency_key: KEY, workspace_id: "other", total_running: 1 });
  expect(groups[2]).toEqual({ concurrency_key: "waits only", workspace_id: "other", total_running: 0 });
  expect((await ask("GET", "/concurrency_groups/list")).status).toBe(403);
});

test("a job's key is returned to users who may see the job", async () => {
  const keyOf = (n: number, by: Ask) => by("GET", `/concurrency_groups/${idOf(n)}/key`);
  expect((await expectOk(keyOf(1, ask))).json()).toBe(KEY);
  expect((await expectOk(keyOf(6, ask))).json()).toBeNull();
  const { ask: stranger } = await server.member("acme", "stranger");
  const nobody = await server.user("nobody");
  for (const by of [stranger, nobody.ask]) expect((await keyOf(1, by)).status).toBe(404);
  expect((await keyOf(7, ask)).status).toBe(404);
  const bound = async (workspace_id: string) => {
    const made = ask("POST", "/users/tokens/create", { workspace_id });
    return server.as((await expectOk(made)).text);
  };
  expect((await keyOf(1, await bound("acme"))).status).toBe(200);
  expect((await ask("GET", "/concurrency_groups/one/key")).status).toBe(400);
});

test("a group is pruned when none of its jobs runs, and blocked jobs become due", async () => {
  const prune = (by: Ask = server.operator, query = "") =>
    by("DELETE", `/concurrency_groups/prune/${KEY}${query}`);
  expect((await prune(ask)).status).toBe(403);
  const busy = await prune();
  expect([busy.status, busy.text]).toEqual([400, expect.stringContaining("1 jobs")]);
  const { db } = server.server.app;
  const waiting = async () =>
    (
      await db.read
        .select()
        .from(jobs)
        .where(eq(jobs.id, idOf(4)))
    )[0]!;
  expect((await waiting()).concurrency_blocked).toBe(true);
  await db.write((tx) => tx.delete(jobs).where(eq(jobs.id, idOf(3))));
  // It still runs in the other workspace.
  expect((await prune()).status).toBe(400);
  expect((await expectOk(prune(server.operator, "?workspace_id=acme"))).json().message).toStartWith(
    "forgot 2 jobs",
  );
  const freed = await waiting();
  expect([freed.concurrency_blocked, freed.scheduled_for.getTime() < FUTURE.getTime()]).toEqual([
    false,
    true,
  ]);
  const keyOf = async (n: number) => (await ask("GET", `/concurrency_groups/${idOf(n)}/key`)).json();
  expect([await keyOf(1), await keyOf(5)]).toEqual([null, "another"]);
  expect((await server.operator("DELETE", "/concurrency_groups/prune/none/such")).status).toBe(404);
  const audited = await db.read
    .select()
    .from(auditLog)
    .where(eq(auditLog.operation, "concurrency_groups.prune"));
  expect(audited.map((row) => [row.resource, row.parameters])).toEqual([[KEY, { workspace_id: "acme" }]]);
});

test("a group with more jobs than one transaction changes is pruned completely, and no other", async () => {
  await using many = await startTestServer({ workers: 0, retention_s: 0 });
  const { ask: by } = await many.workspace();
  const { db } = many.server.app;
  const rows = Array.from({ length: 2_500 }, (_, n) => [
    job(n, { concurrency_key: "crowd" }),
    job(n + 10_000, { ...QUEUED, concurrency_key: "crowd", concurrency_blocked: true, priority: n % 3 }),
  ]).flat();
  rows.push(job(20_000, { ...QUEUED, concurrency_key: "another", concurrency_blocked: true }));
  await db.write(async (tx) => {
    for (let at = 0; at < rows.length; at += 100) await tx.insert(jobs).values(rows.slice(at, at + 100));
  });
  const answer = await expectOk(many.operator("DELETE", "/concurrency_groups/prune/crowd"));
  expect(answer.json().message).toStartWith("forgot 2500 jobs");
  const kept = await db.read.select().from(jobs).where(eq(jobs.concurrency_key, "crowd"));
  expect(kept).toHaveLength(2_500);
  expect(kept.filter((row) => row.concurrency_blocked || row.scheduled_for >= FUTURE)).toEqual([]);
  const blocked = await db.read.select({ id: jobs.id }).from(jobs).where(eq(jobs.concurrency_blocked, true));
  expect(blocked).toEqual([{ id: idOf(20_000) }]);
  expect((await by("GET", `/concurrency_groups/${idOf(1)}/key`)).json()).toBeNull();
}, 60_000);

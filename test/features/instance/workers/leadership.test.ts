/** One of the servers of a PostgreSQL leads: it runs the leader tasks, and another takes over from it. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { createLeadership, LEADER_LEASE_MS } from "../../../../src/platform/cluster/leadership.ts";
import { leaders } from "../../../../src/platform/cluster/tables.ts";
import { createPeriodicTask } from "../../../../src/platform/loops/periodic-task.ts";
import { jobs } from "../../../../src/platform/queue/tables.ts";
import {
  type Ask,
  createDatabase,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";
import { SVC_SECRET_KEY } from "../../../support/two-servers.ts";

setDefaultTimeout(90_000);
/** Allowance for polling and a busy machine, beyond the stated time. */
const SLACK_MS = 5_000;

test("a server with its own database always leads", async () => {
  if (process.env.DATABASE_URL) return;
  await using server = await startTestServer();
  expect(server.server.app.leader.isLeader()).toBe(true);
});

describe.skipIf(!process.env.DATABASE_URL)("of several servers", () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let shared: { database_url: string; secret_key: string };
  let front: TestServer;
  let ask: Ask;
  const leads = ({ server }: TestServer) => server.app.leader.isLeader();
  const whoLeads = async ({ server }: TestServer) =>
    (await server.app.db.read.select().from(leaders))[0]?.server;

  beforeAll(async () => {
    database = await createDatabase(process.env.DATABASE_URL!, "migrated");
    shared = { database_url: database.url, secret_key: SVC_SECRET_KEY };
    front = await startTestServer(shared);
    await until(() => leads(front) || undefined, "the first leader");
    ({ ask } = await front.workspace());
    await deploy(ask, "acme", "u/admin/ticks", "export const main = () => 1");
  });
  afterAll(async () => {
    await front.stop();
    await database.drop();
  });

  const schedule = (at: Ask, path: string) =>
    expectOk(
      at("POST", "/w/acme/schedules/create", {
        path,
        schedule: "* * * * * *",
        timezone: "UTC",
        script_path: "u/admin/ticks",
        is_flow: false,
        args: {},
        enabled: true,
      }),
    );
  const runsOf = async (path: string): Promise<object[]> =>
    (
      await expectOk(
        ask("GET", `/w/acme/jobs/list?schedule_path=${path}&scheduled_for_before_now=true&per_page=100`),
      )
    ).json();

  test("one leads, and runs tasks that others wake", async () => {
    await using back = await startTestServer(shared);
    const atBack = back.as((await front.user("ben", { super_admin: true })).token);
    expect([leads(front), leads(back)]).toEqual([true, false]);
    const began = performance.now();
    await schedule(atBack, "u/admin/at-back");
    await until(async () => ((await runsOf("u/admin/at-back")).length >= 3 ? true : undefined), "three runs");
    expect(performance.now() - began).toBeLessThan(10_000);
    expect([leads(front), leads(back)]).toEqual([true, false]);
    await expectOk(ask("DELETE", "/w/acme/schedules/delete/u/admin/at-back"));
    const rows = await front.server.app.db.read
      .select({ due: jobs.scheduled_for })
      .from(jobs)
      .where(eq(jobs.schedule_path, "u/admin/at-back"));
    expect(new Set(rows.map(({ due }) => due.getTime())).size).toBe(rows.length);
  });

  test("a task of the leader runs on one of them alone", async () => {
    await using back = await startTestServer(shared);
    const runs = new Map<TestServer, number>([front, back].map((each) => [each, 0]));
    const tasks = [front, back].map((each) =>
      createPeriodicTask(each.server.app, {
        leader_task: "counting",
        failure_message: "it could not be counted",
        interval_ms: 5,
        run: async () => void runs.set(each, runs.get(each)! + 1),
      }),
    );
    await Promise.all(tasks.map((task) => task.start()));
    await until(() => (runs.get(front)! >= 50 ? true : undefined), "fifty runs");
    await Promise.all(tasks.map((task) => task.stop()));
    expect(runs.get(back)).toBe(0);
  });

  test("a leader that stops resigns: the next one leads at once", async () => {
    const { app } = front.server;
    await using back = await startTestServer(shared);
    await using third = await startTestServer(shared);
    expect([leads(back), leads(third)]).toEqual([false, false]);
    await front.stop();
    const began = performance.now();
    const next = await until(() => [back, third].find(leads), "the next leader");
    // Notified by NOTIFY, long before a lease has expired.
    expect(performance.now() - began).toBeLessThan(LEADER_LEASE_MS / 3);
    expect(await whoLeads(next)).toBe(next.server.app.queue.worker);
    expect(app.leader.isLeader()).toBe(false);
    front = await startTestServer(shared);
    ask = front.as((await back.user("eve", { super_admin: true })).token);
  });

  test("a killed leader is replaced when its lease expires", async () => {
    await front.stop();
    const data_dir = mkdtempSync(join(tmpdir(), "svc-leader-"));
    const killed = Bun.spawn(
      [process.execPath, join(import.meta.dir, "../../../../cli/main.ts"), "serve", "--port", "0", "--json"],
      {
        env: {
          ...process.env,
          DATABASE_URL: database.url,
          SVC_SECRET_KEY,
          SVC_DATA_DIR: data_dir,
          SVC_LOG_LEVEL: "fatal",
        },
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    try {
      for await (const piece of killed.stdout) if (new TextDecoder().decode(piece).includes("pid")) break;
      front = await startTestServer(shared);
      ask = front.as((await front.user("fay", { super_admin: true })).token);
      await schedule(ask, "u/admin/goes-on");
      await until(async () => ((await runsOf("u/admin/goes-on")).length > 0 ? true : undefined), "a run");
      expect(leads(front)).toBe(false);
      killed.kill("SIGKILL");
      await killed.exited;
      const began = performance.now();
      while (!leads(front) && performance.now() - began < LEADER_LEASE_MS + SLACK_MS) await Bun.sleep(20);
      expect(leads(front)).toBe(true);
      const before = (await runsOf("u/admin/goes-on")).length;
      await until(
        async () => ((await runsOf("u/admin/goes-on")).length > before ? true : undefined),
        "a run by the next leader",
      );
    } finally {
      killed.kill("SIGKILL");
      rmSync(data_dir, { recursive: true, force: true });
    }
  });

  test("a leader that cannot renew its lease notices when it no longer leads", async () => {
    const { app } = front.server;
    await until(() => leads(front) || undefined, "the leader");
    let now = app.clock().getTime();
    const other = Object.assign(Object.create(app), {
      queue: { ...app.queue, worker: "another" },
      clock: () => new Date(now),
    });
    const successor = createLeadership(other);
    await successor.start();
    await until(async () => ((await whoLeads(front)) === app.queue.worker ? true : undefined), "its lease");
    expect(successor.isLeader()).toBe(false);
    // For the other server the lease has expired.
    now += LEADER_LEASE_MS * 2;
    await successor.stop();
    await successor.start();
    await until(() => successor.isLeader() || undefined, "the successor");
    // Its own heartbeat finds that another server holds the lease.
    await until(() => !leads(front) || undefined, "the end of the first one's lead");
    await successor.stop();
    await until(() => leads(front) || undefined, "the first one to lead again");
  });
});

/** Jobs whose worker is lost or busy, whose cancellation comes at a critical time, or whose installation hangs. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { stripLogHeader } from "../../../../src/features/runs/job/log-header.ts";
import { createRescuer } from "../../../../src/features/runs/worker/rescuer.ts";
import { type Job, jobLogs, jobs } from "../../../../src/platform/queue/tables.ts";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

let server: TestServer;
let ask: Ask;

beforeEach(async () => {
  server = await startTestServer({ workers: 1, drain_s: 1 });
  ({ ask } = await server.workspace());
});
afterEach(() => server.stop());

const completed = (id: string): Promise<any> =>
  until(async () => {
    const answer = await ask("GET", `/w/acme/jobs_u/completed/get/${id}`);
    return answer.status === 200 ? answer.json() : undefined;
  }, `job ${id}`);

/** A job whose worker seems to be lost. */
async function lostJob(change: Partial<Job>, options: object = {}): Promise<string> {
  await deploy(
    ask,
    "acme",
    "u/admin/lost",
    "export const main = () => { console.log('again'); return 'ran' }",
    options,
  );
  const later = await expectOk(ask("POST", "/w/acme/jobs/run/p/u/admin/lost?scheduled_in_secs=3600", {}));
  const id = later.text;
  const long = new Date(Date.now() - 3_600_000);
  await server.server.app.db.write(async (tx) => {
    const lost = { state: "running", worker: "gone", last_ping: long, started_at: long } as const;
    await tx
      .update(jobs)
      .set({ ...lost, scheduled_for: long, ...change })
      .where(eq(jobs.id, id));
    await tx.insert(jobLogs).values({ job_id: id, seq: 1, content: "before\n" });
  });
  return id;
}

async function rescue(): Promise<void> {
  await createRescuer(server.server.app).rescue();
}

describe("a job that lost its worker", () => {
  test("runs again", async () => {
    const id = await lostJob({});
    await rescue();
    expect((await completed(id)).result).toBe("ran");
    expect(stripLogHeader((await ask("GET", `/w/acme/jobs_u/get_logs/${id}`)).text)).toBe("again\n");
  });

  test("fails after its last attempt", async () => {
    const id = await lostJob({ attempts: 99 });
    await rescue();
    expect((await completed(id)).result.error.name).toBe("WorkerLost");
  });

  test("of a script that restarts until canceled is still followed by the next run", async () => {
    const id = await lostJob({ attempts: 99 }, { restart_unless_cancelled: true });
    await rescue();
    expect((await completed(id)).result.error.name).toBe("WorkerLost");
    const runs = async () => (await ask("GET", "/w/acme/jobs/list?script_path_exact=u/admin/lost")).json();
    expect((await runs())[0]).toMatchObject({ type: "QueuedJob", script_path: "u/admin/lost" });
    await expectOk(ask("POST", "/w/acme/jobs_u/queue/cancel_persistent/u/admin/lost", {}));
  });

  test("fails if its arguments were not stored", async () => {
    const id = await lostJob({ delete_after_use: true, args: "{}" });
    await rescue();
    const job = await completed(id);
    expect([job.success, job.result.error.message]).toEqual([false, expect.stringContaining("not stored")]);
  });

  test("ends as canceled if it was canceled meanwhile", async () => {
    const id = await lostJob({ cancel_requested: true, canceled_by: "ann", canceled_reason: "enough" });
    await rescue();
    const job = await completed(id);
    expect([job.canceled, job.result.error.message]).toEqual([true, "Job canceled: enough by ann"]);
  });
});

test("a cancellation during the claim stops the job", async () => {
  await deploy(
    ask,
    "acme",
    "u/admin/slow",
    "export const main = async (ms: number) => { await Bun.sleep(ms); return 1 }",
  );
  const first = (await ask("POST", "/w/acme/jobs/run/p/u/admin/slow", { ms: 300 })).text;
  for (let round = 0; round < 5; round++) {
    const queued = (await ask("POST", "/w/acme/jobs/run/p/u/admin/slow", { ms: 20_000 })).text;
    server.server.app.queue.wake();
    await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${queued}`, {}));
    expect((await completed(queued)).canceled).toBe(true);
  }
  expect((await completed(first)).success).toBe(true);
});

test("a job that waits for a slot is canceled at once", async () => {
  const code = "export const main = async (ms: number) => { await Bun.sleep(ms); return 1 }";
  await deploy(ask, "acme", "u/admin/waits", code);
  // Short ones first, after which the worker claims jobs ahead.
  for (let i = 0; i < 30; i++) await ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/waits", { ms: 0 });
  const start = () => ask("POST", "/w/acme/jobs/run/p/u/admin/waits", { ms: 60_000 });
  const [first, second] = [(await start()).text, (await start()).text];
  await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${second}`, {}));
  expect((await completed(second)).canceled).toBe(true);
  expect((await ask("GET", `/w/acme/jobs_u/completed/get/${first}`)).status).toBe(404);
  await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${first}`, {}));
  expect((await completed(first)).canceled).toBe(true);
});

test("of two calls with the same job_id one starts a job and the other is rejected", async () => {
  await deploy(ask, "acme", "u/admin/once", "export const main = () => 1");
  const start = () => ask("POST", `/w/acme/jobs/run/p/u/admin/once?job_id=${id}`, {});
  const id = crypto.randomUUID();
  const answers = await Promise.all([start(), start(), start()]);
  expect(answers.map((answer) => answer.status).sort()).toEqual([201, 400, 400]);
});

describe("an installation from a registry that does not respond", () => {
  let registry: ReturnType<typeof Bun.serve>;
  let before: string | undefined;
  beforeEach(() => {
    registry = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      idleTimeout: 0,
      fetch: () => new Promise(() => {}),
    });
    before = process.env.npm_config_registry;
    process.env.npm_config_registry = `http://127.0.0.1:${registry.port}/`;
  });
  afterEach(async () => {
    if (before === undefined) delete process.env.npm_config_registry;
    else process.env.npm_config_registry = before;
    await registry.stop(true);
  });

  const content = 'import x from "never-answers"; export const main = () => x';

  async function dependencyJob(): Promise<{ hash: string; id: string }> {
    const body = { path: "u/admin/hanging", content, language: "bun" };
    const hash = (await expectOk(ask("POST", "/w/acme/scripts/create", body))).text;
    const id = await until(async () => {
      const list = (await ask("GET", "/w/acme/jobs/list?job_kinds=dependencies&running=true")).json();
      return list[0]?.id as string | undefined;
    }, "the dependency job to run");
    return { hash, id };
  }

  test("can be canceled, which the script's version shows", async () => {
    const { hash, id } = await dependencyJob();
    await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${id}`, { reason: "no use" }));
    expect((await completed(id)).canceled).toBe(true);
    const status = (await ask("GET", `/w/acme/scripts/deployment_status/h/${hash}`)).json();
    expect(status.lock_error_logs).toContain("no use");
  });

  test("of a preview can be canceled too", async () => {
    const id = (await expectOk(ask("POST", "/w/acme/jobs/run/preview", { content, language: "bun" }))).text;
    await until(async () => {
      const list = (await ask("GET", "/w/acme/jobs/list?job_kinds=preview&running=true")).json();
      return list.length > 0 ? true : undefined;
    }, "the preview to run");
    await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${id}`, {}));
    expect((await completed(id)).canceled).toBe(true);
  });

  test("does not delay the stop of the server", async () => {
    await dependencyJob();
    const began = Date.now();
    await server.server.stop();
    expect(Date.now() - began).toBeLessThan(10_000);
  }, 60_000);
});

test("due jobs run by priority; jobs of the far future, a long queue or a lost timer delay none", async () => {
  const content = "export const main = (n: number) => n";
  await deploy(ask, "acme", "u/admin/low", content);
  await deploy(ask, "acme", "u/admin/high", content, { priority: 50 });
  await deploy(ask, "acme", "u/admin/slow", "export const main = () => Bun.sleep(400)");
  const start = (path: string, n: number, query = "") =>
    ask("POST", `/w/acme/jobs/run/p/u/admin/${path}${query}`, { n }).then((answer) => answer.text);
  // The only slot is occupied, and more than may be claimed ahead is queued before the urgent ones come.
  await Promise.all(Array.from({ length: 5 }, () => start("slow", 0)));
  const later = await start("low", 1, "?scheduled_in_secs=2");
  await start("low", 2, "?scheduled_in_secs=86400");
  const low = await Promise.all([3, 4].map((n) => start("low", n)));
  const high = await Promise.all([5, 6].map((n) => start("high", n)));
  const ends = await Promise.all([...low, ...high, later].map(completed));
  const began = ends.map((job) => Date.parse(job.started_at));
  expect(Math.max(began[2]!, began[3]!)).toBeLessThanOrEqual(Math.min(began[0]!, began[1]!));
  expect(began[4]!).toBeGreaterThanOrEqual(Date.parse(ends[4].created_at) + 2_000);
}, 60_000);

test("a flow that finds no free slot starts its first step when a slot is free", async () => {
  await deploy(ask, "acme", "u/admin/slow", "export const main = () => Bun.sleep(3_000)");
  const slow = (await expectOk(ask("POST", "/w/acme/jobs/run/p/u/admin/slow", {}))).text;
  const content = "export const main = () => 'ran'";
  const module = { id: "a", value: { type: "rawscript", language: "bun", content, input_transforms: {} } };
  const flow = { path: "u/admin/flow", summary: "", value: { modules: [module] } };
  await expectOk(ask("POST", "/w/acme/flows/create", flow));
  const run = (await expectOk(ask("POST", "/w/acme/jobs/run/f/u/admin/flow", {}))).text;
  expect((await ask("GET", `/w/acme/jobs_u/completed/get/${slow}`)).status).toBe(404);
  expect((await completed(run)).result).toBe("ran");
});

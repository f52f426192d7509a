/** Schedules with handlers, whose runs end as a test chooses. */
import { afterAll, afterEach, beforeAll } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { handlerCalls } from "../../../../src/features/triggers/handlers/tables.ts";
import { getScheduler } from "../../../../src/features/triggers/schedules/get-scheduler.ts";
import { schedules } from "../../../../src/features/triggers/schedules/tables.ts";
import {
  type Ask,
  createTemporaryFolder,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

export let server: TestServer;
export let ask: Ask;
let folder: string;

let count = 0;
/** Creates a schedule, and the file that its runs read. */
export async function createSchedule(more: object = {}) {
  const name = `s${++count}`;
  const file = join(folder, name);
  const path = `u/admin/${name}`;
  const body = {
    path,
    schedule: "0 0 0 1 1 *",
    timezone: "UTC",
    script_path: "u/admin/told",
    is_flow: false,
    args: { file },
  };
  await expectOk(ask("POST", "/w/acme/schedules/create", { ...body, ...more }));
  return { path, file };
}
export type TestSchedule = Awaited<ReturnType<typeof createSchedule>>;

export const listJobs = async (query: string): Promise<any[]> =>
  (await expectOk(ask("GET", `/w/acme/jobs/list?per_page=1000&${query}`))).json();
export const listRuns = async ({ path }: TestSchedule) =>
  (await listJobs(`schedule_path=${path}&scheduled_for_before_now=true`)).filter((job) => !job.is_flow_step);

export async function startRun(made: TestSchedule): Promise<void> {
  const { app } = server.server;
  const before = (await listRuns(made)).length;
  const due = { next_at: new Date(app.clock().getTime() - 1_000) };
  await app.db.write((tx) => tx.update(schedules).set(due).where(eq(schedules.path, made.path)));
  getScheduler(app).wake();
  await until(async () => ((await listRuns(made)).length > before ? true : undefined), "its beginning");
}
export const awaitRuns = (made: TestSchedule) =>
  until(async () => {
    const runs = await listRuns(made);
    return runs.every(({ type }) => type === "CompletedJob") ? runs : undefined;
  }, "the end of all runs");
/** Runs one after the other, each with its outcome. */
export async function runOutcomes(made: TestSchedule, ...outcomes: string[]): Promise<void> {
  for (const outcome of outcomes) {
    writeFileSync(made.file, outcome);
    await startRun(made);
    await awaitRuns(made);
  }
}
/** Returns the arguments of this schedule's handler runs, in order, once all of them have started. */
export async function awaitHandlerArguments(made: TestSchedule, handler: string): Promise<any[]> {
  const { db } = server.server.app;
  await until(
    async () => ((await db.read.select().from(handlerCalls)).length === 0 ? true : undefined),
    "the outbox",
  );
  const found = await listJobs(`script_path_exact=u/admin/${handler}`);
  const jobs = await Promise.all(
    found.map(async ({ id }) => (await expectOk(ask("GET", `/w/acme/jobs_u/get/${id}`))).json()),
  );
  return jobs.filter(({ args }) => args.schedule_path === made.path).reverse();
}
export const awaitHandlerTimes = async (made: TestSchedule, handler: string, key: string) =>
  (await awaitHandlerArguments(made, handler)).map(({ args }) => args[key]);

export const FAILED = { on_failure: "script/u/admin/failed" };
export const RECOVERED = { on_recovery: "script/u/admin/recovered" };
export const SUCCEEDED = { on_success: "script/u/admin/succeeded" };

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpScheduleHandlers(): void {
  folder = createTemporaryFolder("svc-schedules-");
  beforeAll(async () => {
    server = await startTestServer({ workers: 6, sandbox_read: folder });
    ({ ask } = await server.workspace());
    // Ends as the file says, and waits while it is empty.
    const code = `export async function main(file: string) {
      for (;;) {
        const text = await Bun.file(file).text();
        if (text === "fail") throw new Error("as told");
        if (text !== "") return { said: text };
        await Bun.sleep(10);
      }
    }`;
    await deploy(ask, "acme", "u/admin/told", code);
    for (const name of ["failed", "recovered", "succeeded", "workspace", "other"]) {
      await deploy(ask, "acme", `u/admin/${name}`, "export const main = () => null");
    }
  }, 60_000);
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  afterEach(() => expectOk(ask("POST", "/w/acme/workspaces/edit_error_handler", {})));
}

/** A server, and schedules that become due when a test chooses. */
import { afterAll, beforeAll } from "bun:test";
import { eq } from "drizzle-orm";
import { getScheduler } from "../../../../src/features/triggers/schedules/get-scheduler.ts";
import { schedules } from "../../../../src/features/triggers/schedules/tables.ts";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

export let server: TestServer;
export let ask: Ask;

export const SCHEDULES = "/w/acme/schedules";
const NEVER_SOON = "0 0 0 1 1 *";

let count = 0;
export const schedule = (more: object = {}) => ({
  path: `u/admin/schedule_${++count}`,
  schedule: NEVER_SOON,
  timezone: "UTC",
  script_path: "u/admin/greet",
  is_flow: false,
  args: { name: "Ann" },
  ...more,
});
export async function create(more: object = {}): Promise<string> {
  return (await expectOk(ask("POST", `${SCHEDULES}/create`, schedule(more)))).text;
}
export const get = async (path: string) => (await expectOk(ask("GET", `${SCHEDULES}/get/${path}`))).json();

/** Makes it due now, and runs the scheduler. */
export async function makeDue(path: string): Promise<void> {
  const { app } = server.server;
  await app.db.write((tx) =>
    tx
      .update(schedules)
      .set({ next_at: new Date(app.clock().getTime() - 1_000) })
      .where(eq(schedules.path, path)),
  );
  getScheduler(app).wake();
}
/** Its runs, without the planned one. */
export const runsOf = async (path: string): Promise<any[]> => {
  const url = `/w/acme/jobs/list?schedule_path=${path}&scheduled_for_before_now=true`;
  const found = (await expectOk(ask("GET", url))).json();
  return found.filter((job: any) => !job.is_flow_step);
};
export const awaitRuns = (path: string, times = 1) =>
  until(async () => {
    const found = (await runsOf(path)).filter(({ type }) => type === "CompletedJob");
    return found.length >= times ? found : undefined;
  }, `${times} runs of ${path}`);

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpSchedules(): void {
  beforeAll(async () => {
    server = await startTestServer();
    ({ ask } = await server.workspace());
    await deploy(ask, "acme", "u/admin/greet", "export const main = (name = 'nobody') => 'hello ' + name");
    await deploy(ask, "acme", "u/admin/fail", "export const main = () => { throw new Error('never') }");
    const flow = {
      path: "u/admin/flow",
      summary: "",
      value: { modules: [{ id: "a", value: { type: "identity" } }] },
    };
    await expectOk(ask("POST", "/w/acme/flows/create", flow));
  });
  afterAll(() => server.stop());
}

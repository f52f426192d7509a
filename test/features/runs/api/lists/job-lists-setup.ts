/** Jobs that differ in the fields that lists filter by, each with a name. */
import { afterAll, beforeAll } from "bun:test";
import { jobs, type NewJob } from "../../../../../src/platform/queue/tables.ts";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../../support/harness.ts";
import { completedRow, FUTURE, HOUR, idOf, QUEUED, RUNNING } from "../../../../support/job-rows.ts";

export let server: TestServer;
export let ask: Ask;

const START = Date.now() - 100 * HOUR;
const at = (hours: number) => new Date(START + hours * HOUR);
export const formatHour = (hours: number) => at(hours).toISOString();
export const createJobRow = (n: number, more: Partial<NewJob>) => completedRow(idOf(n), at(n), more);

/** By name, oldest first. */
export const JOBS = {
  plain: createJobRow(1, {
    args: '{"name":"Bob","list":[1,{"x":null,"y":2},[3]]}',
    result: '{"ok":true,"n":1.50}',
  }),
  labelled: createJobRow(3, {
    labels: ["blue", "deep, sea"],
    tag: "gpu",
    worker: "host-2-fghij",
    result: '["a","b"]',
  }),
  failed: createJobRow(5, { status: "failure", parent_job: idOf(1), result: '{"error":{"name":"Error"}}' }),
  skipped: createJobRow(7, { status: "skipped", schedule_path: "f/x/nightly", trigger_kind: "schedule" }),
  canceled: createJobRow(9, {
    status: "canceled",
    started_at: null,
    scheduled_for: FUTURE,
    script_path: "u/admin/other",
    created_by: "bob",
  }),
  preview: createJobRow(11, {
    kind: "preview",
    script_path: null,
    script_hash: null,
    args: '{"text":"a\\u0000b"}',
    labels: ["nul\0"],
  }),
  running: createJobRow(13, { ...RUNNING, tag: "gpu*" }),
  queued: createJobRow(15, { ...QUEUED, args: '{"name":"Ann"}' }),
};
export type JobName = keyof typeof JOBS;
export const JOB_NAMES = Object.keys(JOBS) as JobName[];
const nameOf = (id: string) => JOB_NAMES.find((name) => JOBS[name].id === id) ?? id;

export async function listJobNames(path: string, by: Ask = ask): Promise<JobName[]> {
  const list = (await expectOk(by("GET", `/w/acme/jobs/${path}`))).json<any[]>();
  return list.map((entry) => nameOf(typeof entry === "string" ? entry : entry.id)) as JobName[];
}

export const encodeJson = (value: unknown) => encodeURIComponent(JSON.stringify(value));
export const ALL_NAMES = [...JOB_NAMES].reverse();
export const allNamesExcept = (...names: JobName[]) => ALL_NAMES.filter((name) => !names.includes(name));

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpJobLists(): void {
  beforeAll(async () => {
    server = await startTestServer({ workers: 1 });
    ({ ask } = await server.workspace());
    await server.server.app.db.write((tx) => tx.insert(jobs).values(Object.values(JOBS)));
  });
  afterAll(() => server.stop());
}

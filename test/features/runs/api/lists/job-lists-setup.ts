/** Jobs that differ in what lists filter by, each with a name. */
import { afterAll, beforeAll } from "bun:test";
import { jobs, type NewJob } from "../../../../../src/platform/queue/tables.ts";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../../support/harness.ts";
import { completedRow, FUTURE, HOUR, idOf, QUEUED, RUNNING } from "../../../../support/job-rows.ts";

export let server: TestServer;
export let ask: Ask;

const START = Date.now() - 100 * HOUR;
const at = (hours: number) => new Date(START + hours * HOUR);
export const iso = (hours: number) => at(hours).toISOString();
export const job = (n: number, more: Partial<NewJob>) => completedRow(idOf(n), at(n), more);

/** By name, oldest first. */
export const JOBS = {
  plain: job(1, { args: '{"name":"Bob","list":[1,{"x":null,"y":2},[3]]}', result: '{"ok":true,"n":1.50}' }),
  labelled: job(3, {
    labels: ["blue", "deep, sea"],
    tag: "gpu",
    worker: "host-2-fghij",
    result: '["a","b"]',
  }),
  failed: job(5, { status: "failure", parent_job: idOf(1), result: '{"error":{"name":"Error"}}' }),
  skipped: job(7, { status: "skipped", schedule_path: "f/x/nightly", trigger_kind: "schedule" }),
  canceled: job(9, {
    status: "canceled",
    started_at: null,
    scheduled_for: FUTURE,
    script_path: "u/admin/other",
    created_by: "bob",
  }),
  preview: job(11, {
    kind: "preview",
    script_path: null,
    script_hash: null,
    args: '{"text":"a\\u0000b"}',
    labels: ["nul\0"],
  }),
  running: job(13, { ...RUNNING, tag: "gpu*" }),
  queued: job(15, { ...QUEUED, args: '{"name":"Ann"}' }),
};
export type Name = keyof typeof JOBS;
export const NAMES = Object.keys(JOBS) as Name[];
const nameOf = (id: string) => NAMES.find((name) => JOBS[name].id === id) ?? id;

export async function named(path: string, by: Ask = ask): Promise<Name[]> {
  const list = (await expectOk(by("GET", `/w/acme/jobs/${path}`))).json<any[]>();
  return list.map((entry) => nameOf(typeof entry === "string" ? entry : entry.id)) as Name[];
}

export const json = (value: unknown) => encodeURIComponent(JSON.stringify(value));
export const all = [...NAMES].reverse();
export const but = (...names: Name[]) => all.filter((name) => !names.includes(name));

/** Starts a server before the tests of a file, and stops it after them. */
export function openJobLists(): void {
  beforeAll(async () => {
    server = await startTestServer({ workers: 1 });
    ({ ask } = await server.workspace());
    await server.server.app.db.write((tx) => tx.insert(jobs).values(Object.values(JOBS)));
  });
  afterAll(() => server.stop());
}

/** The latest run of each of some scripts and flows. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { jobs, type NewJob } from "../../../../../src/platform/queue/tables.ts";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../../../support/harness.ts";
import { completedRow, FUTURE, idOf, QUEUED } from "../../../../support/job-rows.ts";

const MINUTE = 60_000;

let server: TestServer;
let ask: Ask;
const rows: NewJob[] = [];

/** A job created a minute after the previous one. @returns its id */
function add(script_path: string, more: Partial<NewJob> = {}): string {
  const nth = rows.length + 1;
  const id = idOf(nth);
  rows.push(completedRow(id, new Date(Date.now() - (6_000 - nth) * MINUTE), { script_path, ...more }));
  return id;
}
const addMany = (count: number, path: string, more: Partial<NewJob>) =>
  Array.from({ length: count }, () => add(path, more));

const old = add("f/a/old");
const first = add("f/a/busy");
const step = add("f/a/busy", { status: "failure", parent_job: first });
const flow = add("f/a/both", { kind: "flow" });
const script = add("f/a/both");
addMany(4, "f/a/both", { kind: "dependencies" });
const scheduled = add("f/a/scheduled", { schedule_path: "f/a/nightly" });
add("f/a/scheduled", { ...QUEUED, state: "planned", scheduled_for: FUTURE, schedule_path: "f/a/nightly" });
const shown = add("f/a/others");
const hidden = addMany(5, "f/a/others", { visible_to_owner: false });
const queued = add("f/a/queued", { ...QUEUED, scheduled_for: new Date(Date.now() - MINUTE) });
addMany(3, "f/a/queued", QUEUED);
const limited = add("f/a/limited", { ...QUEUED, concurrency_blocked: true });
add("f/a/limited", QUEUED);
add("f/a/later", QUEUED);
addMany(101, "f/a/written", { kind: "preview" });
const beneath = add("f/a/beneath");
add("f/a/beneath", { kind: "flow", visible_to_owner: false });
addMany(200, "f/a/beneath", { kind: "dependencies" });
addMany(100, "f/a/beneath", { ...QUEUED, state: "planned" });
addMany(100, "f/a/beneath", QUEUED);
const unseen = addMany(5_100, "f/a/beneath", { visible_to_owner: false });

const retried = { kind: "singlestepflow", script_hash: null, language: null, tag: "flow" } as const;
const once = add("f/a/retried", retried);
add("f/a/retried", { parent_job: once, flow_step_id: "a" });
const again = add("f/a/retried-often", retried);
addMany(3, "f/a/retried-often", { parent_job: again, flow_step_id: "a" });

const paths = [
  "old",
  "busy",
  "both",
  "scheduled",
  "others",
  "queued",
  "limited",
  "later",
  "written",
  "beneath",
  "never",
  "retried",
  "retried-often",
];
const items = [
  ...paths.map((name) => ({ kind: "script", path: `f/a/${name}` })),
  { kind: "flow", path: "f/a/both" },
];
const latest = async (by: Ask) =>
  (await expectOk(by("POST", "/w/acme/jobs/latest", items))).json<{ id: string; args?: unknown }[]>();

beforeAll(async () => {
  server = await startTestServer({ workers: 0, retention_s: 0 });
  ({ ask } = await server.workspace());
  for (let at = 0; at < rows.length; at += 500) {
    const some = rows.slice(at, at + 500);
    await server.server.app.db.write((tx) => tx.insert(jobs).values(some));
  }
});
afterAll(() => server.stop());

test("each has the newest run, however old, and none if it has not run", async () => {
  const found = await latest(ask);
  expect(found.map(({ id }) => id)).toEqual([
    old,
    step,
    script,
    scheduled,
    hidden.at(-1)!,
    queued,
    limited,
    unseen.at(-1)!,
    once,
    again,
    flow,
  ]);
  expect(found.every((job) => job.args === undefined)).toBe(true);
});

test("users who may not see all runs get the latest of those that they may see", async () => {
  await expectOk(ask("POST", "/w/acme/folders/create", { name: "a", extra_perms: { "u/bob": false } }));
  const { ask: bob } = await server.member("acme", "bob");
  const found = (await latest(bob)).map(({ id }) => id);
  expect(found).toEqual([old, step, script, scheduled, shown, queued, limited, beneath, once, again, flow]);
});

test("the input history of a script contains its retried runs, not their attempts", async () => {
  await deploy(ask, "acme", "f/a/retried-often", "export const main = () => 1");
  const query = "runnable_id=f/a/retried-often&runnable_type=ScriptPath";
  const history = (await expectOk(ask("GET", `/w/acme/inputs/history?${query}`))).json<{ id: string }[]>();
  expect(history.map(({ id }) => id)).toEqual([again]);
});

test("more items than one page of Home has are rejected", async () => {
  const many = Array.from({ length: 1_001 }, (_, nth) => ({ kind: "script", path: `f/a/${nth}` }));
  expect((await ask("POST", "/w/acme/jobs/latest", many)).status).toBe(400);
  expect((await ask("POST", "/w/acme/jobs/latest", [{ kind: "app", path: "f/a/x" }])).status).toBe(400);
});

/** Every query parameter that a list declares changes its response: none is accepted and ignored. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { flowFrames } from "../../../../../src/features/code/flows/tables.ts";
import { scripts } from "../../../../../src/features/code/scripts/tables.ts";
import { criticalAlerts } from "../../../../../src/features/signals/alerts/tables.ts";
import { captures } from "../../../../../src/features/triggers/captures/tables.ts";
import { STORED_KINDS } from "../../../../../src/features/triggers/common/stored/kinds.ts";
import { schedules } from "../../../../../src/features/triggers/schedules/tables.ts";
import { jobs, type NewJob } from "../../../../../src/platform/queue/tables.ts";
import { operations } from "../../../../../src/server/features.ts";
import { CASES, createdAt, jobFilters, ODD_NAMES } from "../../../../acceptance/contract/list-cases.ts";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../../../support/harness.ts";
import { completedRow, FUTURE, idOf, QUEUED, RUNNING } from "../../../../support/job-rows.ts";

let server: TestServer;
let ask: Ask;
let hashes: string[];

/** Lists of data outside of the database: their own tests cover their parameters. */
const ELSEWHERE = [
  "listStoredFiles",
  "listLogFiles",
  "listWorkers",
  "listGlobalSettings",
  "listWebhookDeliveries",
  "listInstanceWebhookDeliveries",
];

const shapeOf = (query: unknown) => Object.keys((query as { shape?: object }).shape ?? {});
/** Lists, searches, counts and exports whose names do not begin with `list`. */
const LIKE_LISTS = [
  "searchJobsIndex",
  "getQueueCount",
  "countCompletedJobs",
  "countJobsByTag",
  "exportCompletedJobs",
  "exportQueuedJobs",
  "getInputHistory",
  "getCriticalAlerts",
  "exportAuditLogs",
  "exportAllAuditLogs",
];
const LISTS = operations.filter(
  ({ name, method, query }) =>
    method === "GET" &&
    query &&
    (LIKE_LISTS.includes(name) || (name.startsWith("list") && !ELSEWHERE.includes(name))),
);

/** Other parameters, sent without the tested one. */
const RUNNABLE = "runnable_id=u/admin/one&runnable_type=ScriptPath";
const BASES: Record<string, string> = {
  listInputs: RUNNABLE,
  getInputHistory: RUNNABLE,
  // Found in the path or the label of each job.
  searchJobsIndex: "search_query=admin",
};
/** Values of the other path parameters. */
const PARTS: Record<string, string> = { runnable_kind: "script", path: "u/admin/one" };

async function answerOf(path: string, query: string, workspace: string): Promise<string> {
  const parts = query.replaceAll("=first", `=${hashes[0]}`);
  const place = path.replaceAll(/\{(\w+)\}/g, (_, part: string) =>
    part === "workspace" ? workspace : PARTS[part]!,
  );
  const at = `${place}?${parts}`;
  const answer = await expectOk(ask("GET", at));
  // Removes values that depend on the time of the request.
  return answer.text.replaceAll(/"last_used_at":"[^"]*"/g, "");
}

beforeAll(async () => {
  server = await startTestServer({ workers: 1, retention_s: 0 });
  const admin = await server.user("root", { super_admin: true });
  await expectOk(
    server.operator("POST", "/workspaces/create", {
      id: "acme",
      name: "acme",
      owner: admin.email,
      username: "admin",
    }),
  );
  ask = admin.ask;
  await expectOk(server.operator("POST", "/workspaces/create", { id: "admins", name: "Admins" }));
  const { db } = server.server.app;
  const w = "/w/acme";
  const post = (path: string, body: unknown) => expectOk(ask("POST", `${w}/${path}`, body));
  const code = "export const main = (x: number) => x";
  const first = await deploy(ask, "acme", "u/admin/one", code);
  hashes = [first, await deploy(ask, "acme", "u/admin/one", `${code} + 1`, { deployment_message: "why" })];
  await deploy(ask, "acme", "u/admin/two", `${code} + 2`, { is_template: true });
  await deploy(ask, "acme", "u/admin/gone", `${code} + 3`);
  await expectOk(ask("POST", `${w}/scripts/archive/p/u/admin/gone`));
  await db.write((tx) => tx.update(scripts).set({ kind: "script" }).where(eq(scripts.path, "u/admin/two")));
  await post("scripts/create", {
    path: "u/admin/lib",
    content: "export const x = 1",
    language: "bun",
    summary: "",
    description: "",
  });
  for (const name of ["one", "two"]) {
    const path = `u/admin/${name}`;
    const value = { modules: [] };
    await post("flows/create", { path, summary: "", description: "said", value, deployment_message: "why" });
    await post("apps/create", { path, summary: "", value: {}, policy: {}, deployment_message: "why" });
    await post("raw_apps/create", { path, summary: "", value: "1" });
    await post("variables/create", { path, value: "1", is_secret: false, description: "" });
    await post("resources/type/create", { name: name === "one" ? "a" : "b" });
    const resource = { resource_type: name === "one" ? "a" : "b", value: { x: name === "one" ? 1 : 2 } };
    await post("resources/create", { path, ...resource, description: name === "one" ? "first" : "second" });
    await post("folders/create", { name });
    await post("groups/create", { name });
    const runs = { script_path: path, is_flow: name === "two", enabled: false };
    const cron = { schedule: "0 0 * * * *", timezone: "Etc/UTC", args: name === "two" ? { x: 1 } : {} };
    await post("schedules/create", { path, ...runs, ...cron });
    await post("http_triggers/create", { path, ...runs, route_path: `in/${name}`, http_method: "post" });
    for (const { kind } of STORED_KINDS) await post(`${kind}_triggers/create`, { path, ...runs });
    await post("websocket_triggers/create", { path, ...runs, url: "wss://example.org/" });
    for (const kept of ["a", "b"]) {
      await post("inputs/create?runnable_id=u/admin/one&runnable_type=ScriptPath", {
        name: `${name}${kept}`,
        args: {},
      });
    }
  }
  await post("scripts/create", { path: "u/admin/draft", content: code, language: "bun", draft_only: true });
  await post("flows/create", {
    path: "u/admin/draft",
    summary: "",
    value: { modules: [] },
    draft_only: true,
  });
  await post("apps/create", { path: "u/admin/draft", summary: "", value: {}, policy: {}, draft_only: true });
  await post("flows/create", { path: "u/admin/gone", summary: "", value: { modules: [] } });
  await post("flows/archive/u/admin/gone", { archived: true });
  await db.write((tx) =>
    tx
      .update(schedules)
      .set({ edited_at: new Date(0) })
      .where(eq(schedules.path, "u/admin/one")),
  );
  const { ask: stranger } = await server.member("acme", "stranger");
  for (const noun of ["folders", "groups"]) {
    await expectOk(stranger("POST", `${w}/${noun}/create`, { name: "theirs" }));
  }
  await expectOk(ask("POST", "/users/tokens/create", { label: "ephemeral-script" }));
  const half = (from: number, more: Partial<NewJob>) => [
    completedRow(idOf(from), createdAt(1), more),
    completedRow(idOf(from + 1), createdAt(3), { ...ODD_NAMES, ...more }),
  ];
  const ended = half(1, {});
  const rows = [
    ...ended.slice(0, 1),
    { ...ended[1]!, status: "failure" as const, result: '{"y":1}' },
    completedRow(idOf(3), createdAt(3), { status: "skipped" }),
    completedRow(idOf(4), createdAt(2), { kind: "preview", script_path: "u/admin/two" }),
    ...half(5, QUEUED),
    completedRow(idOf(7), createdAt(1), { ...RUNNING, kind: "flow", worker: null }),
    completedRow(idOf(8), createdAt(1), { ...QUEUED, scheduled_for: FUTURE }),
  ];
  await db.write(async (tx) => {
    await tx.insert(jobs).values(rows);
    const capture = { workspace_id: "acme", path: "u/admin/one", is_flow: false, created_at: createdAt(1) };
    const received = { main_args: "{}", preprocessor_args: "{}" };
    const kinds = ["webhook", "http"] as const;
    await tx
      .insert(captures)
      .values(kinds.map((trigger_kind) => ({ ...capture, ...received, trigger_kind })));
    const state = {
      waits: { for: "events", approval: { required_events: 1 } },
      modules: [{ job: idOf(1) }],
      step: 0,
    };
    const moments = { created_at: createdAt(1), last_raised_at: createdAt(1) };
    const alert = { alert_type: "critical_error", kind: "worker_lost", message: "gone", count: 1 } as const;
    const alerts = ["a", "b"].map((key) => ({ ...alert, ...moments, key, acknowledged: key === "b" }));
    await tx.insert(criticalAlerts).values(alerts);
    await tx
      .insert(flowFrames)
      .values({ job_id: idOf(7), root_job: idOf(7), state, version: 1, wake_at: FUTURE });
  });
}, 60_000);
afterAll(() => server.stop());

test("every parameter that a list declares has a case here, and no other", () => {
  const declared = Object.fromEntries(LISTS.map(({ name, query }) => [name, shapeOf(query).sort()]));
  const known = Object.fromEntries(
    LISTS.map(({ name, query }) => {
      const cases = Object.keys(CASES[name] ?? {});
      // Lists of jobs share their cases.
      return [
        name,
        (CASES[name] === jobFilters ? cases.filter((one) => shapeOf(query).includes(one)) : cases).sort(),
      ];
    }),
  );
  expect(known).toEqual(declared);
});

for (const { name, path, query } of LISTS) {
  for (const parameter of shapeOf(query)) {
    const given = CASES[name]?.[parameter];
    if (given === undefined) continue;
    test(`${name}: ${parameter}`, async () => {
      const base = BASES[name] ?? "";
      const [asked = "", other = ""] = given.split(" | ");
      const workspace = parameter === "all_workspaces" ? "admins" : "acme";
      const before = await answerOf(path, replaced(base, other), workspace);
      const after = await answerOf(path, replaced(base, asked), workspace);
      // The difference itself is long and irrelevant.
      expect(after === before).toBe(false);
    });
  }
}

/** Replaces the value of one parameter in a query. */
function replaced(base: string, asked: string): string {
  const name = asked.slice(0, asked.indexOf("="));
  const kept = base.split("&").filter((part) => part !== "" && (name === "" || !part.startsWith(`${name}=`)));
  return [...kept, asked].filter(Boolean).join("&");
}

test.each([
  ["jobs/list?created_before=yesterday", "`created_before`: must be a moment such as 2030-01-31"],
  [
    "jobs/list?started_after=0000-06-01T00:00:00Z",
    "`started_after`: must be a moment in the years 1 to 9999",
  ],
  [
    `jobs/list?args=${encodeURIComponent(JSON.stringify({ a: new Array(21).fill([]) }))}`,
    "`args`: its arrays hold more than 20 values",
  ],
  [`jobs/list?result=${"[".repeat(5000)}${"]".repeat(5000)}`, "`result`: must be JSON text"],
  [
    `resources/list?value=${encodeURIComponent(JSON.stringify(new Array(21).fill(1)))}`,
    "`value`: its arrays hold more than 20 values",
  ],
  ["jobs/completed/count_jobs?completed_after_s_ago=9007199254740991", "`completed_after_s_ago`"],
])("%s is rejected", async (path, says) => {
  const answer = await ask("GET", `/w/acme/${path}`);
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(says)]);
});

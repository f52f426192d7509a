/** Lists of jobs: every filter, order and page, and who sees what. */
import { describe, expect, test } from "bun:test";
import { jobs } from "../../../../../src/platform/queue/tables.ts";
import { deploy, expectOk } from "../../../../support/harness.ts";
import { HOUR, idOf } from "../../../../support/job-rows.ts";
import {
  ALL_NAMES,
  allNamesExcept,
  ask,
  createJobRow,
  encodeJson,
  formatHour,
  JOB_NAMES,
  JOBS,
  type JobName,
  listJobNames,
  server,
  setUpJobLists,
} from "./job-lists-setup.ts";

setUpJobLists();

describe("jobs/list", () => {
  test.each<[query: string, names: JobName[]]>([
    ["", ALL_NAMES],
    ["order_desc=false", JOB_NAMES],
    ["page=0&per_page=3", ALL_NAMES.slice(0, 3)],
    ["page=2&per_page=3", ALL_NAMES.slice(3, 6)],
    ["page=4&per_page=3", []],
    ["created_by=bob", ["canceled"]],
    ["label=blue", ["labelled"]],
    ["label=deep,%20sea", ["labelled"]],
    ["label=deep", []],
    ["label=deep*", []],
    ["label=deep*&allow_wildcards=true", ["labelled"]],
    ["label=*[be]*&allow_wildcards=true", []],
    [`parent_job=${idOf(1).toUpperCase()}`, ["failed"]],
    ["has_null_parent=true", allNamesExcept("failed")],
    ["script_path_exact=u/admin/other", ["canceled"]],
    ["script_path_exact=u/admin", []],
    ["script_path_start=u/admin/o", allNamesExcept("preview")],
    ["script_path_start=u/admin/ot", ["canceled"]],
    ["script_hash=00000000000000aa", allNamesExcept("preview")],
    ["schedule_path=f/x/nightly", ["skipped"]],
    ["is_not_schedule=true", allNamesExcept("skipped")],
    ["trigger_kind=schedule", ["skipped"]],
    ["tag=gpu", ["labelled"]],
    ["tag=gpu*", ["running"]],
    ["tag=gpu*&allow_wildcards=true", ["running", "labelled"]],
    ["tag=*P*&allow_wildcards=true", []],
    ["worker=host-2-fghij", ["labelled"]],
    ["worker=host-?-*&allow_wildcards=true", []],
    ["worker=host-*ij&allow_wildcards=true", ["labelled"]],
    ["job_kinds=preview,flow", ["preview"]],
    ["job_kinds=script,%20preview", ALL_NAMES],
    ["success=true", ["preview", "skipped", "labelled", "plain"]],
    ["success=false", ["canceled", "failed"]],
    ["is_skipped=true", ["skipped"]],
    ["is_skipped=false", allNamesExcept("skipped")],
    ["canceled=true", ["canceled"]],
    ["canceled=false", allNamesExcept("canceled")],
    ["success=false&canceled=false", ["failed"]],
    ["suspended=false", ALL_NAMES],
    ["running=true", ["running"]],
    ["running=false", ["queued"]],
    ["running=false&created_by=bob", []],
    ["scheduled_for_before_now=true", allNamesExcept("queued")],
    ["suspended=true", []],
    ["is_flow_step=true", []],
    ["is_flow_step=false", ALL_NAMES],
    [`created_before=${formatHour(3)}`, ["labelled", "plain"]],
    [`created_after=${formatHour(13)}`, ["queued"]],
    [`created_after=${formatHour(9)}&created_before=${formatHour(13)}`, ["running", "preview"]],
    [`started_before=${formatHour(4)}`, ["labelled", "plain"]],
    [`started_after=${formatHour(8)}`, ["running", "preview"]],
    [`created_or_started_before=${formatHour(9)}`, ["canceled", "skipped", "failed", "labelled", "plain"]],
    [`created_or_started_after=${formatHour(12)}`, ["queued", "running"]],
    [`created_or_started_after_completed_jobs=${formatHour(9)}`, ["queued", "running", "preview"]],
    [`created_or_started_after_completed_jobs=${formatHour(90)}`, ["queued", "running"]],
    [`args=${encodeJson({})}`, ALL_NAMES],
    [`args=${encodeJson({ name: "Bob" })}`, ["plain"]],
    [`args=${encodeJson({ list: [{ y: 2 }] })}`, ["plain"]],
    [`args=${encodeJson({ list: [[3], 1] })}`, ["plain"]],
    [`args=${encodeJson({ list: 1 })}`, []],
    [`args=${encodeJson({ list: { 0: 1 } })}`, []],
    [`args=${encodeJson({ list: [{ x: null }, 1, 1] })}`, ["plain"]],
    [`args=${encodeJson({ list: [{ z: null }] })}`, []],
    [`args=${encodeJson({ text: "a" })}`, []],
    [`args=${encodeJson({ name: "Ann" })}&running=false`, ["queued"]],
    [`args=${encodeJson({})}&page=2&per_page=3`, ALL_NAMES.slice(3, 6)],
    [`result=${encodeJson({ n: 1.5 })}`, ["plain"]],
    [`result=${encodeJson("b")}`, ["labelled"]],
    [`result=${encodeJson(["b", "a"])}`, ["labelled"]],
    [`result=${encodeJson({ error: {} })}&success=false`, ["failed"]],
    ["result=null", ["preview", "canceled", "skipped"]],
    ["all_workspaces=true", ALL_NAMES],
  ])("?%s", async (query, names) => {
    expect(await listJobNames(`list?${query}`)).toEqual(names);
    expect(await listJobNames(`list_filtered_uuids?${query}`)).toEqual(names);
  });

  test.each([
    ["success=true&running=true", "exclude each other"],
    ["args=%7Bname", "`args`: must be JSON text"],
    ["parent_job=one", "`parent_job`"],
    ["created_after=yesterday", "`created_after`"],
    ["per_page=10001", "`per_page`"],
  ])("?%s is rejected", async (query, says) => {
    const answer = await ask("GET", `/w/acme/jobs/list?${query}`);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(says)]);
  });

  test("an entry describes the job without large fields", async () => {
    const list = (await ask("GET", "/w/acme/jobs/list")).json();
    const entry = (name: JobName) => list.find((found: any) => found.id === JOBS[name].id);
    expect(entry("skipped")).toMatchObject({
      type: "CompletedJob",
      workspace_id: "acme",
      success: true,
      is_skipped: true,
      canceled: false,
      schedule_path: "f/x/nightly",
      trigger: "f/x/nightly",
      trigger_kind: "schedule",
      created_at: formatHour(7),
      started_at: formatHour(8),
      completed_at: formatHour(9),
      duration_ms: HOUR,
      self_wait_time_ms: HOUR,
      is_flow_step: false,
    });
    expect(entry("labelled").labels).toEqual(["blue", "deep, sea"]);
    // A job that never started still has the time of its end.
    expect(entry("canceled")).toMatchObject({ success: false, canceled: true, started_at: formatHour(11) });
    expect(entry("running")).toMatchObject({ type: "QueuedJob", running: true, started_at: formatHour(14) });
    expect(entry("queued")).toMatchObject({ running: false });
    for (const found of list) {
      for (const heavy of ["args", "result", "logs", "raw_code"]) expect(found).not.toHaveProperty(heavy);
    }
  });
});

describe("the halves", () => {
  test.each<[path: string, names: JobName[]]>([
    ["queue/list", ["queued", "running"]],
    ["queue/list?order_desc=false", ["running", "queued"]],
    ["queue/list?per_page=100000", ["queued", "running"]],
    ["queue/list?running=true", ["running"]],
    ["queue/list?tag=bun", ["queued"]],
    ["queue/list?scheduled_for_before_now=true", ["running"]],
    ["queue/list?success=true", []],
    [`queue/list?args=${encodeJson({ name: "Ann" })}`, ["queued"]],
    ["queue/list_filtered_uuids?created_by=admin", ["queued", "running"]],
    ["completed/list", allNamesExcept("queued", "running")],
    ["completed/list?label=blue", ["labelled"]],
    ["completed/list?page=2&per_page=4", ["labelled", "plain"]],
    ["completed/list?running=true", allNamesExcept("queued", "running")],
    [`completed/list?created_after=${formatHour(8)}`, ["preview", "canceled"]],
  ])("%s", async (path, names) => {
    expect(await listJobNames(path)).toEqual(names);
  });

  test("queued jobs show that their arguments are not disclosed", async () => {
    const list = (await ask("GET", "/w/acme/jobs/queue/list")).json();
    expect(list.map((entry: any) => entry.args)).toEqual([null, null]);
  });
});

test("a member's lists contain their own jobs, in full pages; ids by filter are for admins", async () => {
  const { ask: reader } = await server.member("acme", "reader");
  const mine = { permissioned_as: "u/reader", email: "reader@example.org", script_path: "u/reader/x" };
  const rows = [20, 21, 22].map((n) => createJobRow(n, { ...mine, id: idOf(n, "0191"), tag: "mine" }));
  await server.server.app.db.write((tx) => tx.insert(jobs).values(rows));
  const ids = [22, 21, 20].map((n) => idOf(n, "0191"));
  expect(await listJobNames("list", reader)).toEqual(ids as JobName[]);
  expect(await listJobNames("completed/list?per_page=2&page=2&order_desc=false", reader)).toEqual([
    ids[0],
  ] as JobName[]);
  expect(await listJobNames("list?running=false", reader)).toEqual([]);
  for (const path of ["list_filtered_uuids", "queue/list_filtered_uuids"]) {
    expect((await reader("GET", `/w/acme/jobs/${path}`)).status).toBe(403);
  }
  const scoped = async (scopes: string[]) => {
    const token = (await expectOk(reader("POST", "/users/tokens/create", { scopes }))).text;
    return (await server.as(token)("GET", "/w/acme/jobs/queue/list")).status;
  };
  expect(await scoped(["jobs:run:scripts:u/reader/x"])).toBe(403);
  expect(await scoped(["jobs:read"])).toBe(200);
});

test("all jobs of the instance are listed in the super admins' workspace only", async () => {
  await server.workspace("other");
  const rows = ["acme", "other"].map((workspace_id, n) =>
    createJobRow(n, { id: idOf(n, "0192"), workspace_id, tag: "wide" }),
  );
  await server.server.app.db.write((tx) => tx.insert(jobs).values(rows));
  const found = async (workspace: string, query: string, by = server.operator) =>
    (await by("GET", `/w/${workspace}/jobs/list?tag=wide${query}`))
      .json()
      .map((one: any) => one.workspace_id);
  expect(await found("admins", "")).toEqual([]);
  expect(await found("admins", "&all_workspaces=true")).toEqual(["other", "acme"]);
  expect(await found("admins", "&all_workspaces=true&script_path_exact=u/admin/one")).toEqual([
    "other",
    "acme",
  ]);
  expect(await found("acme", "&all_workspaces=true")).toEqual(["acme"]);
  const { ask: boss } = await server.user("boss", { super_admin: true });
  // It does not exist yet, which does not prevent reading there, and nobody can write.
  expect(await found("admins", "&all_workspaces=true", boss)).toEqual(["other", "acme"]);
  for (const list of ["queue/list", "completed/list", "queue/count"])
    await expectOk(boss("GET", `/w/admins/jobs/${list}?all_workspaces=true`));
  const variable = { path: "u/boss/x", value: "1", is_secret: false, description: "" };
  expect((await boss("POST", "/w/admins/variables/create", variable)).status).toBe(404);
  const { ask: stranger } = await server.user("passer_by");
  expect((await stranger("GET", "/w/admins/jobs/list")).status).toBe(401);
  expect((await boss("GET", "/w/none/jobs/list")).status).toBe(404);
  await expectOk(boss("POST", "/workspaces/create", { id: "admins", name: "Admins" }));
  expect(await found("admins", "&all_workspaces=true", boss)).toEqual(["other", "acme"]);
  const token = (await expectOk(boss("POST", "/users/tokens/create", { workspace_id: "admins" }))).text;
  expect(await found("admins", "&all_workspaces=true", server.as(token))).toEqual([]);
});

test("a job is listed by its creation time, whatever id its caller chose, in one workspace and in all", async () => {
  await server.workspace("early");
  const ids = ["ffffffff-ffff-4fff-bfff-ffffffffffff", "00000000-0000-4000-8000-000000000000"];
  const rows = [
    createJobRow(30, { id: ids[0]!, workspace_id: "early" }),
    createJobRow(31, { id: idOf(31, "0194"), workspace_id: "early" }),
    createJobRow(33, { id: ids[1]!, workspace_id: "early" }),
    createJobRow(32, { id: idOf(32, "0194") }),
  ].map((row) => ({ ...row, tag: "chosen" }));
  await server.server.app.db.write((tx) => tx.insert(jobs).values(rows));
  const found = async (workspace: string, query: string): Promise<string[]> =>
    (await expectOk(server.operator("GET", `/w/${workspace}/jobs/list?${query}`)))
      .json()
      .map((one: any) => one.id);
  const early = [ids[1]!, idOf(31, "0194"), ids[0]!];
  expect(await found("early", "")).toEqual(early);
  expect(await found("early", "order_desc=false&page=2&per_page=2")).toEqual([ids[1]!]);
  expect(await found("early", "script_path_exact=u/admin/one")).toEqual(early);
  const ALL_NAMES = [ids[1]!, idOf(32, "0194"), idOf(31, "0194"), ids[0]!];
  const everywhere = "all_workspaces=true&tag=chosen";
  expect(await found("admins", everywhere)).toEqual(ALL_NAMES);
  expect(await found("admins", `${everywhere}&order_desc=false`)).toEqual(ALL_NAMES.toReversed());
  expect(await found("admins", `${everywhere}&per_page=2&page=2`)).toEqual(ALL_NAMES.slice(2));
  expect(await found("admins", `${everywhere}&args=${encodeJson({})}`)).toEqual(ALL_NAMES);
});

test("jobs are grouped by script or flow, with the schemas of their version and the current one", async () => {
  const code = (type: string) => `export const main = (x: ${type}) => x`;
  const first = await deploy(ask, "acme", "u/admin/grouped", code("number"));
  const run = async () => (await expectOk(ask("POST", "/w/acme/jobs/run/p/u/admin/grouped", { x: 1 }))).text;
  const before = [await run(), await run()];
  const second = await deploy(ask, "acme", "u/admin/grouped", code("string"));
  const after = await run();
  const selected = [...before, after, JOBS.preview.id, crypto.randomUUID()];
  const groups = (await expectOk(ask("POST", "/w/acme/jobs/list_selected_job_groups", selected))).json();
  const type = (schema: any) => schema.properties.x.type;
  expect(groups).toHaveLength(1);
  expect(groups[0]).toMatchObject({ kind: "script", script_path: "u/admin/grouped" });
  expect(type(groups[0].latest_schema)).toBe("string");
  const schemas = groups[0].schemas.map((one: any) => [
    one.script_hash,
    one.job_ids.toSorted(),
    type(one.schema),
  ]);
  expect(schemas).toEqual([
    [first, before.toSorted(), "number"],
    [second, [after], "string"],
  ]);
  const flowOf = (schema: object) => ({ path: "u/admin/flows", summary: "", value: { modules: [] }, schema });
  const object = { type: "object", properties: { y: { type: "number" } } };
  await expectOk(ask("POST", "/w/acme/flows/create", flowOf(object)));
  const flow = (await expectOk(ask("POST", "/w/acme/jobs/run/f/u/admin/flows", {}))).text;
  await expectOk(ask("POST", "/w/acme/flows/update/u/admin/flows", flowOf({ ...object, required: ["y"] })));
  const ofFlow = await expectOk(ask("POST", "/w/acme/jobs/list_selected_job_groups", [flow]));
  expect(ofFlow.json()).toEqual([
    {
      kind: "flow",
      script_path: "u/admin/flows",
      latest_schema: { ...object, required: ["y"] },
      schemas: [
        { script_hash: expect.stringMatching(/^0{8,15}[0-9a-f]+$/), job_ids: [flow], schema: object },
      ],
    },
  ]);
  const { ask: stranger } = await server.member("acme", "stranger");
  expect((await stranger("POST", "/w/acme/jobs/list_selected_job_groups", selected)).json()).toEqual([]);
});

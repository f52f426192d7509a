/** References given by a caller with other rights than the job: they read nothing that the caller may not. */
import { beforeAll, describe, expect, test } from "bun:test";
import { type Ask, deploy, expectOk, until } from "../../../support/harness.ts";
import {
  admin,
  ann,
  containsText,
  ECHO,
  runs,
  SECRET,
  server,
  setUpCallers,
} from "./caller-references-setup.ts";

setUpCallers();

const APP = "u/admin/app";

describe.each([["p/u/admin/for"], ["f/u/admin/flow"]])("%s, which runs on behalf of its author", (target) => {
  test("resolves items that the caller may read, and none that only the author may", async () => {
    const cases: [x: unknown, status: number, told: unknown][] = [
      ["$var:u/ann/key", 200, "of-ann"],
      [["$res:u/ann/own"], 200, [{ host: "db", password: "of-ann" }]],
      ["$var:u/admin/key", 400, containsText("argument x: $var:u/admin/key cannot be resolved")],
      [
        { deep: ["$var:u/admin/key"] },
        400,
        containsText("argument x.deep[0]: $var:u/admin/key cannot be resolved"),
      ],
      ["$res:u/ann/greedy", 400, containsText("resource u/ann/greedy: $var:u/admin/key cannot be resolved")],
      ["$WM_TOKEN", 200, "$WM_TOKEN"],
      ["$res:u/ann/greedier", 200, { password: "$WM_TOKEN" }],
      ["$AAPL", 200, "$AAPL"],
    ];
    for (const [x, ...outcome] of cases)
      expect([x, ...(await runs(ann, target, x))]).toEqual([x, ...outcome]);
    expect(await runs(admin, target, "$var:u/admin/key")).toEqual([200, SECRET]);
  });

  test("is stored without the referenced values, and each read is in the audit log as the caller's", async () => {
    const id = (await expectOk(ann("POST", `/w/acme/jobs/run/${target}`, { x: "$var:u/ann/key" }))).text;
    const job = (await admin("GET", `/w/acme/jobs_u/get/${id}`)).json();
    expect(job.args.x).toStartWith("$encrypted:");
    const [row] = (
      await admin("GET", "/w/acme/audit/list?operation=variables.decrypt_secret&resource=u/ann/key")
    ).json();
    expect(row).toMatchObject({ username: "ann", resource: "u/ann/key" });
  });
});

test("values encrypted for the caller reach another user's job; those encrypted for others do not", async () => {
  const sealed = (await expectOk(ann("POST", "/w/acme/variables/encrypt", '"told"'))).text;
  expect(await runs(ann, "p/u/admin/for", `$encrypted:${sealed}`)).toEqual([200, "told"]);
  const token = await restricted(["jobs:run:scripts:u/admin/echo"]);
  expect(await runs(token, "p/u/admin/echo", `$encrypted:${sealed}`)).toEqual([200, `$encrypted:${sealed}`]);
});

/** A restricted token of the admin. */
async function restricted(scopes: string[]): Promise<Ask> {
  const body = { label: "restricted", scopes, workspace_id: "acme" };
  return server.as((await expectOk(admin("POST", "/users/tokens/create", body))).text);
}

test("a restricted token's references are resolved within its scopes", async () => {
  const webhook = await restricted(["jobs:run:scripts:u/admin/echo"]);
  const target = "p/u/admin/echo";
  expect(await runs(webhook, target, "$var:u/admin/key")).toEqual([
    403,
    containsText("Required scope: variables:read:u/admin/key"),
  ]);
  expect(await runs(webhook, target, { a: "$res:u/ann/own" })).toEqual([
    403,
    containsText("Required scope: resources:read:u/ann/own"),
  ]);
  expect(await runs(webhook, target, "$WM_TOKEN")).toEqual([200, "$WM_TOKEN"]);
  expect(await runs(webhook, target, "costs $5")).toEqual([200, "costs $5"]);
  const reads = await restricted(["jobs:run:scripts:u/admin/echo", "variables:read:u/admin/key"]);
  expect(await runs(reads, target, "$var:u/admin/key")).toEqual([200, SECRET]);
  expect(await runs(admin, target, "$var:u/admin/key")).toEqual([200, SECRET]);
});

test("input of a route is text", async () => {
  for (const script_path of ["u/admin/echo", "u/admin/for"]) {
    const route_path = `open-${script_path.slice(8)}`;
    const route = {
      path: `u/admin/${route_path}`,
      script_path,
      route_path,
      is_flow: false,
      http_method: "post",
    };
    const how = { is_async: false, requires_auth: false, is_static_website: false };
    await expectOk(admin("POST", "/w/acme/http_triggers/create", { ...route, ...how }));
    for (const x of ["$var:u/admin/key", ["$res:u/ann/own"], "$WM_TOKEN", "$WM_JOB_ID", "$AAPL"]) {
      const answer = await server.as(undefined)("POST", `/r/${route_path}`, { x });
      expect([answer.status, answer.json()]).toEqual([200, { x, as: "admin" }]);
    }
  }
});

test.each([
  ["failure", "() => { throw '$var:u/admin/key' }", { error: { message: "$var:u/admin/key" } }],
  ["success", "() => '$var:u/admin/key'", { result: "$var:u/admin/key" }],
  ["success", "() => ({ deep: ['$WM_TOKEN'] })", { deep: ["$WM_TOKEN"] }],
])("a job's result is text for the handler of its %s", async (end, main, left) => {
  const at = `u/admin/${Bun.randomUUIDv7().replaceAll("-", "")}`;
  await deploy(admin, "acme", `${at}/runs`, `export const main = ${main}`);
  const handler =
    "export const main = (error?: any, result?: any, deep?: any, own?: string) => ({ error, result, deep, own })";
  await deploy(admin, "acme", `${at}/hears`, handler);
  await expectOk(
    admin("POST", "/w/acme/schedules/create", {
      path: `${at}/often`,
      schedule: "* * * * * *",
      timezone: "UTC",
      script_path: `${at}/runs`,
      is_flow: false,
      args: {},
      enabled: true,
      [`on_${end}`]: `script/${at}/hears`,
      [`on_${end}_extra_args`]: { own: "$var:u/admin/key" },
    }),
  );
  const result = await until(async () => {
    const [done] = (await admin("GET", `/w/acme/jobs/completed/list?script_path_exact=${at}/hears`)).json();
    return done && (await admin("GET", `/w/acme/jobs_u/completed/get_result/${done.id}`)).json();
  }, "the handler");
  await expectOk(admin("DELETE", `/w/acme/schedules/delete/${at}/often`));
  expect(result).toMatchObject({ ...left, own: SECRET });
});

describe("a preprocessor", () => {
  const PREPROCESSED = `export const preprocessor = (event: any) => ({ x: event.body.x });
    ${ECHO}`;

  test("passes on references of a restricted token or a route as text", async () => {
    await deploy(admin, "acme", "u/admin/prepared", PREPROCESSED);
    const route = { path: "u/admin/prepared", script_path: "u/admin/prepared", route_path: "prepared" };
    const how = { is_flow: false, http_method: "post", is_async: false, requires_auth: false };
    const rest = { is_static_website: false };
    await expectOk(admin("POST", "/w/acme/http_triggers/create", { ...route, ...how, ...rest }));
    const webhook = await restricted(["jobs:run:scripts:u/admin/prepared"]);
    expect((await runs(webhook, "p/u/admin/prepared", "$var:u/admin/key"))[0]).toBe(403);
    expect(await runs(webhook, "p/u/admin/prepared", "$WM_TOKEN")).toEqual([200, "$WM_TOKEN"]);
    for (const x of ["$var:u/admin/key", "$WM_TOKEN", "$AAPL"]) {
      expect((await server.as(undefined)("POST", "/r/prepared", { x })).json().x).toBe(x);
    }
    expect(await runs(admin, "p/u/admin/prepared", "$var:u/admin/key")).toEqual([200, SECRET]);
  });
});

describe("an approval", () => {
  async function waiting(
    required_events = 1,
  ): Promise<{ id: string; resume: string; link: (resume_id: number) => Promise<string> }> {
    const step = (id: string, content: string, input_transforms: object) => ({
      id,
      value: { type: "rawscript", language: "bun", content, input_transforms },
    });
    const asks = step("a", "export const main = () => 1", {});
    const expr = required_events > 1 ? "resumes" : "resume";
    const reads = step("b", ECHO, { x: { type: "javascript", expr } });
    const value = { modules: [{ ...asks, suspend: { required_events } }, reads] };
    const body = { value, args: {} };
    const id = (await expectOk(admin("POST", "/w/acme/jobs/run/preview_flow", body))).text;
    const job = await until<string>(async () => {
      const { flow_status } = (await admin("GET", `/w/acme/jobs_u/get/${id}`)).json();
      return flow_status?.modules[0].job;
    }, "the flow to wait");
    const link = async (resume_id: number) => {
      const urls = (await admin("GET", `/w/acme/jobs/resume_urls/${job}/${resume_id}`)).json();
      return new URL(urls.resume).pathname.slice("/api".length);
    };
    return { id, resume: await link(7), link };
  }
  const resultOf = (id: string) =>
    until(async () => {
      const answer = (await admin("GET", `/w/acme/jobs_u/completed/get_result_maybe/${id}`)).json();
      return answer.completed ? answer.result.x : undefined;
    }, "the flow");

  test("by the holder of a link carries text", async () => {
    const { id, resume } = await waiting();
    const payload = { key: "$var:u/admin/key", token: "$WM_TOKEN" };
    await expectOk(server.as(undefined)("POST", resume, payload));
    expect(await resultOf(id)).toEqual(payload);
  });

  test("keeps its value, also if the workspace's key is rotated before the flow continues", async () => {
    const { id, resume, link } = await waiting(2);
    await expectOk(server.as(undefined)("POST", resume, { key: "$var:u/admin/key" }));
    // The key before the last is no longer cached anywhere.
    for (const key of ["another", "third"]) {
      const new_key = key.padStart(64, "k");
      await expectOk(admin("POST", "/w/acme/workspaces/encryption_key", { new_key }));
    }
    await expectOk(admin("POST", await link(8), { note: "the second" }));
    const given = await until<any>(async () => {
      const answer = await admin("GET", `/w/acme/jobs_u/completed/get/${id}`);
      return answer.status === 200 ? answer.json() : undefined;
    }, "the flow");
    expect([given.success, JSON.stringify(given.result)]).toEqual([
      true,
      expect.stringContaining("$var:u/admin/key"),
    ]);
  });

  test("by a member is resolved as the member; by the user who runs the flow, as the flow", async () => {
    const other = await waiting();
    expect(await ann("POST", other.resume, { key: "$var:u/admin/key" })).toMatchObject({ status: 400 });
    await expectOk(ann("POST", other.resume, { key: "$var:u/ann/key" }));
    expect(await resultOf(other.id)).toEqual({ key: "of-ann" });
    const own = await waiting();
    await expectOk(admin("POST", own.resume, { key: "$var:u/admin/key" }));
    expect(await resultOf(own.id)).toEqual({ key: SECRET });
  });
});

describe("an app that runs with its author's rights", () => {
  const picks = (name: string) => ({
    component: "pick",
    path: "script/u/admin/echo",
    args: { x: name },
  });
  const execute = (ask: Ask, body: object) => ask("POST", `/w/acme/apps_u/execute_component/${APP}`, body);

  beforeAll(async () => {
    const triggerables_v2 = { "pick:script/u/admin/echo": { allow_user_resources: ["x"] } };
    const policy = { execution_mode: "publisher", triggerables_v2 };
    await expectOk(admin("POST", "/w/acme/apps/create", { path: APP, value: {}, summary: "", policy }));
    await expectOk(admin("POST", `/w/acme/acls/add/app/${APP}`, { owner: "u/ann", write: true }));
  });

  test("accepts a resource of the viewer's, which its author need not be able to read", async () => {
    const id = (await expectOk(execute(ann, picks("$res:u/ann/own")))).text;
    const job = await until<any>(async () => {
      const answer = await ann("GET", `/w/acme/jobs_u/completed/get/${id}`);
      return answer.status === 200 ? answer.json() : undefined;
    }, "the component");
    expect(job.result).toEqual({ x: { host: "db", password: "of-ann" }, as: "admin" });
    expect(job.args.x).toStartWith("$encrypted:");
  });

  test("reads nothing for the viewer that their resource refers to", async () => {
    await expectOk(ann("POST", "/w/acme/acls/add/resource/u/ann/greedy", { owner: "u/admin" }));
    const refused = await execute(ann, picks("$res:u/ann/greedy"));
    expect([refused.status, refused.text]).toEqual([
      400,
      containsText("$var:u/admin/key cannot be resolved"),
    ]);
  });

  test("gives a token of the app no way to run other code", async () => {
    const body = { label: "x", scopes: [`apps:run:${APP}`] };
    const token = server.as((await expectOk(ann("POST", "/users/tokens/create", body))).text);
    const raw_code = { content: "export const main = () => process.env.WM_TOKEN", language: "bun" };
    const asked = { component: "new", args: {}, raw_code, force_viewer_static_fields: {} };
    const refused = await execute(token, asked);
    expect([refused.status, refused.text]).toEqual([403, containsText("Required scope: jobs:run")]);
    expect((await execute(token, { ...picks("plain") })).status).toBe(200);
    expect((await execute(ann, asked)).status).toBe(200);
  });

  test("runs as the user who last deployed its content", async () => {
    await expectOk(ann("POST", `/w/acme/apps/update/${APP}`, { value: { grid: [] } }));
    const { policy } = (await ann("GET", `/w/acme/apps/get/p/${APP}`)).json();
    expect(policy).toMatchObject({ on_behalf_of: "u/ann", on_behalf_of_email: "ann@example.org" });
    await expectOk(admin("POST", `/w/acme/apps/update/${APP}`, { summary: "the same" }));
    const after = (await ann("GET", `/w/acme/apps/get/p/${APP}`)).json();
    expect(after.policy.on_behalf_of).toBe("u/ann");
  });
});

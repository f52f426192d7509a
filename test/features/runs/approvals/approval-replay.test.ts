/** An approval counts only for its own request, and only in its user's name. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Ask, expectOk, startTestServer, type TestServer, until } from "../../../support/harness.ts";

let server: TestServer;
let admin: Ask;
let ann: Ask;
let olga: Ask;
let boss: Ask;

beforeAll(async () => {
  server = await startTestServer({ workers: 4 });
  ({ ask: admin } = await server.workspace());
  ({ ask: ann } = await server.member("acme", "ann"));
  ({ ask: boss } = await server.member("acme", "boss"));
  ({ ask: olga } = await server.member("acme", "olga", "operator"));
  await expectOk(admin("POST", "/w/acme/groups/create", { name: "payers" }));
  await expectOk(admin("POST", "/w/acme/groups/adduser/payers", { username: "boss" }));
  await expectOk(
    admin("POST", "/w/acme/folders/create", {
      name: "pay",
      extra_perms: { "g/all": false },
      owners: ["u/admin"],
    }),
  );
});
afterAll(() => server.stop());

const jobs = "/w/acme/jobs";
const js = (expr: string) => ({ type: "javascript", expr });
const script = (id: string, content: string, inputs: object = {}, more: object = {}) => ({
  id,
  value: { type: "rawscript", language: "bun", content, input_transforms: inputs },
  ...more,
});
const GUARDED = {
  required_events: 1,
  user_groups_required: { type: "static", value: ["payers"] },
  self_approval_disabled: true,
};
const asking = (suspend: object = GUARDED, id = "ask") =>
  script(id, "export const main = (order: number) => order", { order: js("flow_input.order") }, { suspend });
const paying = script("pay", "export const main = (order: number) => `paid ${order}`", {
  order: js("flow_input.order"),
});

let count = 0;
async function push(modules: object[], more: object = {}): Promise<string> {
  const path = `f/pay/flow_${++count}`;
  const on_behalf_of_email = "admin_acme@example.org";
  await expectOk(
    admin("POST", "/w/acme/flows/create", {
      path,
      summary: "",
      value: { modules },
      on_behalf_of_email,
      ...more,
    }),
  );
  return path;
}
const start = async (path: string, by: Ask, args: object = { order: 1 }) =>
  (await expectOk(by("POST", `${jobs}/run/f/${path}`, args))).text;
const get = async (id: string): Promise<any> => (await expectOk(admin("GET", `${jobs}_u/get/${id}`))).json();

/** @returns the result, or the id of the step that waits for approval, whichever comes first */
const cameTo = (id: string): Promise<any> =>
  until(async () => {
    const job = await get(id);
    if (job.type === "CompletedJob") return { result: job.result };
    const { modules, step, approval_conditions } = job.flow_status ?? {};
    return approval_conditions ? { asks: modules[step - 1].id } : undefined;
  }, "the run to ask or to end");
/** The run itself, or a nested one. */
const frameThatAsks = (id: string): Promise<string> =>
  until(async () => {
    for (let frame: string | undefined = id; frame !== undefined; ) {
      const { flow_status }: any = await get(frame);
      if (flow_status?.approval_conditions) return frame;
      frame = flow_status?.modules[flow_status.step]?.job;
    }
  }, "a frame that asks");

async function approved(path: string, by: Ask, args?: object): Promise<string> {
  const id = await start(path, by, args);
  const frame = await frameThatAsks(id);
  const { modules, step } = (await get(frame)).flow_status;
  const url = (await expectOk(admin("GET", `${jobs}/resume_urls/${modules[step - 1].job}/1`))).json().resume;
  await expectOk(boss("POST", url.slice(`${server.url}/api`.length), {}));
  return id;
}
const restart = async (by: Ask, id: string, from: string, args?: object) =>
  (await expectOk(by("POST", `${jobs}/restart/f/${id}/from/${from}`, args))).text;

beforeAll(async () => {
  for (const name of ["u/ann", "u/boss", "u/olga"]) {
    await expectOk(admin("POST", "/w/acme/acls/add/folder/pay", { owner: name, write: false }));
  }
});

describe("an approval that neither group members nor starters may give", () => {
  test.each([
    ["a member", () => ann],
    ["an operator", () => olga],
  ])("is not reused with other input by %s", async (_, who) => {
    const by = who();
    const run = await approved(await push([asking(), paying]), by);
    expect(await cameTo(run)).toEqual({ result: "paid 1" });
    const again = await restart(by, run, "pay", { order: 31337 });
    expect(await cameTo(again)).toEqual({ asks: "ask" });
    // Its starter may not approve it either, so unchanged requests are asked again as well.
    expect(await cameTo(await restart(by, run, "pay"))).toEqual({ asks: "ask" });
    const named = await expectOk(by("POST", `${jobs}/restart/f/${run}`, { step_id: "pay" }));
    expect(await cameTo(named.text)).toEqual({ asks: "ask" });
    expect((await get(again)).flow_status.restarted_from).toEqual({ flow_job_id: run, step_id: "ask" });
  });
});

describe("an approval that anybody may give", () => {
  const open = { required_events: 1 };

  test("is reused for the same arguments of the same user only", async () => {
    const run = await approved(await push([asking(open), paying]), ann);
    await cameTo(run);
    expect(await cameTo(await restart(ann, run, "pay"))).toEqual({ result: "paid 1" });
    const same = await restart(ann, run, "pay", { order: 1 });
    expect(await cameTo(same)).toEqual({ result: "paid 1" });
    expect(await cameTo(await restart(ann, run, "pay", { order: 2 }))).toEqual({ asks: "ask" });
    expect(await cameTo(await restart(ann, run, "pay", { note: "x" }))).toEqual({ asks: "ask" });
    expect(await cameTo(await restart(admin, run, "pay"))).toEqual({ asks: "ask" });
    // Nor through a run that continued with that approval.
    expect(await cameTo(await restart(ann, same, "pay", { order: 2 }))).toEqual({ asks: "ask" });
  });

  const nested: [string, (inner: object) => object][] = [
    ["a branch", (inner) => ({ type: "branchone", branches: [], default: [inner, paying] })],
    [
      "a loop",
      (inner) => ({
        type: "forloopflow",
        iterator: js("[1]"),
        skip_failures: false,
        modules: [inner, script("x", "export const main = () => 1")],
      }),
    ],
  ];
  test.each(nested)("is reused in the same way inside of %s", async (_, around) => {
    const inner = { ...asking(open), value: { type: "identity", input_transforms: {} } };
    const last = { ...paying, id: "last" };
    const run = await approved(await push([{ id: "around", value: around(inner) }, last]), ann);
    expect(await cameTo(run)).toEqual({ result: "paid 1" });
    expect(await cameTo(await restart(ann, run, "last"))).toEqual({ result: "paid 1" });
    const changed = await restart(ann, run, "last", { order: 2 });
    await frameThatAsks(changed);
    expect((await get(changed)).flow_status.restarted_from.step_id).toBe("around");
  });

  test("is reused in the same way in a called flow, and after another run reused it", async () => {
    const called = await push([asking(open)]);
    const value = { type: "flow", path: called, input_transforms: { order: js("flow_input.order") } };
    const run = await approved(await push([{ id: "call", value }, paying]), ann);
    await cameTo(run);
    const same = await restart(ann, run, "pay");
    expect(await cameTo(same)).toEqual({ result: "paid 1" });
    for (const from of [run, same]) {
      const changed = await restart(ann, from, "pay", { order: 2 });
      await frameThatAsks(changed);
      expect((await get(changed)).flow_status.restarted_from.step_id).toBe("call");
    }
  });

  test("is reused in the same way for iterations of a loop that starts in the middle", async () => {
    const each = script("each", "export const main = (i: number) => i", { i: js("flow_input.iter.value") });
    const inner = { ...asking(open), value: { type: "identity" } };
    const modules = [{ ...inner, suspend: open }, each];
    const value = { type: "forloopflow", iterator: js("[1, 2]"), skip_failures: false, modules };
    const path = await push([{ id: "loop", value }]);
    const run = await approved(path, ann);
    await until(
      async () => ((await get(run)).flow_status.modules[0].flow_jobs?.length === 2 ? true : undefined),
      "the second",
    );
    const frame = await frameThatAsks(run);
    const { modules: own, step } = (await get(frame)).flow_status;
    const url = (await expectOk(admin("GET", `${jobs}/resume_urls/${own[step - 1].job}/1`))).json().resume;
    await expectOk(boss("POST", url.slice(`${server.url}/api`.length), {}));
    expect(await cameTo(run)).toEqual({ result: [1, 2] });
    const changed = await restart(ann, run, "loop/1", { order: 2 });
    expect((await get(changed)).flow_status.restarted_from).toEqual({ flow_job_id: run, step_id: "loop" });
    const same = await restart(ann, run, "loop/1");
    expect((await get(same)).flow_status.restarted_from).toMatchObject({ branch_or_iteration_n: 1 });
  });

  test("is reused for the same steps only, in an undeployed flow", async () => {
    const value = { modules: [asking(open), paying] };
    const preview = async (body: object) =>
      (await expectOk(ann("POST", `${jobs}/run/preview_flow`, body))).text;
    const run = await preview({ value, args: { order: 1 } });
    await cameTo(run);
    await expectOk(ann("POST", `${jobs}/flow/resume/${run}`, {}));
    await until(async () => ((await get(run)).type === "CompletedJob" ? true : undefined), "the end");
    const restarted_from = { flow_job_id: run, step_id: "pay" };
    const changed = { modules: [asking(open), { ...paying, summary: "other" }] };
    const args = { order: 1 };
    expect(await cameTo(await preview({ value, args, restarted_from }))).toEqual({ result: "paid 1" });
    expect(await cameTo(await preview({ value: changed, args, restarted_from }))).toEqual({ asks: "ask" });
    expect(await cameTo(await preview({ value, args: {}, restarted_from }))).toEqual({ asks: "ask" });
  });
});

describe("a link in the name of another user", () => {
  const links = `const { BASE_INTERNAL_URL: at, WM_TOKEN: token } = process.env;
    const sign = async (job: string, by: string) => {
      const url = at + "/api/w/acme/jobs/resume_urls/" + job + "/1?approver=" + by;
      return (await fetch(url, { headers: { authorization: "Bearer " + token } })).status;
    };`;

  test("is created by a script of the flow and by the flow's owners, not by the user who started it", async () => {
    const code = `${links} export const main = () => sign(process.env.WM_JOB_ID!, "boss")`;
    const asks = script("ask", code, {}, { suspend: { required_events: 2 } });
    const told = script("told", "export const main = (a: number) => a", { a: js("results.ask") });
    const id = await start(await push([asks, told]), ann);
    await cameTo(id);
    const job = (await get(id)).flow_status.modules[0].job;
    for (const path of ["resume_urls", "job_signature"]) {
      const signed = (by: Ask, approver?: string) =>
        by("GET", `${jobs}/${path}/${job}/1${approver ? `?approver=${approver}` : ""}`);
      const refused = await signed(ann, "boss");
      expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("owners")]);
      for (const own of ["ann", "ann@example.org", undefined])
        expect((await signed(ann, own)).status).toBe(200);
      expect((await signed(admin, "boss")).status).toBe(200);
    }
    // A user's own job is not a step of the flow, whatever flow it names as its parent.
    const content = `${links} export const main = (job: string) => sign(job, "boss")`;
    const body = { language: "bun", content, args: { job } };
    const query = `?root_job=${id}&parent_job=${id}`;
    const own = (await expectOk(ann("POST", `${jobs}/run/preview${query}`, body))).text;
    expect(await cameTo(own)).toEqual({ result: 403 });
    await expectOk(admin("POST", `${jobs}/flow/resume/${id}`, {}));
    await expectOk(admin("POST", `${jobs}/flow/resume/${id}`, {}));
    expect(await cameTo(id)).toEqual({ result: 200 });
  });
});

test("a token that only triggers a flow does not approve it", async () => {
  const path = await push([asking({ required_events: 1 }), paying]);
  const scopes = [`jobs:run:flows:${path}`];
  const body = { label: "webhook-pay", scopes, workspace_id: "acme" };
  const webhook = server.as((await expectOk(admin("POST", "/users/tokens/create", body))).text);
  const id = await start(path, webhook);
  await cameTo(id);
  const refused = await webhook("POST", `${jobs}/flow/resume/${id}`, {});
  expect([refused.status, refused.text]).toEqual([
    403,
    expect.stringContaining("may only run the script or flow it was created for"),
  ]);
  expect(await cameTo(id)).toEqual({ asks: "ask" });
});

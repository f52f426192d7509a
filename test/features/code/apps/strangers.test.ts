import { expect, test } from "bun:test";
import { type Ask, deploy, expectOk, startTestServer, until } from "../../../support/harness.ts";

test("an app that is only a draft is open to nobody without a login", async () => {
  await using server = await startTestServer();
  const { ask } = await server.workspace();
  const path = "u/admin/shop";
  const script = "script/u/admin/x";
  await deploy(ask, "acme", "u/admin/x", "export const main = () => 1");
  const policy = { execution_mode: "anonymous", triggerables_v2: { [`a:${script}`]: {} } };
  const draft = { path, value: {}, summary: "", policy, custom_path: "shop", draft_only: true };
  await expectOk(ask("POST", "/w/acme/apps/create", draft));
  const secret = (await expectOk(ask("GET", `/w/acme/apps/secret_of/${path}`))).text;
  const calls = async (who: Ask) => {
    const answers = await Promise.all([
      who("GET", `/w/acme/apps_u/public_app/${secret}`),
      who("GET", "/apps_u/public_app_by_custom_path/shop"),
      who("POST", `/w/acme/apps_u/execute_component/${path}`, { component: "a", path: script }),
    ]);
    return answers.map(({ status }) => status);
  };
  const nobody = server.as(undefined);
  expect(await calls(nobody)).toEqual([401, 401, 401]);
  expect(await calls(ask)).toEqual([200, 200, 200]);
  await expectOk(ask("POST", `/w/acme/apps/update/${path}`, { value: {} }));
  expect(await calls(nobody)).toEqual([200, 200, 200]);
});

test("of a flow that an app runs, strangers see the result, and nothing of its steps", async () => {
  await using server = await startTestServer();
  const { ask } = await server.workspace();
  const nobody = server.as(undefined);
  const step = (id: string, content: string) => ({
    id,
    value: { type: "rawscript", language: "bun", content },
  });
  const inner = step("inner", "export const main = () => 'internal'");
  const modules = [
    step("a", "export const main = () => { console.log('internal'); return { secret: 'internal' } }"),
    {
      id: "loop",
      value: { type: "forloopflow", iterator: { type: "static", value: [1] }, modules: [inner] },
    },
    { id: "wait", value: { type: "identity" }, suspend: { required_events: 1 } },
    step("b", "export const main = () => 'public'"),
  ];
  await expectOk(
    ask("POST", "/w/acme/flows/create", { path: "u/admin/flow", summary: "", value: { modules } }),
  );
  const policy = { execution_mode: "anonymous", triggerables_v2: { "a:flow/u/admin/flow": {} } };
  await expectOk(
    ask("POST", "/w/acme/apps/create", { path: "u/admin/shop", summary: "", value: {}, policy }),
  );
  const body = { component: "a", path: "flow/u/admin/flow", args: {} };
  const flow = (await expectOk(nobody("POST", "/w/acme/apps_u/execute_component/u/admin/shop", body))).text;
  const get = (who: Ask, path: string) => who("GET", `/w/acme/jobs_u/${path}`);
  await until(
    async () => (await get(ask, `get/${flow}`)).json().flow_status?.approval_conditions,
    "the wait",
  );

  const steps = (await expectOk(ask("GET", "/w/acme/jobs/list?has_null_parent=false"))).json<
    { id: string }[]
  >();
  const inside = steps.filter(({ id }) => id !== flow);
  expect(inside.length).toBeGreaterThanOrEqual(3);
  for (const { id } of inside) {
    for (const path of [`get/${id}`, `get_logs/${id}`, `get_args/${id}`, `completed/get_result/${id}`]) {
      expect([path, (await get(nobody, path)).status]).toEqual([path, 400]);
    }
  }
  const debug = async (who: Ask) => Object.keys((await get(who, `get_flow_debug_info/${flow}`)).json());
  expect(await debug(nobody)).toEqual(["root_job"]);
  expect((await debug(ask)).length).toBe(1 + inside.length);

  await expectOk(ask("POST", `/w/acme/jobs/flow/resume/${flow}`, {}));
  const job = await until<any>(async () => {
    const found = (await get(nobody, `get/${flow}`)).json<any>();
    return found.type === "CompletedJob" ? found : undefined;
  }, "the flow's end");
  expect(job).toMatchObject({ success: true, result: "public" });
  expect(JSON.stringify(job)).not.toContain("internal");
});
